"""What was measured so far, from `measured.csv`: by capable models (also by hand), by small ones, and by readers
who did not see what the questions are about (`floor`)."""

import functools
from collections.abc import Iterable
from pathlib import Path

from sociometer.core.hints import hint
from sociometer.core.measure import Table
from sociometer.core.sheets import read_rows
from sociometer.core.words import grouped

_COLUMNS = ("instrument", "task", "subject", "kind", "score", "items", "reached", "date", "source")
_ROOM = "has room"
_FIRST = ("at the top", "at chance", _ROOM, "too few items")
"""What a score reached; of several scores of a test, the first of these counts."""


@functools.cache
def measured() -> Table:
    """Every figure with the file, in `src/sociometer/`, that has it or its replies."""
    rows = read_rows(Path(__file__).parent / "measured.csv", _COLUMNS)
    return Table(
        "measured", "Measured so far", _COLUMNS, tuple(tuple(row[name] for name in _COLUMNS) for _, row in rows)
    )


def reached(kind: str, instrument: str = "") -> dict[str, str]:
    """What models of a kind, `capable` or `small`, reached on each test of an instrument, or of all."""
    own = [row for row in measured().records() if row["kind"] == kind and instrument in ("", row["instrument"])]
    tests = grouped((f"{row['instrument']}/{row['task']}", row["reached"]) for row in own)
    return {test: next(end for end in _FIRST if end in ends) for test, ends in tests.items()}


def room_sentences(ends: Iterable[tuple[str, str]]) -> list[str]:
    """The other tests with room for models that are at the `top` or at `chance` of these tests; empty without any."""
    pairs = dict.fromkeys(ends)
    kinds, full = (
        dict.fromkeys({"top": "capable", "chance": "small"}[end] for end, _ in pairs),
        {one for _, one in pairs},
    )
    return [
        f"Tests with room for {kind} models: {', '.join(room)} (see '{hint('list')}')."
        for kind in kinds
        if (room := [test for test, end in reached(kind).items() if end == _ROOM and test not in full])
    ]
