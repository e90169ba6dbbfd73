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

CHANGE = {
    "type": "object",
    "properties": {"change": {"type": "integer", "minimum": -10, "maximum": 10}, "feeling": {"type": "string"}},
    "required": ["change"],
}
SCORE = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
SHARE = {"type": "object", "properties": {"p": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["p"]}
POINTS = {
    "type": "object",
    "properties": {"points": {"type": "array", "items": {"type": "number"}}},
    "required": ["points"],
}
SIGNED = [
    (CHANGE, '{"change": −3}', -3),
    (CHANGE, '{"change": –3}', -3),
    (CHANGE, '{"change": —3}', -3),
    (CHANGE, '{"change": －3}', -3),
    (CHANGE, '{"change": ‑3}', -3),
    (CHANGE, '{"change":−3,"feeling":"low"}', -3),
    (CHANGE, '{"change": "−3"}', -3),
    (CHANGE, '{"change": "–3"}', -3),
    (CHANGE, '```json\n{\n "feeling": "sad",\n "change": −4\n}\n```', -4),
    (CHANGE, "{'change': −4, 'feeling': 'sad'}", -4),
    (CHANGE, "{change: −4}", -4),
    (CHANGE, "{“change”：−4}", -4),
    (CHANGE, '{"change": −4,}', -4),
    (CHANGE, "change: −3", -3),
    (CHANGE, "change: –3\nfeeling: low", -3),
    (CHANGE, "**Change:** −3", -3),
    (CHANGE, "| change | −3 |", -3),
    (CHANGE, "change = −3", -3),
    (CHANGE, '{"change": +3}', 3),
    (CHANGE, '{"change": "+3"}', 3),
    (CHANGE, '{"change": "3/10"}', 3),
    (CHANGE, "change: 3/10", 3),
    (SCORE, '{"score": "2½"}', 2.5),
    (SCORE, '{"score": "½"}', 0.5),
    (SCORE, "score: 2½", 2.5),
    (SCORE, '{"score": .5}', 0.5),
    (SCORE, '{"score": −0.5}', -0.5),
    (SHARE, '{"p": "20 %"}', 0.2),
    (SHARE, '{"p": "⅕"}', 0.2),
    (POINTS, '{"points": [−1, 6, 4, 1]}', [-1, 6, 4, 1]),
    (POINTS, '{"points": [3, –2,]}', [3, -2]),
    (CHANGE, '{"change": 3, // small\n "feeling": "ok"}', 3),
    (CHANGE, '{"change": 3 // small step\n}', 3),
    (CHANGE, "{'change': -3}", -3),
    (CHANGE, '{"change": -3, "feeling": "fell from 60 to 57 – a bit",}', -3),
    (CHANGE, '{"change": 3, "feeling": "1/2 happy, 2+1 tears",}', 3),
    (CHANGE, '{"change": 3, "feeling": "because: 3/4 of it", }', 3),
    (CHANGE, '{"change": ﹣3}', -3),
    (CHANGE, '{"change": "-3（下降）"}', -3),
    (CHANGE, '{"change": "−3 (a little)"}', -3),
]
RIGHT_OR_NOT = [
    (CHANGE, '{"change": "—3"}', -3),
    (CHANGE, '{"change": "- 3"}', -3),
    (CHANGE, '{"change": - 3}', -3),
    (CHANGE, '{"change": − 3}', -3),
    (CHANGE, '{"change": – 3}', -3),
    (CHANGE, '{"change": 3/10}', 3),
    (CHANGE, '{"change": "1/5"}', None),
    (CHANGE, '{"change": 1/5}', None),
    (CHANGE, "change: 1/5", None),
    (CHANGE, '{"change": 2½}', None),
    (CHANGE, '{"change": "2½"}', None),
    (CHANGE, "change: 2½", None),
    (SCORE, '{"score": 2½}', 2.5),
    (SCORE, '{"score": ½}', 0.5),
    (SCORE, '{"score": "2 1/2"}', 2.5),
    (SCORE, '{"score": 2 1/2}', 2.5),
    (CHANGE, '{"change": 2+1}', 3),
    (CHANGE, '{"change": "2+1"}', 3),
    (CHANGE, '{"change": 5-2}', 3),
    (CHANGE, '{"change": "5 - 2 = 3"}', 3),
    (CHANGE, '{"change": 2 + 1 = 3}', 3),
    (CHANGE, '{"change": "2 + 1 = 3"}', 3),
    (CHANGE, '{"change": 2*2}', 4),
    (CHANGE, '{"change": 2×2}', 4),
    (CHANGE, '{"change": 6/2}', 3),
    (CHANGE, '{"change": "6/2"}', 3),
    (CHANGE, '{"change": 3²}', None),
    (CHANGE, '{"change": "3²"}', None),
    (CHANGE, '{"change": "3^2"}', None),
    (CHANGE, '{"change": ±3}', None),
    (CHANGE, '{"change": "±3"}', None),
    (CHANGE, '{"change": <3}', None),
    (CHANGE, '{"change": ">3"}', None),
    (CHANGE, '{"change": 2-3}', None),
    (CHANGE, '{"change": "2-3"}', None),
    (CHANGE, '{"change": 2–3}', None),
    (CHANGE, '{"change": "2 to 3"}', None),
    (CHANGE, '{"change": -3 to -2}', None),
    (CHANGE, '{"change": 3 or 4}', None),
    (CHANGE, '{"change": "3 or 4"}', None),
    (CHANGE, '{"change": "2 and a half"}', None),
    (CHANGE, '{"change": 2 and a half}', None),
    (CHANGE, '{"change": "minus 3"}', -3),
    (CHANGE, '{"change": minus 3}', -3),
    (CHANGE, '{"change": "minus three"}', -3),
    (CHANGE, '{"change": "two"}', 2),
    (SCORE, '{"score": 1,5}', 1.5),
    (SCORE, '{"score": "1,5"}', 1.5),
    (SCORE, '{"score": −.5}', -0.5),
    (SCORE, '{"score": 1 000}', 1000),
    (SCORE, '{"score": 1\'000}', 1000),
    (SCORE, '{"score": 1_000}', 1000),
    (SCORE, '{"score": 1e1,}', 10),
    (SHARE, '{"p": 1/5}', 0.2),
    (SHARE, '{"p": "1/5"}', 0.2),
    (SHARE, '{"p": 20%}', 0.2),
    (SHARE, '{"p": ⅕}', 0.2),
    (SHARE, '{"p": "1/1"}', 1),
    (SHARE, '{"p": −0.2}', None),
    (POINTS, '{"points": [2½, 5, 1, 1½]}', [2.5, 5, 1, 1.5]),
    (POINTS, '{"points": [1/5, 1/2]}', [0.2, 0.5]),
    (POINTS, '{"points": [2+1, 4]}', [3, 4]),
    (CHANGE, '{"change": 3 points}', 3),
    (CHANGE, '{"change": (3)}', 3),
    (CHANGE, '{"change": 7−10}', -3),
    (CHANGE, '{"change": ➖3}', -3),
    (CHANGE, '{"change": 12}', None),
    (CHANGE, '{"change": "–"}', None),
    (CHANGE, '{"change": "3分半"}', None),
]
"""The right number or none; None is never a number."""


@pytest.mark.parametrize("reply", READ)
def test_an_object_is_read_as_models_write_it(reply):
    assert read_json(reply, Felt).value == WANTED


@pytest.mark.parametrize(("schema", "reply", "number"), SIGNED)
def test_a_number_keeps_its_sign(schema, reply, number):
    assert _number(reply, schema) == number


@pytest.mark.parametrize(("schema", "reply", "number"), RIGHT_OR_NOT)
def test_fractions_sums_and_ranges_are_read_right_or_not_at_all(schema, reply, number):
    assert _number(reply, schema) in (None, number)


def _number(reply, schema):
    found = read_schema(reply, schema).value
    return None if found is None else next(found[key] for key in schema["properties"] if key in found)


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
