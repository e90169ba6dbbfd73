"""JSON replies are read leniently, checked strictly, and never guessed or executed."""

from __future__ import annotations

import time

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sociometer.reading import find_json, read_each, read_json, read_schema


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    label: str
    score: int


GOOD = [
    ('{"label": "warm", "score": 3}', "whole"),
    ('  {"score": 3, "label": "warm"}\n', "whole"),
    ('```json\n{"label": "warm", "score": 3}\n```', "fence"),
    ('```\n{"label": "warm", "score": 3}\n```', "fence"),
    ('```JSON {"label": "warm", "score": 3}```', "fence"),
    ('Here it is: {"label": "warm", "score": 3} as asked.', "embedded"),
    ('好的，结果如下：\n{"label": "warm", "score": 3}', "embedded"),
    ('<think>{"label": "cold", "score": 1}</think>{"label": "warm", "score": 3}', "whole"),
    ('{"label": "warm", "score": 3} {"label": "warm", "score": 3}', "embedded"),
    ('The set {x} holds. {"label": "warm", "score": 3}', "embedded"),
    ("{'label': 'warm', 'score': 3}", "whole"),
    ('{"label": "warm", "score": "3"}', "whole"),
    ('{"label": "warm", "score": 3, "more": 2}', "whole"),
    ('{"score": 3, "label": "warm"', "whole"),
    ("{“label”：“warm”，“score”：+3，}", "whole"),
    ('{"Label": "warm", "SCORE": 3.0} // done', "embedded"),
    ('{"result": {"label": "warm", "score": "3 points"}}', "whole"),
    ('Draft: {"label": "cold", "score": 1}\nFinal: {"label": "warm", "score": 3}', "embedded"),
    ("**Label:** warm\n**Score:** 3", "lines"),
    ('"{\\"label\\": \\"warm\\", \\"score\\": 3}"', "embedded"),
    ('I first wrote {"note": 1}. Then {"label": "warm", "score": 3}', "embedded"),
]

BAD = [
    ("", "empty"),
    (" \n", "empty"),
    ("no object here", "none"),
    ('{"label": "warm", "score": 3', "misfit: score is missing"),
    ("[1]", "none"),
    ('{"label": "warm", "score": 3} {"label": "cold", "score": 1}', "several"),
]


@pytest.mark.parametrize(("reply", "rule"), GOOD)
def test_the_record_is_read(reply: str, rule: str) -> None:
    reading = read_json(reply, Verdict)
    assert reading.value == Verdict("warm", 3)
    assert reading.rule == rule


@pytest.mark.parametrize(("reply", "reason"), BAD)
def test_no_record_is_read_and_the_reason_is_given(reply: str, reason: str) -> None:
    reading = read_json(reply, Verdict)
    assert reading.value is None
    assert reading.rule == reason


@pytest.mark.parametrize(
    "reply",
    [
        '{"label": "warm"}',
        '{"label": "warm", "score": "about 3"}',
        '{"label": "warm", "score": 2.5}',
        '{"label": ["warm"], "score": 3}',
        '{"label": "warm", "score": 3, "score": 4}',
        'Draft: {"label": "warm", "score": 3} Final: {"label": "warm", "score": null}',
    ],
)
def test_a_misfit_names_what_is_wrong(reply: str) -> None:
    reading = read_json(reply, Verdict)
    assert reading.value is None
    assert reading.rule.startswith("misfit: ")


LABELS = {
    "type": "object",
    "properties": {
        "change": {"type": "integer", "minimum": -10, "maximum": 10},
        "codes": {"type": "array", "items": {"enum": ["A1", "B2"]}},
    },
    "required": ["change", "codes"],
}


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ('{"change": 12, "codes": []}', "change is 12, allowed -10 to 10."),
        ('{"codes": []}', "change is missing."),
        ('{"change": 1, "codes": ["A1", "Z9"]}', "codes[1] is 'Z9', allowed: A1, B2."),
        ("I would rather not.", "The reply holds no JSON object."),
    ],
)
def test_the_problem_is_one_sentence_and_nothing_is_clamped(reply: str, problem: str) -> None:
    reading = read_schema(reply, LABELS)
    assert reading.value is None
    assert reading.problem == problem


def test_labels_are_matched_without_case_hyphens_and_remarks() -> None:
    reading = read_schema('{"change": "+1 (a little)", "codes": ["a-1", "B2 (retells)"]}', LABELS)
    assert reading.value == {"change": 1, "codes": ["A1", "B2"]}


def test_a_partial_reading_keeps_the_good_labels_and_counts_the_others() -> None:
    reading = read_schema('{"change": 1, "codes": ["A1", "Z9", "B2"]}', LABELS, partial=True)
    assert reading.value == {"change": 1, "codes": ["A1", "B2"]}
    assert reading.dropped == 1
    assert read_schema('{"change": 1, "codes": ["Z9"]}', LABELS, partial=True).value is None


def test_quotes_inside_a_string_need_no_escape() -> None:
    reading = read_json('{"label": "he said "no", then "yes".", "score": 3}', Verdict)
    assert reading.value == Verdict('he said "no", then "yes".', 3)


def test_an_object_that_is_taken_back_is_no_answer() -> None:
    assert read_json('{"label": "warm", "score": 3}\nWait, score should be 1.', Verdict).value is None


def test_every_fitting_value_is_found() -> None:
    assert read_each('{"label": "a", "score": 1} or {"label": "b", "score": 2}', Verdict) == [
        Verdict("a", 1),
        Verdict("b", 2),
    ]


def test_braces_inside_strings_do_not_end_an_object() -> None:
    assert list(find_json('x {"a": "}{", "b": [1, 2]} y [3]')) == ['{"a": "}{", "b": [1, 2]}', "[3]"]


def test_lists_are_read_too() -> None:
    assert read_json("the scores: [1, 2, 3]", list[int]).value == [1, 2, 3]


PIECES = st.sampled_from(
    ['{"label"', ":", '"warm"', ",", '"score"', "3", "}", "{", "[", "]", "```", "json", "\n", "\\", '"', " "]
)


@settings(max_examples=200)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join)))
def test_no_text_crashes_the_reading(reply: str) -> None:
    assert read_json(reply, Verdict).rule


@pytest.mark.parametrize(
    "piece",
    ["{", "[", '{"a":', "```", '"', "}", "\\", "<think>", "{/*", '{"a":"', '{"label":a,', "7", "- ", "label: x\n"],
)
def test_a_long_hostile_reply_is_read(piece: str) -> None:
    began = time.process_time()
    assert read_json((piece * 1_000_000)[:1_000_000], Verdict).value is None
    assert time.process_time() - began < 5  # under 1 s on an idle machine


RATINGS = {
    "type": "object",
    "properties": {
        name: {"type": "integer", "minimum": 1, "maximum": 6} for name in ("flow", "attentiveness", "depth")
    },
    "required": ["flow", "attentiveness", "depth"],
}
ACTION = {"type": "object", "properties": {"action": {"enum": ["call", "raise", "fold"]}}, "required": ["action"]}
NOT_READ = None


@pytest.mark.parametrize(
    ("reply", "flow"),
    [
        ('{"flow": {"score": 5, "reason": "smooth"}, "attentiveness": 4, "depth": 3}', 5),
        ('{"flow": {"rating": 5, "max": 6}, "attentiveness": {"rating": 4, "max": 6}, "depth": 3}', 5),
        ('{"flow": {"value": 5, "confidence": 3}, "attentiveness": 4, "depth": 3}', 5),
        ('{"流畅度": 5, "专注度": 4, "深度": 3}', 5),
        ('{"flow": 2, "attentiveness": 4, "depth": 3} Let me revise. {"flow": 5, "attentiveness": 4, "depth": 3}', 5),
        ('{"flow": {"before": 5, "after": 3}, "attentiveness": 4, "depth": 3}', NOT_READ),
        ('{"flow": {"max": 6}, "attentiveness": 4, "depth": 3}', NOT_READ),
        ('{"flow": {"score": 7}, "attentiveness": 4, "depth": 3}', NOT_READ),
        ('{"甲": 5, "乙": 4, "丙": 3}', NOT_READ),
    ],
)
def test_a_number_inside_a_small_object_or_under_a_translated_key_is_read(reply: str, flow: int | None) -> None:
    wanted = None if flow is None else {"flow": flow, "attentiveness": 4, "depth": 3}
    assert read_schema(reply, RATINGS).value == wanted


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("fold", "fold"),
        ("**Fold.**", "fold"),
        ('{"action": "I fold."}', "fold"),
        ('{"action": {"choice": "fold", "reason": "weak"}}', "fold"),
        ("call or fold", NOT_READ),
        ("I would not fold", NOT_READ),
        ('{"action": "I won\'t fold"}', NOT_READ),
        ('{"action": {"first": "fold", "second": "call"}}', NOT_READ),
    ],
)
def test_a_lone_label_is_read_and_a_doubtful_one_is_not(reply: str, action: str | None) -> None:
    assert read_schema(reply, ACTION).value == (None if action is None else {"action": action})


def test_labels_inside_records_are_read() -> None:
    reply = '{"change": 1, "codes": [{"code": "A1", "text": "B2"}, {"code": "B2", "text": "hi"}]}'
    assert read_schema(reply, LABELS).value == {"change": 1, "codes": ["A1", "B2"]}
