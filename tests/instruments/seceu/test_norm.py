"""EQ, percentiles and bands follow the paper's formula and tables."""

import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.core.errors import DataError
from sociometer.core.measure import Interval
from sociometer.instruments.seceu.norm import (
    band,
    evenness,
    norm_of,
    published_norm,
    published_pairs,
    published_rows,
    read_norm,
)
from sociometer.statistics.monotone_curve import MonotoneCurve

NORM = published_norm([], [], [])


@pytest.mark.parametrize(("score", "eq"), [(3.5, 87), (2.01, 114), (2.5, 105), (3.72, 83), (2.46, 106)])
def test_an_eq_of_table_1_follows_from_its_score(score, eq):
    assert round(NORM.eq(score)) == eq


def test_the_mean_score_is_an_eq_of_100_and_one_deviation_is_15_points():
    assert NORM.eq(2.79) == pytest.approx(100)
    assert NORM.eq(2.79 - 0.822) == pytest.approx(115)
    assert NORM.score_of(NORM.eq(3.1)) == pytest.approx(3.1)


def test_an_eq_of_100_stands_at_44_percent_not_at_50():
    assert NORM.percent_below(2.78) == pytest.approx(43.5, abs=0.6)


def test_a_printed_percentile_is_met_where_one_is_printed():
    for row in published_rows("table_1"):
        if row["score"]:
            assert NORM.percent_below(float(row["score"])) == pytest.approx(float(row["percent"]), abs=0.6)
            assert NORM.percent_less_similar(float(row["similarity"])) == pytest.approx(
                float(row["similarity_percent"]), abs=0.6
            )


def test_about_twenty_five_pairs_are_printed():
    assert 20 <= len(published_pairs("score", "percent")) <= 30
    assert 20 <= len(published_pairs("similarity", "similarity_percent")) <= 30


@given(st.floats(0, 14), st.floats(0, 14))
def test_a_nearer_score_never_stands_above_fewer_people(one, two):
    better, worse = min(one, two), max(one, two)
    assert NORM.percent_below(better) >= NORM.percent_below(worse) - 1e-9
    assert 0 <= NORM.percent_below(one) <= 100


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_a_more_similar_pattern_never_stands_above_fewer_people(one, two):
    assert NORM.percent_less_similar(max(one, two)) >= NORM.percent_less_similar(min(one, two)) - 1e-9


@pytest.mark.parametrize(("eq", "word"), [(117, "expert"), (115, "normal"), (85, "normal"), (84.9, "poor")])
def test_bands_are_the_papers(eq, word):
    assert band(eq) == word


def test_one_deviation_below_the_mean_similarity_is_another_mechanism():
    assert NORM.different_below == 0.033


def test_the_peoples_standard_error_of_measurement_is_3_7_points_and_more_on_fewer_items():
    """On 12 of 40 items, Spearman-Brown: alpha 0.825, and an EQ spreads by 15 √(0.94 + 0.06 · 40 / 12) = 16.0."""
    norm = published_norm([(4.0, 3.0, 2.0, 1.0)] * 40, [2.0] * 40, [str(number) for number in range(40)])
    assert norm.error_of_measurement(40) == pytest.approx(3.67, abs=0.01)
    assert norm.error_of_measurement(12) == pytest.approx(16.02 * math.sqrt(1 - 0.8246), abs=0.02)


def test_evenness_runs_from_one_feeling_to_all_alike():
    assert evenness((10, 0, 0, 0)) == 0
    assert evenness((2.5, 2.5, 2.5, 2.5)) == pytest.approx(1)
    assert evenness((5, 5, 0, 0)) == pytest.approx(0.5)
    assert evenness((0, 0, 0, 0)) is None


@given(st.lists(st.floats(0, 10), min_size=4, max_size=4), st.permutations(range(4)))
def test_distance_does_not_depend_on_the_order_of_options(points, order):
    standard = (4.0, 3.0, 2.0, 1.0)
    there = math.dist([points[at] for at in order], [standard[at] for at in order])
    assert there == pytest.approx(math.dist(points, standard))


def test_a_norm_survives_its_file(tmp_path):
    import msgspec

    path = tmp_path / "norm.json"
    path.write_bytes(msgspec.json.encode(NORM))
    assert read_norm(path) == NORM
    assert norm_of(msgspec.to_builtins(NORM)) == NORM


def test_what_is_no_norm_file_is_refused(tmp_path):
    path = tmp_path / "norm.json"
    path.write_text("{}")
    with pytest.raises(DataError, match="study norms"):
        read_norm(path)
    with pytest.raises(DataError, match="cannot be opened"):
        read_norm(tmp_path / "gone.json")


@pytest.mark.parametrize(
    ("pairs", "rises", "most"), [(NORM.score_below, False, 1.0), (NORM.similarity_below, True, 1.5)]
)
def test_each_printed_percentile_is_nearly_met_by_the_curve_through_the_others(pairs, rises, most):
    printed = MonotoneCurve(*zip(*pairs, strict=True), increasing=rises)
    errors = []
    for place in range(1, printed.x.size - 1):
        x, y = (np.delete(values, place) for values in (printed.x, printed.y))
        without = MonotoneCurve(x, y, increasing=rises)
        errors.append(abs(float(without(printed.x[place])) - printed.y[place]))
    assert len(errors) >= 20 and max(errors) <= 3.5 and np.mean(errors) < most


def test_the_interval_of_an_eq_includes_the_error_of_the_norms_own_people():
    around = Interval(115.0, 125.0, 0.95, "bootstrap", 40)
    error = math.sqrt((15**2 + 20**2 / 2) / 541)
    found = NORM.eq_interval(120.0, around)
    assert found.high - 120 == pytest.approx(math.hypot(5, 1.96 * error), abs=1e-3) and found.low < 115
    assert msgspec.structs.replace(NORM, people=0).eq_interval(120.0, around) == around
    assert found.method == "bootstrap, with the norm's error"


def test_a_pattern_at_an_end_of_the_published_curve_is_said_to_be_there():
    assert NORM.beyond(0.2, -0.25, 0.42) == NORM.beyond() == ""
    assert NORM.beyond(0.2, -0.1, 0.43) == "the published curve ends at 93 %, which means 93 % or more"
    both = "begins at 1 %, which means 1 % or less and ends at 93 %, which means 93 % or more"
    assert NORM.beyond(0.2, -0.3, 0.5) == f"the published curve {both}"
    assert msgspec.structs.replace(NORM, name="spring").beyond(0.5) == "", "on an own norm everybody is counted"
