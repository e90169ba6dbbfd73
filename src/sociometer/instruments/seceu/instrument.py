"""The instrument's table of contents."""

from pathlib import Path

from sociometer.core.instrument import Instrument
from sociometer.core.task import Task
from sociometer.instruments._recall import RECALL
from sociometer.instruments.seceu import figures, items, norm, norming, paper, play, prompting, scoring
from sociometer.instruments.seceu.published import reproduce

FEELINGS = Task(
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
    fits=norm.misfit,
    of_people=norming.of_people,
)

INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        # The test: ten points shared out over four feelings.
        FEELINGS,
        # Does the subject know public stories by heart? Played by 'contamination'.
        RECALL,
    ],
    figures=figures.figures,
    beside=figures.beside,
    paper=paper.paper,
    reproduce=reproduce.rows,
    authors_prompts=play.authors_prompts,
    replications=reproduce.replications,
    caveat=scoring.unread_caveat,
)
