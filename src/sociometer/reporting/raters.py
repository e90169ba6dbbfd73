"""Tables about raters: their labels, how far they agree, and a judge compared with them."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from sociometer.core.measure import Cell, Table
from sociometer.core.words import grouped
from sociometer.results.corrected import JudgeAndPeople
from sociometer.statistics.agreement import alpha_of, settled
from sociometer.statistics.formatting import estimate, interval_text, number
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.store.labels import Label, LabelQuestion, LabelSheet, Unit

_MOST_SHOWN = 50
_SHARE = "share"


def rater_tables(sheet: LabelSheet, units: Mapping[str, Unit], labels: Sequence[Label]) -> list[Table]:
    """What raters said of a sheet: how many rows each labelled, the answers, the agreement, and what is not settled."""
    known = [label for label in labels if label.unit in units]
    tables = [
        _raters(units, known),
        _answers(sheet, units, known),
        _agreement(sheet, [label for label in known if not label.settles]),
        _not_settled(sheet, known),
    ]
    return [table for table in tables if table.rows]


def _said(question: LabelQuestion, labels: Sequence[Label]) -> dict[str, list[Label]]:
    """The labels of each unit that answer a question."""
    return grouped((label.unit, label) for label in labels if question.column in label.answers)


def _raters(units: Mapping[str, Unit], labels: Sequence[Label]) -> Table:
    by_rater = grouped((label.rater, label) for label in labels)
    rows = tuple((rater, len(by_rater[rater]), len(units)) for rater in sorted(by_rater))
    return Table("raters", "Raters", ("rater", "labelled", "rows"), rows)


def _answers(sheet: LabelSheet, units: Mapping[str, Unit], labels: Sequence[Label]) -> Table:
    """The share of the labelled units that each answer settles, and of units with several labels that are all alike."""
    rows: list[tuple[Cell, ...]] = []
    for question in sheet.asked:
        if not question.values:
            continue
        said = {
            unit: [label.answers[question.column] for label in given] for unit, given in _said(question, labels).items()
        }
        shares = {
            answer: {unit: settled(given) == answer for unit, given in said.items()} for answer in question.values
        }
        shares["all raters agree"] = {unit: len(set(given)) == 1 for unit, given in said.items() if len(given) > 1}
        for answer, holds in shares.items():
            if not holds:
                continue
            # Units that share the first part of their key, such as the parts of one tree, are not independent.
            clusters = [next(iter(units[unit].key.values())) for unit in holds]
            interval = clustered_mean_interval([float(one) for one in holds.values()], clusters)
            share = fmean(holds.values())
            rows.append((question.column, answer, len(holds), share, interval_text(interval, _SHARE)))
    columns = ("question", "answer", "rows", "share", "95 % interval")
    return Table("answers", "Answers", columns, tuple(rows), units={"share": _SHARE})


def _agreement(sheet: LabelSheet, labels: Sequence[Label]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for question in sheet.asked:
        answered = [label for label in labels if question.column in label.answers]
        ratings: dict[str, dict[str, str]] = {}
        for label in answered:
            ratings.setdefault(label.rater, {})[label.unit] = label.answers[question.column]
        try:
            alpha = alpha_of(ratings, question.values, "nominal" if question.values else "interval")
        except ValueError:
            continue
        # All labels the same: there is no expected disagreement, and no coefficient.
        value = None if alpha.value != alpha.value else round(alpha.value, 3)
        interval = interval_text(alpha.interval, "number", digits=2)
        rows.append((question.column, alpha.coefficient, value, interval, alpha.units))
    columns = ("question", "coefficient", "value", "95 % interval", "rows")
    return Table("agreement", "Agreement", columns, tuple(rows))


def _not_settled(sheet: LabelSheet, labels: Sequence[Label]) -> Table:
    """The units without an answer of more than half of their raters, and what each rater said."""
    rows: list[tuple[Cell, ...]] = []
    decided = {label.unit for label in labels if label.settles}
    for question in sheet.asked:
        if not question.values:
            continue
        for unit, given in _said(question, labels).items():
            answers = [label.answers[question.column] for label in given]
            if unit not in decided and len(answers) > 1 and settled(answers) is None:
                said = [f"{label.rater}: {label.answers[question.column]}" for label in given]
                rows.append((unit, question.column, ", ".join(said)))
    note = f"{len(rows) - _MOST_SHOWN} more are not shown." if len(rows) > _MOST_SHOWN else ""
    return Table("disagreements", "Not settled", ("row", "question", "labels"), tuple(rows[:_MOST_SHOWN]), note)


def judge_tables(found: JudgeAndPeople) -> list[Table]:
    """A measure according to the judge and to people, and the episodes on which they differ most."""
    unit, corrected = found.measure.unit, found.corrected
    facts: list[tuple[str, str]] = [("labels", str(found.labels))]
    if corrected is not None:
        facts += [
            ("judge", number(corrected.judge, unit)),
            ("corrected by people", estimate(corrected.value, unit, corrected.interval)),
            ("bias of the judge", estimate(corrected.bias, unit, corrected.bias_interval)),
        ]
    apart = tuple((one.episode, number(one.judge, unit), number(one.people, unit)) for one in found.apart[:_MOST_SHOWN])
    return [
        Table("judge", f"Judge and people: {found.measure.title}", ("what", "value"), tuple(facts)),
        Table("apart", "Judge and people differ", ("episode", "judge", "people"), apart),
    ]
