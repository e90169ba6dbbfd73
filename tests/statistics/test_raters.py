"""Several raters: alpha and its interval, and what is settled."""

import numpy as np
import pytest
from hypothesis import settings

from sociometer.statistics.agreement import alpha_of, krippendorff_alpha, settled


def made(agree, units=100, seed=1):
    """Two raters who say the same with this chance, and else something at random."""
    lots = np.random.default_rng(seed)
    first = lots.choice(["yes", "no"], units)
    second = np.where(lots.random(units) < agree, first, lots.choice(["yes", "no"], units))
    names = [f"u{number}" for number in range(units)]
    return {"a": dict(zip(names, first, strict=True)), "b": dict(zip(names, second, strict=True))}


def test_alpha_is_that_of_krippendorff_on_the_worked_example():
    # Krippendorff (2011), example B: two observers, ten units, nominal alpha .095.
    one, two = "0100000010", "1110010000"
    ratings = {name: {f"u{n}": label for n, label in enumerate(said)} for name, said in (("a", one), ("b", two))}
    assert alpha_of(ratings).value == pytest.approx(0.095, abs=5e-4)


def test_the_interval_of_alpha_covers_the_true_one():
    covered, trials = 0, 12 if settings.default.max_examples > 100 else 6
    for seed in range(trials):
        found = alpha_of(made(0.7, 120, seed))
        covered += found.interval.low <= 0.7 <= found.interval.high
    assert covered >= trials - 2


def test_few_units_have_no_interval_and_none_shared_is_an_error():
    assert alpha_of(made(0.7, 9)).interval is None
    with pytest.raises(ValueError, match="rated twice"):
        alpha_of({"a": {"x": "yes"}, "b": {"y": "no"}})


def test_numbers_keep_their_distances():
    ratings = {"a": {"x": "10", "y": "20", "z": "90"}, "b": {"x": "12", "y": "20", "z": "85"}}
    assert alpha_of(ratings, scale="interval").value == pytest.approx(
        krippendorff_alpha([[10, 20, 90], [12, 20, 85]], "interval").value
    )
    assert alpha_of(ratings, scale="interval").value > 0.9


@pytest.mark.parametrize(
    ("labels", "result"),
    [([], None), (["x"], "x"), (["x", "y"], None), (["x", "y", "x"], "x"), (["x", "y", "z"], None)],
)
def test_more_than_half_settle(labels, result):
    assert settled(labels) == result
