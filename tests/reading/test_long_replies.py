"""Absurdly long replies, as small models that loop write them: each is read, and none holds up the event loop.

Nothing is timed here (bench/reading_time.py does that); a reader that needs quadratic time runs into the timeout.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import pytest

from sociometer.reading import find_json, read_allocation, read_json

pytestmark = pytest.mark.timeout(60)

LONG = 1_000_000
EMOTIONS = ("Surprised", "Joyful", "Puzzled", "Proud")
UNITS = {
    "digits": "1",
    "letters": "a",
    "braces": "{",
    "brackets": "[",
    "nested JSON": '{"k":[',
    "escaped quotes": '{\\"',
    "dashes": "a-",
    "emphasis": "*",
    "fences": "```",
    "quotes": '"',
    "spaces": " ",
    "newlines": "\n",
    "lines of spaces": " \n",
    "commas": ", ",
    "backslashes": "\\",
    "thoughts": "<think>",
    "Chinese": "我很惊讶",
    "full width": "Ａ１",
    "a character that becomes eighteen": "ﷺ",
    "accents out of order": "\u0315\u0300",
    "announcement": "Answer: ",
    "second thoughts": "wait, actually, no, ",
    "numbers with gaps": "77.7             ",
    "sums with gaps": "7.7  + 77.7  = 7.7            ",
    "numbers that are no points": "mate in of  7 ",
    "struck out": "~~1~~ ",
    "changes": "take 1 from Proud ",
    "corrections": "Proud: 1 actually ",
    "names": "Surprised ",
    "names with brackets": "Surprised (is)(is)(is)(is)(is)(is)(is)(is)(is)(is)(is)(is)(is)(is)(is)(is) ",
    "endings": "Surpriseded",
    "endings without an end": "surprised" + "ed" * 5_000 + "x ",
}


class Record(msgspec.Struct):
    a: Any = None


def repeated(kind: str) -> str:
    return UNITS[kind] * (LONG // len(UNITS[kind]))


@pytest.mark.parametrize("kind", UNITS)
def test_a_long_reply_without_an_answer_is_unreadable(kind: str) -> None:
    text = repeated(kind)
    assert read_allocation(text, EMOTIONS).values is None
    assert read_json(text, Record).value is None


@pytest.mark.parametrize("kind", ["letters", "dashes", "spaces", "newlines", "lines of spaces", "Chinese", "commas"])
def test_the_points_at_the_end_of_a_long_reply_are_read(kind: str) -> None:
    points = "\n\nFinal answer:\nSurprised: 3\nJoyful: 2\nPuzzled: 1\nProud: 4"
    assert read_allocation(repeated(kind) + points, EMOTIONS).values == (3, 2, 1, 4)


@pytest.mark.parametrize("gap", [" " * 5_000, "\n" * 5_000, " \n" * 2_500])
def test_a_long_gap_is_read_as_a_short_one(gap: str) -> None:
    for space in (gap[:3], gap):
        said = f"Surprised:{space}3, Joyful: 2, Puzzled: 1, Proud: 4"
        assert read_allocation(said, EMOTIONS).values == (3, 2, 1, 4)


@pytest.mark.parametrize(
    ("said", "points"),
    [
        ("Surprised (very) (much): 3", 3),
        ("Surprised (three)", 3),
        ("Surprised (3)", 3),
        ("Surprised (is (4))", 4),
        ("Surprised (a)(a)(a)(a) = 4", 4),
    ],
)
def test_numbers_in_and_behind_brackets_are_told_apart(said: str, points: int) -> None:
    rest = 10 - points
    reading = read_allocation(f"{said}\nJoyful: {rest}\nPuzzled: 0\nProud: 0", EMOTIONS)
    assert reading.values == (points, rest, 0, 0)


@pytest.mark.parametrize("depth", [101, 400, 600, 900, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"k":', "}"), ('[{"k":', "}]")])
def test_deeply_nested_json_is_unreadable(depth: int, opening: str, closing: str) -> None:
    text = opening * depth + "1" + closing * depth
    assert read_json(text, Record).value is None
    assert read_json(f"Here: {text}", Record).value is None
    assert read_allocation(text, EMOTIONS).values is None


def test_json_of_sensible_depth_is_read() -> None:
    text = '{"a":' * 50 + "1" + "}" * 50
    assert read_json(text, Record).value is not None
    assert list(find_json(text)) == [text]


@pytest.mark.parametrize("digits", [400, 5_000])
def test_a_number_of_thousands_of_digits_is_no_amount(digits: int) -> None:
    number = "9" * digits
    for said in (f"Surprised: {number} 1/2, Joyful: 2, Puzzled: 1, Proud: 4", f"{number}, {number}, 1, 2"):
        assert read_allocation(said, EMOTIONS).values is None
    assert digits < sys.get_int_max_str_digits() or digits == 5_000
