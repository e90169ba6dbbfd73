"""The contract of an instrument: tasks with four verbs, and what they pass around."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from sociometer.core.card import Card
from sociometer.core.conversation import Message, Player, Reply, Sampling
from sociometer.core.errors import unknown
from sociometer.core.forms import Form
from sociometer.core.measure import Figure, PublishedFigure, Summary
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source


class Item(Struct, frozen=True, kw_only=True):
    """One thing to be played; instruments extend it with their own fields.

    `cluster` names what the item shares with others (a story, a tree); empty means that it stands alone.
    """

    id: str
    cluster: str = ""


class Score(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Numbers derived from one outcome; `facets` say what they may be grouped by."""

    values: dict[str, float]
    facets: dict[str, str] = {}
    unreadable: int = 0


ItemT = TypeVar("ItemT", bound=Item)
OutcomeT = TypeVar("OutcomeT", bound=Struct)


class Session(Protocol):
    """What an item sees of the world while it is played."""

    @property
    def rng(self) -> Random:
        """The only randomness allowed in `play`; the same for every subject."""
        ...

    @property
    def settings(self) -> Settings: ...

    @property
    def prompts(self) -> Prompts: ...

    async def ask(
        self,
        role: str,
        messages: Sequence[Message],
        form: Form | None = None,
        *,
        sampling: Sampling | None = None,
        view: Struct | None = None,
    ) -> Reply:
        """The role's reply, kept in the journal before it is handed over."""
        ...

    async def embed(self, role: str, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """A vector for each text, journaled like a reply."""
        ...

    def note(self, kind: str, **facts: Any) -> None:
        """Adds a fact to the transcript (a move, a feeling, a rule that fired)."""
        ...

    def branch(self, name: str) -> "Session":
        """A session for one concurrent branch, with a random generator and draws of its own."""
        ...

    def identity_of(self, role: str) -> str:
        """The name of whoever plays a role, for the outcome's record; never to decide what is asked."""
        ...


class Failure(Struct, frozen=True):
    """Why an episode has no outcome."""

    kind: str
    message: str


class Episode(Struct, Generic[ItemT, OutcomeT], frozen=True):
    """One playing of one item: an outcome and its score, or a failure of the machinery."""

    item: ItemT
    repeat: int
    outcome: OutcomeT | None
    score: Score | None
    failure: Failure | None


class RunView(Generic[ItemT, OutcomeT]):
    """What `summarise` sees of a run: its episodes can be walked through again and again."""

    def __init__(
        self,
        episodes: Callable[[], Iterator[Episode[ItemT, OutcomeT]]],
        settings: Settings,
        *,
        subject: str = "",
        roles: Mapping[str, str] | None = None,
        norm: Any = None,
        run: str = "",
        stand_ins: Sequence[str] = (),
    ) -> None:
        """`norm` is what the task gave when the run was made; `stand_ins` names players that are not the real thing."""
        self._episodes = episodes
        self.settings = settings
        self.subject = subject
        self.roles = dict(roles or {})
        self.norm = norm
        self.run = run
        self.stand_ins = tuple(stand_ins)

    def episodes(self) -> Iterator[Episode[ItemT, OutcomeT]]:
        """All episodes, in the order of items and repeats, failures included."""
        return self._episodes()

    def scored(self) -> Iterator[tuple[ItemT, OutcomeT, Score]]:
        """The episodes that have a score."""
        for episode in self._episodes():
            if episode.outcome is not None and episode.score is not None:
                yield episode.item, episode.outcome, episode.score

    def failures(self) -> dict[str, int]:
        """How many episodes failed, by kind."""
        counts: dict[str, int] = {}
        for episode in self._episodes():
            if episode.failure is not None:
                counts[episode.failure.kind] = counts.get(episode.failure.kind, 0) + 1
        return counts


class Headline(Struct, Generic[ItemT, OutcomeT], frozen=True):
    """What stands for a run where it is set beside others: the episodes that count, and what must be said of them."""

    view: RunView[ItemT, OutcomeT]
    note: str = ""
    failed: str = ""
    """Why the run has no number of its own to set beside others; empty where it has."""


class Task(ABC, Generic[ItemT, OutcomeT]):
    """Four verbs; knows no engine, no store, no model."""

    name: str
    item_type: type[ItemT]
    outcome_type: type[OutcomeT]

    @abstractmethod
    def items(self, source: Source) -> Iterable[ItemT]:
        """The items to play, streamed; a bad row is refused naming file and line."""

    @abstractmethod
    async def play(self, item: ItemT, session: Session) -> OutcomeT:
        """The conversation: the only verb that talks, deterministic given the replies and `session.rng`."""

    @abstractmethod
    def score(self, item: ItemT, outcome: OutcomeT) -> Score:
        """Pure: no model, no clock, no randomness."""

    @abstractmethod
    def summarise(self, run: RunView[ItemT, OutcomeT]) -> Summary:
        """Pure: the table of the run."""

    def headline(self, run: RunView[ItemT, OutcomeT]) -> Headline[ItemT, OutcomeT]:
        """What stands for the run beside others: all of it, unless the run holds more than one number for a thing."""
        return Headline(run)

    def norm(self, source: Source) -> Any:
        """The human reference for these items as a JSON value, stored with the run; None where there is none."""
        return None


class SummarisedRun(Struct, frozen=True):
    """A stored summary with what a figure must say about it."""

    run: str
    task: str
    subject: str
    settings: dict[str, Any]
    summary: Summary
    stand_ins: tuple[str, ...] = ()
    created: str = ""


class Instrument:
    """One published test: its card, its tasks, and what else it brings."""

    def __init__(
        self,
        card: Card,
        tasks: Sequence[Task[Any, Any]],
        *,
        players: Mapping[str, Callable[[], Player]] | None = None,
        figures: Callable[[Sequence[SummarisedRun]], Sequence[Figure]] | None = None,
        beside: Callable[[Any, Any], Figure | None] | None = None,
        reproduce: Callable[[Source], Iterable[PublishedFigure]] | None = None,
    ) -> None:
        """`beside` draws what stands next to a transcript, from an item and its outcome."""
        self.card = card
        self.tasks = {task.name: task for task in tasks}
        self.players = dict(players or {})
        self.figures = figures
        self.beside = beside
        self.reproduce = reproduce

    def task(self, name: str) -> Task[Any, Any]:
        """The task of that name."""
        if name not in self.tasks:
            raise unknown(f"task of {self.card.name}", name, self.tasks)
        return self.tasks[name]
