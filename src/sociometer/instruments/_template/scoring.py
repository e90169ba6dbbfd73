"""Outcome -> score -> summary; pure."""

from sociometer.analysis.measures import grouped_measures
from sociometer.core.measure import Summary
from sociometer.core.task import RunView, Score
from sociometer.instruments._template.items import Question
from sociometer.instruments._template.play import Answer


def score(item: Question, outcome: Answer) -> Score:
    """Right or wrong; an unreadable answer is wrong and counted."""
    return Score(
        values={"correct": float(outcome.picked == item.answer)},
        facets={"topic": item.topic},
        unreadable=int(outcome.picked is None),
    )


def summarise(run: RunView[Question, Answer]) -> Summary:
    """Accuracy overall and by topic."""
    return Summary(grouped_measures(run, "correct", "accuracy", by=["topic"]))
