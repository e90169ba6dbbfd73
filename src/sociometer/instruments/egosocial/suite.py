"""The paper's suite: runs in the layout of Tables 2 and 3, with the paper's people and models below them."""

from collections.abc import Sequence

from msgspec import Struct, field

from sociometer.core.measure import Cell, Measure, Table
from sociometer.core.task import SummarisedRun
from sociometer.instruments import card_of
from sociometer.instruments.egosocial.published.reproduce import published

PEOPLE = "Human"
OURS = "*"
"""The mark of a column whose items are ours, or that the paper does not have."""


class Column(Struct, frozen=True):
    """One column: the measure that fills it, and the column of the paper's table, if it has one."""

    title: str
    task: str
    measure: str
    printed: str = ""
    group: dict[str, str] = field(default_factory=dict)

    def found(self, runs: Sequence[SummarisedRun]) -> Measure | None:
        """The measure in one subject's runs, or None if the task was not played."""
        measures = (run.summary.measure(self.measure, **self.group) for run in runs if run.task == self.task)
        return next((measure for measure in measures if measure is not None), None)


_LEVELS = tuple(
    Column(f"numbers {level}", "numbers", "accuracy", f"numbers_level_{level}", {"opponent": f"level-{level}"})
    for level in (1, 2, 3)
)
_ABILITIES = tuple(
    Column(ability, "socialfirst", "first", f"tombench_{ability}", {"ability": ability})
    for ability in ("desire", "emotion", "intention")
)
THEORY_OF_MIND = (
    Column("ToMi third", "tomi", "third_official", "tomi_third"),
    Column("ToMi first", "tomi", "first_official", "tomi_first"),
    *_LEVELS,
    Column("hold'em", "holdem", "accuracy", "holdem"),
)
SOCIALIZATION = (
    Column(f"new world{OURS}", "newworld", "newworld", "newworld"),
    Column("counterfactual", "counterfactual-official", "counterfactual", "counterfactual"),
    Column("blackjack", "blackjack", "accuracy", "blackjack"),
    Column("ToMBench", "socialfirst", "first", "tombench"),
    *_ABILITIES,
    Column(f"ToMBench first{OURS}", "tombench", "first"),
    Column(f"ToMBench third{OURS}", "tombench", "third"),
)
PARTS = (
    ("table2", "Table 2, theory of mind", THEORY_OF_MIND),
    ("table3", "Table 3, socialization", SOCIALIZATION),
)
_NOTES = {
    "table2": "Percent right, as the paper prints it. ToMi with the official key. Our hold'em opponents and hands"
    " differ from the paper's.",
    "table3": "Percent right, as the paper prints it. ToMBench: the authors' 49 released items; the paper's three"
    " abilities follow. * new world: our stories, since the authors' were not released; ToMBench first: our"
    " conversions; ToMBench third: our addition. Blackjack is graded by rule; the paper graded by hand.",
}


def tables(runs: Sequence[SummarisedRun]) -> list[Table]:
    """Both tables, each with a row for every subject; none if only tasks outside the paper were played."""
    return [made for name, title, columns in PARTS if (made := _table(name, title, columns, runs)) is not None]


def _table(name: str, title: str, columns: Sequence[Column], runs: Sequence[SummarisedRun]) -> Table | None:
    tasks = {column.task for column in columns}
    subjects = list(dict.fromkeys(run.subject for run in runs if run.task in tasks))
    if not subjects:
        return None
    rows: list[tuple[Cell, ...]] = []
    for subject in subjects:
        mine = [run for run in runs if run.subject == subject]
        found = [column.found(mine) for column in columns]
        rows.append((subject, *(_percent(measure) for measure in found)))
        rows.append(("  items", *(None if measure is None else measure.items for measure in found)))
    printed = sorted(published(name), key=lambda row: row["model"] != PEOPLE)
    rows += [
        (
            f"{'people' if row['model'] == PEOPLE else row['model']} (paper)",
            *(_printed(row, column) for column in columns),
        )
        for row in printed
    ]
    missing = sorted(tasks - {run.task for run in runs})
    left = f" Not played: {', '.join(missing)}." if missing else ""
    heading = f"{card_of('egosocial').title.partition(':')[0]}, {title}"
    return Table(name, heading, ("model", *(column.title for column in columns)), tuple(rows), _NOTES[name] + left)


def _percent(measure: Measure | None) -> Cell:
    return None if measure is None or measure.value is None else f"{measure.value * 100:.1f}"


def _printed(row: dict[str, str], column: Column) -> Cell:
    return row[column.printed] if column.printed else None
