"""Point allocations given as JSON, in any of the shapes that models use."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any

import msgspec

from sociometer.reading.allocation_answers import final_word
from sociometer.reading.allocation_spelling import decimal_point
from sociometer.reading.naming import Names
from sociometer.reading.numbers import NUMBER, Amount, amount, total_points
from sociometer.reading.structured import find_json

__all__ = ["read_json_allocation"]

_COUNTING_KEYS = ("id", "index", "option", "number", "no")
_DEEPEST = 40  # answers are two or three levels deep; Python cannot walk through hundreds
_TOTAL_KEY = re.compile(r"total|sum|总", re.IGNORECASE)


def read_json_allocation(text: str, names: Names, total: float) -> tuple[float, ...] | None:
    """Return the points of the last object or list that gives every option some; named ones come first.

    Nothing (an empty tuple) is read where objects differ and the reply does not say which one counts.
    """
    parts = list(find_json(text)) or list(find_json(re.sub(r",\s*([}\]])", r"\1", text.replace("'", '"'))))
    decoded = [msgspec.json.decode(part.encode()) for part in parts if _depth(part) <= _DEEPEST]
    named = [found for value in decoded if (found := _by_name(value, names, total)) is not None]
    if named:
        return named[-1] if len(set(named)) == 1 or final_word(text) else ()
    placed = [found for value in decoded if (found := _by_place(value, names.count, total)) is not None]
    if placed:
        return placed[-1]
    return _by_name(decoded, names, total)  # one object a line


def _depth(part: str) -> int:
    """How many brackets are open at once, at most."""
    steps = accumulate(1 if mark in "[{" else -1 if mark in "]}" else 0 for mark in part)
    return max(steps, default=0)


def _by_name(value: Any, names: Names, total: float) -> tuple[float, ...] | None:
    amounts: dict[int, Amount] = {}
    _collect(value, names, amounts)
    return total_points(amounts, names.count, total)


def _collect(value: Any, names: Names, amounts: dict[int, Amount]) -> None:
    """Gather name and number pairs from any nesting of objects and lists."""
    if isinstance(value, list):
        for part in value:
            _collect(part, names, amounts)
    if not isinstance(value, dict) or _collect_record(value, names, amounts):
        return
    for key, part in value.items():
        at, number = names.only(key), _number(part)
        if number is None and isinstance(part, dict) and at is not None:
            inner = [found for inside in part.values() if (found := _number(inside)) is not None]
            number = inner[0] if len(inner) == 1 else None
        if at is not None and number is not None:
            amounts[at] = number
        else:
            _collect(part, names, amounts)


def _collect_record(value: dict[str, Any], names: Names, amounts: dict[int, Amount]) -> bool:
    """Take {"name": x, "score": 3}, or two lists side by side; say whether the object was one of these."""
    named = [at for part in value.values() if isinstance(part, str) and (at := names.only(part)) is not None]
    numbers = [number for part in value.values() if (number := _number(part)) is not None]
    if len(named) == 1 and numbers:
        amounts[named[0]] = numbers[-1]
        return True
    name_lists = [found for part in value.values() if (found := _name_list(part, names)) is not None]
    number_lists = [listed for part in value.values() if (listed := _number_list(part)) is not None]
    if name_lists and number_lists and len(name_lists[0]) == len(number_lists[0]):
        amounts.update(zip(name_lists[0], number_lists[0], strict=True))
        return True
    return False


def _by_place(value: Any, n: int, total: float) -> tuple[float, ...] | None:
    numbers = _number_list(value)
    if numbers is not None and len(numbers) == n:
        return total_points(dict(enumerate(numbers)), n, total)
    if isinstance(value, dict):
        kept = [number for key, part in value.items() if not _TOTAL_KEY.search(key) and (number := _number(part))]
        if len(kept) == n:
            return total_points(dict(enumerate(kept)), n, total)
        value = list(value.values())
    if not isinstance(value, list):
        return None
    if len(value) == n and all(isinstance(part, dict) for part in value):
        each = [_only_number(part) for part in value]
        return total_points({at: number for at, number in enumerate(each) if number is not None}, n, total)
    found = (_by_place(part, n, total) for part in value)
    return next((points for points in found if points is not None), None)


def _only_number(value: dict[str, Any]) -> Amount | None:
    numbers = [number for key, part in value.items() if key not in _COUNTING_KEYS and (number := _number(part))]
    return numbers[0] if len(numbers) == 1 else None


def _number(value: Any) -> Amount | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return Amount(float(value))
    if isinstance(value, str):
        match = re.fullmatch(
            rf"\s*({NUMBER})\s*(?:points?|pts?|分|点|out of 10)?\s*", decimal_point(value), re.IGNORECASE
        )
        return amount(match[1]) if match else None
    return None


def _number_list(value: Any) -> list[Amount] | None:
    numbers = [_number(part) for part in value] if isinstance(value, list) else []
    kept = [number for number in numbers if number is not None]
    return kept if kept and len(kept) == len(numbers) else None


def _name_list(value: Any, names: Names) -> list[int] | None:
    found = [names.only(part) if isinstance(part, str) else None for part in value] if isinstance(value, list) else []
    kept = [at for at in found if at is not None]
    return kept if kept and len(kept) == len(found) else None
