"""The readers of allocations and of JSON on labelled replies, written and labelled by people who had not seen them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sociometer.reading import read_allocation, read_schema

CORPUS = Path(__file__).parent.parent / "corpus"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / name).read_text(encoding="utf-8").splitlines()]


def verdict(found: object, label: object, same: bool) -> str:
    """A label that is a word (two, none, cut) asks for no value."""
    if isinstance(label, str):
        return "right" if found is None else "wrong"
    return "unread" if found is None else "right" if same else "wrong"


def same_points(found: tuple[float, ...] | None, label: Any) -> bool:
    """Percentages are labelled as written and read in points."""
    if found is None or isinstance(label, str):
        return False
    times = 10 if sum(label) > 50 and sum(found) < 20 else 1
    return len(found) == len(label) and all(abs(a * times - b) < 1e-6 for a, b in zip(found, label, strict=True))


@pytest.mark.parametrize(("name", "right"), [("allocation-1", 148), ("allocation-2", 150)])
def test_allocations_are_read_as_people_read_them(name: str, right: int) -> None:
    counts: Counter[str] = Counter()
    for row in rows(f"{name}.jsonl"):
        found = read_allocation(row["reply"], row["options"], row["total"]).values
        counts[verdict(found, row["label"], same_points(found, row["label"]))] += 1
    assert counts["wrong"] == 0
    assert counts["right"] >= right


@pytest.mark.parametrize(("name", "right"), [("json-1", 148), ("json-2", 150)])
def test_json_is_read_as_people_read_it(name: str, right: int) -> None:
    counts: Counter[str] = Counter()
    for row in rows(f"{name}.jsonl"):
        reading = read_schema(row["reply"], row["schema"])
        counts[verdict(reading.value, row["label"], reading.value == row["label"])] += 1
        assert (reading.value is None) == bool(reading.problem)
    assert counts["wrong"] == 0
    assert counts["right"] >= right


@pytest.mark.parametrize("file", sorted(CORPUS.rglob("*[0-9].jsonl")), ids=lambda file: file.stem)
def test_every_reply_has_a_second_label_that_agrees(file: Path) -> None:
    name = file.relative_to(CORPUS).with_suffix("")
    second = {row["id"]: row["label"] for row in rows(f"{name}.second.jsonl")}
    assert len(second) == len(rows(f"{name}.jsonl"))
    for row in rows(f"{name}.jsonl"):
        assert agree(row["label"], second[row["id"]]), row["id"]


def agree(first: Any, second: Any) -> bool:
    """A star stands for a long text that the second reader did not copy."""
    if second == "*":
        return isinstance(first, str)
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(agree(first[key], second[key]) for key in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(agree, first, second))
    no_answer = ("none", "cut", "two")
    return first == second or (first in no_answer and second in no_answer)
