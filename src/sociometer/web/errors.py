"""What a visitor is told when something goes wrong: one table from errors to HTTP statuses, for all pages.

Guests read the words of `texts/errors.*.toml`, which name no process, no path and no command. The owner reads the error
itself; what is not the visitor's doing is also on the owner's terminal.
"""

from aiohttp import web

from sociometer.core.errors import Busy, DataError, NoSpace, NotFound, SociometerError, UsageError
from sociometer.store.erasing import Withdrawing


class BadForm(Exception):
    """A form that cannot be used: the key of what is wrong, in the texts of its page, and the values in that text."""

    def __init__(self, key: str, **values: str) -> None:
        super().__init__(key)
        self.values = values


class Full(SociometerError):
    """A study that has all the participants it needs; this one has not started."""


class Changed(SociometerError):
    """A study whose items or prompts are not those that a participant began with."""


class Paused(SociometerError):
    """A run that ended early, such as when the server stops; it can continue later."""


BAD_FORM = 400
TOLD: dict[type, tuple[int, str, int]] = {
    BadForm: (BAD_FORM, "bad form", 0),
    web.RequestPayloadError: (BAD_FORM, "bad form", 0),
    ConnectionError: (BAD_FORM, "bad form", 0),  # the visitor has left
    UsageError: (BAD_FORM, "bad form", 0),
    Full: (403, "full", 0),
    NotFound: (404, "not found", 0),
    Changed: (409, "changed", 0),
    Busy: (503, "busy", 60),
    Withdrawing: (503, "withdrawing", 60),
    Paused: (503, "paused", 600),
    NoSpace: (503, "not stored", 60),
    DataError: (500, "broken", 0),
    Exception: (500, "broken", 0),
}
"""The status, the key of the words for guests, and the seconds after which to try again (0: not)."""


def told_of(error: Exception, *, guest: bool) -> tuple[int, str, int]:
    """What the table says about the nearest class of an error; a UsageError is the owner's mistake, not a guest's."""
    kinds = (kind for kind in type(error).__mro__ if kind in TOLD and not (guest and kind is UsageError))
    return TOLD[next(kinds)]
