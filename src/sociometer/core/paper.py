"""The tables and figures of an instrument's paper, filled from runs; `reporting` writes the files."""

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import unknown
from sociometer.core.measure import Cell, Figure, Interval, PublishedFigure
from sociometer.core.settings import SettingValue, is_paper
from sociometer.core.sheets import read_records
from sociometer.core.task import AnyRun
from sociometer.core.words import counted, first_of

NOT_THE_PAPERS = "not the paper's items"
BASELINE = "a baseline, not a model"
STAND_IN = "stand-in for a real model: "
PUBLISHED = "printed in the paper"
"""The remark on rows that a paper prints; they are written only if the user asks for them."""


class Estimate(Struct, frozen=True):
    """A number of a paper's table with its interval; an interval without bounds means that none could be given."""

    value: float | None
    interval: Interval | None = None
    mark: str = ""
    """What follows the number, such as stars."""

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The bounds of the interval; None if there are none."""
        if self.interval is None or self.interval.low is None or self.interval.high is None:
            return None
        return self.interval.low, self.interval.high


PaperCell = Cell | Estimate


class PaperColumn(Struct, frozen=True):
    """A column of a paper's table; adjacent columns with the same `group` share a heading."""

    title: str
    group: str = ""
    digits: int | None = None
    """The decimals of its numbers; columns without any hold text or counts and need no interval."""

    @property
    def name(self) -> str:
        """The heading with that of its group."""
        return f"{self.group}: {self.title}" if self.group else self.title


class PaperRow(Struct, frozen=True):
    """A row of a paper's table; adjacent rows with the same `section` share a heading."""

    cells: tuple[PaperCell, ...]
    section: str = ""
    remarks: tuple[str, ...] = ()
    """Remarks on the row: stand-ins, items other than the paper's, an unfinished run."""
    published: bool = False
    """Whether the paper prints this row."""
    why_empty: str = ""
    """Why estimates have no value, for readers of the paper; commands that give them are in `PaperPart.missing`."""
    about: Mapping[str, Sequence[str]] = {}
    """The columns that a remark is about; all if it is not here."""
    model: str = ""
    """The model of a run's row: a claim about every or most models counts all rows of a model as one."""

    def remarks_on(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The remarks on the numbers in these columns."""
        return tuple(one for one in self.remarks if one not in self.about or {*self.about[one]} & {*columns})

    @property
    def of_model(self) -> bool:
        """Whether its subject is a model: neither a baseline nor a stand-in."""
        return not any(one.startswith((BASELINE, f"{STAND_IN}{SUBJECT}: ")) for one in self.remarks)


class PaperTable(Struct, frozen=True):
    """A table in the layout of the paper."""

    columns: tuple[PaperColumn, ...]
    rows: tuple[PaperRow, ...]
    note: str = ""


class PaperPart(Struct, frozen=True, kw_only=True):
    """One table or figure of a paper, filled from runs, or the reason why it is not."""

    label: str
    """Its name in the paper, such as `Table 1` or `Extended Data Fig. 2`."""
    title: str
    how: str = ""
    """How it was computed from the runs, and where it differs from the paper's."""
    missing: str = ""
    """What is missing, why, and the command that gives it; empty if nothing is."""
    table: PaperTable | None = None
    figures: tuple[Figure, ...] = ()
    tasks: tuple[str, ...] = ()
    """The tasks whose runs its figures show, for the remarks on them; all if empty."""

    @property
    def filled(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.figures) or (self.table is not None and any(not row.published for row in self.table.rows))


def unread_replies(run: AnyRun, **group: str) -> str:
    """How many replies could not be read, as a remark on the measures of a group; empty if all could."""
    said = {one.unreadable: one.items for one in run.summary.measures if group.items() <= one.group.items()}
    if not (unread := max(said, default=0)):
        return ""
    replies = counted(unread, "unreadable reply", "unreadable replies")
    return f"{replies} on {counted(said[unread], 'item')}"


def remarks_on(run: AnyRun, **group: str) -> tuple[str, ...]:
    """The remarks to show next to the numbers of a run, or of one group of its measures."""
    said = [f"{STAND_IN}{name}" for name in run.stand_ins]
    if run.baseline:
        said.append(BASELINE)
    if run.whose_items == "runs":
        said.append("items from earlier runs")
    elif not run.official:
        said.append(NOT_THE_PAPERS)
    if run.part:
        said.append(run.part)
    if unread := unread_replies(run, **group):
        said.append(unread)
    if is_paper(run.settings):
        said.append("the authors' own prompts")
    if run.status != "finished":
        said.append("the run is not finished")
    return (*said, run.note) if run.note else tuple(said)


def estimate(run: AnyRun, name: str, *, scale: float = 1.0, mark: str = "", **group: str) -> Estimate:
    """A measure as a cell of a table, times `scale`; a cell without a value if the run does not have it."""
    found = run.summary.find(name, **group)
    if found is None or found.value is None:
        return Estimate(None)
    interval = found.interval.scaled(scale) if found.interval is not None else None
    return Estimate(found.value * scale, interval, mark)


def number_in(text: str) -> float | None:
    """The number in a cell of a file about models; None if there is none."""
    try:
        return float(text.rstrip("%")) if text else None
    except ValueError:
        return None


class PaperInput(Struct, frozen=True):
    """What a paper's tables and figures are filled from."""

    runs: tuple[AnyRun, ...]
    """Every task of every run with its summary; `subject` tells apart runs of one subject, `name` is its name alone."""
    models: dict[str, dict[str, str]] = {}
    """Facts about models that no run has (size, launch, scores on other tests), by model and column."""

    def of_task(self, task: str) -> list[AnyRun]:
        """The runs of one task."""
        return [run for run in self.runs if run.task == task]

    def facts(self, run: AnyRun) -> dict[str, str]:
        """The facts about the model of a run, found by its label, its name, or its name without the provider."""
        known = (run.subject, run.name, run.model, run.model.partition("/")[2], run.model.rpartition("/")[2])
        return next((self.models[one] for one in known if one in self.models), {})


class Claim(Struct, frozen=True):
    """A line of `published/ledger.csv`: a claim or numbers of the paper with one result, or a finding of ours.

    `test` is `PART | WHO | COLUMN… | RELATION | OTHER`, as in `Table 2 | every | First | > | Third`: WHO is `every`,
    `most` or names of rows, OTHER a number, a column, names of rows, or `others`. Without a test, `holds` is the
    result; without both, the claim cannot be checked, and `why` says what is missing.
    """

    where: str
    what: str
    kind: Literal["claim", "number", "finding"] = "claim"
    count: int = 1
    printed: str = ""
    test: str = ""
    holds: Literal["yes", "no", ""] = ""
    found: str = ""
    why: str = ""


class Verdict(Struct, frozen=True):
    """How many models agree with a claim in all their rows; baselines and stand-ins count only without models."""

    agree: int
    against: tuple[str, ...]
    holds: bool
    rows: tuple[PaperRow, ...] = ()
    """The rows that count, and those that they are compared with."""
    who: str = ""
    """Whom the claim is about: `every`, `most`, or names of rows."""

    @property
    def result(self) -> str:
        """Whether the claim holds in the rows, or why they cannot tell."""
        if not any(row.of_model for row in self.rows):
            return "no model, only baselines or stand-ins"
        if self.agree + len(self.against) == 1 and (self.who == "most" or (self.who == "every" and self.holds)):
            return "too few rows: 1"
        return "holds" if self.holds else "does not hold"

    @property
    def text(self) -> str:
        """The counts and the rows that disagree."""
        said = f"{self.agree} of {self.agree + len(self.against)}"
        return f"{said}; not {first_of(self.against, 4)}" if self.against else said


_RELATIONS = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
_ROUNDED = {**_RELATIONS, "<": operator.le, ">": operator.ge}
"""Relations of printed values: two that are equal once rounded contradict neither."""


def ledger(folder: Path) -> list[Claim]:
    """The ledger of an instrument; empty if it has none."""
    path = folder / "published" / "ledger.csv"
    return read_records(path, Claim) if path.exists() else []


def checked(claims: Sequence[Claim], parts: Sequence[PaperPart]) -> Iterator[PublishedFigure]:
    """Every line of a ledger with its result, tested on the rows that the paper prints."""
    for claim in claims:
        verdict = verdict_on(claim, parts, published=True) if claim.test else None
        found = verdict.text if verdict else claim.found or None
        holds = verdict.holds if verdict else claim.holds == "yes"
        yield PublishedFigure(
            claim.where, claim.what, claim.printed or None, found, holds, claim.why,
            claim=claim.kind == "claim", finding=claim.kind == "finding", count=claim.count,
        )  # fmt: skip


def verdict_on(claim: Claim, parts: Sequence[PaperPart], *, published: bool) -> Verdict | None:
    """A claim on the printed rows, or on those of runs; None if it is about rows that are not there."""
    label, who, columns, relation, other = (text.strip() for text in claim.test.split("|"))
    table = next(part.table for part in parts if part.label == label)
    if table is None:
        return None
    rows = [(name, row) for row in table.rows for name in _row_names(row)[:1]]
    models = [(name, row) for name, row in rows if row.published == published and not name.startswith("Human")]
    models = [one for one in models if one[1].of_model] or models
    named = {
        name: row
        for row in sorted(table.rows, key=lambda row: row.published == published)
        for name in _row_names(row)
        if row.published == published or name.startswith("Human")
    }
    everyone = who in ("every", "most")
    chosen = [(name, named[name]) for name in _split(who) if name in named]
    about = models if everyone else [one for one in chosen if one[1].published == published]
    heads = {column.name: place for place, column in enumerate(table.columns)}
    wrong: dict[str, list[str]] = {}  # by model, the names of its rows that disagree
    counted = [row for _, row in models] if other == "others" else []
    for name, row in about:
        pairs = [pair for column in _split(columns) for pair in _pairs(row, column, other, heads, named, about, models)]
        failed = "FAILED" in row.cells
        if failed or pairs:
            counted.append(row)
            right = not failed and all((_ROUNDED if published else _RELATIONS)[relation](*pair) for pair in pairs)
            wrong.setdefault(row.model or _row_names(row)[1], []).extend([] if right else [name])
    if not wrong:
        return None
    against = [names[0] for names in wrong.values() if names]
    agree = len(wrong) - len(against)
    holds = agree > len(against) if who == "most" else not against
    tested = [structs.replace(row, remarks=row.remarks_on((*_split(columns), other))) for row in counted]
    return Verdict(agree, tuple(against), holds, tuple(tested), who)


def _pairs(
    row: PaperRow,
    column: str,
    other: str,
    heads: dict[str, int],
    named: dict[str, PaperRow],
    about: Sequence[tuple[str, PaperRow]],
    models: Sequence[tuple[str, PaperRow]],
) -> list[tuple[float, float]]:
    """The value of a row with each value that a claim compares it with; only pairs of numbers."""
    place = heads[column]
    if other in heads:
        against = [_value(row.cells[heads[other]])]
    elif other == "others":
        ours = [row for _, row in about]
        rest = [one for _, one in models if one not in ours and (one.model or one) not in [row.model for row in ours]]
        against = [_value(one.cells[place]) for one in rest]
    elif (bound := _value(other)) is not None:
        against = [bound]
    else:
        against = [_value(named[name].cells[place]) for name in _split(other) if name in named]
    value = _value(row.cells[place])
    return [(value, one) for one in against if value is not None and one is not None]


def _row_names(row: PaperRow) -> tuple[str, str]:
    """The names of a row in a ledger: without the paper's marks, and after its section."""
    name = str(row.cells[0]).rstrip(" #")
    return name, f"{row.section}: {name}"


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(";")]


def _value(cell: PaperCell) -> float | None:
    value = cell.value if isinstance(cell, Estimate) else cell
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def printed(*cells: PaperCell, section: str = "") -> PaperRow:
    """A row that the paper prints."""
    return PaperRow(cells, section or "Printed in the paper", (PUBLISHED,), published=True)


def illustration(label: str, title: str) -> PaperPart:
    """A figure that explains the method and shows no result."""
    return PaperPart(label=label, title=title, missing="It illustrates the method and shows no result of a model.")


Access = Literal["open", "served", "later", "gone", "unknown"]
"""Whether a model is still available: open weights; served by its provider; its name is served with later weights;
withdrawn; or unknown."""


class PublishedModel(Struct, frozen=True):
    """A row of a published table, and how its model is reached today."""

    row: str
    model: str = ""
    """The value of `--model`; empty if the model is not available."""
    access: Access = "unknown"
    note: str = ""

    @property
    def callable(self) -> bool:
        """Whether the row can be played without a server of the user's own."""
        return bool(self.model) and self.access != "gone"


class PrintedFigure(Struct, frozen=True):
    """A figure as printed, in the unit of the measure; `step` is one unit of its last printed digit."""

    where: str
    measure: str
    value: float
    step: float
    group: dict[str, str] = {}


class Replication(Struct, frozen=True):
    """One run of a row, as the paper ran it, and the figures that the paper prints for it."""

    row: str
    task: str
    figures: tuple[PrintedFigure, ...]
    settings: dict[str, SettingValue] = {}
    roles: dict[str, str] = {}
    """The models in other roles; the user may choose others."""
    repeats: int | None = None
    about: str = ""
    """What distinguishes this run from the row's other runs, such as the prompting method."""
    otherwise: dict[str, SettingValue] = {}
    """Settings with which it is played, and marked, if the authors' prompt is not available."""


class ReplicationPlan(Struct, frozen=True):
    """All published rows of an instrument, and the runs that replicate them."""

    models: tuple[PublishedModel, ...]
    runs: tuple[Replication, ...]
    remarks: tuple[str, ...] = ()
    """The parts of the paper's procedure that cannot be repeated."""

    def chosen(self, given: tuple[str, ...]) -> dict[str, str]:
        """The model of each row to play: all callable rows, or those named as ROW, as MODEL or as ROW=MODEL."""
        rows = {one.row: one for one in self.models}
        if not given:
            return {one.row: one.model for one in self.models if one.callable}
        found: dict[str, str] = {}
        for text in given:
            row, equals, model = text.partition("=")
            named = row if row in rows else next((one.row for one in self.models if one.model == text), "")
            if not named:
                raise unknown("published row", row, rows, "Give --model ROW, or --model ROW=MODEL for your own model.")
            found[named] = model if equals and row in rows else rows[named].model
        return found


def printed_figure(where: str, measure: str, text: str, *, percent: bool = False, **group: str) -> PrintedFigure:
    """A figure from the text of a table's cell; a percentage becomes a share."""
    scale = 100 if percent else 1
    digits = len(text.partition(".")[2])
    return PrintedFigure(where, measure, float(text) / scale, 10**-digits / scale, group)
