"""The instrument's table of contents."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.card import read_card
from sociometer.core.measure import Summary
from sociometer.core.source import Source
from sociometer.core.task import Headline, Instrument, RunView, Score, Session, Task
from sociometer.instruments.seceu import figures, items, play, scoring, ways
from sociometer.instruments.seceu.items import Scenario
from sociometer.instruments.seceu.play import Allocated
from sociometer.instruments.seceu.published import reproduce


class Feelings(Task[Scenario, Allocated]):
    """The only task: share ten points over four feelings."""

    name = "feelings"
    item_type = Scenario
    outcome_type = Allocated

    def items(self, source: Source) -> Iterable[Scenario]:
        return items.scenarios(source)

    async def play(self, item: Scenario, session: Session) -> Allocated:
        return await play.ask_points(item, session)

    def score(self, item: Scenario, outcome: Allocated) -> Score:
        return scoring.score(item, outcome)

    def summarise(self, run: RunView[Scenario, Allocated]) -> Summary:
        return scoring.summarise(run)

    def headline(self, run: RunView[Scenario, Allocated]) -> Headline[Scenario, Allocated]:
        return ways.stands_for(run)

    def norm(self, source: Source) -> Any:
        return msgspec.to_builtins(items.norm_for(source))


INSTRUMENT = Instrument(
    read_card(Path(__file__).with_name("card.toml")),
    [Feelings()],
    figures=figures.figures,
    beside=figures.beside,
    reproduce=reproduce.rows,
)
