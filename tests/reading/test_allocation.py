"""Point allocations are read as a person would read them, and repaired by the paper's rules in its order."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sociometer.reading import read_allocation, repair

from .odd_replies import CHINESE, CHINESE_4312, ENGLISH, ENGLISH_4312, NOTHING, OTHER

FINITE = st.floats(-100, 100, allow_nan=False).map(lambda value: round(value, 3))


@pytest.mark.parametrize("reply", ENGLISH_4312)
def test_an_odd_english_reply_is_read(reply: str) -> None:
    assert read_allocation(reply, ENGLISH, 10).values == pytest.approx((4, 3, 1, 2))


@pytest.mark.parametrize("reply", CHINESE_4312)
def test_an_odd_chinese_reply_is_read(reply: str) -> None:
    assert read_allocation(reply, CHINESE, 10).values == pytest.approx((4, 3, 1, 2))


@pytest.mark.parametrize(("reply", "options", "values"), OTHER)
def test_numbers_are_kept_as_written(reply: str, options: list[str], values: tuple[float, ...]) -> None:
    assert read_allocation(reply, options, 10).values == pytest.approx(values)


@pytest.mark.parametrize(("reply", "reason"), NOTHING)
def test_nothing_is_read_where_nothing_stands(reply: str, reason: str) -> None:
    reading = read_allocation(reply, ENGLISH, 10)
    assert reading.values is None
    assert reading.rule == reason


def test_the_table_of_odd_replies_has_two_hundred_or_more() -> None:
    assert len(set(ENGLISH_4312) | set(CHINESE_4312) | {row[0] for row in OTHER} | {row[0] for row in NOTHING}) >= 200


def test_the_papers_negative_example_is_lifted() -> None:
    repaired = repair((-4, -2, -2, 2), 4)
    assert repaired.values == (0, 2, 2, 6)
    assert repaired.repair == "lifted"


def test_a_null_answer_is_kept() -> None:
    assert repair((0, 0, 0, 0), 4).values == (0, 0, 0, 0)
    assert repair(None, 4).repair == "null"


def test_a_wrong_sum_is_scaled_in_proportion() -> None:
    repaired = repair((40, 30, 10, 20), 4)
    assert repaired.values == pytest.approx((4, 3, 1, 2))
    assert repaired.repair == "scaled"


def test_an_answer_that_sums_to_ten_is_left_alone() -> None:
    assert repair((4, 3, 1, 2), 4) == repair(repair((4, 3, 1, 2), 4).values, 4)
    assert repair((4, 3, 1, 2), 4).repair == "none"


def test_equal_negative_values_hold_nothing_once_lifted() -> None:
    assert repair((-1, -1, -1, -1), 4).repair == "null"


def test_lifting_may_need_scaling_too() -> None:
    assert repair((-1, 0, 0, 5), 4).repair == "lifted, scaled"


@given(st.lists(FINITE, min_size=4, max_size=4))
def test_a_repaired_answer_is_null_or_sums_to_ten_without_negatives(values: list[float]) -> None:
    repaired = repair(values, 4)
    assert min(repaired.values) >= 0
    total = math.fsum(repaired.values)
    assert total == pytest.approx(0 if repaired.repair == "null" else 10)


@given(st.lists(FINITE, min_size=4, max_size=4), st.permutations(range(4)))
def test_repair_does_not_depend_on_the_order_of_options(values: list[float], order: list[int]) -> None:
    direct = repair([values[at] for at in order], 4).values
    assert direct == pytest.approx([repair(values, 4).values[at] for at in order])


@given(st.lists(st.integers(0, 10), min_size=4, max_size=4), st.permutations(range(4)))
def test_named_points_are_read_in_any_order_of_names(values: list[int], order: list[int]) -> None:
    reply = ", ".join(f"{ENGLISH[at]}: {values[at]}" for at in order)
    assert read_allocation(reply, ENGLISH, 10).values == tuple(values)
    han = "，".join(f"{CHINESE[at]}{values[at]}分" for at in order)
    assert read_allocation(han, CHINESE, 10).values == tuple(values)


PIECES = st.sampled_from(
    [
        "Surprised",
        "Joyful",
        "惊讶",
        "4",
        "3",
        " ",
        ":",
        ",",
        "\n",
        "/",
        "-",
        "%",
        "(",
        ")",
        "{",
        "}",
        "[",
        '"',
        "分",
        "十",
        "一",
        "½",
        "|",
        ".",
        "Answer:",
    ]
)


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join)))
def test_no_text_crashes_the_reading(reply: str) -> None:
    reading = read_allocation(reply, ENGLISH, 10)
    assert reading.rule
    assert reading.values is None or (len(reading.values) == 4 and all(map(math.isfinite, reading.values)))


@pytest.mark.parametrize(
    "piece",
    [
        "Surprised ",
        "Surprised Joyful Puzzled Proud ",
        "3, ",
        "[3,",
        "{",
        "Surprised (a ",
        "final answer: ",
        "1/2 ",
        "one ",
        "2,5 ",
        "2-",
        "Surprised and ",
        "Surprised, Joyful each ",
        "Surprised: 2 – 3 ",
    ],
)
def test_a_long_hostile_reply_is_read_in_reasonable_time(piece: str) -> None:
    assert read_allocation(piece * 3_000, ENGLISH, 10).rule


@pytest.mark.parametrize("piece", ["7", "3,", "1. 3\n", "-", "[", '"', "a", "Joyful 3 ", "一", "3 or "])
def test_a_megabyte_is_read_in_bounded_time(piece: str) -> None:
    began = time.process_time()
    assert read_allocation((piece * 1_000_000)[:1_000_000], ENGLISH, 10).rule
    assert time.process_time() - began < 5  # about 1 s or less on an idle machine


P = ["proud", "nervous", "relieved", "guilty"]


@pytest.mark.parametrize(
    ("reply", "values"),
    [
        ("4, 3, 2, 1. Note: another reader might say 2, 5, 2, 1", (4, 3, 2, 1)),
        ("Proud: 4\nNervous: 3\nRelieved: 2\nGuilty: 2\n\n(That's 11, so guilty becomes 1.)", (4, 3, 2, 1)),
        ("Proud: 4 → 3\nNervous: 3\nRelieved: 2\nGuilty: 2", (3, 3, 2, 2)),
        ("proud: 4, nervous: 3, relieved: 2, guilty: 1 (I nearly gave proud 5 and guilty 0.)", (4, 3, 2, 1)),
        ("Nervous: 4\nGuilty: 3\nProud: 2\nRelieved: 1\n\n4 + 3 + 2 + 1 = 10", (2, 4, 1, 3)),
        ("Nervous 4, Guilty 3, Proud 2, Relieved 1 → 4/3/2/1", (2, 4, 1, 3)),
        (
            "| Emotion | Intensity | Points |\n|---|---|---|\n| Proud | 8 | 4 |\n| Nervous | 6 | 3 |\n"
            "| Relieved | 4 | 2 |\n| Guilty | 2 | 1 |",
            (4, 3, 2, 1),
        ),
        ("I'd put 5 on pride, 2 each on nerves and relief, leaving 1 for guilt.", (5, 2, 2, 1)),
    ],
)
def test_the_answer_is_told_from_other_numbers(reply: str, values: tuple[float, ...]) -> None:
    assert read_allocation(reply, P).values == pytest.approx(values)


@pytest.mark.parametrize(
    "reply",
    [
        "Ranking: proud 1, nervous 2, relieved 3, guilty 4",
        "Either 4, 3, 2, 1 or 3, 4, 2, 1.",
        "Sam: proud 4, nervous 3, relieved 2, guilty 1\nMia: proud 7, nervous 1, relieved 1, guilty 1",
        "Proud 4-5, nervous 3, relieved 1, guilty 1",
        "She is 100% proud.",
        "Proud 4, nervous 3, relieved 2, guilty 1. Actually, swap two of them.",
    ],
)
def test_no_answer_is_made_up(reply: str) -> None:
    assert read_allocation(reply, P).values is None


def test_a_shortened_name_that_two_options_share_names_neither() -> None:
    options = ["disappointed", "disgusted", "calm", "sad"]
    assert read_allocation("dis 3, sad 4, calm 2, dis 1", options).values is None


def test_an_allocation_needs_two_options_and_points_to_share() -> None:
    with pytest.raises(ValueError, match="two or more"):
        read_allocation("1", ["Sad"], 10)
    with pytest.raises(ValueError, match="above 0"):
        read_allocation("1", ENGLISH, 0)


@pytest.mark.parametrize(
    "reply", ["4/10,3/10,1/10,2/10", "1:4,2:3,3:1,4:2", "1=4,2=3,3=1,4=2", "1. 4,2. 3,3. 1,4. 2", "4,3\n1,2", "4,3,1,2"]
)
def test_commas_that_part_a_list_are_no_decimal_commas(reply: str) -> None:
    assert read_allocation(reply, ["Surprised", "Joyful", "Puzzled", "Proud"]).values == (4.0, 3.0, 1.0, 2.0)


def test_points_with_many_decimals_are_read():
    """A third of ten, as a calculator writes it."""
    reply = "Sad: 3.3333333333\nGlad: 3.3333333333\nCalm: 3.3333333334\nCross: 0"
    found = read_allocation(reply, ("Sad", "Glad", "Calm", "Cross"), 10)
    assert found.values == pytest.approx((10 / 3, 10 / 3, 10 / 3, 0))
