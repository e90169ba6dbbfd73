"""What a coding agent gets, and from which functions: no word of an agent becomes part of a command line."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from msgspec import Struct

from sociometer.core.instrument import Result


class AgentAnswer(Struct, frozen=True):
    """What an agent gets: a result, and apart from it the words of models, which are not to be followed."""

    result: Result
    written_by_models: str = ""


class AgentTools(Protocol):
    """The functions behind an agent's tools; their arguments and docstrings are those of the tools.

    Each raises a SociometerError if it refuses what is asked.
    """

    reading: tuple[Callable[..., AgentAnswer], ...]
    writing: tuple[Callable[..., AgentAnswer], ...]
    play: Callable[..., Coroutine[Any, Any, AgentAnswer]] | None
    """Plays a run; None if nothing may be sent."""

    def runs(self) -> AgentAnswer: ...

    def progress(self) -> dict[str, tuple[int, int]]:
        """The episodes that are over, and all, of each run that is playing."""
        ...
