"""A table of a paper in LaTeX and in CSV, with the remarks on its rows."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import structs

from sociometer.core.measure import Cell
from sociometer.core.paper import Estimate, PaperCell, PaperColumn, PaperRow, PaperTable
from sociometer.core.sheets import write_sheet
from sociometer.core.words import in_one_line, plain_number
from sociometer.reporting.paper_texts import escaped, text_template

_NO_INTERVAL = r"$^{\circ}$"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
LINE = 100
"""How many letters of a table fit on a line of A4."""
LONG_TEXT = 24
"""Columns with a longer text are wrapped where a table is wider than its line."""


def table_in_latex(table: PaperTable, caption: str, label: str, remarks: Sequence[str] = ()) -> str:
    """The table as a float that needs the packages array, booktabs and graphicx, without columns that are empty.

    The remarks are comments in its first lines.
    """
    table = _without_empty_columns(table)
    columns = table.columns
    marks = _remark_letters(table.rows)
    body: list[str] = []
    for section, rows in groupby(table.rows, key=lambda row: row.section):
        if section:
            body.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{\textit{{{escaped(section)}}}}} \\")
        body += [_row(row, columns, marks) for row in rows]
    return text_template("table.tex").render(
        remarks=map(in_one_line, remarks),  # in a comment, nothing may end the line
        caption=caption,
        label=label,
        alignment=_alignment(table),
        head=_head(columns),
        body=body,
        said=_footnotes(table, marks),
    )


def _without_empty_columns(table: PaperTable) -> PaperTable:
    filled = [[not (cell in (None, "") or is_empty(cell)) for cell in row.cells] for row in table.rows]
    kept = [nth for nth in range(len(table.columns)) if any(row[nth] for row in filled)]
    rows = tuple(structs.replace(row, cells=tuple(row.cells[nth] for nth in kept)) for row in table.rows)
    return structs.replace(table, columns=tuple(table.columns[nth] for nth in kept), rows=rows) if rows else table


def is_empty(cell: PaperCell) -> bool:
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
    remarks = enumerate(all_remarks(rows))
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


def all_remarks(rows: Sequence[PaperRow]) -> list[str]:
    """The remarks on any of the rows, each once."""
    return list(dict.fromkeys(remark for row in rows for remark in row.remarks))


def table_in_csv(table: PaperTable) -> str:
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
