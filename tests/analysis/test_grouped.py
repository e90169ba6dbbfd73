"""Measures from a run: overall and by facet, each item weighing the same, failures counted beside."""

import pytest
from sittings import sitting

from sociometer.analysis.grouped import grouped_measures


def test_a_measure_stands_overall_and_for_every_level():
    facets = [{"ability": "empathy" if place < 15 else "influence"} for place in range(30)]
    run = sitting("A", [1] * 15 + [0] * 14 + [None], facets=facets)
    overall, empathy, influence = grouped_measures(run.view, "correct", "accuracy", by=("ability",))
    assert (overall.value, overall.items, overall.errors) == (pytest.approx(15 / 29), 29, 1)
    assert (empathy.group, empathy.value) == ({"ability": "empathy"}, 1.0)
    assert (influence.value, influence.items) == (0.0, 14)
    assert influence.interval is not None and influence.interval.high is not None
    assert influence.interval.high > 0.1, "fourteen wrong answers do not prove that all would be"


def test_an_item_played_often_weighs_as_much_as_one_played_once():
    run = sitting("A", [1, 1, 1, 0, 0, 0], repeats=3)
    (overall,) = grouped_measures(run.view, "correct")
    assert (overall.value, overall.items) == (0.5, 2)


def test_a_value_that_nobody_scored_is_absent_not_zero():
    (overall,) = grouped_measures(sitting("A", [None, None]).view, "correct")
    assert overall.value is None
    assert overall.errors == 2


def test_a_quantity_that_is_no_share_has_no_share_interval():
    run = sitting("A", [0.0] * 30)
    (share,) = grouped_measures(run.view, "correct")
    (distance,) = grouped_measures(run.view, "correct", "distance", binary=False)
    assert share.interval is not None and share.interval.method.startswith("Wilson")
    assert distance.interval is not None and distance.interval.method == "no variation"
