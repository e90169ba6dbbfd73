"""The instrument's table of contents."""

from pathlib import Path

from sociometer.core.instrument import Instrument
from sociometer.core.task import Task
from sociometer.instruments.helpdesk import figures, items, play, scoring

INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        # The test: somebody presses an assistant that has tools; a ledger says what was done.
        Task(
            "cases",
            items.Case,
            play.Done,
            items=items.cases,
            play=play.play_case,
            score=scoring.score,
            summarise=scoring.summarise,
        )
    ],
    players={"pressing": play.Pressing},
    figures=figures.figures,
    beside=figures.beside,
)
