"""The paper's tables and figures, filled from runs for `sociometer paper`."""

from collections.abc import Sequence

from msgspec import Struct, field, structs

from sociometer.core.measure import Measure, Summary
from sociometer.core.paper import (
    NOT_THE_PAPERS,
    Estimate,
    PaperColumn,
    PaperInput,
    PaperPart,
    PaperRow,
    PaperTable,
    estimate,
    illustration,
    printed,
    remarks_on,
)
from sociometer.core.task import AnyRun
from sociometer.core.words import counted, grouped
from sociometer.instruments.egosocial.games.numbers.figures import number_figures
from sociometer.instruments.egosocial.published.reproduce import published
from sociometer.statistics.agreement import majorities
from sociometer.statistics.measures import Observation, mean_measure

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

    def found(self, runs: Sequence[AnyRun]) -> Measure | None:
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
_BLACKJACK = Column("blackjack", "blackjack", "accuracy", "blackjack")
SOCIALIZATION = (
    Column("new world", "newworld", "newworld", "newworld"),
    Column("counterfactual", "counterfactual-official", "counterfactual", "counterfactual"),
    _BLACKJACK,
    Column("ToMBench", "socialfirst", "first", "tombench"),
    *_ABILITIES,
    Column(f"ToMBench first{OURS}", "tombench", "first"),
    Column(f"ToMBench third{OURS}", "tombench", "third"),
)
PARTS = (
    ("table2", "Table 2, theory of mind", THEORY_OF_MIND),
    ("table3", "Table 3, socialization", SOCIALIZATION),
)
NOTES = {
    "table2": "Percent right, as the paper prints it. ToMi with the official key. Our hold'em opponents and hands"
    " differ from the paper's.",
    "table3": "Percent right, as the paper prints it. ToMBench: the authors' 49 released items; the paper's three"
    " abilities follow. New world: a file of ToMBench that the paper does not name (see the README). * ToMBench first:"
    " our conversions; ToMBench third: our addition."
    " Blackjack: fields, checked by the exact odds; the paper graded sentences by hand.",
}


_PLACES = {
    "tomi": ("ToMI", {"third_official": "Third-person", "first_official": "First-person"}),
    "numbers": ("Number Guessing", {}),
    "socialfirst": ("ToMBench", {}),
}
_TITLES = {"holdem": "Texas Hold'em", "newworld": "New World", "counterfactual-official": "Counterfact"}
_TITLES |= {"blackjack": "Blackjack"}
_KINDS = {"open": "Open-source Models", "api": "API-based Models", "people": "Human"}
_OURS = {
    "holdem": "opponents and hands are ours, because the authors' were not released",
    "newworld": "a file of ToMBench that we chose; the paper's items were not released",
}
"""Columns of the paper whose items are ours in every run; they have a star in every file."""
_ASKED = {"tomi": ("ToMI", "first_official", 231), "counterfactual-official": ("Counterfact", "counterfactual", 100)}
"""Columns for which the paper asked another number of questions than the released files have."""
_DIFFERENT = {
    "newworld": "a file of ToMBench that the paper does not name, identified by its example, its 30 items and the"
    " multiples of 1/30 in the column",
    "blackjack": "beliefs are graded by a judge or by people; the paper graded them by hand",
}


def paper(given: PaperInput) -> Sequence[PaperPart]:
    """Every table and figure of the paper that has numbers."""
    return [
        illustration("Fig. 1", "EgoSocialArena at a glance"),
        illustration("Fig. 2", "Converting third-person stories"),
        illustration("Fig. 3", "Examples of the scenarios"),
        PaperPart(
            label="Table 1",
            title="Comparison of EgoSocialArena with existing ToM benchmarks",
            missing="It compares benchmarks, not models; no run changes it. 'sociometer paper reproduce egosocial'"
            " counts the data volumes that can be counted.",
        ),
        _table(given, "Table 2", "table2", "Theory of mind from the first-person perspective", THEORY_OF_MIND),
        _table(given, "Table 3", "table3", "Socialization from the first-person perspective",
               tuple(column for column in SOCIALIZATION if column.printed)),
        _beliefs(given),
        illustration("Fig. 5", "An example of limit Texas hold'em"),
    ]  # fmt: skip


def _table(given: PaperInput, label: str, name: str, title: str, columns: Sequence[Column]) -> PaperPart:
    """Tables 2 and 3: one row for each subject, the paper's columns."""
    runs = list(given.runs)
    tasks = {column.task for column in columns}
    subjects = grouped((run.name, run) for run in runs if run.task in tasks)
    rows = [
        PaperRow(
            (subject, *(_cell(mine, column) for column in columns)),
            given.facts(mine[0]).get("kind", ""),
            tuple(dict.fromkeys(remark for run in mine for remark in _remarks(run))),
            why_empty=_why_empty(mine, columns),
        )
        for subject, mine in subjects.items()
    ]
    for row in published(name):
        who = "Human Performance" if row["model"] == PEOPLE else row["model"]
        kind = _KINDS.get(row["kind"], row["kind"])
        rows.append(printed(who, *(Estimate(float(row[column.printed])) for column in columns), section=kind))
    lacking = sorted(tasks - {run.task for run in runs})
    remarks = [f"{_heading(column)[1]}: {_DIFFERENT[column.task]}" for column in columns if column.task in _DIFFERENT]
    return PaperPart(
        label=label,
        title=title,
        how="Percent of right answers on the official items, with intervals clustered by story or match. ToMi uses the"
        f" official key. {'; '.join(remarks)}. The paper's colours for the best and second-best are left out.",
        missing=f"Not played: {', '.join(lacking)}. Run 'sociometer run egosocial --official' with these tasks."
        if lacking
        else "",
        table=PaperTable((PaperColumn("Methods"), *(_column(column) for column in columns)), tuple(rows)),
    )


def _heading(column: Column) -> tuple[str, str]:
    """The heading over a column in the paper, and its own."""
    group, names = _PLACES.get(column.task, ("", {}))
    if column.task == "numbers":
        return group, f"Level {column.title.rpartition(' ')[2]}"
    if column.task == "socialfirst":
        return group, column.group.get("ability", "All").capitalize()
    return group, names.get(column.measure, _TITLES.get(column.task, column.title))


def _column(column: Column) -> PaperColumn:
    group, title = _heading(column)
    return PaperColumn(title + OURS * (column.task in _OURS), group, 1)


def _cell(runs: Sequence[AnyRun], column: Column) -> Estimate:
    mine = [run for run in runs if run.task == column.task]
    if column.task == "blackjack":  # people's grades before a judge's
        mine = [
            structs.replace(run, summary=Summary((found,))) for run in mine if (found := _graded(run)[0]).items
        ] or mine
    cells = [estimate(run, column.measure, scale=100, **column.group) for run in mine]
    return next((cell for cell in cells if cell.value is not None), Estimate(None))


def _graded(run: AnyRun) -> tuple[Measure, int, int]:
    """Both beliefs right at the first decision, as most people say; how many people graded, and hands without grade."""
    labels = run.labels.get("beliefs", ())
    own, other = (majorities(labels, f"{belief}_right") for belief in ("self", "external"))
    hands = {label.key for label in labels if label.key[2] == "1"}
    rows = [
        Observation(key[0], key[0], float(own[key] == other[key] == "y"), {})
        for key in sorted(hands & own.keys() & other.keys())
    ]
    return mean_measure("accuracy", rows, binary=True), len({label.rater for label in labels}), len(hands) - len(rows)


def _why_empty(runs: Sequence[AnyRun], columns: Sequence[Column]) -> str:
    """Why cells of a row are empty."""
    played = {run.task: run.run for run in runs}
    absent = dict.fromkeys(_TITLES.get(one.task, _heading(one)[0]) for one in columns if one.task not in played)
    said = [f"not played: {', '.join(absent)}"] if absent else []
    if "blackjack" in played and _BLACKJACK in columns and _cell(runs, _BLACKJACK).value is None:
        grade = f"run 'sociometer egosocial grade {played['blackjack']}'"
        said.append(f"Blackjack: neither people nor a judge graded the beliefs; {grade}")
    return "; ".join(said)


def _remarks(run: AnyRun) -> tuple[str, ...]:
    """The remarks on a run, with its task if its items are not the paper's."""
    said = [f"{run.task}: {remark}" if remark == NOT_THE_PAPERS else remark for remark in remarks_on(run)]
    said += [f"{_TITLES[run.task]}{OURS}: {_OURS[run.task]}"] if run.task in _OURS else []
    if run.task == "blackjack":
        found, people, tied = _graded(run)
        if found.items:
            graders = counted(people, "person", "people")
            said.append(f"Blackjack: {found.items} hands graded by {graders}; {tied} have no majority")
        elif "judge" in run.roles:
            said.append(f"Blackjack: graded by a judge ({run.roles['judge']})")
    title, measure, asked = _ASKED.get(run.task, ("", "", 0))
    if asked and (played := run.summary.measure(measure)) is not None and played.items != asked:
        said.append(f"{title}: {played.items:,} questions; the paper asked {asked}")
    return tuple(said)


def _beliefs(given: PaperInput) -> PaperPart:
    """Fig. 4: the numbers that a model expects of the level-2 opponent, round by round."""
    runs = given.of_task("numbers")
    drawn = [figure for figure in number_figures(runs) if figure.name == "beliefs-level-2"]
    return PaperPart(
        label="Fig. 4",
        title="Number Guessing Level 2: the numbers that models expect, by round",
        how="One line for each match; the paper shows two matches of GPT-4-Turbo.",
        missing=""
        if drawn
        else "No number guessing against the level-2 opponent was played: 'sociometer run egosocial --task numbers"
        " --opponents level-2'.",
        figures=tuple(drawn),
    )
