"""Tables as LaTeX for a paper: booktabs rules, headings over groups of columns, footnotes; every text escaped.

Everything that a model or a file wrote is escaped, so that no character of it can start a command.
"""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby

from msgspec import Struct

from sociometer.core.paper import Estimate, PaperCell, PaperColumn, PaperRow, PaperTable
from sociometer.statistics.formatting import plain_number

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "−": "$-$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "ρ": r"$\rho$",
    "±": r"$\pm$",
    "°": r"\textdegree{}",
    "–": "--",
    "…": r"\ldots{}",
}
_NO_INTERVAL = r"$^{\circ}$"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Heading(Struct, frozen=True):
    """The texts of a table: its caption, its label, and the remarks in the file's first lines."""

    caption: str
    label: str
    remarks: Sequence[str] = ()


def escaped(text: str) -> str:
    """A text as LaTeX shows it: special characters are escaped, line ends and control characters become spaces."""
    plain = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text)
    # Two hyphens would become a dash and a bracket after a line end would be read as its argument.
    return "".join(_SPECIAL.get(letter, letter) for letter in plain).replace("--", "{-}{-}").replace("[", "{[}")


def table_in_latex(table: PaperTable, heading: Heading) -> str:
    """The table as a float that needs the package booktabs."""
    columns = table.columns
    marks = _remark_letters(table.rows)
    body: list[str] = []
    for section, rows in groupby(table.rows, key=lambda row: row.section):
        if section:
            body.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{\textit{{{escaped(section)}}}}} \\")
        body += [_row(row, columns, marks) for row in rows]
    lines = [
        *(f"% {_comment(remark)}" for remark in heading.remarks),
        r"\begin{table}",
        r"\centering\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"\caption{{{escaped(heading.caption)}}}",
        rf"\label{{{heading.label}}}",
        rf"\begin{{tabular}}{{{_alignment(table)}}}",
        r"\toprule",
        *_head(columns),
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *_notes(table, marks),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def lacks_interval(cell: PaperCell, column: PaperColumn) -> bool:
    """Whether a number that is an estimate has no interval."""
    if column.digits is None or isinstance(cell, str | None):
        return False
    return not isinstance(cell, Estimate) or (cell.value is not None and cell.bounds is None)


def _alignment(table: PaperTable) -> str:
    """Columns of text to the left, columns of numbers centred (an interval is below its number)."""
    return "".join("l" if place == 0 or _is_text(table, place) else "c" for place in range(len(table.columns)))


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
    letters = ",".join(marks[remark] for remark in row.remarks)
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
        return ""
    shown = _number(cell.value, column.digits) + (f"$^{{{escaped(cell.mark)}}}$" if cell.mark else "")
    if cell.bounds is None:
        return shown + (_NO_INTERVAL if lacks_interval(cell, column) and not row.published else "")
    low, high = (_number(end, column.digits) for end in cell.bounds)
    return rf"\shortstack{{{shown}\\{{\scriptsize {{[}}{low}, {high}]}}}}"


def _number(value: float, digits: int | None) -> str:
    """The number with its decimals; a half is rounded up, as in print."""
    if digits is not None and math.isfinite(value):
        step = Decimal(1).scaleb(-digits)
        value = float(Decimal(repr(round(value, 9))).quantize(step, rounding=ROUND_HALF_UP))
    return escaped(plain_number(value, digits))


def _remark_letters(rows: Sequence[PaperRow]) -> dict[str, str]:
    """A letter for each remark, in the order in which the table needs them."""
    remarks = list(dict.fromkeys(remark for row in rows for remark in row.remarks))
    return {
        remark: _LETTERS[place % 26] * (place // 26 + 1)
        for place, remark in enumerate(remarks)
    }  # fmt: skip


def _notes(table: PaperTable, marks: Mapping[str, str]) -> list[str]:
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
    said += [rf"$^{{\mathrm{{{letter}}}}}$ {escaped(remark)}." for remark, letter in marks.items()]
    if not said:
        return []
    return [
        r"\par\smallskip",
        r"\begin{minipage}{\linewidth}\footnotesize",
        "\n".join(said),
        r"\end{minipage}",
    ]


def _comment(text: str) -> str:
    """A text on one line of comment: nothing in it can end the line."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def document(title: str, names: Sequence[str], captions: Mapping[str, str]) -> str:
    """A document that shows every table (`.tex`) and figure (`.pdf`) of a folder; figures with their captions."""
    lines = [
        r"% Compile with lualatex or xelatex (names can contain letters that pdflatex does not support).",
        r"\documentclass{article}",
        r"\usepackage[margin=2cm]{geometry}",
        r"\usepackage{booktabs,graphicx,textcomp}",
        r"\begin{document}",
        rf"\section*{{{escaped(title)}}}",
    ]
    for name in names:
        if name.endswith(".tex"):
            lines.append(rf"\input{{{name.removesuffix('.tex')}}}")
        else:
            lines += [
                r"\begin{figure}\centering",
                rf"\includegraphics[width=\linewidth]{{{name}}}",
                rf"\caption{{{escaped(captions[name])}}}",
                r"\end{figure}",
            ]
        lines.append(r"\clearpage")
    return "\n".join([*lines, r"\end{document}"]) + "\n"
