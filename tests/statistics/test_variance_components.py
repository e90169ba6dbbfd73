"""Variance components on tables worked by hand, on simulated scores with known components, and on gaps."""

import numpy as np
import pytest

from sociometer.statistics.variance_components import variance_components

TRUE = {
    ("subject",): 150.0,
    ("scenario",): 200.0,
    ("simulator",): 100.0,
    ("subject", "scenario"): 90.0,
    ("subject", "simulator"): 40.0,
    ("scenario", "simulator"): 60.0,
    ("subject", "scenario", "simulator"): 80.0,
    (): 120.0,
}


def simulated(rng, counts, repeats=1, true=TRUE):
    """Scores of a crossed design with effects of known size; the rows of every cell, and the facets' labels."""
    names = ("subject", "scenario", "simulator")
    grid = np.stack(np.meshgrid(*(np.arange(counts[name]) for name in names), np.arange(repeats), indexing="ij"), -1)
    rows = grid.reshape(-1, 4)
    facets = {name: rows[:, place] for place, name in enumerate(names)}
    scores = np.full(len(rows), 50.0)
    for effect, variance in true.items():
        if effect:
            codes = sum(facets[name] * 1000**place for place, name in enumerate(effect))
            levels, inverse = np.unique(codes, return_inverse=True)
            scores += rng.normal(0, variance**0.5, len(levels))[inverse]
        else:
            scores += rng.normal(0, variance**0.5, len(rows))
    return scores, {name: [f"{name}{code}" for code in codes] for name, codes in facets.items()}


def test_one_way_by_hand():
    # two groups of two: means 2 and 6; between mean square 16, within 2, so the group's variance is (16 - 2) / 2
    found = variance_components([1, 3, 5, 7], {"group": ["a", "a", "b", "b"]})
    assert found.variance("group") == pytest.approx(7)
    assert found.variance() == pytest.approx(2)


def test_a_balanced_design_gives_what_the_expected_mean_squares_give():
    scores, facets = simulated(np.random.default_rng(1), {"subject": 4, "scenario": 6, "simulator": 3})
    facets = {name: facets[name] for name in ("subject", "scenario")}
    found = variance_components(scores, facets)
    table = scores.reshape(4, 6, 3)
    cell, row, column = table.mean(2), table.mean((1, 2)), table.mean((0, 2))
    grand = table.mean()
    rows = 18 * ((row - grand) ** 2).sum() / 3
    both = 3 * ((cell - row[:, None] - column[None] + grand) ** 2).sum() / 15
    within = ((table - cell[..., None]) ** 2).sum() / 48
    raw = {one.facets: one.raw for one in found.components}
    assert raw["subject",] == pytest.approx((rows - both) / 18)
    assert raw["subject", "scenario"] == pytest.approx((both - within) / 3)
    assert raw[()] == pytest.approx(within)


def test_known_components_are_recovered_also_with_missing_cells():
    rng = np.random.default_rng(7)
    counts = {"subject": 10, "scenario": 15, "simulator": 6}
    estimates = []
    for _ in range(12):
        scores, facets = simulated(rng, counts, repeats=2)
        keep = rng.random(len(scores)) >= 0.3
        kept = {name: [label for label, stays in zip(labels, keep, strict=True) if stays]
                for name, labels in facets.items()}  # fmt: skip
        found = variance_components(scores[keep], kept, draws=100)
        estimates.append({one.facets: one.raw for one in found.components})
    for effect, true in TRUE.items():
        values = [each[effect] for each in estimates]
        error = np.std(values, ddof=1) / len(values) ** 0.5
        assert abs(np.mean(values) - true) < 3.5 * error + 0.02 * true, effect


def test_two_simulators_say_little_about_simulators():
    scores, facets = simulated(np.random.default_rng(5), {"subject": 6, "scenario": 50, "simulator": 2})
    found = {one.facets: one for one in variance_components(scores, facets, span=100).components}
    assert found["simulator",].interval.high == 50**2, "as much as scores from 0 to 100 can vary"
    assert found["scenario",].interval.high < 3 * found["scenario",].variance


def test_without_repeats_the_highest_interaction_is_part_of_the_residual():
    scores, facets = simulated(np.random.default_rng(2), {"subject": 5, "scenario": 10, "simulator": 3})
    found = variance_components(scores, facets)
    assert found.merged == ("subject × scenario × simulator",)
    twice, again = simulated(np.random.default_rng(2), {"subject": 5, "scenario": 10, "simulator": 3}, repeats=2)
    assert variance_components(twice, again).merged == ()


def test_a_facet_with_one_level_is_left_out_and_one_that_repeats_another_is_refused():
    found = variance_components([1, 2, 4, 9], {"subject": ["a", "a", "b", "b"], "simulator": ["s"] * 4})
    assert {one.facets for one in found.components} == {("subject",), ()}
    with pytest.raises(ValueError, match="cannot separate 'simulator'"):
        variance_components([1, 2, 4, 9], {"subject": ["a", "a", "b", "b"], "simulator": ["s", "s", "t", "t"]})
    with pytest.raises(ValueError, match="no facet has two levels; given: subject"):
        variance_components([1, 2], {"subject": ["a", "a"]})
    with pytest.raises(ValueError, match="one finite number"):
        variance_components([1, float("nan")], {"subject": ["a", "b"]})


def test_an_estimate_below_zero_becomes_zero_and_keeps_its_raw_value():
    found = variance_components([1, 9, 1, 9], {"group": ["a", "a", "b", "b"]})
    (group, _) = found.components
    assert group.variance == 0 and group.raw < 0 and group.interval.low == 0


def test_a_constant_changes_no_component():
    scores, facets = simulated(np.random.default_rng(4), {"subject": 4, "scenario": 8, "simulator": 3})
    one, two = variance_components(scores, facets), variance_components(scores + 1000, facets)
    assert [each.raw for each in one.components] == pytest.approx([each.raw for each in two.components])


def test_intervals_of_components_cover_about_as_often_as_they_say():
    generator, hits = np.random.default_rng(11), dict.fromkeys(TRUE, 0)
    for _ in range(15):
        scores, facets = simulated(generator, {"subject": 7, "scenario": 20, "simulator": 3}, repeats=2)
        made = variance_components(scores, facets, draws=100)
        for one in made.components:
            hits[one.facets] += one.interval.low <= TRUE[one.facets] <= one.interval.high
    # 95 % would be 14 of 15; the components of three simulators are far from exact.
    assert min(hits.values()) >= 12, hits


def test_the_same_scores_give_the_same_intervals():
    scores, facets = simulated(np.random.default_rng(9), {"subject": 3, "scenario": 9, "simulator": 2})
    assert variance_components(scores, facets) == variance_components(scores, facets)
