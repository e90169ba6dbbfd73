"""The counters of a run in progress."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec import Struct

from sociometer.core.stopping import StoppingRecord
from sociometer.core.task import Episode
from sociometer.engine.budget import Budget
from sociometer.store.records import RunStatus


class RunEvent(Struct, frozen=True):
    """What a callback of `sociometer.run` gets: an item is done, a stopping rule has looked, or the run has ended."""

    kind: Literal["item", "look", "end"]
    run: str
    task: str = ""
    episode: Episode[Any, Any] | None = None
    """The item with its score or its failure."""
    stopping: StoppingRecord | None = None
    """The looks of the rule so far."""
    status: RunStatus = RunStatus.PLAYING


Callback = Callable[[RunEvent], None]


@dataclass
class Progress:
    """Counters that the runner updates and the progress display reads."""

    label: str
    budget: Budget
    total: int
    resume: str = ""
    """The command that continues the run; empty if the user repeats the command that it belongs to."""
    plan: str = ""
    """The digest of what was decided before the first request."""
    done: int = 0
    done_before: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    last_failure: dict[str, str] = field(default_factory=dict)
    """The latest message of each kind of failure."""
    lost: set[tuple[str, str, int]] = field(default_factory=set)
    """The episodes that failed in this command, by task, item and repeat; they are not played again in it."""
    next_round: bool = False
    """Whether the run goes on after it waited for the other models of a ranking."""
    warnings: list[str] = field(default_factory=list)
    from_journal: int = 0
    sent: int = 0
    answered: int = 0
    in_flight: int = 0
    batches: int = 0
    """The number of batches that wait at a provider."""
    retries: int = 0
    replicas: int = 1
    """The most copies of one model that answer."""
    started: float = field(default_factory=time.monotonic)
    status: RunStatus = RunStatus.PLAYING
    callback: Callback | None = None

    _wait_until: float = 0.0

    def tell(self, event: RunEvent) -> None:
        """Call the user's function; one that fails is not called again, and the run goes on."""
        try:
            if self.callback is not None:
                self.callback(event)
        except Exception as error:  # the user's code raises what it likes
            self.callback = None
            self.warnings.append(f"the callback failed and is not called again: {type(error).__name__}: {error}")

    def wait(self, seconds: float) -> None:
        """A server asked to wait this long."""
        self._wait_until = max(self._wait_until, time.monotonic() + seconds)

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

    @property
    def seconds_left(self) -> float | None:
        """The remaining time at the present rate; None until there is a rate."""
        finished = self.done + sum(self.failed.values())
        return (self.total - finished) / self.rate if self.rate else None
