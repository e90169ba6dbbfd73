"""All errors of Sociometer, in one tree.

SociometerError
├── UsageError          the input or configuration is wrong; nothing was done (exit code 2)
│   ├── NotFound        nothing has this name
│   ├── NeverAnswered   the model never replied (no server, a wrong key); no run is stored
│   ├── DataError       a data file cannot be read; names the file and the line
│   └── BundleError     the file of a run cannot be checked (exit code 6; in store/bundle.py)
├── StoreError          the store cannot be used: damaged, disk full (exit code 5)
│   └── Busy            another process has the store or the run; try again later
├── MachineryError      a reply could not be obtained; counted separately from the score (exit code 4)
├── Difference          the file of a run was changed (exit code 1; in store/bundle.py)
└── Stopped             the run ended early on purpose and can be resumed; `cause` says why (exit code 3)
"""

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum, StrEnum
from pathlib import Path

from sociometer.core.words import first_of

UNREACHABLE = "unreachable"
"""The failure kind if no connection could be made."""


class ExitCode(IntEnum):
    """The exit codes of the command line; they are stable and documented."""

    OK = 0
    GATE_FAILED = 1
    USAGE = 2
    STOPPED = 3
    MACHINERY = 4
    STORE = 5
    NOT_CHECKED = 6
    INTERNAL = 70
    INTERRUPTED = 130


class SociometerError(Exception):
    """Anything that Sociometer raises on purpose."""

    exit_code = ExitCode.USAGE


class UsageError(SociometerError):
    """The user's input is wrong; the message names the value, the allowed ones and the next step."""


class NotFound(UsageError):
    """Nothing has this name."""


class NeverAnswered(UsageError):
    """The model never replied: no server, a wrong key. No run is stored."""


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


class Busy(StoreError):
    """Another process has the store or the run."""


class MachineryError(SociometerError):
    """No reply could be obtained: the item has no outcome, and the error is counted by kind."""

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
        """`slow_down` makes the throttle halve its limit; `fatal` means that every other item would fail too.

        `tokens` (read, written) is the usage of a reply without an answer; None if there was no reply.
        """
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.slow_down = slow_down
        self.retry_after_seconds = retry_after_seconds
        self.fatal = fatal
        self.tokens = tokens


class StopCause(StrEnum):
    """Why a run ended early; for a cap, the option that set it."""

    INTERRUPTED = "interrupted"
    MAX_COST = "--max-cost"
    MAX_REQUESTS = "--max-requests"
    MAX_TOKENS = "--max-tokens"
    CUT_OFF = "cut off"
    DECIDED = "decided"
    ERROR = "error"

    @property
    def is_cap(self) -> bool:
        """Whether a cap on spending was reached."""
        return self in (StopCause.MAX_COST, StopCause.MAX_REQUESTS, StopCause.MAX_TOKENS)


class Stopped(SociometerError):
    """The run was stopped early without loss; `sociometer resume` continues it."""

    exit_code = ExitCode.STOPPED

    def __init__(self, message: str, cause: StopCause = StopCause.ERROR) -> None:
        super().__init__(message)
        self.cause = cause


_MOST_NAMES = 24


def unknown(what: str, given: str, allowed: Iterable[str], next_step: str = "") -> NotFound:
    """The error for an unknown name, with the most similar known name."""
    names = sorted(allowed)
    near = get_close_matches(given, names, n=1)
    shown = first_of(names, _MOST_NAMES)
    guess = f"; did you mean '{near[0]}'?" if near else f"; known: {shown}." if names else "."
    return NotFound(f"unknown {what} '{given}'{guess}{' ' + next_step if next_step else ''}")
