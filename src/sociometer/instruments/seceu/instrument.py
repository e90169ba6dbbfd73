"""The instrument's table of contents."""

from pathlib import Path

from sociometer.core.task import Instrument, Task
from sociometer.instruments.seceu import figures, items, play, scoring, ways
from sociometer.instruments.seceu.published import reproduce

INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        Task(
            "feelings",
            items.Scenario,
            play.Allocated,
            items=items.scenarios,
            play=play.ask_points,
            score=scoring.score,
            summarise=scoring.summarise,
            headline=ways.stands_for,
            norm=items.norm_for,
        ),
    ],
    figures=figures.figures,
    beside=figures.beside,
    reproduce=reproduce.rows,
)
