"""The counters of a run in progress."""

import time
from collections import Counter
from dataclasses import dataclass, field

from sociometer.engine.budget import Budget
from sociometer.store.records import RunStatus


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

    waits_for: str = ""
    """The server that asked to wait longest."""
    _wait_until: float = 0.0

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

    @property
    def seconds_left(self) -> float | None:
        """The remaining time at the present rate; None until there is a rate."""
        finished = self.done + sum(self.failed.values())
        return (self.total - finished) / self.rate if self.rate else None
