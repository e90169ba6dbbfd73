"""The last complete JSON object that fits counts; nothing is invented, and hostile text is bounded."""

import json
from pathlib import Path
from typing import Literal

import pytest
from msgspec import Struct

from sociometer.reading import read_each, read_json, read_schema

CORPUS = Path(__file__).parents[1] / "corpus"


class Felt(Struct):
    change: int
    mood: Literal["calm", "upset"]
    why: str = ""


WANTED = Felt(3, "calm", "heard")
READ = [
    '{"change": 3, "mood": "calm", "why": "heard"}',
    'Here it is:\n```json\n{"change": 3, "mood": "calm", "why": "heard"}\n```\nDone.',
    "{change: 3, mood: 'calm', why: \"heard\",}",
    '{"Change": "3", "MOOD": "Calm", "why": "heard"}',
    '{"change": "+3 (a little)", "mood": "calm", "why": "heard"}',
    '{"result": {"change": 3, "mood": "calm", "why": "heard"}}',
    '{"change": {"value": 3}, "mood": "calm", "why": "heard", "extra": [1, 2]}',
    '{"change": 1, "mood": "upset"}\nNo: {"change": 3, "mood": "calm", "why": "heard"}',
    "Change: 3\nMood: calm\nWhy: heard",
    "Here is what I feel.\n- **change**: +3\n- **mood**: Calm\n- **why**: heard",
    "｛“change”：3，“mood”：“calm”，“why”：“heard”｝",
    '{"change": 3, "mood": "calm", "why": "heard"',
    '<think>{"change": 9, "mood": "upset"}</think>{"change": 3, "mood": "calm", "why": "heard"}',
]
UNREADABLE = [
    "",
    "change: 3, mood: calm",
    "change: 3\nI was not sure at first.\nmood: calm",
    "change: 3\nmood: calm\nchange: 4",
    "mood: calm\nwhy: heard. change: 3\nchange: 4",
    '{"mood": "calm", "change": 3',
    '{"change": 3, "mood": "calm", "why": "hea',
    '{"change": 3.5, "mood": "calm"}',
    '{"change": 3, "mood": "happy"}',
    '{"mood": "calm"}',
    '{"change": true, "mood": "calm"}',
    'If kind: {"change": 3, "mood": "calm"} or if not: {"change": -3, "mood": "upset"}',
]


@pytest.mark.parametrize("reply", READ)
def test_an_object_is_read_as_models_write_it(reply):
    assert read_json(reply, Felt).value == WANTED


@pytest.mark.parametrize("reply", UNREADABLE)
def test_what_does_not_fit_is_not_read_and_says_why(reply):
    found = read_json(reply, Felt)
    assert found.value is None
    assert found.problem.endswith(".")


def test_labels_that_are_not_allowed_are_left_out_where_that_is_asked_for():
    schema = {"type": "array", "items": {"type": "string", "enum": ["A1", "B2"]}}
    assert read_schema('["A-1", "Z9", "b2"]', schema).value is None
    found = read_schema('["A-1", "Z9", "b2"]', schema, partial=True)
    assert (found.value, found.dropped) == (["A1", "B2"], 1)


def test_every_object_of_a_kind_is_found():
    text = 'one {"change": 1, "mood": "calm"} two {"other": 1} three {"change": 2, "mood": "upset"}'
    assert [one.change for one in read_each(text, Felt)] == [1, 2]


@pytest.mark.parametrize("filler", ["{", "[", '{"a":', '"', "{}", '{"change": 3,', "[1,", "\\"])
def test_hostile_text_is_bounded(filler):
    assert read_json(filler * (200_000 // len(filler)), Felt).value is None


@pytest.mark.parametrize(("folder", "right", "wrong"), [("measured", 0.92, 0.007), ("", 0.82, 0.007)])
def test_the_corpus_is_read_as_well_as_measured(folder, right, wrong):
    good = bad = count = 0
    for path in sorted((CORPUS / folder).glob("json*[0-9].jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            read, label = read_schema(one["reply"], one["schema"]).value, one["label"]
            same = read is None if isinstance(label, str) else read == label
            count, good, bad = count + 1, good + same, bad + (read is not None and not same)
    assert good >= right * count
    assert bad <= wrong * count
