"""The sheet on which experts decide which items to keep, and how their decisions are applied."""

from collections.abc import Sequence
from pathlib import Path

from sociometer.core.errors import DataError, unknown
from sociometer.instruments.sesi.build.checks import Flag
from sociometer.instruments.sesi.build.posts import Rejection
from sociometer.instruments.sesi.items import Question
from sociometer.sheets import parse_sheet, read_rows, write_sheet

DECISIONS = ("keep", "wrong ability", "no right answer", "several right answers")
_BY_EXPERTS = "expert review: "
COLUMNS = ("id", "ability", "situation", "question", "A", "B", "C", "D", "right", "flags", "decision", "note")


def review_sheet(items: Sequence[Question], flags: Sequence[Flag]) -> str:
    """A CSV with one item per line; the experts fill in `decision` (empty means keep)."""
    rows = []
    for item in items:
        raised = "; ".join(flag.what for flag in flags if flag.item == item.id)
        right = "ABCD"[item.answer]
        rows.append((item.id, item.ability, item.situation, item.question, *item.options, right, raised, "", ""))
    return write_sheet(COLUMNS, rows, guard_formulas=True)


def read_decisions(path: Path) -> dict[str, str]:
    """The experts' decisions by item; an unknown word raises an error with the line."""
    decisions = {}
    for line, row in read_rows(path, ("id", "decision"), guarded=True):
        decision = row["decision"].strip().lower() or "keep"
        if decision not in DECISIONS:
            raise DataError(str(unknown("decision", decision, DECISIONS)), path, line)
        decisions[row["id"]] = decision
    return decisions


def apply_decisions(
    items: Sequence[Question], decisions: dict[str, str], path: Path
) -> tuple[list[Question], list[Rejection]]:
    """The items to keep, and those that experts removed; a decision on an unknown item raises an error."""
    known = {item.id for item in items}
    strangers = sorted(set(decisions) - known)
    if strangers:
        raise DataError(f"decides on items that were not built: {', '.join(strangers[:5])}", path)
    kept = [item for item in items if decisions.get(item.id, "keep") == "keep"]
    removed = [
        Rejection(item.id, f"{_BY_EXPERTS}{decisions[item.id]}")
        for item in items
        if decisions.get(item.id, "keep") != "keep"
    ]
    return kept, removed


def removals_in(path: Path) -> int:
    """The number of lines of a sheet, finished or not, with a decision other than to keep the item."""
    sheet = parse_sheet(path.read_bytes().decode("utf-8-sig", errors="replace"), optional=("decision",), path=path)
    decisions = [row.get("decision", "").strip().lower() for _, row in sheet.rows]
    return sum(decision not in ("", "keep") for decision in decisions)


def removed_before(path: Path) -> set[str]:
    """The items that experts had removed according to an earlier build's list of rejections, if there is one."""
    if not path.exists():
        return set()
    return {
        row.get("post", "")
        for _, row in read_rows(path, optional=("post", "reason"), guarded=True)
        if row.get("reason", "").startswith(_BY_EXPERTS)
    }
