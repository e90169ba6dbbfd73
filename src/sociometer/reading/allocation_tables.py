"""Tables with several columns of numbers, of which one holds the points."""

from __future__ import annotations

import math
import re

from sociometer.reading.naming import MARK, marked_index

__all__ = ["read_table"]

_POINTS = re.compile(r"points?|pts|score|allocation|share|分配|得分|分数|分值|点数", re.IGNORECASE)
_CELL = re.compile(r"\s*[+]?(\d{1,6}(?:\.\d{1,6})?)\s*(?:points?|pts?|分|/\s*10)?\s*", re.IGNORECASE)


def read_table(marked: str, n: int, total: float) -> tuple[float, ...] | None:
    """Return the points of a table whose rows have several numbers; an empty tuple where no one column can be told."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")] for line in marked.splitlines() if "|" in line
    ]
    by_name = [(marked_index(names[0]), row) for row in rows if len(names := re.findall(MARK, "|".join(row[:2]))) == 1]
    width = min((len(row) for _, row in by_name), default=0)
    if len(by_name) != n or len({name for name, _ in by_name}) != n:
        return None
    columns: dict[int, tuple[float, ...]] = {}
    for place in range(width):
        cells = {name: _CELL.fullmatch(row[place]) for name, row in by_name}
        if all(cells.values()):
            columns[place] = tuple(float(match[1]) for _, match in sorted(cells.items()) if match)
    if len(columns) < 2:
        return None
    header = rows[0] if rows and not re.search(MARK, "|".join(rows[0])) else []
    named = [place for place in columns if place < len(header) and _POINTS.search(header[place])]
    exact = [place for place, points in columns.items() if math.isclose(math.fsum(points), total)]
    counted = [place for place in exact if [row[place] for _, row in by_name] != [str(at + 1) for at in range(n)]]
    for places in (named, counted, exact):
        if len(places) == 1:
            return columns[places[0]]
    return ()
