"""All errors of Sociometer, in one tree.

SociometerError
├── UsageError          the input or configuration is wrong; nothing was done (exit code 2)
│   ├── NotFound        nothing has this name
│   ├── NeverAnswered   the model never replied (no server, a wrong key); no run is stored
│   ├── DataError       a data file cannot be read; names the file and the line
│   │   └── FileMissing an official file is not on this machine
│   └── BundleError     the file of a run cannot be checked (exit code 6; in store/bundle.py)
├── StoreError          the store cannot be used: damaged, disk full (exit code 5)
│   ├── NoSpace         nothing can be written now, such as on a full disk
│   └── Busy            another process has the store or the run; try again later
├── MachineryError      a reply could not be obtained; counted separately from the score (exit code 4)
│   ├── Unreachable     no connection could be made; nothing was used
│   ├── Unauthorised    the server does not accept the key
│   ├── UnknownToServer the server does not know the model or the address
│   ├── Filtered        the provider's content filter rejected the request
│   └── UnreadableRole  a role answered, but nothing that can be read
├── Difference          the file of a run was changed (exit code 1; in store/bundle.py)
└── Stopped             the run ended early on purpose and can be resumed; `cause` says why (exit code 3 or 130)
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import IntEnum, StrEnum
from pathlib import Path

from sociometer.core.gone import taken_away
from sociometer.core.hints import hint as hint  # the next step of a message
from sociometer.core.hints import install as install
from sociometer.core.words import first_of, visible


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

    def _render_traceback_(self) -> list[str]:
        """How a notebook shows the error: its message, without our own lines."""
        return [f"{type(self).__name__}: {self}"]


class UsageError(SociometerError):
    """The user's input is wrong; the message names the value, the allowed ones and the next step."""


class NotFound(UsageError):
    """Nothing has this name."""


class NeverAnswered(UsageError):
    """The model never replied: no server, a wrong key. No run is stored. Its `__cause__` is what stopped the run."""


class DataError(UsageError):
    """A data file is missing or has a bad row."""

    def __init__(self, message: str, path: Path | str = "", line: int | None = None) -> None:
        self.path = str(path)
        self.line = line
        where = f"{path}:{line}: " if path and line else f"{path}: " if path else ""
        super().__init__(where + message)


class FileMissing(DataError):
    """An official file is not on this machine."""


class StoreError(SociometerError):
    """The store cannot be opened, read or written."""

    exit_code = ExitCode.STORE


class NoSpace(StoreError):
    """Nothing can be written at the moment, such as on a full disk; what is stored stays readable."""


class Busy(StoreError):
    """Another process has the store or the run."""


class FailureKind(StrEnum):
    """Why an episode has no outcome, as it is stored; a store may have kinds of other versions and packages."""

    AUTHENTICATION = "authentication"
    CONNECTION = "connection"
    CONTENT_FILTER = "content filter"
    CONTEXT_TOO_LONG = "context too long"
    DOWNLOAD = "download"
    EMPTY_REPLY = "empty reply"
    ENGLISH_EMBEDDER = "English embedder"
    FAILED = "failed"
    INSPECT = "inspect"
    INSTRUMENT_ERROR = "instrument error"
    LOCAL_MODEL = "local model"
    MALFORMED_REPLY = "malformed reply"
    NO_EMBEDDINGS = "no embeddings"
    NO_KEY = "no key"
    NOT_FOUND = "not found"
    NOT_RECORDED = "not recorded"
    NOT_SCORED = "not scored"
    NOT_STORED = "not stored"
    NOT_SUPPORTED = "not supported"
    OUT_OF_CREDIT = "out of credit"
    OVERLOADED = "overloaded"
    PROVIDER_ERROR = "provider error"
    PYTHON_ERROR = "python error"
    RATE_LIMIT = "rate limit"
    REFUSED_OPTION = "refused option"
    REFUSED_REQUEST = "refused request"
    REPLICA_DIED = "replica died"
    SCORING_ERROR = "scoring error"
    SCRIPT_RAN_DRY = "script ran dry"
    SERVER_ERROR = "server error"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    UNREADABLE = "unreadable"
    WRONG_SERVER = "wrong server"


class MachineryError(SociometerError):
    """No reply could be obtained: the item has no outcome, and the error is counted by kind."""

    exit_code = ExitCode.MACHINERY
    kind = FailureKind.FAILED
    role = ""
    """The role other than the subject (a judge, a simulator) that failed."""

    def __init__(
        self,
        message: str,
        kind: FailureKind | None = None,
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
        self.kind = kind or self.kind
        self.retryable = retryable
        self.slow_down = slow_down
        self.retry_after_seconds = retry_after_seconds
        self.fatal = fatal
        self.tokens = tokens


class Unreachable(MachineryError):
    """No connection could be made; the request used nothing."""

    kind = FailureKind.UNREACHABLE


class Unauthorised(MachineryError):
    """The server does not accept the key."""

    kind = FailureKind.AUTHENTICATION


class UnknownToServer(MachineryError):
    """The server does not know the model or the address."""

    kind = FailureKind.NOT_FOUND


class Filtered(MachineryError):
    """The provider's content filter rejected the request."""

    kind = FailureKind.CONTENT_FILTER


class UnreadableRole(MachineryError):
    """A role other than the subject answered, but nothing that can be read; an instrument may catch it and count it."""

    kind = FailureKind.UNREADABLE

    def __init__(self, message: str, role: str = "") -> None:
        super().__init__(message)
        self.role = role


def failure_of(error: Exception) -> tuple[str, str]:
    """The kind and the message of a failure, as an episode stores them."""
    kind = str(error.kind if isinstance(error, MachineryError) else FailureKind.INSTRUMENT_ERROR)
    message = str(error) if isinstance(error, SociometerError) else f"{type(error).__name__}: {error}"
    if isinstance(error, MachineryError) and error.role:
        kind += f" {error.role}" if isinstance(error, UnreadableRole) else f" of the {error.role}"
    return kind, visible(message)


def by_role(failures: Mapping[str, int], roles: Iterable[str]) -> dict[str, int]:
    """How many episodes failed because of each of these roles, from the number of failures of each kind."""
    found = ((role, sum(failures[kind] for kind in failures if kind.endswith(f" {role}"))) for role in roles)
    return {role: count for role, count in found if count}


class StopCause(StrEnum):
    """Why a run ended early; for a cap, the option that set it."""

    INTERRUPTED = "interrupted"
    MAX_COST = "--max-cost"
    MAX_REQUESTS = "--max-requests"
    MAX_TOKENS = "--max-tokens"
    CUT_OFF = "cut off"
    UNREADABLE = "unreadable"
    UNREACHABLE = "unreachable"
    DECIDED = "decided"
    OTHER_MODEL = "other model"
    LOST = "lost"
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
        if cause is StopCause.INTERRUPTED:
            self.exit_code = ExitCode.INTERRUPTED


_MOST_NAMES = 24


def unknown(what: str, given: str, allowed: Iterable[str], next_step: str = "", written: str = "{}") -> NotFound:
    """The error for an unknown name, with the most similar known name as it is typed, or the first that contains it."""
    if instead := taken_away(what, given):
        return NotFound(f"unknown {what} '{given}': {instead}")
    names = sorted(allowed)
    near = [name for name in names if name.lower() == given.lower()] or get_close_matches(given, names, n=1)
    near = near or [name for name in names if len(given) > 3 and given in name]
    shown = first_of(names, _MOST_NAMES)
    guess = f"; did you mean '{written.replace('{}', near[0], 1)}'?" if near else f"; known: {shown}." if names else "."
    return NotFound(f"unknown {what} '{given}'{guess}{' ' + next_step if next_step else ''}")
