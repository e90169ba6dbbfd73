"""Numbers and intervals as text: the unit decides scale and decimals."""

import subprocess
import sys

import pytest

from sociometer.analysis.formatting import amount, bracketed_interval, interval_text, number, signed_amount
from sociometer.analysis.interval_methods import NO_VARIATION
from sociometer.core.measure import Interval


@pytest.mark.parametrize(
    ("unit", "shown", "size"),
    [("share", "12.3 %", "12.3 points"), ("points", "0.1", "0.1 points"), ("number", "0.12", "0.12")],
)
def test_the_unit_decides_scale_and_decimals(unit, shown, size):
    assert number(0.123, unit) == shown
    assert amount(-0.123, unit) == size
    assert signed_amount(-0.123, unit) == "−" + size


def test_a_value_that_is_missing_is_a_dash():
    assert number(None, "share") == "–"


def test_an_interval_of_first_minus_second_has_the_opposite_bounds():
    interval = Interval(-0.1, 0.3)
    assert bracketed_interval(interval, "share") == "[-10.0, 30.0]"
    assert bracketed_interval(interval, "share", reverse=True) == "[-30.0, 10.0]"


def test_an_interval_without_meaningful_bounds_is_described_in_words():
    few, same = Interval(None, None, clusters=4), Interval(0.5, 0.5, method=NO_VARIATION)
    assert interval_text(few, "share") == "too few (4 clusters)"
    assert interval_text(few, "share", too_few="too few for an interval") == "too few for an interval"
    assert bracketed_interval(few, "share") == "[too few clusters]"
    assert interval_text(same, "share") == "the same on every item"
    assert bracketed_interval(same, "share") == "[the same on every item]"
    assert interval_text(None, "share") == ""


@pytest.mark.parametrize("module", ["error_counts", "formatting", "interval_methods", "stand_ins"])
def test_modules_for_fast_commands_import_no_numpy(module):
    code = f"import sys, sociometer.analysis.{module}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
