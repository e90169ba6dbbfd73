"""The counters of a run in progress."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec import Struct

from sociometer.core.conversation import Event, Exchange, Message
from sociometer.core.session import RoleBinding
from sociometer.core.stopping import StoppingRecord
from sociometer.core.task import Episode
from sociometer.engine.budget import Budget
from sociometer.store.records import RunStatus

_PRIOR = 3
_CHARACTERS = 1000
"""How many characters of a prompt take about as long to read as a reply takes to write, on a local model."""


@dataclass
class TaskWork:
    """The episodes of a task that are left, and the effort of one (`effort_of`)."""

    left: int = 0
    expected: float = 1.0
    """The effort of an episode, known before any was played."""
    ended: int = 0
    effort: float = 0.0
    """That of the episodes that have ended."""

    @property
    def per_episode(self) -> float:
        """The effort of an episode; what was expected counts as a few episodes, because short ones end first."""
        return (_PRIOR * self.expected + self.effort) / (_PRIOR + self.ended)


def effort_of(events: Iterable[Event], bindings: Mapping[str, RoleBinding]) -> float:
    """What the requests to models take, next to a short one; rules answer at once."""
    sent = (one for one in events if isinstance(one, Exchange) and bindings[one.role].player.journaled)
    return sum(_effort(one.messages) for one in sent)


def _effort(messages: Sequence[Message]) -> float:
    return 1 + sum(len(message.content) for message in messages) / _CHARACTERS


class RunEvent(Struct, frozen=True):
    """What a callback of `sociometer.run` gets: an item is done, a stopping rule has looked, or the run has ended."""

    kind: Literal["item", "look", "end"]  # `item`: an item is done; `look`: a stopping rule has looked; `end`.
    run: str  # The id of the run.
    task: str = ""  # The task of the item or the rule; empty at the end.
    episode: Episode[Any, Any] | None = None  # The item with its score, or the kind of its failure.
    stopping: StoppingRecord | None = None  # The looks of the rule so far.
    status: RunStatus = RunStatus.PLAYING  # The status of the run: `playing` until the end.


Callback = Callable[[RunEvent], None]


@dataclass
class Progress:
    """Counters that the runner updates and the progress display reads."""

    label: str
    budget: Budget
    total: int
    resume: Callable[..., str] | None = None
    """Gives the command that continues the run, with further words; None if the user repeats the command it is of."""
    work: dict[str, TaskWork] = field(default_factory=dict)
    """What is left of each task, to tell the time; empty if nobody is told."""
    done: int = 0
    done_before: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    last_failure: dict[str, str] = field(default_factory=dict)
    """The latest message of each kind of failure."""
    warnings: list[str] = field(default_factory=list)
    from_journal: int = 0
    without_usage: int = 0
    """Replies of servers that reported no usage, or one that cannot be."""
    sent: int = 0
    answered: int = 0
    in_flight: int = 0
    retries: int = 0
    retrying: int = 0
    """The number of requests that wait to be sent again; until then, the rate of the replies says little."""
    replicas: int = 1
    """The most copies of one model that answer."""
    started: float = field(default_factory=time.monotonic)
    status: RunStatus = RunStatus.PLAYING
    callback: Callback | None = None

    waits_for: str = ""
    """The server that asked to wait longest."""
    _wait_until: float = 0.0
    _answered_at: float = 0.0
    _effort: float = 0.0

    def tell(self, event: RunEvent) -> None:
        """Call the user's function; one that fails is not called again, and the run goes on."""
        try:
            if self.callback is not None:
                self.callback(event)
        except Exception as error:  # the user's code raises what it likes
            self.callback = None
            self.warnings.append(f"the callback failed and is not called again: {type(error).__name__}: {error}")

    def wait(self, seconds: float, server: str) -> None:
        """A server asked to wait this long."""
        if time.monotonic() + seconds > self._wait_until:
            self._wait_until, self.waits_for = time.monotonic() + seconds, server

    @property
    def ever_answered(self) -> bool:
        """Whether anything was answered or paid for, now or in an earlier part of the run."""
        return bool(self.answered or self.done or self.budget.spent.input_tokens)

    @property
    def waiting_seconds(self) -> float:
        """The remaining wait that a server asked for."""
        return max(0.0, self._wait_until - time.monotonic())

    @property
    def elapsed_seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Finished episodes per second."""
        return (self.done - self.done_before + sum(self.failed.values())) / max(self.elapsed_seconds, 1e-9)

    def answer(self, messages: Sequence[Message]) -> None:
        """Count the reply to a request."""
        self.answered += 1
        self._effort += _effort(messages)
        self._answered_at = time.monotonic()

    def end_episode(self, task: str, effort: float | None = None) -> None:
        """Count an episode of a task that is over, with its effort; None if it was played before."""
        work = self.work.setdefault(task, TaskWork())
        work.left -= 1
        if effort is not None:
            work.ended, work.effort = work.ended + 1, work.effort + effort

    @property
    def seconds_left(self) -> float | None:
        """The time for the remaining requests at the rate of the replies; None without a rate, in retries or when over.

        Tasks differ in the number and the length of requests, so the finished episodes of one say little about another.
        """
        if self.retrying:
            return None
        finished = self.done + sum(self.failed.values())
        if not self.answered or not self.work:  # all replies are from the journal, or no work is known
            return (self.total - finished) / self.rate if self.rate else None
        known = self._effort * (1 + self.from_journal / self.answered)
        begun = known - sum(work.effort for work in self.work.values())
        remaining = sum(work.left * work.per_episode for work in self.work.values()) - max(begun, 0)
        seconds = (self._answered_at - self.started) / self._effort
        left = max(remaining, float(finished < self.total)) * seconds - (time.monotonic() - self._answered_at)
        return max(left, 0.0) if left > 0 or finished >= self.total else None
