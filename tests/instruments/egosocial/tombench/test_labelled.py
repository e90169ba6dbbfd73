"""The checks of conversions on a labelled set: 96 good ones and 95 bad ones, English and Chinese.

`labelled.jsonl` holds edits to the released files (see `first_person`), a label, the kind of fault and the source:
`author` (faults put into shipped conversions by the author of the checks), `readers` (conversions that ship), and
`blind` (written by readers who had not seen the checks).
"""

import json
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from sociometer.instruments.egosocial.tombench.convert import failures
from sociometer.instruments.egosocial.tombench.first_person import Edit, FirstPerson, applied
from sociometer.instruments.egosocial.tombench.release import Order, names_in, read_folder, role_of

LABELLED = Path(__file__).parent / "labelled.jsonl"


def rows():
    return [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def released(official):
    return {question.id: question for question in read_folder(official / "tombench")}


def found(row, released):
    question, language = released[row["id"]], row["language"]
    words = question.wording(language)
    names = names_in(words.story + (words.question if language == "zh" else ""), language)
    role = role_of(question, language)
    others = role.others if role.ego == row["ego"] else tuple(name for name in names if name != row["ego"])
    order = Order(
        id=row["id"], language=language, ego=row["ego"], order=1, measures="", others=others, third=words, answer=0,
    )  # fmt: skip
    edits = tuple(msgspec.convert(edit, Edit) for edit in row["edits"])
    line = FirstPerson(row["id"], language, row["ego"], 1, 0, row["digest"], edits)
    return list(failures(order, applied(line, words)))


def test_the_set_is_large_enough_and_half_of_it_is_blind():
    labels = Counter((row["label"], row["source"].startswith("blind")) for row in rows())
    assert labels["good", True] + labels["good", False] >= 60 and labels["bad", True] + labels["bad", False] >= 60
    assert labels["good", True] >= labels["good", False] - 2 and labels["bad", True] >= labels["bad", False] - 2
    assert {row["language"] for row in rows()} == {"en", "zh"}


def test_bad_conversions_are_caught_and_good_ones_pass(released):
    caught = [bool(found(row, released)) for row in rows() if row["label"] == "bad"]
    rejected = [bool(found(row, released)) for row in rows() if row["label"] == "good"]
    assert all(caught)
    assert sum(rejected) / len(rejected) <= 0.32
