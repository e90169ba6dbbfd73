"""How many people a norm needs, and that it agrees with the intervals of simulated studies."""

from functools import cache, partial
from statistics import NormalDist

import numpy as np
import pytest

from sociometer.cli.main import run_command
from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError
from sociometer.core.measure import Interval
from sociometer.instruments import card_of
from sociometer.results import people_needed as simulation
from sociometer.results.people_needed import SIZES, people_needed
from sociometer.statistics.people import curve_of, place_interval, share_worse

ACCURACY = MeasureCard("t", "accuracy", "Accuracy", value="correct", chance=0.25)
ITEMS = [f"i{at}" for at in range(40)]


@cache
def needed(**how):
    return people_needed(ACCURACY, ITEMS, **how)


def test_the_median_within_five_needs_about_385_people():
    found = needed(percent=50, width=5)
    assert found.percentile == pytest.approx(385, abs=12)
    assert needed(percent=10, width=5).percentile < 0.45 * found.percentile


@pytest.mark.parametrize("people", [60, 200])
def test_the_plan_agrees_with_simulated_studies(people):
    planned = dict(row[:2] for row in needed(percent=50, width=5).table.rows)
    lots, widths, inside, levels = np.random.default_rng(5), [], 0, (0.1, 0.25, 0.5, 0.75, 0.9)
    for number in range(1_000):
        share = levels[number % 5]
        at = NormalDist().inv_cdf(share)
        worse = partial(share_worse, curve_of(lots.normal(size=people), lower_is_better=False))
        found = place_interval(worse, people, at, Interval(at, at))
        widths += [50 * (found.high - found.low)] * (share == 0.5)
        inside += found.low <= share <= found.high
    assert planned[people] == pytest.approx(np.mean(widths), rel=0.05)
    assert 0.93 <= inside / 1_000 <= 0.975


@pytest.fixture
def few_studies(monkeypatch):
    """For what does not depend on the widths of percentiles: fewer simulated studies of each size."""
    monkeypatch.setattr(simulation, "_RUNS", 4)
    monkeypatch.setattr(simulation, "_MODELS", 4)


def test_a_mean_needs_people_by_their_spread(few_studies):
    narrow = needed(percent=50, width=20, mean_width=2, spread=10)
    assert (narrow.spread, narrow.source) == (pytest.approx(10), "given")
    assert narrow.mean == pytest.approx((1.96 * 10 / 2) ** 2, rel=0.05)
    assert needed(percent=50, width=20, mean_width=2, spread=20).mean > 3.5 * narrow.mean


def test_the_source_of_the_spread_is_shown(few_studies):
    assert "1 logit" in needed(percent=50, width=20).source
    seceu = people_needed(card_of("seceu").primary_of("feelings"), ITEMS, percent=50, width=20)
    assert (seceu.spread, seceu.source) == (pytest.approx(0.822), "the people of the paper on all its items")


def test_the_error_of_a_model_stays_however_many_people_come():
    rows = needed(percent=50, width=5).table.rows
    assert rows[-1][0] == SIZES[-1] and rows[-1][2] > 3 * rows[-1][1]


def test_an_impossible_width_is_refused(few_studies):
    with pytest.raises(UsageError, match="needs more than 100,000 people"):
        needed(percent=50, width=20, mean_width=1e-4)


def test_the_command_says_how_many(few_studies, tmp_path, capsys):
    words = ["study", "plan", "sesi", "--limit", "20", "--mean", "3", "--store", str(tmp_path / "s.db")]
    assert run_command(words) == 0
    said = capsys.readouterr().out
    assert "people for ± 5 at the 50th percentile" in said and "for a mean within ± 3" in said and "1 logit" in said


@pytest.mark.parametrize("task", ["talk", "dialogue"])
def test_a_study_of_talks_is_planned_without_models(few_studies, tmp_path, task, capsys):
    assert run_command(["study", "plan", "sage", "--task", task, "--store", str(tmp_path / "s.db")]) == 0
    assert f"of {task}, " in capsys.readouterr().out


def test_the_number_of_people_for_official_items_is_planned(few_studies, tmp_path, capsys, official_data):
    words = ["study", "plan", "seceu", "--data", str(official_data / "seceu"), "--store", str(tmp_path / "s.db")]
    assert run_command(words) == 0
    assert "40 items" in capsys.readouterr().out
