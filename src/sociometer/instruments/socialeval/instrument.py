"""The instrument's table of contents."""

from functools import partial
from pathlib import Path

from sociometer.core.instrument import Instrument
from sociometer.core.task import Task
from sociometer.instruments.socialeval import figures, items, paper, play, scoring
from sociometer.instruments.socialeval.inside import task as inside
from sociometer.instruments.socialeval.inside.view import InsideView
from sociometer.instruments.socialeval.published import reproduce
from sociometer.reading import ChoiceAnswer, most_votes

INSTRUMENT = Instrument(
    Path(__file__).parent,
    [
        # Goal achievement: the subject plays the protagonist of a world tree to its end.
        Task(
            "goals",
            items.TreeItem,
            play.Walk,
            items=items.tree_items,
            play=play.walk,
            score=scoring.score_walk,
            summarise=scoring.summarise_walks,
        ),
        # Interpersonal ability: which utterance shows it here?
        Task(
            "abilities",
            items.AbilityQuestion,
            ChoiceAnswer,
            items=items.ability_questions,
            play=play.answer,
            score=scoring.score_answer,
            summarise=scoring.summarise_answers,
            first_replies=partial(ChoiceAnswer.first_replies, decide=most_votes),
        ),
        # Whether multiple choice reflects generation: the subject speaks first, then chooses.
        Task(
            "utterances",
            items.Crossroads,
            play.Utterance,
            items=items.crossroads,
            play=play.speak,
            score=scoring.score_utterance,
            summarise=scoring.summarise_utterances,
            first_replies=play.Utterance.first_replies,
        ),
        # What the command `inside` saw in open weights.
        Task(
            "inside",
            inside.LookedAt,
            InsideView,
            play=inside.look,
            score=inside.score_view,
            summarise=inside.summarise_views,
        ),
    ],
    figures=figures.figures,
    beside=figures.beside,
    paper=paper.paper,
    reproduce=reproduce.rows,
    authors_prompts=play.authors_prompts,
    replications=reproduce.replications,
)
