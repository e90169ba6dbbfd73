"""The paper's tables and figures, filled from runs for `sociometer paper`."""

from collections.abc import Container, Iterator, Sequence

from msgspec import Struct, structs

from sociometer.core.hints import hint
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
    printed,
    remarks_on,
    unread_replies,
)
from sociometer.core.sheets import read_records
from sociometer.core.task import AnyRun
from sociometer.core.words import counted, grouped
from sociometer.instruments import card_of
from sociometer.instruments._paper import PaperParts
from sociometer.instruments.egosocial.games.numbers.figures import number_figures
from sociometer.instruments.egosocial.published.reproduce import HERE, published
from sociometer.statistics.agreement import majorities
from sociometer.statistics.measures import Observation, mean_measure

PAPER = PaperParts(HERE.parent)
PEOPLE = "Human"
OURS = "*"
"""The mark of a column whose items are ours, or that the paper does not have."""


class Column(Struct, frozen=True):
    """One column of the paper's tables (`published/columns.csv`): the measure that fills it, and its places there.

    `printed` is its name in the file of the table, `over` and `heading` are its headings. `different` says what
    differs from the paper besides `ours`, and `remark` what the row of every run says, as with how many questions.
    """

    table: str
    title: str
    task: str
    measure: str
    printed: str = ""
    facet: str = ""
    level: str = ""
    over: str = ""
    heading: str = ""
    different: str = ""
    remark: str = ""

    @property
    def group(self) -> dict[str, str]:
        """The group of the measure."""
        return {self.facet: self.level} if self.facet else {}

    @property
    def ours(self) -> str:
        """What replaces the paper's items in every run; the column then has a star in every file."""
        return card_of("egosocial").task_card(self.task).substitutes

    @property
    def head(self) -> PaperColumn:
        """Its headings."""
        return PaperColumn(self.heading + OURS * bool(self.ours), self.over, 1)

    @property
    def name(self) -> str:
        """The name of its task in the paper."""
        return self.over or self.heading

    def found(self, runs: Sequence[AnyRun]) -> Measure | None:
        """The measure in one subject's runs, or None if the task was not played."""
        measures = (run.summary.find(self.measure, **self.group) for run in runs if run.task == self.task)
        return next((measure for measure in measures if measure is not None), None)


COLUMNS = read_records(HERE / "columns.csv", Column)
PARTS = {"Table 2": "table2", "Table 3": "table3"}
"""The tables of the paper with results, and their files."""
_UNGRADED = "Blackjack: neither people nor a judge graded the beliefs"
_KINDS = {"open": "Open-source Models", "api": "API-based Models", "people": "Human"}


def paper(given: PaperInput) -> Sequence[PaperPart]:
    """Every table and figure of the paper that has numbers."""
    return PAPER.all(PAPER.part("Table 1"), *(_table(given, label) for label in PARTS), _beliefs(given))


def _table(given: PaperInput, label: str) -> PaperPart:
    """Tables 2 and 3: one row for each subject, the paper's columns."""
    columns = [column for column in COLUMNS if column.table == PARTS[label] and column.printed]
    runs = list(given.runs)
    tasks = {column.task for column in columns}
    subjects = grouped((run.name, run) for run in runs if run.task in tasks)
    rows = [row for played in subjects.values() for row in _rows(given, played, columns)]
    for row in published(PARTS[label]):
        who = "Human Performance" if row["model"] == PEOPLE else row["model"]
        kind = _KINDS.get(row["kind"], row["kind"])
        rows.append(printed(who, *(Estimate(float(row[column.printed])) for column in columns), section=kind))
    lacking = sorted(tasks - {run.task for run in runs})
    remarks = [f"{column.heading}: {column.different}" for column in columns if column.different]
    play = f"Not played: {', '.join(lacking)}. Play: {hint('run egosocial --official --model MODEL --task TASK')}"
    grade = f"To grade the beliefs of blackjack: {hint('sheet write RUN --of beliefs --to FILE')}"
    missing = [play] * bool(lacking) + [grade] * any(_UNGRADED in row.why_empty for row in rows)
    legend = " ".join(f"{OURS} {column.heading}: {column.ours}." for column in columns if column.ours)
    table = PaperTable((PaperColumn("Methods"), *(one.head for one in columns)), tuple(rows), legend)
    return PAPER.part(label, table=table, missing=". ".join(missing), remarks="; ".join(remarks))


def _rows(given: PaperInput, played: Sequence[AnyRun], columns: Sequence[Column]) -> Iterator[PaperRow]:
    """The rows of a subject: a further run for a cell that has a number begins another row.

    A remark that is not on all runs of a row has the name of its task.
    """
    found: list[dict[Column, AnyRun]] = []
    for run in played:
        own = [column for column in columns if column.task == run.task]
        mine = dict.fromkeys([one for one in own if _cell(run, one).value is not None] or own, run)
        if row := next((row for row in found if row.keys().isdisjoint(mine)), None):
            row |= mine
        else:
            found.append(mine)
    for row in found:
        runs = list({id(run): run for run in row.values()}.values())
        shared = set.intersection(*({*remarks_on(run)} for run in runs))
        about = grouped((remark, one.head.name) for one, run in row.items() for remark in _remarks(run, shared))
        cells = (_cell(row[one], one) if one in row else Estimate(None) for one in columns)
        name = runs[0].name if len(found) == 1 else ", ".join(dict.fromkeys(run.subject for run in runs))
        kind, why = given.facts(runs[0]).get("kind", ""), _why_empty(runs, columns)
        yield PaperRow((name, *cells), kind, tuple(about), why_empty=why, about=about, model=runs[0].model)


def _cell(run: AnyRun, column: Column) -> Estimate:
    if column.task == "blackjack" and (found := _graded(run)[0]).items:  # people's grades before a judge's
        run = structs.replace(run, summary=Summary((found,)))
    return estimate(run, column.measure, scale=100, **column.group)


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
    played = {run.task for run in runs}
    absent = dict.fromkeys(one.name for one in columns if one.task not in played)
    said = [f"not played: {', '.join(absent)}"] if absent else []
    blackjack = [one for one in columns if one.task == "blackjack" and one.task in played]
    said += [_UNGRADED] if any(_cell(run, one).value is None for run in runs for one in blackjack) else []
    return "; ".join(said)


def _remarks(run: AnyRun, shared: Container[str]) -> tuple[str, ...]:
    """The remarks on a run, with its task if they are not `shared`, or about its items or replies."""
    of_task = (NOT_THE_PAPERS, run.part, unread_replies(run))
    columns = [column for column in COLUMNS if column.task == run.task]
    name = next(filter(None, (column.name for column in columns)), run.task)
    said = [one if one in shared and one not in of_task else f"{name}: {one}" for one in remarks_on(run)]
    said += [f"{one.name}{OURS}: {one.ours}" for one in columns if one.ours]
    if run.task == "blackjack":
        found, people, tied = _graded(run)
        if found.items:
            graders = counted(people, "person", "people")
            said.append(f"Blackjack: {found.items} hands graded by {graders}; {tied} have no majority")
        elif "judge" in run.roles:
            said.append(f"Blackjack: graded by a judge ({run.roles['judge']})")
    measures = ((one, run.summary.find(one.measure)) for one in columns if one.remark)
    return (*said, *(f"{one.name}: {one.remark.format(items=found.items)}" for one, found in measures if found))


def _beliefs(given: PaperInput) -> PaperPart:
    """Fig. 4: the numbers that a model expects of the level-2 opponent, round by round."""
    runs = given.of_task("numbers")
    drawn = tuple(figure for figure in number_figures(runs) if figure.name == "beliefs-level-2")
    return PAPER.part("Fig. 4", figures=drawn, tasks=("numbers",))
