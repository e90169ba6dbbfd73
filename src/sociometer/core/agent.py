"""What a coding agent may ask for, as records and functions: no word of an agent becomes part of a command line."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from sociometer.core.instrument import Result


class AgentRun(Struct, frozen=True):
    """A run that an agent asks for; its limits can only lower those of the user."""

    instrument: str
    model: str
    limit: int | None = None
    task: str = ""
    roles: dict[str, str] = {}
    max_cost: float | None = None
    max_requests: int | None = None


class AgentAnswer(Struct, frozen=True):
    """What an agent gets: a result, and apart from it the words of models, which are not to be followed."""

    result: Result
    written_by_models: str = ""


class AgentTools(Protocol):
    """The functions behind an agent's tools; each raises a SociometerError if it refuses what is asked."""

    may_run: bool
    may_report: bool

    def listed(self, what: str) -> AgentAnswer: ...

    def plan(self, asked: AgentRun) -> AgentAnswer: ...

    async def run(self, asked: AgentRun) -> AgentAnswer: ...

    def runs(self) -> AgentAnswer: ...

    def progress(self) -> dict[str, tuple[int, int]]:
        """The episodes that are over, and all, of each run that is playing."""
        ...

    def show(self, run: str, item: str) -> AgentAnswer: ...

    def compare(self, runs: Sequence[str], task: str, margin: float | None) -> AgentAnswer: ...

    def report(self, runs: Sequence[str], name: str) -> AgentAnswer: ...
