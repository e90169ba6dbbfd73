"""Numbers and intervals as text: the unit decides scale and decimals."""

import subprocess
import sys

import pytest

from sociometer.core.measure import NO_VARIATION, TOO_FEW_PEOPLE, Interval
from sociometer.statistics.formatting import (
    adding_decimals,
    amount,
    bracketed_interval,
    column_decimals,
    common_decimals,
    estimate,
    interval_text,
    margin_text,
    number,
    p_text,
    signed_amount,
)


@pytest.mark.parametrize(
    ("unit", "shown", "size"),
    [("share", "12.3 %", "12.3 points"), ("points", "0.1", "0.1 points"), ("number", "0.12", "0.12")],
)
def test_the_unit_decides_scale_and_decimals(unit, shown, size):
    assert number(0.123, unit) == shown
    assert amount(-0.123, unit) == size
    assert signed_amount(-0.123, unit) == "−" + size
    assert signed_amount(-0.0001, unit).startswith("0")


def test_a_margin_is_shown_as_it_was_given():
    given = [(3, "share"), (0.03, "share"), (7.25, "share-points"), (1, "points"), (0.001, "number"), (0.3, "share")]
    shown = [margin_text(margin / (100 if unit.startswith("share") else 1), unit) for margin, unit in given]
    assert shown == ["3 points", "0.03 points", "7.25 points", "1 point", "0.001", "0.3 points"]


@pytest.mark.parametrize(
    ("value", "shown"), [(8.0, "8"), (12.345, "12.35"), (160.5, "160.5"), (-1234.56, "−1,235"), (99.999, "100")]
)
def test_a_large_number_without_an_interval_has_fewer_decimals(value, shown):
    assert number(value, "number") == shown
    assert (number(0.996, "share"), number(112.46, "points")) == ("99.6 %", "112.5")


def test_no_share_is_rounded_to_all_or_nothing():
    wide = Interval(0.8, 1.0)
    assert [number(value, "share", interval=wide) for value in (0.9969, 0.995, 0.004, 1.0, 0.0)] == [
        "> 99 %", "> 99 %", "< 1 %", "100 %", "0 %"
    ]  # fmt: skip
    assert [number(value, "share") for value in (0.99969, 0.0004, 1 - 1e-12)] == ["> 99.9 %", "< 0.1 %", "100 %"]
    assert estimate(0.9969, "share", wide) == "> 99 % [80, 100]" and number(0.9969, "points", 0) == "1"


def test_a_row_has_enough_decimals_that_it_adds_up_as_shown():
    assert adding_decimals(121.55, 112.16, "points", Interval(-15.9, -2.2)) == 1  # not 122, 112, −9
    assert adding_decimals(0.60, 0.50, "share", Interval(-0.3, 0.1)) == 0
    assert adding_decimals(1 / 3, 2 / 3, "share", Interval(0.1, 0.4)) == 0, "33, 67, 33 never adds up"
    assert adding_decimals(0.2142857, 0.2857143, "share", Interval(-0.609, 0.732)) <= 1, "not 21.43, 28.57, 7.14"
    assert adding_decimals(5.5531, 2.7276, "", Interval(-3.484, -2.1795)) <= 2


@pytest.mark.parametrize(
    ("first", "second", "unit", "digits"),
    [
        (1 / 3, 2 / 7, "share", 0),  # 33, 29, −5: 33.33, 28.57, −4.76 would be two decimals more
        (3 / 16, 1 / 6, "share", 0),
        (1 / 6, 1 / 3, "share", 0),  # 17, 33, 17: no number of decimals adds up
        (2.006, 2.054, "", 1),
        (0.254, 0.376, "share", 1),  # not 25, 38, 12
    ],
)
def test_a_row_without_an_interval_has_at_most_one_decimal_more_so_that_it_adds_up(first, second, unit, digits):
    assert adding_decimals(first, second, unit, Interval(None, None, clusters=6)) == digits


def test_values_next_to_each_other_have_the_decimals_of_the_widest_interval():
    wide, narrow = Interval(115, 127), Interval(107.2, 117.0)
    assert common_decimals("points", [wide, None, narrow]) == 0
    assert common_decimals("points", [wide, Interval(-0.4, 9.0)]) == 1, "no bound may hide its side of zero"
    assert common_decimals("points", [None]) is None


def test_a_difference_of_shares_is_in_points():
    assert number(-0.12, "share-points") == "−12 points" and number(0.01, "share-points") == "1 point"
    assert amount(-0.12, "share-points") == "12 points"
    assert number(-0.12, "share") == "−12 %"


def test_a_value_that_is_missing_is_a_dash():
    assert number(None, "share") == "–"


def test_an_interval_of_a_difference_stands_in_brackets():
    assert bracketed_interval(Interval(-0.1, 0.3), "share") == "[−10, 30]"


@pytest.mark.parametrize(
    ("value", "unit", "interval", "shown"),
    [
        (0.15, "share", Interval(0.0667, 0.2534), "15 % [7, 25]"),
        (0.6321, "share", Interval(0.6102, 0.6529), "63.2 % [61.0, 65.3]"),
        (112.157, "points", Interval(104.2, 119.9), "112 [104, 120]"),
        (112.157, "points", Interval(107.17, 116.95), "112 [107, 117]"),
        (112.157, "points", Interval(110.42, 113.51), "112.2 [110.4, 113.5]"),
        (-0.0312, "number", Interval(-0.0481, -0.0102), "−0.031 [−0.048, −0.010]"),
        (0.25, "share", None, "25 %"),
        (1 / 3, "share", None, "33.3 %"),
        (1.0, "share", Interval(1.0, 1.0, method=NO_VARIATION), "100 % [the same on every item]"),
        (0.5, "share", Interval(None, None, clusters=3), "50 % (too few)"),
        (None, "share", Interval(None, None), "–"),
    ],
)
def test_decimals_follow_the_width_of_the_interval(value, unit, interval, shown):
    assert estimate(value, unit, interval) == shown


def test_the_bounds_and_the_value_have_the_same_decimals():
    interval = Interval(0.0667, 0.2534)
    assert number(0.15, "share", interval=interval) == "15 %"
    assert interval_text(interval, "share") == "7 to 25 %"
    assert amount(0.1, "share", interval=interval) == "10 points"
    assert amount(0.01, "share", interval=interval) == "1 point"


@pytest.mark.parametrize("value", [-0.0001, 0.0, 0.0001])
def test_a_value_that_rounds_to_zero_has_no_sign(value):
    assert number(value, "number", 2) == "0.00"


def test_a_p_value_is_never_0_or_1():
    assert [p_text(p) for p in (0.0, 0.0004, 0.0314, 0.5, 1.0)] == ["< .001", "< .001", ".031", ".500", "> .999"]


def test_an_interval_without_meaningful_bounds_is_described_in_words():
    few, same = Interval(None, None, clusters=4), Interval(0.5, 0.5, method=NO_VARIATION)
    assert interval_text(few, "share") == "too few (4 independent items)"
    assert interval_text(few, "share", too_few="too few for an interval") == "too few for an interval"
    assert bracketed_interval(few, "share") == "[too few independent items]"
    assert bracketed_interval(few, "share", cluster="story") == "[too few stories]"
    people = Interval(None, None, method=TOO_FEW_PEOPLE, clusters=1)
    assert interval_text(people, "share") == "too few (1 person)"
    assert estimate(0.5, "share", people) == "50 % (too few people)"
    assert interval_text(same, "share") == "the same on every item"
    assert bracketed_interval(same, "share") == "[the same on every item]"
    assert interval_text(None, "share") == ""


@pytest.mark.parametrize("module", ["core.measure", "statistics.formatting"])
def test_modules_for_fast_commands_import_no_numpy(module):
    code = f"import sys, sociometer.{module}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_rounding_does_not_move_a_bound_onto_what_it_is_compared_with():
    better = Interval(0.002, 0.42, apart=(0.0,))
    assert (
        bracketed_interval(better, "share") == "[0.2, 42.0]"
        and bracketed_interval(Interval(0.002, 0.42), "share") == "[0, 42]"
    )
    assert bracketed_interval(Interval(-0.0496, 0.31, apart=(0.0, 0.05, -0.05)), "share") == "[−4.96, 31.00]"


@pytest.mark.parametrize(
    ("interval", "unit", "shown"),
    [
        (Interval(-0.34, -0.001), "number", "−0.34 to −0.00"),
        (Interval(-0.34, 0.002), "number", "−0.34 to 0.00"),
        (Interval(-0.34, 0.0), "number", "−0.34 to 0.00"),
        (Interval(-0.4, -0.003), "share", "−40 to −0 %"),
        (Interval(-0.4, -1e-17), "share", "−40 to 0 %"),
        (Interval(0.002, 0.42), "share", "0 to 42 %"),
    ],
)
def test_a_bound_shows_on_which_side_of_zero_it_is(interval, unit, shown):
    assert interval_text(interval, unit) == shown


def test_scores_in_a_column_have_the_same_digits():
    rows = [{"accuracy": 0.69, "eq": 107.0}, {"accuracy": 0.889, "eq": 98.52}, {"accuracy": None, "eq": None}]
    digits = column_decimals(rows, "accuracy", "share"), column_decimals(rows, "eq", "points")
    assert [number(row["accuracy"], "share", digits[0]) for row in rows] == ["69.0 %", "88.9 %", "–"]
    assert [number(row["eq"], "points", digits[1]) for row in rows] == ["107.0", "98.5", "–"]
    assert column_decimals(rows[2:], "eq", "points") is None
