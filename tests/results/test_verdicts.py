"""Verdicts follow from intervals and margins, with the errors and the power that are stated."""

import numpy as np
import pytest
from msgspec import structs

from fake_runs import card, fake_run
from sociometer.core.errors import UsageError
from sociometer.results.comparison import compare
from sociometer.results.leaderboard import leaderboard
from sociometer.results.verdicts import Terms


def test_a_stated_margin_brings_equivalence():
    rng = np.random.default_rng(2)
    base = rng.normal(50, 10, 200)
    of = card("points")
    candidates = [fake_run("A", base, of=of), fake_run("B", base + rng.normal(0, 1, 200), of=of)]
    (found,) = compare(candidates, Terms(margin=1.0))
    row = found.measures[0]
    assert row.verdict == "equivalent"
    assert found.sentence.startswith("B and A are the same within 1 point: B is 0.045 points lower [−0.192, ")


def test_repeats_that_hardly_vary_do_not_make_a_margin_easy_to_find():
    one = np.zeros((100, 5))
    two = np.zeros((100, 5))
    two[:2, 0] = 1
    runs = [fake_run(name, values.ravel(), repeats=5) for name, values in (("A", one), ("B", two))]
    row = compare(runs, Terms(margin=10))[0].measures[0]
    assert row.paired.mcnemar is None
    assert row.detectable == pytest.approx(0.069, abs=0.005)


def test_a_share_cannot_differ_by_more_than_all():
    values = [0, 1] * 10
    with pytest.raises(UsageError, match="a margin of 300 points for accuracy is too large"):
        compare([fake_run("A", values), fake_run("B", values)], Terms(margin=300))


def test_a_margin_belongs_to_its_measure_and_is_given_as_the_measure_is_shown():
    of = card()
    points = structs.replace(of.measure[0], name="mood", title="Mood", unit="points", high=100.0)
    both = structs.replace(of, measure=(*of.measure, points))
    aside = structs.replace(of, measure=(*of.measure, structs.replace(points, primary=False)))
    values = [0, 1] * 300

    def margins(card_of, margin):
        runs = [fake_run("A", values, of=card_of), fake_run("B", values, of=card_of)]
        return {row.name: (row.margin, row.verdict) for row in compare(runs, Terms(margin=margin))[0].measures}

    assert margins(aside, 3) == {"accuracy": (0.03, "equivalent"), "mood": (None, "cannot tell")}
    with pytest.raises(UsageError, match=r"different ones \(accuracy \(share\), mood \(points\)\)"):
        margins(both, 3)
    assert margins(both, {"mood": 3}) == {"accuracy": (None, "cannot tell"), "mood": (3, "equivalent")}
    with pytest.raises(UsageError, match="unknown measure 'moood'"):
        margins(both, {"moood": 3})
    placed = structs.replace(points, primary=False, name="eq", title="EQ", value="", human=100.0)
    with pytest.raises(UsageError, match=r"^EQ follows accuracy and has its margin; give --margin accuracy=VALUE"):
        margins(structs.replace(of, measure=(*of.measure, placed)), {"eq": 3})


@pytest.mark.parametrize("margin", [None, 20])
def test_every_verdict_is_read_off_the_interval_beside_it(margin):
    """Three subjects on two facets: whatever is shown as better excludes zero, and the same lies within the margin."""
    rng = np.random.default_rng(12)
    seen = set()
    for _ in range(12):
        facets = [{"ability": f"a{place % 3}"} for place in range(90)]
        runs = [
            fake_run(name, rng.random(90) < rate, facets=facets) for name, rate in (("A", 0.5), ("B", 0.7), ("C", 0.5))
        ]
        for found in compare(runs, Terms(margin=margin)):
            for row in found.measures:
                interval = row.paired.interval
                sure = interval.low > 0 or interval.high < 0
                assert sure == (row.verdict in ("better", "worse"))
                assert row.family == (3 if not row.group else 9), "three pairs, on three abilities"
                inside = margin is not None and max(-interval.low, interval.high) < 0.2
                assert (row.verdict == "equivalent") == (inside and not sure)
                seen.add(row.verdict)
    assert seen >= {"better", "cannot tell"} | ({"equivalent"} if margin else set())


def test_few_clusters_are_too_few_however_many_items():
    clusters = [f"tree {place % 5}" for place in range(100)]
    (found,) = compare([fake_run("A", [0] * 100, clusters=clusters), fake_run("B", [1] * 100, clusters=clusters)])
    assert found.measures[0].verdict == "too few"
    assert "5 independent items are too few to tell" in found.sentence
    assert not found.worse
    assert found.undecided == "too few independent items to tell (accuracy: 5)"


def test_a_secondary_measure_alone_decides_nothing():
    of = card()
    aside = structs.replace(of, measure=tuple(structs.replace(known, primary=False) for known in of.measure))
    (found,) = compare([fake_run("A", [1] * 20, of=aside), fake_run("B", [0] * 20, of=aside)])
    assert found.measures[0].verdict == "worse"
    assert found.undecided == "no primary measure was compared"


def test_a_difference_without_variation_is_no_certainty():
    of = card("number")
    (found,) = compare([fake_run("A", [2.0] * 20, of=of), fake_run("B", [1.5] * 20, of=of)])
    assert "0.50 lower [the same on every item]" in found.sentence


def test_two_counts_that_are_zero_on_every_item_have_an_interval_if_there_is_a_highest_value():
    of = card("number", "neither")
    leaks = structs.replace(of, measure=tuple(structs.replace(one, low=0.0, high=10.0) for one in of.measure))
    (found,) = compare([fake_run("A", [0.0] * 20, of=leaks), fake_run("B", [0.0] * 20, of=leaks)])
    (right,) = compare([fake_run("A", [0] * 20), fake_run("B", [0] * 20)])
    assert found.interval.low == pytest.approx(10 * right.low) and found.high == pytest.approx(10 * right.high)
    assert found.verdict == "cannot tell" and found.interval.method == right.interval.method
    (middle,) = compare([fake_run("A", [2.0] * 20, of=leaks), fake_run("B", [2.0] * 20, of=leaks)])
    assert str(middle.interval) == "the same on every item"


@pytest.mark.slow
def test_false_alarms_of_the_verdict_stay_below_six_percent():
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(2000):
        rates = rng.beta(2, 2, 60)
        one, two = (rng.random((2, 60)) < rates).astype(float)
        row = compare([fake_run("A", one), fake_run("B", two)])[0].measures[0]
        alarms += row.verdict in ("better", "worse")
    assert alarms / 2000 <= 0.06


@pytest.mark.slow
def test_the_stated_power_of_the_verdict_is_within_three_points():
    from sociometer.statistics.power import smallest_detectable_binary

    rng = np.random.default_rng(6)
    items, discordant = 120, 0.4
    truth = smallest_detectable_binary(items, discordant)
    found = 0
    for _ in range(2000):
        draws = rng.random(items)
        gained, lost = draws < (discordant + truth) / 2, draws > 1 - (discordant - truth) / 2
        rest = rng.integers(0, 2, items)
        one, two = np.where(gained, 0, np.where(lost, 1, rest)), np.where(gained, 1, np.where(lost, 0, rest))
        found += compare([fake_run("A", one), fake_run("B", two)])[0].measures[0].verdict == "better"
    assert found / 2000 == pytest.approx(0.8, abs=0.03)


def test_p_belongs_to_the_interval_next_to_it():
    rng = np.random.default_rng(11)
    for trial in range(80):
        items = int(rng.integers(12, 45))
        runs = [fake_run(name, (rng.random(items) < share) * 1) for name, share in (("A", 0.7), ("B", 0.5), ("C", 0.4))]
        for one in compare(runs[: 2 + trial % 2]):
            row = one.measures[0]
            assert (row.p_adjusted < 0.05) == (row.verdict in ("better", "worse"))


def test_compare_and_the_ranking_agree_on_two_runs_with_repeats():
    """Both call answers right or wrong from single answers, not from the means of items."""
    rng = np.random.default_rng(5)
    for _ in range(150):
        runs = [fake_run(name, (rng.random(36) < share) * 1, repeats=3) for name, share in (("A", 0.4), ("B", 0.65))]
        (found,) = compare(runs)
        first = leaderboard(runs).standings[0]
        assert (found.measures[0].verdict in ("better", "worse")) == bool(first.beats)
