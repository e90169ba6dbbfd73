"""Experts review built items on a sheet without the key; their decisions remove items."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from sociometer.core.errors import DataError, unknown
from sociometer.core.sheets import read_rows, write_sheet
from sociometer.instruments.sesi.build.checks import Flag
from sociometer.instruments.sesi.build.posts import Rejection
from sociometer.instruments.sesi.items import Question

DECISIONS = ("keep", "wrong ability", "no right answer", "several right answers")
REVIEW_COLUMNS = ("id", "ability", "situation", "question", "A", "B", "C", "D", "flags", "choice", "decision", "note")
OTHER_KEY = "the reviewer chose another option"


class Review(Struct, frozen=True):
    """A reviewer's decision on an item, and the option that they chose without seeing the key (empty: none)."""

    decision: str
    choice: str = ""


def review_sheet(items: Sequence[Question], flags: Sequence[Flag]) -> str:
    """A CSV with one item per line and no key; the experts fill in `choice` and `decision` (empty means keep)."""
    rows = []
    for item in items:
        raised = "; ".join(flag.what for flag in flags if flag.item == item.id)
        rows.append((item.id, item.ability, item.situation, item.question, *item.options, raised, "", "", ""))
    return write_sheet(REVIEW_COLUMNS, rows, guard_formulas=True)


def read_decisions(path: Path) -> dict[str, Review]:
    """The experts' decisions by item; an unknown word raises an error with the line."""
    decisions = {}
    for line, row in read_rows(path, ("id", "decision"), optional=("choice",), guarded=True):
        decision = row["decision"].strip().lower() or "keep"
        if decision not in DECISIONS:
            raise DataError(str(unknown("decision", decision, DECISIONS)), path, line)
        choice = row.get("choice", "").strip().upper()
        if choice and choice not in "ABCD":
            raise DataError(str(unknown("choice", choice, ("A", "B", "C", "D"))), path, line)
        decisions[row["id"]] = Review(decision, choice)
    return decisions


def agreement(items: Sequence[Question], decisions: dict[str, Review]) -> tuple[int, int]:
    """How many items reviewers answered without the key, and how many of these answers match the key."""
    given = ((item, decisions[item.id].choice) for item in items if item.id in decisions)
    answered = [(item, choice) for item, choice in given if choice]
    return len(answered), sum("ABCD".index(choice) == item.answer for item, choice in answered)


def apply_decisions(
    items: Sequence[Question], decisions: dict[str, Review], path: Path
) -> tuple[list[Question], list[Rejection]]:
    """The items to keep, and those that experts removed or answered differently; an unknown item raises an error."""
    known = {item.id for item in items}
    strangers = sorted(set(decisions) - known)
    if strangers:
        raise DataError(f"decides on items that were not built: {', '.join(strangers[:5])}", path)
    why = {item.id: _why_removed(item, decisions.get(item.id, Review("keep"))) for item in items}
    kept = [item for item in items if not why[item.id]]
    return kept, [Rejection(name, f"expert review: {reason}") for name, reason in why.items() if reason]


def _why_removed(item: Question, review: Review) -> str:
    if review.decision != "keep":
        return review.decision
    return OTHER_KEY if review.choice and "ABCD".index(review.choice) != item.answer else ""
