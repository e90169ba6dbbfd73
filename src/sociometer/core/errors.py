"""Everything that can go wrong, in one tree.

SociometerError
├── UsageError          what was typed or configured is wrong; nothing was done (exit code 2)
│   ├── NeverAnswered   nobody answered anything (no server there, a wrong key); no run is kept
│   └── DataError       a data file cannot be read; names the file and the line
├── StoreError          the store cannot be used: damaged, locked, disk full (exit code 5)
├── MachineryError      an answer could not be had; recorded beside the score, never in it (exit code 4)
└── Stopped             the run ended early on purpose and can be resumed; `cause` says why (exit code 3)
"""

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum, StrEnum
from pathlib import Path

UNREACHABLE = "unreachable"
"""The kind of a failure to get any connection at all."""


class ExitCode(IntEnum):
    """The exit codes of the command line; they are stable and documented."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    STOPPED = 3
    MACHINERY = 4
    STORE = 5
    INTERRUPTED = 130


class SociometerError(Exception):
    """Anything that Sociometer raises on purpose."""

    exit_code = ExitCode.USAGE


class UsageError(SociometerError):
    """The user's input is wrong; the message names the value, the allowed ones and the next step."""


class NeverAnswered(UsageError):
    """A model that was asked and never answered anything: no server there, a wrong key; no run is kept of it."""


class DataError(UsageError):
    """A data file is missing or has a bad row."""

    def __init__(self, message: str, path: Path | str = "", line: int | None = None) -> None:
        self.path = str(path)
        self.line = line
        where = f"{path}:{line}: " if path and line else f"{path}: " if path else ""
        super().__init__(where + message)


class StoreError(SociometerError):
    """The store cannot be opened, read or written."""

    exit_code = ExitCode.STORE


class MachineryError(SociometerError):
    """No answer could be had: the item has no outcome, and the error is counted under its kind."""

    exit_code = ExitCode.MACHINERY

    def __init__(
        self,
        message: str,
        kind: str = "failed",
        *,
        retryable: bool = False,
        slow_down: bool = False,
        retry_after_seconds: float | None = None,
        fatal: bool = False,
        tokens: tuple[int | None, int | None] | None = None,
    ) -> None:
        """`slow_down` asks the throttle to halve; `fatal` says that no other item can succeed either.

        `tokens` (read, written) is what a reply cost that came but held no answer; None where none came.
        """
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.slow_down = slow_down
        self.retry_after_seconds = retry_after_seconds
        self.fatal = fatal
        self.tokens = tokens


class StopCause(StrEnum):
    """Why a run ended early; of a cap, the option that set it."""

    INTERRUPTED = "interrupted"
    MAX_COST = "--max-cost"
    MAX_REQUESTS = "--max-requests"
    MAX_TOKENS = "--max-tokens"
    CUT_OFF = "cut off"
    ERROR = "error"

    @property
    def is_cap(self) -> bool:
        """Whether a cap on spending was reached."""
        return self in (StopCause.MAX_COST, StopCause.MAX_REQUESTS, StopCause.MAX_TOKENS)


class Stopped(SociometerError):
    """The run ended early, cleanly; `sociometer resume` plays on."""

    exit_code = ExitCode.STOPPED

    def __init__(self, message: str, cause: StopCause = StopCause.ERROR) -> None:
        super().__init__(message)
        self.cause = cause


_MOST_NAMES = 24


def unknown(what: str, given: str, allowed: Iterable[str], next_step: str = "") -> UsageError:
    """The error for a name that does not exist, with the nearest one that does."""
    names = sorted(allowed)
    near = get_close_matches(given, names, n=1)
    shown = ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES} more" if names[_MOST_NAMES:] else "")
    guess = f"; did you mean '{near[0]}'?" if near else f"; known: {shown}." if names else "."
    return UsageError(f"unknown {what} '{given}'{guess}{' ' + next_step if next_step else ''}")
