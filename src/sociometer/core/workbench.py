"""What an instrument's own commands are handed: a way to play tasks and to open stored runs."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from sociometer.core.measure import Figure, Summary, Table
from sociometer.core.settings import Settings, SettingValue
from sociometer.core.source import Source
from sociometer.core.task import Instrument, Item, RunView, Task
from sociometer.core.transcript import Event


class Result(Struct, frozen=True, omit_defaults=True):
    """What a command shows: tables on the terminal, everything with `--json`.

    `failed` makes the exit code 1 (a gate that did not hold, a lint that found something).
    """

    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    wrote: tuple[str, ...] = ()
    data: dict[str, Any] = {}
    failed: bool = False


class StoredRun(Protocol):
    """A run in the store."""

    @property
    def id(self) -> str: ...

    @property
    def instrument(self) -> str: ...

    @property
    def subject(self) -> str: ...

    @property
    def revision(self) -> str:
        """What names the subject's weights, or the person behind it; empty where nothing was given."""
        ...

    @property
    def tasks(self) -> tuple[str, ...]: ...

    def view(self, task: str = "") -> RunView[Any, Any]:
        """Items, outcomes and scores of a task (the only one where none is named)."""
        ...

    def summary(self, task: str = "") -> Summary: ...

    def transcript(self, task: str, item: str, repeat: int = 0) -> tuple[Event, ...]: ...


class FinishedEpisode(Struct, frozen=True):
    """An episode that was played elsewhere and is now imported."""

    item: Item
    outcome: Struct
    events: tuple[Event, ...] = ()
    repeat: int = 0


class Workbench(Protocol):
    """The engine and the store, as a command sees them."""

    @property
    def instrument(self) -> Instrument: ...

    @property
    def subjects(self) -> tuple[str, ...]:
        """The models given by `--model`, in order."""
        ...

    @property
    def seed(self) -> int: ...

    def source(self, **settings: SettingValue) -> Source:
        """Where items come from under the user's settings, with some replaced."""
        ...

    def play(
        self,
        task: str | Task[Any, Any],
        *,
        subject: str = "",
        settings: Mapping[str, SettingValue] | None = None,
        items: Iterable[Item] | None = None,
        repeats: int | None = None,
    ) -> StoredRun:
        """Plays a task to the end, journaled, within the caps, with progress; the same call again sends nothing new.

        Without `items` the task's own `items` are played. A task that asks no subject needs none.
        """
        ...

    def run(self, reference: str, task: str = "") -> StoredRun:
        """The stored run of that id or unique beginning; `last` is the newest of this instrument (and of the task)."""
        ...

    def keep(
        self,
        task: str,
        subject: str,
        episodes: Iterable[FinishedEpisode],
        *,
        settings: Mapping[str, SettingValue] | None = None,
        roles: Mapping[str, str] | None = None,
    ) -> StoredRun:
        """Stores dialogues played elsewhere as a run like any other."""
        ...

    def write(self, path: Path, text: str) -> str:
        """Writes a file whole or not at all; gives its path for `Result.wrote`."""
        ...


class Command(Protocol):
    """The shape of a function in commands.py."""

    def __call__(self, bench: Workbench, options: Settings, /) -> Result: ...
