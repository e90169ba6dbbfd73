"""The instrument's table of contents."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from sociometer.core.card import read_card
from sociometer.core.measure import Summary
from sociometer.core.source import Source
from sociometer.core.task import Instrument, RunView, Score, Session, Task
from sociometer.instruments.egosocial import building, figures, items, play, scoring
from sociometer.instruments.egosocial.games import players, tasks
from sociometer.instruments.egosocial.play import Picks
from sociometer.instruments.egosocial.published import reproduce
from sociometer.instruments.egosocial.scene import Scene
from sociometer.instruments.egosocial.tombench import convert
from sociometer.instruments.egosocial.tombench.convert import Conversion
from sociometer.instruments.egosocial.tombench.orders import Order


class Scenes(Task[Scene, Picks]):
    """A static scenario: scenes from one source, asked telling by telling, summarised its own way."""

    item_type = Scene
    outcome_type = Picks

    def __init__(
        self, name: str, scenes: Callable[[Source], Iterator[Scene]], summary: Callable[[scoring.Run], Summary]
    ) -> None:
        self.name = name
        self._scenes = scenes
        self._summary = summary

    def items(self, source: Source) -> Iterable[Scene]:
        return self._scenes(source)

    async def play(self, item: Scene, session: Session) -> Picks:
        return await play.ask_scene(item, session)

    def score(self, item: Scene, outcome: Picks) -> Score:
        return scoring.score(item, outcome)

    def summarise(self, run: RunView[Scene, Picks]) -> Summary:
        return self._summary(run)


class Convert(Task[Order, Conversion]):
    """ToMBench to the first person by a builder model; played by the command `build`."""

    name = "convert"
    item_type = Order
    outcome_type = Conversion

    def items(self, source: Source) -> Iterable[Order]:
        return building.orders_of(source)

    async def play(self, item: Order, session: Session) -> Conversion:
        return await convert.convert(item, session)

    def score(self, item: Order, outcome: Conversion) -> Score:
        return building.score(item, outcome)

    def summarise(self, run: RunView[Order, Conversion]) -> Summary:
        return building.summarise(run)


INSTRUMENT = Instrument(
    read_card(Path(__file__).with_name("card.toml")),
    [
        Scenes("generated", items.generated, scoring.summarise_generated),
        Scenes("counterfactual", items.counterfactual, scoring.summarise_twins),
        Scenes("newworld", items.newworld, scoring.summarise_world),
        Scenes("tomi", items.tomi, scoring.summarise_tomi),
        Scenes("tombench", items.tombench, scoring.summarise_tombench),
        Scenes("counterfactual-official", items.counterfactual_official, scoring.summarise_official),
        Convert(),
        tasks.Blackjack(),
        tasks.Numbers(),
        tasks.Holdem(),
    ],
    players={players.NAME: players.SteadyOpponent},
    figures=figures.figures,
    beside=figures.beside,
    reproduce=reproduce.rows,
)
