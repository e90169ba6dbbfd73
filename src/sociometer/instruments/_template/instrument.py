"""The instrument's table of contents."""

from pathlib import Path

from sociometer.core.instrument import Instrument
from sociometer.core.task import Task
from sociometer.instruments._template import figures, items, play, scoring
from sociometer.instruments._template.published import reproduce
from sociometer.reading import ChoiceAnswer

INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        # The test: a moment, a question about it, and four replies of which one fits.
        Task(
            "questions",
            items.Question,
            ChoiceAnswer,
            items=items.questions,
            play=play.ask_question,
            score=scoring.score,
            summarise=scoring.summarise,
            first_replies=ChoiceAnswer.first_replies,
        )
    ],
    figures=figures.figures,
    beside=figures.beside,
    reproduce=reproduce.rows,
)
