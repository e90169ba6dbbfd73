"""The instrument's table of contents."""

from pathlib import Path

from sociometer.core.instrument import Instrument
from sociometer.core.task import Task
from sociometer.instruments._recall import RECALL
from sociometer.instruments.sesi import errors, figures, items, paper, play, scoring
from sociometer.instruments.sesi.build import draft, posts
from sociometer.instruments.sesi.published import reproduce
from sociometer.reading import ChoiceAnswer

QUESTIONS = Task(
    "questions",
    items.Question,
    ChoiceAnswer,
    items=items.questions,
    play=play.ask_question,
    score=scoring.score,
    summarise=scoring.summarise,
    first_replies=ChoiceAnswer.first_replies,
)

INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        # The test: a situation, a question and four options, under the control or a condition of a probe.
        QUESTIONS,
        # Does the subject know public items by heart? Played by 'contamination'.
        RECALL,
        # A judge names the cause of each wrong answer in stored runs.
        Task(
            "errors",
            errors.WrongAnswer,
            errors.Verdict,
            play=errors.ask_judge,
            score=errors.score,
            summarise=errors.summarise,
        ),
        # A builder turns a post and its top comments into a question with candidates for its options.
        Task(
            "construction",
            posts.Post,
            draft.Draft,
            items=posts.demo_posts,
            play=draft.draft,
            score=draft.score,
            summarise=draft.summarise,
        ),
    ],
    figures=figures.figures,
    beside=figures.beside,
    paper=paper.paper,
    reproduce=reproduce.rows,
    authors_prompts=play.authors_prompts,
    replications=reproduce.replications,
)
