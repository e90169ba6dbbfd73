"""Labelled replies: how many the choice reader reads right, and how few it reads wrong."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sociometer.reading import read_choice

CORPUS = Path(__file__).parents[1] / "corpus"
REACHED = {
    "choice-en-1": (201, 0),
    "choice-en-2": (86, 0),
    "choice-en-3": (198, 0),
    "choice-en-4": (194, 0),
    "choice-en-5": (197, 0),
    "choice-en-6": (196, 0),
    "choice-zh-1": (93, 0),
    "choice-zh-2": (117, 0),
    "choice-zh-3": (120, 0),
}
"""For each file: replies read right at least, replies read wrong at most."""


def entries(name: str) -> list[dict[str, Any]]:
    lines = (CORPUS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def outcome(entry: dict[str, Any]) -> str:
    reading = read_choice(entry["reply"], entry["options"], entry["labels"], finish=entry["finish"])
    if isinstance(entry["label"], str):
        return "right" if reading.index is None else "wrong"
    return "unread" if reading.index is None else "right" if reading.index == entry["label"] else "wrong"


@pytest.mark.parametrize("name", REACHED)
def test_labelled_replies_are_read_as_well_as_before(name: str) -> None:
    counts = Counter(outcome(entry) for entry in entries(name))
    right, wrong = REACHED[name]
    assert counts["right"] >= right
    assert counts["wrong"] <= wrong


@pytest.mark.parametrize("name", REACHED)
def test_a_reply_cut_off_before_its_answer_says_so(name: str) -> None:
    cut = [entry for entry in entries(name) if entry["label"] == "cut"]
    rules = {
        read_choice(entry["reply"], entry["options"], entry["labels"], finish=entry["finish"]).rule for entry in cut
    }
    assert cut
    assert rules <= {"cut off", "two answers"}
