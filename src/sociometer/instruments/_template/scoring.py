"""Outcome -> score -> summary; pure."""

from sociometer.core.measure import Summary
from sociometer.core.task import RunView, Score
from sociometer.instruments._template.items import Question
from sociometer.reading import ChoiceAnswer, score_choice
from sociometer.statistics.measures import grouped_measures


def score(item: Question, outcome: ChoiceAnswer) -> Score:
    """Right or wrong; an unreadable answer is wrong and counted."""
    return score_choice(outcome, item.answer, topic=item.topic)


def summarise(run: RunView[Question, ChoiceAnswer]) -> Summary:
    """Accuracy overall and by topic."""
    return Summary(grouped_measures(run, "correct", "accuracy", by=["topic"]))
