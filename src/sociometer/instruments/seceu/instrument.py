"""The instrument's table of contents."""

from pathlib import Path

from sociometer.core.task import Instrument, Task
from sociometer.instruments.seceu import authors_prompts, figures, items, paper, play, prompting, scoring
from sociometer.instruments.seceu.published import replicate, reproduce

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
            headline=prompting.headline_of,
            first_replies=play.Allocated.first_replies,
            norm=items.norm_for,
        ),
    ],
    figures=figures.figures,
    beside=figures.beside,
    paper=paper.paper,
    reproduce=reproduce.rows,
    authors_prompts=authors_prompts.authors_prompts,
    replications=replicate.replications,
)
