"""The instrument's table of contents."""

from pathlib import Path

from sociometer.core.instrument import Instrument
from sociometer.core.task import Task
from sociometer.instruments.seceu import figures, items, method_result, paper, play, scoring
from sociometer.instruments.seceu.published import reproduce

INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        # The test: ten points shared out over four feelings.
        Task(
            "feelings",
            items.Scenario,
            play.Allocated,
            items=items.scenarios,
            play=play.ask_points,
            score=scoring.score,
            summarise=scoring.summarise,
            headline=method_result.headline_of,
            first_replies=play.Allocated.first_replies,
            norm=items.norm_for,
        ),
    ],
    figures=figures.figures,
    beside=figures.beside,
    paper=paper.paper,
    reproduce=reproduce.rows,
    authors_prompts=play.authors_prompts,
    replications=reproduce.replications,
)
