"""Scores of other tests, read from a table: scored items under a card that is stored with the run."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from sociometer.core.card import Card
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Summary
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score, Task
from sociometer.statistics.measures import grouped_measures

TASK = "items"


class ScoredItem(Item, frozen=True, kw_only=True, omit_defaults=True):
    """An item of another test; `text` is what version 0.3 stored of items in logs of other tools."""

    text: str = ""


class GivenScores(Struct, frozen=True, omit_defaults=True):
    """The scores that the table gives."""

    values: dict[str, float]


def scored_items(card: Card) -> Instrument:
    """The instrument of an imported benchmark: its runs can be summarised and compared, not played."""

    def summarise(run: RunView[ScoredItem, GivenScores]) -> Summary:
        measures = [
            grouped_measures(run, one.value, one.name, binary=None if one.unit == "share" else False)[0]
            for one in card.measure
        ]
        return Summary(tuple(measures), notes=(card.how,))

    task: Task[Any, Any] = Task(TASK, ScoredItem, GivenScores, play=_refuse, score=_score, summarise=summarise)
    return Instrument(Path(__file__).parent, [task], card=card)


async def _refuse(item: ScoredItem, session: Session) -> GivenScores:
    raise UsageError("an imported benchmark cannot be played here; run it with the tool that has it.")


def _score(item: ScoredItem, outcome: GivenScores) -> Score:
    return Score(values=outcome.values)
