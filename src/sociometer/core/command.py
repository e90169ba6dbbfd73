"""What an instrument's command is handed: the user's options, stored runs, and a way to play and keep more of them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from sociometer.core.inner_model import InnerModel
from sociometer.core.instrument import FinishedEpisode, Instrument
from sociometer.core.measure import Summary, Table
from sociometer.core.settings import Settings, SettingValue
from sociometer.core.source import Source
from sociometer.core.task import AnyRun, Episode, Item, PeopleLabel


class StudyPerson(Struct, frozen=True):
    """A participant of a study; `excluded` says why their answers do not count, if so."""

    id: str
    excluded: str
    readers: tuple[str, ...]
    """The providers that they have agreed may read their words."""


class Run(Protocol):
    """A stored run, as a command sees it; `store.stored_run.StoredRun` is one."""

    @property
    def id(self) -> str: ...

    @property
    def reference(self) -> str: ...

    @property
    def subject(self) -> str:
        """The name of the subject in tables."""

    @property
    def tasks(self) -> tuple[str, ...]: ...

    @property
    def settings(self) -> Settings:
        """The settings of the run, with how the subject answered."""

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """The stand-ins among the players, as `role: name`."""

    @property
    def version(self) -> str:
        """The version of the instrument that was played."""

    def view(self, task: str = "") -> AnyRun:
        """Items, outcomes and scores of a task (default: the only one)."""

    def episodes(self, task: str = "", item: str | None = None) -> Iterator[Episode[Any, Any]]:
        """The episodes of a task, or of all tasks, in the order of items and repeats."""

    def summary(self, task: str = "") -> Summary: ...

    def summarised(self, task: str = "") -> AnyRun:
        """The view of a task with its summary."""


class CommandContext(Protocol):
    """One instrument, the user's options, the store, and an engine to play with."""

    expect: Callable[..., None]  # Tells the progress display how often `play` will be called, and what to say before.
    track: Callable[[Sequence[Any], str], Iterator[Any]]
    """Gives items one after another with a progress bar, for long work that plays nothing."""
    people_of_study: Callable[[str], Mapping[str, StudyPerson]]  # The participants of a study, by run.
    instrument: Instrument  # The instrument of the command, with its card and tasks.
    subjects: tuple[str, ...]  # The models given by `--model`.
    seed: int  # The seed that the user gave, or 0.
    settings: dict[str, SettingValue]  # The instrument's settings as the user gave them.
    roles: dict[str, str]  # The models given by `--role`.
    failures: Counter[str]  # The failed episodes of everything that was played, by kind.

    def source(self, **settings: SettingValue) -> Source:
        """The source of items with the user's settings, some of them replaced."""

    def items(self, task: str) -> Iterable[Any]:
        """The items of a task that the user chose (`--limit`, settings)."""

    def inner_model(self, name: str, *, revision: str = "", batch_tokens: int) -> InnerModel:
        """Open weights to look inside: a name on the Hugging Face hub, a folder, or a GGUF file."""

    def play(
        self,
        task: str,
        *,
        subject: str = "",
        settings: Mapping[str, SettingValue] | None = None,
        items: Iterable[Item] | None = None,
    ) -> Run:
        """Play a task to the end, with journal, caps and progress; repeating the call sends nothing new.

        Without `items` the task's own `items` are played. A task that asks no subject needs none.
        """

    def plan_table(self, task: str, items: Sequence[Item]) -> Table:
        """The estimated requests, tokens and cost of playing the items with every subject; sends nothing."""

    def run(self, reference: str, task: str = "") -> Run:
        """The stored run with this id, name, subject or start of an id; `last` is the newest of this task."""

    def keep(
        self,
        task: str,
        subject: str,
        episodes: Iterable[FinishedEpisode],
        *,
        settings: Mapping[str, SettingValue] | None = None,
        roles: Mapping[str, str] | None = None,
    ) -> Run:
        """Store episodes that were played elsewhere as a run, with scores and a summary; the same ones only once."""

    def keep_people(
        self, study: str, task: str, talks: Mapping[str, Mapping[str, Sequence[FinishedEpisode]]], reader: str
    ) -> Sequence[Run]:
        """Store what people did elsewhere as a study: by person and model, episodes whose subject is the model.

        `reader` is a model that the people have agreed may read their words; empty for none. The same episodes again
        only add the reader.
        """

    def labels(self, run: str, sheet: str) -> tuple[PeopleLabel, ...]:
        """What people said of the rows of a run's sheet."""

    def write(self, path: Path, text: str, within: Path | None = None) -> str:
        """Write a file completely or not at all, and return its path; `within`, a folder for several, is created."""
