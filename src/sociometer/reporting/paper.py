"""Figures of a paper pack: remarks are drawn into the figure, so that no file loses its caveats."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from msgspec import Struct, structs

from sociometer.core.card import Card
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Instrument
from sociometer.core.language import read_texts
from sociometer.core.measure import Cell, Figure, Shown, Table
from sociometer.core.paper import (
    NOT_THE_PAPERS,
    Estimate,
    PaperCell,
    PaperColumn,
    PaperInput,
    PaperPart,
    PaperRow,
    PaperTable,
    ledger,
    number_in,
    remarks_on,
    unread_replies,
    verdict_on,
)
from sociometer.core.sheets import folder_for, whole_files, write_sheet
from sociometer.core.task import TASK, AnyRun
from sociometer.core.words import first_of, grouped, in_one_line, plain_number
from sociometer.reporting.plot import drawn, free_stem
from sociometer.results.candidates import contamination_note, run_labels
from sociometer.statistics.chart_theme import Spec, with_subjects
from sociometer.store.labels import people_of
from sociometer.store.stored_run import StoredRun

_SPECIAL: dict[str, str] = read_texts(Path(__file__).parent / "templates" / "latex.toml")
_NO_INTERVAL = r"$^{\circ}$"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
LINE = 100
"""How many letters of a table fit on a line of A4."""
LONG_TEXT = 24
"""Columns with a longer text are wrapped where a table is wider than its line."""


class Heading(Struct, frozen=True):
    """The texts of a table: its caption, its label, and the remarks in the file's first lines."""

    caption: str
    label: str
    remarks: Sequence[str] = ()


def escaped(text: str) -> str:
    """A text as LaTeX shows it: special characters are escaped, line ends and control characters become spaces."""
    plain = in_one_line(text)
    # Two hyphens would become a dash and a bracket after a line end would be read as its argument.
    return "".join(_SPECIAL.get(letter, letter) for letter in plain).replace("--", "{-}{-}").replace("[", "{[}")


def table_in_latex(table: PaperTable, heading: Heading) -> str:
    """The table as a float that needs the packages array, booktabs and graphicx, without columns that are empty."""
    table = _without_empty_columns(table)
    columns = table.columns
    marks = _remark_letters(table.rows)
    body: list[str] = []
    for section, rows in groupby(table.rows, key=lambda row: row.section):
        if section:
            body.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{\textit{{{escaped(section)}}}}} \\")
        body += [_row(row, columns, marks) for row in rows]
    return _template("table.tex").render(
        remarks=map(in_one_line, heading.remarks),  # in a comment, nothing may end the line
        caption=heading.caption,
        label=heading.label,
        alignment=_alignment(table),
        head=_head(columns),
        body=body,
        said=_footnotes(table, marks),
    )


def _without_empty_columns(table: PaperTable) -> PaperTable:
    filled = [[not (cell in (None, "") or _is_empty(cell)) for cell in row.cells] for row in table.rows]
    kept = [nth for nth in range(len(table.columns)) if any(row[nth] for row in filled)]
    rows = tuple(structs.replace(row, cells=tuple(row.cells[nth] for nth in kept)) for row in table.rows)
    return structs.replace(table, columns=tuple(table.columns[nth] for nth in kept), rows=rows) if rows else table


def _is_empty(cell: PaperCell) -> bool:
    """Whether it is an estimate without a value."""
    return isinstance(cell, Estimate) and cell.value is None


def _number(value: float, digits: int | None) -> str:
    """A number as LaTeX shows it."""
    return escaped(plain_number(value, digits))


def lacks_interval(cell: PaperCell, column: PaperColumn) -> bool:
    """Whether a number that is an estimate has no interval."""
    if column.digits is None or isinstance(cell, str | None):
        return False
    return not isinstance(cell, Estimate) or (cell.value is not None and cell.bounds is None)


def _alignment(table: PaperTable) -> str:
    """Columns of numbers centred (an interval is below its number), of text to the left; long texts are wrapped."""
    columns = [(column.title, *(row.cells[n] for row in table.rows)) for n, column in enumerate(table.columns)]
    lengths = [max(len(cell) for cell in cells if isinstance(cell, str)) for cells in columns]
    kinds = ["l" if place == 0 or _is_text(table, place) else "c" for place in range(len(columns))]
    long = {place: length for place, length in enumerate(lengths) if kinds[place] == "l" and length > LONG_TEXT}
    if sum(lengths) > LINE:
        left = 1 - sum(length + 2 for place, length in enumerate(lengths) if place not in long) / LINE
        for place, length in long.items():
            width = max(0.1, 0.95 * left * length / sum(long.values()))
            kinds[place] = rf">{{\raggedright\arraybackslash}}p{{{width:.2f}\linewidth}}"
    return "".join(kinds)


def _is_text(table: PaperTable, place: int) -> bool:
    cells = [row.cells[place] for row in table.rows]
    return table.columns[place].digits is None and any(isinstance(cell, str) and len(cell) > 12 for cell in cells)


def _head(columns: Sequence[PaperColumn]) -> list[str]:
    """The heading over groups of columns with a rule below each, then the headings of the columns."""
    titles = " & ".join(escaped(column.title) for column in columns) + r" \\"
    if not any(column.group for column in columns):
        return [titles]
    cells, rules, first = [], [], 1
    for group, members in groupby(columns, key=lambda column: column.group):
        width = len(list(members))
        if group:
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escaped(group)}}}")
            rules.append(rf"\cmidrule(lr){{{first}-{first + width - 1}}}")
        else:
            cells += [""] * width
        first += width
    return [" & ".join(cells) + r" \\", *rules, titles]


def _row(row: PaperRow, columns: Sequence[PaperColumn], marks: Mapping[str, str]) -> str:
    letters = ",".join(letter for remark, letter in marks.items() if remark in row.remarks)
    cells = [_cell(cell, column, row) for cell, column in zip(row.cells, columns, strict=True)]
    if letters:
        cells[0] += rf"$^{{\mathrm{{{letters}}}}}$"
    return " & ".join(cells) + r" \\"


def _cell(cell: PaperCell, column: PaperColumn, row: PaperRow) -> str:
    if isinstance(cell, Estimate):
        return _estimate(cell, column, row)
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return escaped(cell)
    shown = _number(cell, column.digits if isinstance(cell, float) else None)
    return shown + (_NO_INTERVAL if lacks_interval(cell, column) and not row.published else "")


def _estimate(cell: Estimate, column: PaperColumn, row: PaperRow) -> str:
    if cell.value is None:
        return "--"
    shown = _number(cell.value, column.digits) + (f"$^{{{escaped(cell.mark)}}}$" if cell.mark else "")
    if cell.bounds is None:
        return shown + (_NO_INTERVAL if lacks_interval(cell, column) and not row.published else "")
    low, high = (_number(end, column.digits) for end in cell.bounds)
    return rf"\begin{{tabular}}{{@{{}}c@{{}}}}{shown}\\{{\scriptsize {{[}}{low}, {high}]}}\end{{tabular}}"


def _remark_letters(rows: Sequence[PaperRow]) -> dict[str, str]:
    """A letter for each remark, in the order in which the table needs them."""
    remarks = enumerate(_all_remarks(rows))
    return {remark: _LETTERS[place % 26] * (place // 26 + 1) for place, remark in remarks}


def _footnotes(table: PaperTable, marks: Mapping[str, str]) -> list[str]:
    """The lines below a table: its note, what its letters mean, and what has no interval."""
    said = [escaped(table.note)] if table.note else []
    if any(isinstance(cell, Estimate) and cell.bounds is not None for row in table.rows for cell in row.cells):
        said.append(r"Brackets: 95\,\% intervals.")
    if any(
        lacks_interval(cell, column)
        for row in table.rows
        if not row.published
        for cell, column in zip(row.cells, table.columns, strict=True)
    ):
        said.append(f"{_NO_INTERVAL} No interval could be given.")
    return said + [rf"$^{{\mathrm{{{letter}}}}}$ {escaped(remark)}." for remark, letter in marks.items()]


def document(title: str, names: Sequence[str], captions: Mapping[str, str]) -> str:
    """A document that shows every table (`.tex`) and figure (`.pdf`) of a folder; figures with their captions."""
    return _template("all.tex").render(title=title, names=names, captions=captions)


@cache
def _template(name: str) -> Template:
    """A template of a text that is not HTML."""
    loader = PackageLoader("sociometer.reporting", "templates")
    made = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)  # noqa: S701
    made.filters |= {"plain": plain, "escaped": escaped, "remarks": remarks_on}
    return made.get_template(name)


LETTERS = 96
"""The maximum length of a line above a figure, in letters."""
_BOUNDS = (("low", "high"), ("y_low", "y_high"))


def marked(chart: Spec, title: str, remarks: Sequence[str]) -> Spec:
    """The chart with this title, and below it in small letters what it says above itself, and the remarks."""
    own = (chart.get("title") or {}).get("text", [])
    below = [*own, *(line for remark in remarks for line in wrap(remark, LETTERS))]
    look = {"anchor": "start", "fontSize": 12, "subtitleFontSize": 10, "subtitlePadding": 4, "offset": 14}
    return {**chart, "title": {**look, "text": wrap(title, LETTERS), "subtitle": below}}


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
        return f"Shown without an interval: {first_of(bare, MOST_NAMES)}."
    return "No intervals are shown."


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


_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def plain(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return _MARKUP.sub(r"\\\1", " ".join(in_one_line(text).split()))


class WrittenPart(Struct, frozen=True):
    """A table or figure of the paper with its files; `missing` says what they lack, or why there are none."""

    label: str
    title: str
    files: tuple[str, ...]
    how: str
    missing: str


def pack_text(
    card: Card, given: Sequence[StoredRun], runs: Sequence[AnyRun], parts: Sequence[WrittenPart], version: str
) -> str:
    """The whole text."""
    entries = {entry.id: entry for entry in given}
    notes = [*_notes(runs), *_unchecked(card, runs)]
    own = [part for part in parts if part.label != CLAIMS]
    known = {"card": card, "given": entries, "runs": runs, "parts": parts, "own": own}
    return _template("pack.md").render(**known, version=version, notes=notes)


def _notes(runs: Sequence[AnyRun]) -> list[str]:
    """The caveats of the summaries, each once with the names of the runs that it is about."""
    said = grouped((note, run.subject) for run in runs for note in run.summary.notes)
    everyone = {run.subject for run in runs}
    return [
        note if set(names) == everyone else f"{', '.join(dict.fromkeys(names))}: {note}" for note, names in said.items()
    ]


def _unchecked(card: Card, runs: Sequence[AnyRun]) -> list[str]:
    """A note on the models whose scores on public items have no verdict on contamination."""
    tested = card.default_tasks(official=True) if any(task.name == TASK for task in card.task) else ()
    left = [run.name for run in runs if run.task in tested and run.official and not (run.baseline or run.note)]
    return [f"Not checked for contamination: {', '.join(dict.fromkeys(left))}."] if left else []


MANIFEST = "pack.json"
TEXT = "README.md"
DOCUMENT = "all.tex"
WIDTH = 560
"""The width of a figure in points; a page of A4 has about 480 between its margins."""
MOST_NAMES = 4
"""The number of subjects that a remark in a figure names."""
_PLAIN_NAME = re.compile(r"[\w.-]+")
CLAIMS = "Claims"


class PaperPack(Shown, frozen=True):
    """What was written."""

    instrument: str
    folder: str
    parts: tuple[WrittenPart, ...]
    files: tuple[str, ...]
    partial: tuple[str, ...] = ()
    """The runs on a part of the paper's items, or with unreadable replies, which are marked in every file."""
    unused: tuple[str, ...] = ()
    """What the file about models has that no table shows: rows without a run, texts in a column of numbers."""

    @property
    def of_paper(self) -> list[WrittenPart]:
        """Its tables and figures of the paper; the list of claims is ours."""
        return [part for part in self.parts if part.label != CLAIMS]

    def table(self) -> Table:
        """Every table and figure of the paper, with its files, and what is missing if it is not complete."""
        states = ["not written" if not one.files else "partly" if one.missing else "written" for one in self.parts]
        rows = tuple(
            (one.label, one.title, state, ", ".join(one.files), one.missing)
            for one, state in zip(self.parts, states, strict=True)
        )
        columns = ("part", "title", "state", "files", "missing")
        return Table("parts", "Tables and figures of the paper", columns, rows, details=("files",))

    def __str__(self) -> str:
        return f"{self.table()}\nThe files are in {self.folder}."

    def _shown(self) -> list[Table]:
        return [self.table()]


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
        raise UsageError(f"paper needs at least one run; '{hint('runs')}' lists the stored runs.")
    folder_for(folder)
    before = _earlier_files(folder)
    runs = paper_runs(given)
    known = PaperInput(runs, models or {})
    facts = [known.facts(run) for run in runs]
    if models and not any(facts):
        ours = first_of(list(dict.fromkeys(run.name for run in runs if run.name)), MOST_NAMES)
        raise UsageError(f"the models file has no facts about {ours}, but about {first_of(list(models), MOST_NAMES)}.")
    every = instrument.paper(known)
    parts = [_chosen(part, published) for part in every]
    if not any(part.filled for part in parts):
        reasons = " ".join(f"{part.label}: {part.missing}" for part in parts if part.missing)
        raise UsageError(f"nothing of the paper can be filled from these runs. {reasons}")
    parts += claims_part(instrument, every)
    files, written = _files(card, runs, parts, version)
    files[TEXT] = pack_text(card, given, runs, written, version).encode()
    pictured = [name for name in files if name.endswith((".tex", ".pdf"))]
    captions = {name: f"{part.label}. {part.title}" for part in written for name in part.files}
    files[DOCUMENT] = document(f"{card.title}: tables and figures", pictured, captions).encode()
    names = (*files, MANIFEST)
    described = {"instrument": card.name, "version": version, "files": list(names), "parts": written}
    files[MANIFEST] = (json.dumps(msgspec.to_builtins(described), indent=1, ensure_ascii=False) + "\n").encode()
    with whole_files(*(folder / name for name in files), within=folder) as partial:
        for path, content in zip(partial, files.values(), strict=True):
            path.write_bytes(content)
    for name in before - set(files):
        (folder / name).unlink(missing_ok=True)
    tasks = Counter(run.run for run in runs)
    named = ((f"{run.subject} ({run.task})" if tasks[run.run] > 1 else run.subject, run) for run in runs)
    on_part = dict.fromkeys(f"{name}: {one}" for name, run in named for one in (run.part, unread_replies(run)) if one)
    paths = tuple(str(folder / name) for name in names)
    return PaperPack(card.name, str(folder), tuple(written), paths, tuple(on_part), _unused(models or {}, facts))


def _unused(models: Mapping[str, Mapping[str, str]], used: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """The rows of the file about models that no run has, and the texts in columns whose other cells are numbers."""
    lost = [f"no run of {name}" for name, row in models.items() if not any(row is one for one in used)]
    cells = grouped((column, (name, text)) for name, row in models.items() for column, text in row.items() if text)
    for column, found in cells.items():
        texts = [f"'{text}' is no number ({column} of {name})" for name, text in found if number_in(text) is None]
        lost += texts if 2 * len(texts) < len(found) else []
    return tuple(lost)


def paper_runs(given: Sequence[StoredRun]) -> tuple[AnyRun, ...]:
    """Every task of every run, with a label that tells apart runs of one subject, and with what people said of it."""
    names = run_labels(given)
    official = {run.subject for run in given if run.official}
    found = []
    for run in given:
        labels = people_of(run.store_path, run.id)
        # Other items have a row of their own beside those of the paper.
        other = run.subject in official and not run.official and not run.manifest.given_items
        for task in run.tasks:
            known = contamination_note(run, task, where=False).removesuffix(".")
            view = run.summarised(task)
            view = structs.replace(view, subject=names[run.id], labels=labels, note=known)
            if other:
                view = structs.replace(view, name=f"{view.name} ({run.manifest.whose_items} items)")
            analysis = run.manifest.given_items and task not in run.tests  # of stored runs
            found.append(structs.replace(view, whose_items="runs") if analysis else view)
    return tuple(found)


def claims_part(instrument: Instrument, parts: Sequence[PaperPart]) -> list[PaperPart]:
    """The claims of the paper that compare rows of its tables, on the printed rows and on those of the runs."""
    rows = []
    for claim in ledger(instrument.folder):
        mine = verdict_on(claim, parts, published=False) if claim.test else None
        if mine is not None:
            theirs = verdict_on(claim, parts, published=True)
            cells = (claim.where, claim.what, theirs.text if theirs else None, mine.text, mine.result)
            rows.append(PaperRow(cells, remarks=tuple(_all_remarks(mine.rows))))
    columns = ("Where", "Claim", "Rows of the paper", "Your rows", "Result in your runs")
    how = "How many rows agree with the claim; baselines count only without models. Differences are not tested."
    table = PaperTable(tuple(PaperColumn(title) for title in columns), tuple(rows))
    return [PaperPart(label=CLAIMS, title="Claims of the paper on these runs", how=how, table=table)] if rows else []


def _chosen(part: PaperPart, published: bool) -> PaperPart:
    """The part with or without the rows that the paper prints; its own rows say why they have empty cells."""
    if part.table is None:
        return part
    rows = tuple(
        structs.replace(row, remarks=(*row.remarks, f"empty cells: {row.why_empty}"))
        if row.why_empty and any(map(_is_empty, row.cells))
        else row
        for row in part.table.rows
        if published or not row.published
    )
    return structs.replace(part, table=structs.replace(part.table, rows=rows))


def _files(
    card: Card, runs: Sequence[AnyRun], parts: Sequence[PaperPart], version: str
) -> tuple[dict[str, bytes], list[WrittenPart]]:
    """The content of every table and figure by file name, and what each part has."""
    taken: set[str] = {Path(name).stem.casefold() for name in (TEXT, DOCUMENT, MANIFEST)}
    subjects = list(dict.fromkeys(run.subject for run in runs))
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
    heading = Heading(f"{part.title}.", f"tab:{card.name}-{stem}", (first, *_all_remarks(table.rows)))
    return {f"{stem}.csv": _table_in_csv(table).encode(), f"{stem}.tex": table_in_latex(table, heading).encode()}


def _stem(label: str) -> str:
    """A label as the beginning of a file name: `Extended Data Fig. 2` becomes `extended-data-fig-2`."""
    return label.lower().replace(".", "").replace(" ", "-")


def _all_remarks(rows: Sequence[PaperRow]) -> list[str]:
    return list(dict.fromkeys(remark for row in rows for remark in row.remarks))


def _table_in_csv(table: PaperTable) -> str:
    """The table with a column for each bound of an interval, and the remarks on each row in the last column."""
    sections = any(row.section for row in table.rows)
    marked_columns = [
        any(isinstance(row.cells[place], Estimate) and row.cells[place].mark for row in table.rows)  # type: ignore[union-attr]
        for place in range(len(table.columns))
    ]
    head: list[str] = ["section"] if sections else []
    for column, has_marks in zip(table.columns, marked_columns, strict=True):
        name = column.name
        head += [name, *([f"{name} mark"] if has_marks else [])]
        head += [f"{name} from", f"{name} to"] if column.digits is not None else []
    rows: list[list[Cell]] = []
    for row in table.rows:
        cells: list[Cell] = [row.section] if sections else []
        for cell, column, has_marks in zip(row.cells, table.columns, marked_columns, strict=True):
            cells += _csv_cells(cell, has_marks, column.digits is not None)
        bare = [
            column.name
            for cell, column in zip(row.cells, table.columns, strict=True)
            if lacks_interval(cell, column) and not row.published
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
    part: PaperPart, figure: Figure, runs: Sequence[AnyRun], subjects: Sequence[str], taken: set[str]
) -> dict[str, bytes]:
    single = len(part.figures) == 1
    stem = free_stem(_stem(part.label if single else f"{part.label} {figure.name}"), taken)
    if figure.table is not None:
        return {f"{stem}.csv": drawn(figure, "csv")}
    # An analysis without a subject concerns only the parts that show it.
    shown_runs = [run for run in runs if (run.task in part.tasks if part.tasks else run.name)]
    if figure.chart is None:
        raise ValueError(f"the figure '{figure.name}' of a paper is neither a chart nor a table")
    remarks = [*_figure_remarks(figure.chart, shown_runs), *filter(None, [without_intervals(figure.chart)])]
    chart = marked(with_subjects(figure.chart, subjects), figure.title, remarks)
    shown = structs.replace(figure, chart=chart)
    return {f"{stem}.{kind}": drawn(shown, kind, width=WIDTH) for kind in ("svg", "pdf")}


def _figure_remarks(chart: Spec, runs: Sequence[AnyRun]) -> list[str]:
    """The remarks on the runs in a chart, each with the names of its runs."""
    text = json.dumps(chart, ensure_ascii=False)
    inside = [(run, run.subject) for run in runs if run.name and _quoted(run.subject)[1:-1] in text]
    # A figure over several runs of a subject names the subject alone.
    inside = inside or [(run, run.name) for run in runs if run.name and _quoted(run.name) in text]
    inside += [(run, "") for run in runs if not run.name]
    if not inside:
        # A figure about items or people: what is said about subjects does not concern it.
        return [f"{NOT_THE_PAPERS.capitalize()}."] if any(NOT_THE_PAPERS in remarks_on(run) for run in runs) else []
    said: dict[str, dict[str, None]] = {}
    for run, name in inside:
        for remark in remarks_on(run):
            said.setdefault(remark, {})[name] = None
    lines = []
    for remark, names in said.items():
        who = first_of([name for name in names if name], MOST_NAMES)
        lines.append(f"{who}: {remark}." if who else f"{remark.capitalize()}.")
    return lines


def _quoted(name: str) -> str:
    """A name as the text of a chart has it, with its quotation marks."""
    return json.dumps(name, ensure_ascii=False)


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
