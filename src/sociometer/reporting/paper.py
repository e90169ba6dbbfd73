"""Figures of a paper pack: remarks are drawn into the figure, so that no file loses its caveats."""

import json
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any
from xml.etree import ElementTree

from msgspec import Struct, structs

from sociometer.core.card import Card
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Cell, Figure, Table
from sociometer.core.paper import NOT_THE_PAPERS, Estimate, PaperCell, PaperInput, PaperPart, PaperRun, PaperTable
from sociometer.core.sheets import write_sheet
from sociometer.reporting.latex import Heading, document, lacks_interval, table_in_latex
from sociometer.reporting.page import clean_svg
from sociometer.reporting.plot import drawn, free_stem, write_whole
from sociometer.results.runs import run_labels
from sociometer.statistics.charts.spec import Spec
from sociometer.statistics.charts.theme import with_subjects
from sociometer.store.stored_run import StoredRun

LETTERS = 96
"""The maximum length of a line above a figure, in letters."""
_BOUNDS = (("low", "high"), ("y_low", "y_high"))
_MOST_NAMES = 4
_LINE = 15


def marked(figure: Figure, remarks: Sequence[str]) -> Figure:
    """The figure with remarks in it: above a chart, below a drawing."""
    said = [part for remark in remarks for part in wrap(remark, LETTERS)]
    if figure.chart is not None:
        return structs.replace(figure, chart=_headed(figure.chart, figure.title, said))
    return structs.replace(figure, svg=_footed(figure.svg, said)) if said else figure


def without_intervals(chart: Spec) -> str:
    """A sentence about the values of a chart that have no interval; empty if all have one."""
    values = list(_values(chart))
    for low, _ in _BOUNDS:
        known = [value for value in values if low in value]
        if not any(value[low] is not None for value in known):
            continue
        bare = list(dict.fromkeys(_name(value) for value in known if value[low] is None))
        if not bare:
            return ""
        more = f" and {len(bare) - _MOST_NAMES} more" if len(bare) > _MOST_NAMES else ""
        return f"Shown without an interval: {', '.join(bare[:_MOST_NAMES])}{more}."
    return "No intervals are shown."


def _headed(chart: Spec, title: str, said: Sequence[str]) -> Spec:
    """The chart with its own title, or else the given one, and the remarks in small letters below it."""
    own = chart.get("title")
    head: dict[str, Any] = dict(own) if isinstance(own, dict) else {"text": own or wrap(title, LETTERS)}
    below = [*_remark_lines(head.get("subtitle")), *said]
    look = {"anchor": "start", "fontSize": 12, "subtitleFontSize": 10, "subtitlePadding": 4, "offset": 14}
    return {**chart, "title": {**look, **head, "anchor": "start", "subtitle": below}}


def _remark_lines(text: object) -> list[str]:
    return [] if not text else [str(text)] if isinstance(text, str) else [str(line) for line in text]  # type: ignore[attr-defined]


def _values(chart: Spec) -> Iterator[dict[str, Any]]:
    """The inline values of a chart and of all its parts."""
    data = chart.get("data")
    if isinstance(data, dict):
        yield from (value for value in data.get("values", ()) if isinstance(value, dict))
    for key in ("layer", "hconcat", "vconcat", "concat"):
        for part in chart.get(key, ()):
            yield from _values(part)
    if isinstance(chart.get("spec"), dict):
        yield from _values(chart["spec"])


def _name(value: dict[str, Any]) -> str:
    names = (str(value.get(field) or "") for field in ("group", "label"))
    return ", ".join(dict.fromkeys(name for name in names if name)) or "a value"


def _footed(svg: str, said: Sequence[str]) -> str:
    """A drawing with lines of text below it."""
    root = ElementTree.fromstring(clean_svg(svg))  # noqa: S314 - cleaned, and our own
    box = [float(number) for number in root.get("viewBox", "").split()]
    left, top, width, height = (
        box
        if len(box) == 4
        else [0.0, 0.0, *(float(root.get(side, "640").removesuffix("px")) for side in ("width", "height"))]
    )
    space = "{http://www.w3.org/2000/svg}"
    for place, line in enumerate(said, 1):
        text = ElementTree.SubElement(
            root, f"{space}text", {"x": f"{left + 8:g}", "y": f"{top + height + place * _LINE:g}", "font-size": "10"}
        )
        text.text = line
    taller = height + (len(said) + 1) * _LINE
    root.set("viewBox", f"{left:g} {top:g} {width:g} {taller:g}")
    root.set("width", f"{width:g}")
    root.set("height", f"{taller:g}")
    return ElementTree.tostring(root, encoding="unicode")


_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def plain(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return _MARKUP.sub(r"\\\1", " ".join("".join(c if c.isprintable() else " " for c in text).split()))


class WrittenPart(Struct, frozen=True):
    """A table or figure of the paper with its files; without files, `missing` says why."""

    label: str
    title: str
    files: tuple[str, ...]
    how: str
    missing: str


def pack_text(
    card: Card, given: Sequence[StoredRun], runs: Sequence[PaperRun], parts: Sequence[WrittenPart], version: str
) -> str:
    """The whole text."""
    return "\n".join(_lines(card, given, runs, parts, version)) + "\n"


def _lines(
    card: Card, given: Sequence[StoredRun], runs: Sequence[PaperRun], parts: Sequence[WrittenPart], version: str
) -> Iterator[str]:
    filled = sum(bool(part.files) for part in parts)
    yield f"# {plain(card.title)}: the paper's tables and figures"
    yield ""
    yield (
        f"The paper is {plain(card.paper.authors)} ({card.paper.year}), *{plain(card.paper.title)}*. Sociometer"
        f" {plain(version)} filled {filled} of its {len(parts)} tables and figures from the runs below."
    )
    yield ""
    yield (
        "- Tables are CSV and LaTeX (booktabs). The columns `from` and `to`, or the brackets, are the bounds of 95 %"
        " intervals."
    )
    yield "- Figures are SVG and PDF. `all.tex` shows every table and figure in one document."
    yield "- Stand-ins, items other than the paper's and numbers without an interval are marked in every file."
    yield ""
    yield "## Runs"
    yield ""
    yield "| run | version | subject | task | items | played | status | remarks |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    entries = {entry.id: entry for entry in given}
    for run in runs:
        entry = entries[run.summarised.run]
        items = max((measure.items for measure in run.summarised.summary.measures), default=0)
        cells = (
            entry.id, entry.version, run.label, run.task, str(items), entry.created, entry.status,
            "; ".join(run.remarks) or "–",
        )  # fmt: skip
        yield f"| {' | '.join(map(plain, cells))} |"
    yield ""
    yield from _notes(runs)
    for part in parts:
        yield f"## {plain(part.label)}: {plain(part.title)}"
        yield ""
        yield f"Files: {', '.join(f'`{name}`' for name in part.files)}." if part.files else "Not written."
        yield ""
        for word, text in (("How", part.how), ("Missing", part.missing)):
            if text:
                yield f"**{word}.** {plain(text)}"
                yield ""


def _notes(runs: Sequence[PaperRun]) -> Iterator[str]:
    """The caveats of the summaries, each once with the names of the runs."""
    said: dict[str, list[str]] = {}
    for run in runs:
        for note in run.summarised.summary.notes:
            said.setdefault(note, []).append(run.label)
    if not said:
        return
    yield "## Caveats of the runs"
    yield ""
    everyone = {run.label for run in runs}
    for note, names in said.items():
        whose = "" if set(names) == everyone else f"{', '.join(dict.fromkeys(names))}: "
        yield f"- {plain(whose + note)}"
    yield ""


MANIFEST = "pack.json"
TEXT = "README.md"
DOCUMENT = "all.tex"
WIDTH = 560
"""The width of a figure in points; a page of A4 has about 480 between its margins."""
MOST_NAMES = 4
"""The number of subjects that a remark in a figure names."""
_PLAIN_NAME = re.compile(r"[\w.-]+")


class PaperPack(Struct, frozen=True):
    """What was written."""

    instrument: str
    folder: str
    parts: tuple[WrittenPart, ...]
    files: tuple[str, ...]

    def table(self) -> Table:
        """Every table and figure of the paper, with its files or the reason why it is missing."""
        rows = tuple((part.label, part.title, ", ".join(part.files), part.missing) for part in self.parts)
        columns = ("part", "title", "files", "missing")
        return Table("parts", "Tables and figures of the paper", columns, rows, details=("files",))


def write_pack(
    instrument: Instrument,
    given: Sequence[StoredRun],
    folder: Path,
    *,
    version: str,
    models: dict[str, dict[str, str]] | None = None,
    published: bool = False,
) -> PaperPack:
    """Write the pack and return what was written; raises UsageError if nothing of the paper can be filled."""
    card = instrument.card
    if instrument.paper is None:
        raise UsageError(f"{card.name} has no tables and figures of a paper.")
    if not given:
        raise UsageError("paper needs at least one run; 'sociometer runs' lists the stored runs.")
    before = _earlier_files(folder)
    runs = paper_runs(given)
    parts = [_chosen(part, published) for part in instrument.paper(PaperInput(runs, models or {}))]
    if not any(part.filled for part in parts):
        reasons = " ".join(f"{part.label}: {part.missing}" for part in parts if part.missing)
        raise UsageError(f"nothing of the paper can be filled from these runs. {reasons}")
    files, written = _files(card, runs, parts, version)
    files[TEXT] = pack_text(card, given, runs, written, version).encode()
    pictured = [name for name in files if name.endswith((".tex", ".pdf"))]
    captions = {name: f"{part.label}. {part.title}" for part in written for name in part.files}
    files[DOCUMENT] = document(f"{card.title}: tables and figures", pictured, captions).encode()
    names = (*files, MANIFEST)
    described = {"instrument": card.name, "version": version, "files": list(names), "parts": written}
    files[MANIFEST] = (json.dumps(_plain(described), indent=1, ensure_ascii=False) + "\n").encode()
    for name, content in files.items():
        write_whole(folder / name, content)
    for name in before - set(files):
        (folder / name).unlink(missing_ok=True)
    return PaperPack(card.name, str(folder), tuple(written), tuple(str(folder / name) for name in names))


def paper_runs(given: Sequence[StoredRun]) -> tuple[PaperRun, ...]:
    """Every task of every run, with a label that tells apart runs of one subject."""
    names = run_labels(given)
    return tuple(
        PaperRun(
            structs.replace(entry.summarised(task), subject=names[entry.id]),
            entry.view(task),
            None if entry.manifest.given_items and not _is_test(entry, task) else entry.official,
            entry.status in ("finished", "imported"),
            _is_baseline(entry),
        )
        for entry in given
        for task in entry.tasks
    )


def _is_test(run: StoredRun, task: str) -> bool:
    """Whether a task is the test itself, and not an analysis of stored runs."""
    card = run.definition.card
    return task in {*card.default_tasks(official=False), *card.default_tasks(official=True)}


def _is_baseline(run: StoredRun) -> bool:
    role = run.manifest.roles.get(SUBJECT)
    return role is not None and role.identity.wire == "baseline"


def _chosen(part: PaperPart, published: bool) -> PaperPart:
    """The part with or without the rows that the paper prints."""
    if part.table is None or published:
        return part
    rows = tuple(row for row in part.table.rows if not row.published)
    return structs.replace(part, table=structs.replace(part.table, rows=rows))


def _files(
    card: Card, runs: Sequence[PaperRun], parts: Sequence[PaperPart], version: str
) -> tuple[dict[str, bytes], list[WrittenPart]]:
    """The content of every table and figure by file name, and what each part has."""
    taken: set[str] = {Path(name).stem.casefold() for name in (TEXT, DOCUMENT, MANIFEST)}
    subjects = list(dict.fromkeys(run.label for run in runs))
    files: dict[str, bytes] = {}
    written = []
    for part in parts:
        mine: dict[str, bytes] = {}
        if part.filled:
            if part.table is not None and part.table.rows:
                mine |= _table_files(card, part, part.table, taken, version)
            for figure in part.figures:
                mine |= _figure_files(part, figure, runs, subjects, taken)
        files |= mine
        written.append(WrittenPart(part.label, part.title, tuple(mine), part.how, part.missing))
    return files, written


def _table_files(card: Card, part: PaperPart, table: PaperTable, taken: set[str], version: str) -> dict[str, bytes]:
    stem = free_stem(_stem(part.label), taken)
    first = f"{part.label} of {card.paper.authors} ({card.paper.year}), filled from runs by Sociometer {version}."
    remarks = (first, *([part.missing] if part.missing else []), *_all_remarks(table))
    heading = Heading(f"{part.title}.", f"tab:{card.name}-{stem}", remarks)
    return {
        f"{stem}.csv": _table_in_csv(table).encode(),
        f"{stem}.tex": table_in_latex(table, heading).encode(),
    }


def _stem(label: str) -> str:
    """A label as the beginning of a file name: `Extended Data Fig. 2` becomes `extended-data-fig-2`."""
    return label.lower().replace(".", "").replace(" ", "-")


def _all_remarks(table: PaperTable) -> list[str]:
    return list(dict.fromkeys(remark for row in table.rows for remark in row.remarks))


def _table_in_csv(table: PaperTable) -> str:
    """The table with a column for each bound of an interval, and the remarks on each row in the last column."""
    sections = any(row.section for row in table.rows)
    marked_columns = [
        any(isinstance(row.cells[place], Estimate) and row.cells[place].mark for row in table.rows)  # type: ignore[union-attr]
        for place in range(len(table.columns))
    ]
    head: list[str] = ["section"] if sections else []
    for column, has_marks in zip(table.columns, marked_columns, strict=True):
        name = f"{column.group}: {column.title}" if column.group else column.title
        head += [name, *([f"{name} mark"] if has_marks else [])]
        head += [f"{name} from", f"{name} to"] if column.digits is not None else []
    rows: list[list[Cell]] = []
    for row in table.rows:
        cells: list[Cell] = [row.section] if sections else []
        for cell, column, has_marks in zip(row.cells, table.columns, marked_columns, strict=True):
            cells += _csv_cells(cell, has_marks, column.digits is not None)
        bare = [
            column.title for cell, column in zip(row.cells, table.columns, strict=True) if lacks_interval(cell, column)
        ]
        remarks = [*row.remarks, *([f"no interval: {', '.join(bare)}"] if bare else [])]
        rows.append([*cells, "; ".join(remarks)])
    return write_sheet([*head, "remarks"], rows, guard_formulas=True)


def _csv_cells(cell: PaperCell, has_marks: bool, with_bounds: bool) -> Iterator[Cell]:
    value = cell.value if isinstance(cell, Estimate) else cell
    yield _rounded(value)
    if has_marks:
        yield cell.mark if isinstance(cell, Estimate) else ""
    if with_bounds:
        bounds = cell.bounds if isinstance(cell, Estimate) else None
        yield from (None, None) if bounds is None else (_rounded(end) for end in bounds)


def _rounded(value: Cell) -> Cell:
    """A number without the noise of floating-point arithmetic."""
    return round(value, 9) if isinstance(value, float) else value


def _figure_files(
    part: PaperPart, figure: Figure, runs: Sequence[PaperRun], subjects: Sequence[str], taken: set[str]
) -> dict[str, bytes]:
    single = len(part.figures) == 1
    stem = free_stem(_stem(part.label if single else f"{part.label} {figure.name}"), taken)
    if figure.table is not None:
        return {f"{stem}.csv": drawn(figure, "csv")}
    remarks = _figure_remarks(figure, runs)
    if figure.chart is not None:
        remarks += [said for said in (without_intervals(figure.chart),) if said]
        figure = structs.replace(figure, chart=with_subjects(figure.chart, subjects))
    shown = marked(figure, remarks)
    return {f"{stem}.{kind}": drawn(shown, kind, width=WIDTH) for kind in ("svg", "pdf")}


def _figure_remarks(figure: Figure, runs: Sequence[PaperRun]) -> list[str]:
    """The remarks on the runs in a figure, each with the names of its runs."""
    text = json.dumps(figure.chart, ensure_ascii=False) if figure.chart is not None else figure.svg
    inside = [(run, run.label) for run in runs if _quoted(run.label, figure)[1:-1] in text]
    # A figure over several runs of a subject names the subject alone.
    inside = inside or [(run, run.view.subject) for run in runs if _quoted(run.view.subject, figure) in text]
    if not inside:
        # A figure about items or people: what is said about subjects does not concern it.
        return [f"{NOT_THE_PAPERS.capitalize()}."] if any(NOT_THE_PAPERS in run.remarks for run in runs) else []
    said: dict[str, dict[str, None]] = {}
    for run, name in inside:
        for remark in run.remarks:
            said.setdefault(remark, {})[name] = None
    everyone = {name for _, name in inside}
    lines = []
    for remark, names in said.items():
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        who = ", ".join(list(names)[:MOST_NAMES]) + more
        lines.append(f"{'All subjects' if len(everyone) > 1 and set(names) == everyone else who}: {remark}.")
    return lines


def _quoted(name: str, figure: Figure) -> str:
    """A name as the figure's text has it, with its quotation marks."""
    return json.dumps(name, ensure_ascii=False) if figure.chart is not None else f">{escape(name)}<"


def _earlier_files(folder: Path) -> set[str]:
    """The files of an earlier pack in the folder; a folder with other content is refused."""
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise UsageError(f"'{folder}' is a file; give --to a folder.")
    if not any(folder.iterdir()):
        return set()
    try:
        names = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        return {name for name in names if isinstance(name, str) and _PLAIN_NAME.fullmatch(name) and name.strip(".")}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(
            f"the folder '{folder}' is not empty and was not written by 'paper'; give --to a new folder."
        ) from None


def _plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, Struct):
        return structs.asdict(value)
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
