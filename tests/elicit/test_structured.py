"""JSON replies are decoded strictly, wherever in the reply they stand, and never executed."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sociometer.elicit import find_json, read_json


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
    ('I first wrote {"note": 1}. Then {"label": "warm", "score": 3}', "embedded"),
]

BAD = [
    ("", "empty"),
    (" \n", "empty"),
    ("no object here", "none"),
    ('{"label": "warm", "score": 3', "none"),
    ("{'label': 'warm', 'score': 3}", "none"),
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
        '{"label": "warm", "score": "3"}',
        '{"label": 1, "score": 3}',
        '{"label": "a", "score": 1, "more": 2}',
        "[1]",
    ],
)
def test_a_misfit_names_what_is_wrong(reply: str) -> None:
    reading = read_json(reply, Verdict)
    assert reading.value is None
    assert reading.rule.startswith("misfit: ")


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


@pytest.mark.parametrize("piece", ["{", "[", '{"a":', "```", '"', "}", "\\"])
def test_a_long_hostile_reply_is_read(piece: str) -> None:
    assert read_json(piece * 4_000, Verdict).value is None
