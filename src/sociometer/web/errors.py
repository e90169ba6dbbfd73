"""What a visitor is told when something goes wrong: one table from errors to HTTP statuses, for all pages.

Guests read the words of `texts/errors.*.toml`, which name no process, no path and no command. The owner reads the error
itself; what is not the visitor's doing is also on the owner's terminal.
"""

from msgspec import Struct

from sociometer.core.errors import Busy, DataError, NotFound, SociometerError, UsageError


class BadForm(Exception):
    """A form that cannot be used; the text is the key of what is wrong, in the texts of its page."""


class Full(SociometerError):
    """A study that has all the participants it needs; this one has not started."""


class Changed(SociometerError):
    """A study whose items or prompts are not those that a participant began with."""


class Paused(SociometerError):
    """A run that ended early, by a cap or because another role's model cannot be reached; it can continue later."""


class Withdrawing(SociometerError):
    """A participant has asked to withdraw and is not erased yet."""


class Told(Struct, frozen=True):
    """The status of an error, the key of its words for guests, and when to try again."""

    status: int
    words: str
    retry_seconds: int = 0


BAD_FORM = 400
TOLD: dict[type, Told] = {
    BadForm: Told(BAD_FORM, "bad form"),
    UsageError: Told(400, "bad form"),
    Full: Told(403, "full"),
    NotFound: Told(404, "not found"),
    Changed: Told(409, "changed"),
    Busy: Told(503, "busy", 60),
    Paused: Told(503, "paused", 600),
    Withdrawing: Told(503, "withdrawing", 60),
    DataError: Told(500, "broken"),
    Exception: Told(500, "broken"),
}


def told_of(error: Exception) -> Told:
    """What the table says about an error, by the nearest of its classes."""
    return next(TOLD[kind] for kind in type(error).__mro__ if kind in TOLD)
