"""Measures, tables and figures: every value has its interval, counts and caveats."""

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct, structs

from sociometer.core.errors import unknown
from sociometer.core.lazy import require
from sociometer.core.stopping import StoppingRecord
from sociometer.core.words import cell_text, counted, levels_of, plain_number

Cell = str | int | float | bool | None

POSITION_BIAS = "Position bias: "
"""The beginning of the note on a subject that nearly always picks one letter."""


class Shown(Struct, frozen=True):
    """A result that prints as text, also in a list, and that a notebook shows as tables, if it has some."""

    def __repr__(self) -> str:
        return str(self)

    def _shown(self) -> Iterable["Table"]:
        return ()

    def _repr_html_(self) -> str | None:
        return "".join(table._repr_html_() for table in self._shown()) or None


class Interval(Struct, frozen=True, omit_defaults=True):
    """A confidence interval, or (without bounds) the statement that there are too few clusters for one."""

    low: float | None  # The lower bound; None if there are too few clusters.
    high: float | None  # The upper bound; None if there are too few clusters.
    level: float = 0.95  # The confidence level.
    method: str = ""  # How it was computed.
    clusters: int = 0  # The number of clusters it comes from.
    apart: tuple[float, ...] = ()
    """Values that a verdict compares it with (zero, a margin, chance): rounding must not move a bound onto them."""

    def __str__(self) -> str:
        return self.without_bounds or f"[{self.low:.4g}, {self.high:.4g}]"

    @property
    def without_bounds(self) -> str:
        """The words in place of its bounds if it has none, or no variation to make them from; else empty."""
        return "too few" if self.too_few else SAME_ON_EVERY_ITEM if self.method == NO_VARIATION else ""

    @property
    def too_few(self) -> bool:
        """Whether there were too few clusters to give bounds."""
        return self.low is None or self.high is None

    def scarce(self, cluster: str) -> str:
        """What there are too few of: the cluster of items, or people."""
        return "person" if self.method == TOO_FEW_PEOPLE else cluster

    def scaled(self, factor: float, shift: float = 0.0) -> "Interval":
        """The interval of `factor × value + shift` (a rate in percent, an EQ from a distance)."""
        if self.low is None or self.high is None:
            return self
        ends = sorted((self.low * factor + shift, self.high * factor + shift))
        return Interval(ends[0], ends[1], self.level, self.method, self.clusters)

    def widened(self, value: float, factor: float, lowest: float = -math.inf, highest: float = math.inf) -> "Interval":
        """The interval of a value, so many times as wide, within its scale."""
        if self.low is None or self.high is None or self.method == NO_VARIATION:
            return self
        low, high = value - factor * (value - self.low), value + factor * (self.high - value)
        method = f"{self.method}, {factor:.2f} times as wide" if self.method and factor != 1 else self.method
        return structs.replace(self, low=max(lowest, low), high=min(highest, high), method=method)


class Case(Struct, frozen=True):
    """The value and the interval of a measure if every failed episode had one end of its scale."""

    value: float
    interval: Interval


class Measure(Shown, frozen=True, omit_defaults=True):
    """One number of a summary.

    `cases` is empty without failures, and for a measure without both ends, of which failures leave everything open.
    Reference: Manski, C. F. (1989). Anatomy of the selection problem. Journal of Human Resources 24.
    """

    name: str  # Its name, such as `accuracy`.
    value: float | None  # In its unit: 0.25 is a quarter of a share. None if no item has a score.
    group: dict[str, str] = {}  # What it is about, such as `{"ability": "empathy"}`; empty: overall.
    interval: Interval | None = None  # The confidence interval; None for a measure that has none.
    items: int = 0  # The number of items with a score.
    clusters: int = 0  # The number of independent parts, such as stories.
    unreadable: int = 0  # Replies that could not be read.
    errors: int = 0  # Failed episodes, which have no score.
    note: str = ""  # A remark on this number; empty for none.
    cases: tuple[Case, ...] = ()  # The measure with all failed episodes at the low and the high end of its scale.

    @property
    def full_name(self) -> str:
        """Its name with its group: `accuracy (ability=empathy)`."""
        return _named(self.name, self.group)

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.name}: no value"
        ends = (self.interval.low, self.interval.high) if self.interval else ()
        same = SAME_ON_EVERY_ITEM if self.interval and self.interval.method == NO_VARIATION else ""
        ends_text = same or ", ".join(plain_number(end, 3) for end in ends if end is not None)
        said = f"{self.name} {plain_number(self.value, 3)}" + f" [{ends_text}]" * bool(ends_text)
        return said + f", {counted(self.items, 'item')}" * bool(self.items)

    def side(self, reference: float) -> int:
        """1 if the whole interval is above a reference value, −1 if it is below, in every case; else 0."""
        if self.errors and not self.cases:
            return 0
        around = [one and (one.low, one.high) for one in (self.interval, *(case.interval for case in self.cases))]
        above = all(ends and ends[0] is not None and ends[0] > reference for ends in around)
        return int(above) - all(ends and ends[1] is not None and ends[1] < reference for ends in around)

    def widened(self, factor: float, lowest: float = -math.inf, highest: float = math.inf) -> "Measure":
        """The measure with intervals that are so many times as wide, within its scale."""
        if self.value is None or self.interval is None:
            return self
        cases = tuple(Case(c.value, c.interval.widened(c.value, factor, lowest, highest)) for c in self.cases)
        return structs.replace(self, interval=self.interval.widened(self.value, factor, lowest, highest), cases=cases)


class Table(Shown, frozen=True, omit_defaults=True):
    """A ready table; adjacent columns `from` and `to` are the bounds of an interval."""

    name: str  # Its name in files.
    title: str  # Its title; may be empty.
    columns: tuple[str, ...]  # The names of the columns.
    rows: tuple[tuple[Cell, ...], ...]  # The cells of each row, in the order of the columns.
    note: str = ""  # A remark to show with it; empty for none.
    units: dict[str, str] = {}
    """The unit of columns with numbers: `share`, `share-points` (a difference of shares), `points`, `number`, `p`."""
    details: tuple[str, ...] = ()  # The columns that the terminal shows only with `--format wide`.

    texts: ClassVar[Callable[["Table"], "Table"]] = staticmethod(lambda table: table)
    """The table with its cells as text, in their units; `api.py` sets it, since units belong to a room above."""

    def only(self, kept: Sequence[int]) -> "Table":
        """The table with these columns only."""
        rows = tuple(tuple(row[place] for place in kept if place < len(row)) for row in self.rows)
        return structs.replace(self, columns=tuple(self.columns[place] for place in kept), rows=rows)

    def records(self) -> list[dict[str, Cell]]:
        """The rows, each as its cells by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def frame(self) -> Any:
        """The table as a pandas frame."""
        return require("frame", "pandas").DataFrame(self.rows, columns=list(self.columns))

    def __str__(self) -> str:
        shown = Table.texts(self)
        rows = [[*map(cell_text, row)] for row in (shown.columns, *shown.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join(filter(None, (shown.title, *lines, shown.note)))

    def _repr_html_(self) -> str:
        """How a notebook shows the table."""
        shown = Table.texts(self)
        head = "".join(f"<th>{escape(column)}</th>" for column in shown.columns)
        rows = "".join(
            f"<tr>{''.join(f'<td>{escape(cell_text(cell))}</td>' for cell in row)}</tr>" for row in shown.rows
        )
        note = f"<p>{escape(shown.note)}</p>" if shown.note else ""
        return f"<table><caption>{escape(shown.title)}</caption><tr>{head}</tr>{rows}</table>{note}"


class Figure(Struct, frozen=True, omit_defaults=True):
    """Something to look at: either a Vega-Lite specification or a table; text of a model in it is shown as text."""

    name: str
    title: str
    caption: str = ""
    chart: dict[str, Any] | None = None
    table: Table | None = None

    writer: ClassVar[Callable[["Figure", Path], Path]]
    """Writes a figure to a file; `import sociometer` sets it, since drawing belongs to a room above this one."""

    def __repr__(self) -> str:
        return f"<figure {self.name}: {self.title}>"

    @property
    def filled(self) -> bool:
        """Whether its table has rows, or its chart data besides lines for comparison."""
        return bool(self.table.rows) if self.table else (self.chart or {}).get("data", {}).get("values") != []

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file: .svg, .pdf or .png, a table as .csv."""
        return Figure.writer(self, Path(path))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """How a notebook shows the figure: a chart as Vega-Lite, a table as HTML."""
        if self.table is None:
            return {"application/vnd.vegalite.v5+json": self.chart, "text/plain": self.title}
        shown = self.table._repr_html_()
        return {"text/html": f"<figure>{shown}<figcaption>{escape(self.caption)}</figcaption></figure>"}


class Summary(Shown, frozen=True, omit_defaults=True):
    """An instrument's result for one run of one task."""

    measures: tuple[Measure, ...]  # Every measure, overall first, then by group.
    tables: tuple[Table, ...] = ()  # Further tables of the instrument.
    notes: tuple[str, ...] = ()  # Caveats that must be shown wherever the numbers are.
    series: dict[str, Any] = {}  # What figures need beyond the measures, as JSON values.
    stopping: StoppingRecord | None = None  # The stopping rule and what it saw; None for a run without one.

    def measure(self, name: str, **group: str) -> Measure:
        """The measure of that name, overall or of a group: `measure("accuracy", ability="empathy")`.

        Raises NotFound with the known names if there is none.
        """
        if (found := self.find(name, **group)) is None:
            known = [one for one in self.measures if one.name == name] if group else self.measures
            names = dict.fromkeys(_named(one.name, one.group) for one in known if group or not one.group)
            raise unknown("measure", _named(name, group), names)
        return found

    def find(self, name: str, **group: str) -> Measure | None:
        """The same, or None."""
        return next((one for one in self.measures if one.name == name and one.group == group), None)

    def __str__(self) -> str:
        return "\n".join(map(str, self._shown()))

    def _shown(self) -> Iterable[Table]:
        """Every measure with its interval, its counts and its notes."""
        rows = tuple(
            (row.name, ", ".join(levels_of(row.group)) or "all", row.value, *_bounds(row.interval), row.items, row.note)
            for row in self.measures
        )
        columns = ("measure", "group", "value", "from", "to", "items", "note")
        return [Table("measures", "", columns, rows, " ".join(self.notes))]


def _named(name: str, group: dict[str, str]) -> str:
    """The name of a measure with its group: `accuracy (ability=empathy)`."""
    if not group:
        return name
    levels = ", ".join(f"{facet}={level}" for facet, level in group.items())
    return f"{name} ({levels})"


def _bounds(interval: Interval | None) -> tuple[Cell, Cell]:
    if interval is None:
        return None, None
    said = interval.without_bounds
    return (said, said) if said else (interval.low, interval.high)


class PublishedFigure(Struct, frozen=True, omit_defaults=True):
    """One published number and its recomputed value; `reason` explains a known mismatch."""

    where: str
    what: str
    printed: float | str | None
    recomputed: float | str | None
    match: bool
    reason: str = ""
    claim: bool = False
    """Whether it is a claim of the text; one without a recomputed value cannot be checked."""
    finding: bool = False
    """Whether it is a finding of ours, which the paper does not state."""
    count: int = 1
    """How many printed numbers it covers."""


class Corrected(Struct, frozen=True):
    """A mean corrected by people's labels.

    `slope` is how much a point of the judge counts; `bias` is the judge's mean minus the corrected one. `shares` are
    the contributions of the clusters to the error, from which differences between two estimates get their interval.
    """

    value: float
    interval: Interval
    judge: float
    bias: float
    bias_interval: Interval
    labels: int
    episodes: int
    slope: float
    shares: dict[str, float]
    freedom: float
    extra: float = 0.0
    """Variance beyond that of the labels: a few labels that are all the same do not make a share certain."""
    label_set: str = ""
    """The label set, derived from the wording of the question: another wording is another label set."""
    question: str = ""
    """What people were asked."""


CLUSTER_BOOTSTRAP = "cluster bootstrap"
EXPANDED_BOOTSTRAP = f"{CLUSTER_BOOTSTRAP} with expanded percentiles"
NO_VARIATION = "no variation"
"""Every value was the same, so the bounds say nothing about other items."""
SAME_ON_EVERY_ITEM = "the same on every item"
"""The text that replaces the bounds of such an interval."""
TOO_FEW = "too few"
"""There were too few clusters, so the interval has no bounds."""
TOO_FEW_PEOPLE = "too few people"
