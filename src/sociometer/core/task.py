"""The contract of an instrument: tasks with four functions, and the records that they exchange."""

import hashlib
import heapq
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from random import Random
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct, structs

from sociometer.core.card import NO_CARD, Card
from sociometer.core.conversation import SUBJECT
from sociometer.core.form import NO_FORM, Form, WhoseItems
from sociometer.core.measure import Corrected, Summary
from sociometer.core.session import Session
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.core.stopping import StoppingRecord


class Item(Struct, frozen=True, kw_only=True):
    """One unit of a task; instruments extend it with their own fields.

    `cluster` names what the item shares with others (a story, a tree); empty means that it is independent.
    """

    id: str
    cluster: str = ""

    def for_raters(self) -> dict[str, str]:
        """What people see when they rate the same thing as a judge; empty if that is the subject's transcript."""
        return {}

    def compared(self) -> Any:
        """The content that two runs must share to be compared on this item: all but what comes from the subject."""
        return self

    def asked_digest(self) -> bytes:
        """A short digest of what people and models are asked: all but what a norm of people adds."""
        return self.content_digest()

    def content_digest(self) -> bytes:
        """A short digest of the compared content."""
        return hashlib.blake2b(msgspec.json.encode(self.compared(), order="deterministic"), digest_size=16).digest()


def items_digest(contents: Mapping[str, bytes]) -> str:
    """One digest for items in any order, from the digest of each one's content by id."""
    lines = (name.encode() + b"\0" + contents[name] for name in sorted(contents))
    return hashlib.sha256(b"".join(lines)).hexdigest()[:32]


def asked_items(ids: Iterable[str]) -> int:
    """The number of items with these ids; one that is asked in several ways (`ID`, `ID@WAY`) counts once."""
    return max(Counter(name.partition("@")[2] for name in ids).values(), default=0)


def sample(
    read: Callable[[], Iterable[Item]], limit: int | None, seed: int, *, whole_clusters: bool = False
) -> Iterable[Item]:
    """The items, or those of `limit` ids drawn by a seeded order, in the order they came.

    With `whole_clusters` it is clusters that are counted and drawn, each with all its items.
    """
    if limit is None:
        return read()

    def name_of(item: Item) -> str:
        return item.cluster if whole_clusters and item.cluster else item.id

    def rank(name: str) -> bytes:
        return hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()

    drawn = set(heapq.nsmallest(limit, {name_of(item) for item in read()}, key=rank))
    return (item for item in read() if name_of(item) in drawn)


def order_of_play(count: int, seed: int) -> list[int]:
    """The numbers below `count` in a random order whose beginning, wherever it ends, is spread over all of them.

    Files list items by ability, kind or story, so every beginning has its share of each. The two halves of the list
    take turns, and so do the halves of each half; a coin says which begins. The list is first rotated by a random
    number of places, which gives every item the same chance of any place in the order.
    """
    lots = Random(f"order of items/{seed}")
    start = lots.randrange(count)

    def turns(numbers: list[int]) -> list[int]:
        if len(numbers) < 2:
            return numbers
        halves = [turns(numbers[: len(numbers) // 2]), turns(numbers[len(numbers) // 2 :])]
        if len(halves[0]) < len(halves[1]) or lots.random() < 0.5:
            halves.reverse()
        mixed = [0] * len(numbers)
        mixed[::2], mixed[1::2] = halves
        return mixed

    return turns([(start + place) % count for place in range(count)])


class Score(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Numbers derived from one outcome; `facets` say what they may be grouped by."""

    values: dict[str, float]
    facets: dict[str, str] = {}
    unreadable: int = 0
    """The number of questions without an answer, for any reason."""
    replies: dict[str, int] = {}
    """How many first replies had no answer, by kind, and the results of the second question (see `count_replies`)."""
    missing: dict[str, str] = {}
    """Values that another role (a judge) failed to give, with the role; they count as failed."""


ItemT = TypeVar("ItemT", bound=Item)
OutcomeT = TypeVar("OutcomeT", bound=Struct)


class Failure(Struct, frozen=True):
    """Why an episode has no outcome."""

    kind: str
    """A `FailureKind`, or a kind that only another version or package knows."""
    message: str


class Episode(Struct, Generic[ItemT, OutcomeT], frozen=True):
    """An item played once: an outcome and its score, or a failure."""

    item: ItemT  # The item as it was played; `item.id` is its name.
    repeat: int  # How often the item was played before, from 0.
    outcome: OutcomeT | None  # The typed result of the play; None if it failed.
    score: Score | None  # `values` has the numbers by name; None if it failed.
    failure: Failure | None  # Why there is no score: `kind` and `message`; else None.

    def __repr__(self) -> str:
        scores = self.score.values.items() if self.score else ()
        said = self.failure.kind if self.failure else ", ".join(f"{name} {value:g}" for name, value in scores)
        return f"<episode {self.item.id}, repeat {self.repeat}: {said or 'no score'}>"


def without_message(episode: Episode[ItemT, OutcomeT]) -> Episode[ItemT, OutcomeT]:
    """The episode with the kind of its failure only: a message may name servers, paths and people."""
    if episode.failure is None:
        return episode
    return structs.replace(episode, failure=structs.replace(episode.failure, message=""))


class SheetRow(Struct, frozen=True):
    """A row of a sheet for raters: its run, what identifies it there, and what raters see, as in the sheet's card."""

    run: str
    key: tuple[str, ...]
    shown: tuple[str, ...]


class PeopleLabel(Struct, frozen=True):
    """What a person said of one row of a sheet: the key of the row, and the answers by column."""

    rater: str
    key: tuple[str, ...]
    answers: dict[str, str]


class RunView(Struct, Generic[ItemT, OutcomeT], frozen=True):
    """One task of a run, as `summarise`, comparisons, figures and papers see it: its facts, episodes and summary.

    The episodes can be iterated several times. `Task.headline` gives the view of the part that is compared.
    """

    walk: Callable[[], Iterator[Episode[ItemT, OutcomeT]]]
    settings: Settings
    subject: str = ""
    """The subject in tables; where it has several runs, with what tells them apart."""
    roles: dict[str, str] = {}
    norm: Any = None
    """The value that the task gave when the run was made."""
    run: str = ""
    stand_ins: tuple[str, ...] = ()
    """The stand-ins: players that are not real models."""
    times: tuple[float, ...] = ()
    """The shares of the items after which a stopping rule looked; intervals must allow for them."""
    name: str = ""
    """The name of the subject alone."""
    task: str = ""
    card: Card = NO_CARD
    version: str = ""
    """The version of the instrument that made the run; empty means the version of the card."""
    created: str = ""
    status: str = "finished"
    why_ended: str = ""
    """Why it ended before all items were played; empty if it did not, or if nobody knows."""
    whose_items: WhoseItems = "bundled"
    form: Form = NO_FORM
    """What was asked."""
    as_in_paper: bool = False
    """Whether its scores are those of the first replies, as for items that were played as the paper's."""
    baseline: bool = False
    """Whether the subject is a baseline that reads nothing."""
    people: int = 0
    """How many people are the subject together; each is a repeat of the items they took."""
    summary: Summary = Summary(())
    """Its stored summary; empty in a view that was not asked for it."""
    note: str = ""
    """A caveat that must appear next to its numbers."""
    others: str = ""
    """What the instrument says of who plays the other roles, such as a simulator that nobody checked."""
    part: str = ""
    """Which part of the paper's items it has; empty if it has all, or other items."""
    failed: str = ""
    """Why the run has no number to compare; empty if it has one."""
    usual: dict[str, dict[str, float]] = {}
    """Score values whose mean has a bootstrap interval whatever their scale, each with people's means by item."""
    corrected: dict[str, Corrected] = {}
    """Measures that people's labels of a random part of the episodes correct."""
    labels: dict[str, tuple[PeopleLabel, ...]] = {}
    """What people said of its outcomes, by sheet; only the tables of a paper have it."""

    @property
    def model(self) -> str:
        """The name of the subject, whatever items and settings it was played with."""
        return self.roles.get(SUBJECT, self.name)

    @property
    def official(self) -> bool:
        """Whether the items are the paper's own."""
        return self.whose_items == "official"

    @property
    def item_set(self) -> str:
        """The items in words: “official items”, or “substitute items: …” with what replaces the paper's."""
        why = next((one.substitutes for one in self.card.task if one.name == self.task), "")
        told = why and self.whose_items in ("official", "own")
        return f"substitute items: {why}" if told else f"{self.whose_items} items"

    @property
    def made_by(self) -> str:
        """The version of the instrument that made the run."""
        return self.version or self.card.version

    def episodes(self) -> Iterator[Episode[ItemT, OutcomeT]]:
        """All episodes, including failures, in the order of items and repeats."""
        return self.walk()

    def scored(self) -> Iterator[tuple[ItemT, OutcomeT, Score]]:
        """The episodes that have a score."""
        for episode in self.walk():
            if episode.outcome is not None and episode.score is not None:
                yield episode.item, episode.outcome, episode.score

    def failures(self) -> dict[str, int]:
        """How many episodes failed, by kind."""
        return dict(Counter(episode.failure.kind for episode in self.walk() if episode.failure is not None))


AnyRun = RunView[Any, Any]
"""One task of a run, whatever its items are."""


PeopleValues = tuple[Mapping[str, Mapping[int, float]], Any]
"""Each person's value of each item, on the people's own norm, and the part of the norm that only the task reads."""


class Task(Struct, Generic[ItemT, OutcomeT], frozen=True):
    """Four functions; a task knows no engine, no store and no model.

    `items` streams the items to play (none if only a command plays the task, with its own items); a bad row
    is an error that names file and line. `play` is the conversation: the only function that asks
    models; it is deterministic given the replies and `session.rng`. `score` and `summarise`
    are pure: no model, no clock, no randomness.
    """

    name: str
    item_type: type[ItemT]
    outcome_type: type[OutcomeT]
    play: Callable[[ItemT, Session], Coroutine[Any, Any, OutcomeT]]
    score: Callable[[ItemT, OutcomeT], Score]
    summarise: Callable[[RunView[ItemT, OutcomeT]], Summary]
    items: Callable[[Source], Iterable[ItemT]] = lambda source: ()
    headline: Callable[[RunView[ItemT, OutcomeT]], RunView[ItemT, OutcomeT]] = lambda view: view
    """The part of the run that is compared with others: all of it, unless the run has several values per item."""
    first_replies: Callable[[OutcomeT], OutcomeT] | None = None
    """The outcome from the first replies only; None if later turns depend on the second question."""
    norm: Callable[[Source], Any] = lambda source: None
    """The human reference for these items as a JSON value, stored with the run."""
    fits: Callable[[Any, Iterable[Item], Mapping[str, str]], str] = lambda norm, items, roles: ""
    """Why the norm does not fit the chosen items and the models in the other roles; empty if it does."""
    of_people: Callable[[RunView[ItemT, OutcomeT], str], PeopleValues] | None = None
    """What makes a norm of a study, with its name and, as `sample`, whom it leaves out; None: people are as models."""


TASK = "recall"
OF_ANALYSES = frozenset({"picked"})
"""Facets that only analyses use: they are what the subject answered, and no groups of items."""
SERIES = "contamination"
"""The part of a summary's series with the verdict."""


class StoppingRule(Protocol):
    """Looks at a run after each block of items; the engine plays the next items unless it has a verdict."""

    def start(self, task: str, items: int) -> StoppingRecord:
        """The rule for a task of so many items, before anything is played."""

    def look(self, so_far: StoppingRecord, task: str, view: RunView[Any, Any]) -> StoppingRecord:
        """The rule after its next look, at the items of the blocks so far."""
