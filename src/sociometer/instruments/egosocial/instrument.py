"""The instrument's table of contents."""

from collections.abc import Callable, Iterable
from pathlib import Path

from sociometer.core.measure import Summary
from sociometer.core.source import Source
from sociometer.core.task import Instrument, Task
from sociometer.instruments.egosocial import build, figures, items, play, scoring
from sociometer.instruments.egosocial.games import players
from sociometer.instruments.egosocial.games.tasks import BLACKJACK, HOLDEM, NUMBERS
from sociometer.instruments.egosocial.play import Picks
from sociometer.instruments.egosocial.published import reproduce
from sociometer.instruments.egosocial.scene import Scene
from sociometer.instruments.egosocial.tombench import convert
from sociometer.instruments.egosocial.tombench.convert import Conversion
from sociometer.instruments.egosocial.tombench.orders import Order


def scenes(
    name: str, source: Callable[[Source], Iterable[Scene]], summarise: Callable[[scoring.Run], Summary]
) -> Task[Scene, Picks]:
    """A static scenario: scenes from one source, each told and asked in turn, with a summary of its own."""
    return Task(name, Scene, Picks, items=source, play=play.ask_scene, score=scoring.score, summarise=summarise)


CONVERT = Task(
    "convert",
    Order,
    Conversion,
    items=build.orders_of,
    play=convert.convert,
    score=build.score,
    summarise=build.summarise,
)

INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        scenes("generated", items.generated, scoring.summarise_generated),
        scenes("counterfactual", items.counterfactual, scoring.summarise_twins),
        scenes("newworld", items.newworld, scoring.summarise_world),
        scenes("tomi", items.tomi, scoring.summarise_tomi),
        scenes("tombench", items.tombench, scoring.summarise_tombench),
        scenes("counterfactual-official", items.counterfactual_official, scoring.summarise_official),
        CONVERT,
        BLACKJACK,
        NUMBERS,
        HOLDEM,
    ],
    players={players.NAME: players.SteadyOpponent},
    figures=figures.figures,
    beside=figures.beside,
    reproduce=reproduce.rows,
)
