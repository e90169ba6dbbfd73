"""Summary -> figures and tables, as a paper would show them."""

from collections.abc import Sequence

from sociometer.core.measure import Figure, Table
from sociometer.core.task import AnyRun
from sociometer.instruments._template.items import Question
from sociometer.reading import ChoiceAnswer


def figures(runs: Sequence[AnyRun]) -> Sequence[Figure]:
    """One table: accuracy by subject and topic."""
    measures = [(run.subject, measure) for run in runs for measure in run.summary.measures]
    rows = tuple((subject, measure.group.get("topic", "all"), measure.value) for subject, measure in measures)
    table = Table("accuracy", "Accuracy by topic", ("subject", "topic", "accuracy"), rows)
    return (Figure("accuracy", table.title, table=table),)


def beside(item: object, outcome: object) -> Figure | None:
    """The options, with the one that was picked and the right one; nothing for the items of other tasks."""
    if not isinstance(item, Question) or not isinstance(outcome, ChoiceAnswer):
        return None
    rows = tuple((option, index == outcome.picked, index == item.answer) for index, option in enumerate(item.options))
    return Figure("options", "Options", table=Table("options", "Options", ("option", "picked", "right"), rows))
