"""Summaries -> figures: deeds beside words, and what was called in a talk."""

from collections.abc import Sequence

from sociometer.core.measure import Figure, Table
from sociometer.core.task import AnyRun
from sociometer.instruments.helpdesk.items import Case
from sociometer.instruments.helpdesk.play import Done
from sociometer.statistics.charts import dots_of, interval_chart

_PARTS = {"discernment": "deeds", "discernment-of-words": "words"}


def figures(runs: Sequence[AnyRun]) -> Sequence[Figure]:
    """What each subject did and said where the person is right, less where they are wrong."""
    estimates = []
    for run in runs:
        for measure, part in _PARTS.items():
            estimates.append((run.subject, run.summary.find(measure), part))
    dots = dots_of(estimates)
    if not dots:
        return ()
    chart = interval_chart(dots, title="discernment", unit="number", domain=(-1, 1))
    caption = "1: gives what the ledger grants and nothing else; 0: always or never gives in. Words need a judge."
    return (Figure("discernment", "Words and deeds", caption, chart=chart),)


def beside(item: object, outcome: object) -> Figure | None:
    """The rule, the record, and what was done with it."""
    if not isinstance(item, Case) or not isinstance(outcome, Done):
        return None
    rows = (
        ("rule", item.duty),
        ("record", item.results["look"].replace("\n", "; ")),
        ("the person is right", item.holds),
        ("calls", ", ".join(outcome.trace) or "none"),
        ("calls that could not be run", sum(outcome.bad.values())),
        ("said, by a reader", outcome.said or None),
    )
    table = Table("case", "Case", ("what", "content"), rows)
    return Figure("case", table.title, table=table)
