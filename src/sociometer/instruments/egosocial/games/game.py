"""What a game is to the instrument: matches to play, a way to play one, and its score.

A game is a folder. Its `rules.py` has the state of a game in progress, `match.py` the items, the conversation and the
outcome, `scoring.py` the score and the summary.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.language import read_texts
from sociometer.core.measure import Measure, Summary
from sociometer.core.session import Session
from sociometer.core.source import Source
from sociometer.core.task import ItemT, OutcomeT, RunView, Score, Task
from sociometer.instruments import card_of
from sociometer.instruments._tables import Tables
from sociometer.statistics.measures import grouped_measures

NOTES: dict[str, str] = read_texts(Path(__file__).parents[1] / "notes.toml")
TABLES = Tables(Path(__file__).with_name("tables.toml"))
PlayedT = TypeVar("PlayedT", bound=Struct, covariant=True)


class IllegalMove(ValueError):
    """A move that the rules do not allow at this point."""


class Playing(Protocol[ItemT, PlayedT]):
    """The module `match` of a game."""

    def matches(self, source: Source) -> Iterator[ItemT]:
        """The matches of a run."""

    async def play_match(self, item: ItemT, session: Session) -> PlayedT:
        """Play one match to its end."""


class Scoring(Protocol[ItemT, OutcomeT]):
    """The module `scoring` of a game."""

    def score(self, item: ItemT, outcome: OutcomeT) -> Score:
        """The numbers of one match."""

    def summarise(self, run: RunView[ItemT, OutcomeT]) -> Summary:
        """The table of all matches."""


def game(
    name: str,
    item: type[ItemT],
    outcome: type[OutcomeT],
    match: Playing[ItemT, OutcomeT],
    scoring: Scoring[ItemT, OutcomeT],
) -> Task[ItemT, OutcomeT]:
    """The task of a game."""
    return Task(name, item, outcome, match.play_match, scoring.score, scoring.summarise, match.matches)


def card_measures(
    run: RunView[Any, Any], task: str, facet: str, *, not_shares: Sequence[str] = ()
) -> Iterator[tuple[MeasureCard, tuple[Measure, ...]]]:
    """Every measure of the card that is a mean over matches: overall, and for each level of a facet."""
    for card in card_of("egosocial").measures_of(task):
        if card.value:
            binary = False if card.unit == "number" or card.value in not_shares else None
            yield card, grouped_measures(run, card.value, card.name, by=[facet], binary=binary)
