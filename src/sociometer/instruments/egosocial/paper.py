"""The paper's tables and figures, filled from runs for `sociometer paper`."""

from collections.abc import Sequence

from sociometer.core.paper import (
    NOT_THE_PAPERS,
    Estimate,
    PaperCell,
    PaperColumn,
    PaperInput,
    PaperPart,
    PaperRow,
    PaperRun,
    PaperTable,
    illustration,
    printed,
)
from sociometer.instruments.egosocial.games.figures import figures as game_figures
from sociometer.instruments.egosocial.published.reproduce import published
from sociometer.instruments.egosocial.suite import PEOPLE, SOCIALIZATION, THEORY_OF_MIND, Column

_PLACES = {
    "tomi": ("ToMI", {"third_official": "Third-person", "first_official": "First-person"}),
    "numbers": ("Number Guessing", {}),
    "socialfirst": ("ToMBench", {}),
}
_TITLES = {"holdem": "Texas Hold'em", "newworld": "New World", "counterfactual-official": "Counterfact"}
_TITLES |= {"blackjack": "Blackjack"}
_KINDS = {"open": "Open-source Models", "api": "API-based Models", "people": "Human"}
_OURS = {
    "newworld": "the stories are ours, since the authors' were not released",
    "holdem": "opponents and hands are ours",
    "blackjack": "graded by rule; the paper graded by hand",
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
            missing="It compares benchmarks, not models; no run changes it. 'sociometer reproduce egosocial' counts the"
            " data volumes that can be counted.",
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
    subjects: dict[str, list[PaperRun]] = {}
    tasks = {column.task for column in columns}
    for run in runs:
        if run.task in tasks:
            subjects.setdefault(run.view.subject, []).append(run)
    rows = [
        PaperRow(
            (subject, *(_cell(mine, column) for column in columns)),
            given.facts(mine[0]).get("kind", ""),
            tuple(dict.fromkeys(remark for run in mine for remark in _remarks(run))),
        )
        for subject, mine in subjects.items()
    ]
    for row in published(name):
        who = "Human Performance" if row["model"] == PEOPLE else row["model"]
        kind = _KINDS.get(row["kind"], row["kind"])
        rows.append(printed(who, *(Estimate(float(row[column.printed])) for column in columns), section=kind))
    lacking = sorted(tasks - {run.task for run in runs})
    ours = [
        f"{_heading(column)[1] or column.title}: {_OURS[column.task]}" for column in columns if column.task in _OURS
    ]
    return PaperPart(
        label=label,
        title=title,
        how="Percent of right answers on the official items, with intervals clustered by story or match. ToMi uses the"
        f" official key. {'; '.join(ours)}. The paper's colours for the best and second-best are left out.",
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
    return PaperColumn(title, group, 1)


def _cell(runs: Sequence[PaperRun], column: Column) -> PaperCell:
    found = [run for run in runs if run.task == column.task and run.measure(column.measure, **column.group)]
    return found[0].estimate(column.measure, scale=100, **column.group) if found else None


def _remarks(run: PaperRun) -> tuple[str, ...]:
    """The remarks on a run, with its task if its items are not the paper's."""
    return tuple(
        f"{run.task}: {remark}" if remark == NOT_THE_PAPERS else remark for remark in run.remarks
    )  # fmt: skip


def _beliefs(given: PaperInput) -> PaperPart:
    """Fig. 4: the numbers that a model expects of the level-2 opponent, round by round."""
    runs = given.of_task("numbers")
    drawn = [figure for figure in game_figures([run.summarised for run in runs]) if figure.name == "beliefs-level-2"]
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
