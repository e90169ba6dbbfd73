"""Comparison: honest verdicts, honest power, and a refusal where comparing would mislead."""

import numpy as np
import pytest
from msgspec import structs

from fake_runs import card, fake_run
from sociometer.core.card import TaskCard
from sociometer.core.errors import UsageError
from sociometer.results.comparison import Terms, compare, not_compared


def test_a_clear_gain_is_said_in_one_sentence():
    first, second = [0] * 30 + [1] * 30, [0] * 10 + [1] * 50
    (found,) = compare([fake_run("A", first), fake_run("B", second)])
    row = found.measures[0]
    assert row.verdict == "better"
    assert row.paired.difference == pytest.approx(20 / 60)
    assert found.sentence.startswith("B is better than A by 33 points [")
    assert not found.worse


def test_a_loss_fails_the_gate_and_its_interval_is_turned_round():
    (found,) = compare([fake_run("A", [1] * 40), fake_run("B", [0] * 20 + [1] * 20)])
    assert found.worse
    assert "B is worse than A by 50 points [" in found.sentence
    low = float(found.sentence.split("[")[1].split(",")[0])
    assert low > 0, "a loss of so many points is stated as a positive range"


def test_a_distance_is_better_when_it_shrinks():
    rng = np.random.default_rng(1)
    far = rng.uniform(2, 4, 40)
    (found,) = compare(
        [
            fake_run("A", far, of=card("number", "lower")),
            fake_run("B", far - 0.5 + rng.normal(0, 0.1, 40), of=card("number", "lower")),
        ]
    )
    assert found.measures[0].verdict == "better"


def test_where_the_data_cannot_tell_it_says_what_they_would_show():
    values = [0, 1] * 30
    (found,) = compare([fake_run("A", values), fake_run("B", values[::-1])])
    row = found.measures[0]
    assert row.verdict == "cannot tell"
    assert row.detectable is not None and 0.3 < row.detectable < 0.45
    assert "60 items could detect" in found.sentence


def test_groups_are_judged_apart_and_named():
    facets = [{"ability": "influence" if place < 40 else "empathy"} for place in range(80)]
    first = [0] * 25 + [1] * 15 + [0, 1] * 20
    second = [1] * 40 + [0, 1] * 20
    (found,) = compare([fake_run("A", first, facets=facets), fake_run("B", second, facets=facets)])
    by = {row.group.get("ability", ""): row.verdict for row in found.measures}
    assert by == {"": "better", "influence": "better", "empathy": "cannot tell"}
    assert "better on influence by 63 points" in found.sentence
    assert "on empathy the data cannot tell: they could detect" in found.sentence


def test_a_facet_of_the_answer_divides_nothing():
    one = [{"ability": "tact", "picked": "right" if place % 2 else "wrong"} for place in range(24)]
    two = [{"ability": "tact", "picked": "wrong" if place % 2 else "right"} for place in range(24)]
    (found,) = compare([fake_run("A", [0, 1] * 12, facets=one), fake_run("B", [1, 0] * 12, facets=two)])
    assert [row.group for row in found.measures] == [{}]


def test_a_stated_margin_brings_equivalence():
    rng = np.random.default_rng(2)
    base = rng.normal(50, 10, 200)
    of = card("points")
    candidates = [fake_run("A", base, of=of), fake_run("B", base + rng.normal(0, 1, 200), of=of)]
    (found,) = compare(candidates, Terms(margin=1.0))
    row = found.measures[0]
    assert row.verdict == "equivalent"
    assert found.sentence.startswith("B and A are the same within 1 point: a difference of −0.05 points [−0.19, ")


def test_clustered_items_count_for_less_than_lone_ones():
    rng = np.random.default_rng(9)
    trees = rng.integers(0, 2, 40)
    one, two = np.zeros(200), np.repeat(trees, 5)
    clusters = [f"tree {place // 5}" for place in range(200)]
    lone = compare([fake_run("A", one), fake_run("B", two)], Terms(margin=10))[0].measures[0]
    shared = [fake_run(name, values, clusters=clusters) for name, values in (("A", one), ("B", two))]
    row = compare(shared, Terms(margin=10))[0].measures[0]
    assert row.detectable / lone.detectable == pytest.approx(5**0.5, rel=0.15)


def test_repeats_that_hardly_vary_do_not_make_a_margin_easy_to_find():
    one = np.zeros((100, 5))
    two = np.zeros((100, 5))
    two[:2, 0] = 1
    runs = [fake_run(name, values.ravel(), repeats=5) for name, values in (("A", one), ("B", two))]
    row = compare(runs, Terms(margin=10))[0].measures[0]
    assert row.paired.mcnemar is None
    assert row.detectable == pytest.approx(0.078, abs=0.005)


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


def test_several_comparisons_widen_each_interval_and_the_sentence_tells_it():
    rng = np.random.default_rng(13)
    base = rng.random(60)
    runs = [fake_run(name, base < rate) for name, rate in (("A", 0.4), ("B", 0.6), ("C", 0.5), ("D", 0.55))]
    alone, among = compare(runs[:2])[0], compare(runs)[0]
    one, many = alone.measures[0], among.measures[0]
    assert (one.family, many.family) == (1, 6)
    assert many.paired.interval.low < one.paired.interval.low < one.paired.interval.high < many.paired.interval.high
    assert one.p_adjusted == one.paired.p_value < many.p_adjusted
    assert "adjusted for 6 comparisons" in among.sentence and "adjusted" not in alone.sentence


def test_failed_items_that_could_change_the_verdict_are_told_in_the_headline():
    """B fails where it is wrong: without these items it looks better."""
    first, second = [1] * 30 + [0] * 30, [1] * 18 + [None] * 12 + [1] * 8 + [0] * 22
    (found,) = compare([fake_run("A", first), fake_run("B", second)])
    row = found.measures[0]
    assert row.verdict == "better" and row.failed == 12
    assert row.with_failed == ("cannot tell",)
    assert found.sentence.endswith("but the 12 failed items could change this to “cannot tell”.")
    (sure,) = compare([fake_run("A", [0] * 60), fake_run("B", [1] * 58 + [None] * 2)])
    assert sure.measures[0].with_failed == () and "failed" not in sure.sentence


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"version": "2"}, "versions 1 and 2 of tact"),
        ({"roles": {"subject": "B", "simulator": "y"}}, "in the role simulator: x and y"),
        ({"norm": {"mean": 2.0}}, "different norms"),
        ({"texts": "changed"}, "differ in content under the same id"),
    ],
)
def test_what_is_not_comparable_is_refused_with_the_reason(other, reason):
    values = [0, 1] * 10
    first = fake_run("A", values, roles={"subject": "A", "simulator": "x"}, norm={"mean": 1.0})
    told = {"roles": {"subject": "B", "simulator": "x"}, "norm": {"mean": 1.0}, **other}
    (found,) = compare([first, fake_run("B", values, **told)])
    assert reason in found.refused
    assert found.measures == ()
    assert "cannot be compared" in found.sentence


def test_runs_of_different_tasks_leave_nothing_to_compare():
    with pytest.raises(UsageError, match="no two of the given runs have the same task"):
        compare([fake_run("A", [1] * 12)])


def test_a_failure_of_the_machinery_is_left_out_of_both_sides_and_told():
    first, second = [1.0] * 20, [1.0] * 18 + [None] * 2
    (found,) = compare([fake_run("A", first), fake_run("B", second)])
    assert found.measures[0].paired.items == 18
    assert found.measures[0].paired.difference == 0
    assert "2 episodes of B failed and are not in the comparison" in found.notes


def test_stand_ins_and_settings_are_told_beside_the_verdict():
    values = [0, 1] * 10
    (found,) = compare(
        [
            fake_run("A", values, settings={"prompting": "direct"}),
            fake_run("B", values, settings={"prompting": "steps"}, stand_ins=["appraisal"]),
        ]
    )
    assert "settings differ in prompting: 'direct' and 'steps'" in found.notes
    assert any("appraisal is a stand-in" in note for note in found.notes)


def test_few_clusters_are_too_few_however_many_items():
    clusters = [f"tree {place % 5}" for place in range(100)]
    (found,) = compare([fake_run("A", [0] * 100, clusters=clusters), fake_run("B", [1] * 100, clusters=clusters)])
    assert found.measures[0].verdict == "too few"
    assert "5 clusters are too few to tell" in found.sentence
    assert not found.worse
    assert found.undecided == "too few clusters to tell (accuracy: 5)"


def test_a_secondary_measure_alone_decides_nothing():
    of = card()
    aside = structs.replace(of, measure=tuple(structs.replace(known, primary=False) for known in of.measure))
    (found,) = compare([fake_run("A", [1] * 20, of=aside), fake_run("B", [0] * 20, of=aside)])
    assert found.measures[0].verdict == "worse"
    assert found.undecided == "no primary measure was compared"


def test_a_task_that_a_run_lacks_is_told():
    def of_task(label, task, instrument="tact"):
        whole = card()
        of = structs.replace(whole, name=instrument, task=(*whole.task, TaskCard("others", "Others")))
        return structs.replace(fake_run(label, [0, 1] * 10, of=of), task=task)

    runs = [of_task("A", "questions"), of_task("A", "others"), of_task("B", "questions"), of_task("C", "x", "manners")]
    told = [(c.instrument, c.task, c.first, c.second, c.refused) for c in not_compared(runs)]
    assert told == [
        ("tact", "questions", "A", "C", "C has no run of this task"),
        ("tact", "others", "A", "B", "B has no run of this task"),
        ("tact", "others", "A", "C", "C has no run of this task"),
        ("manners", "x", "C", "A", "A has no run of this task"),
        ("manners", "x", "C", "B", "B has no run of this task"),
    ]
    assert not_compared(runs[::2][:2]) == ()


def test_a_difference_without_variation_is_no_certainty():
    of = card("number")
    (found,) = compare([fake_run("A", [2.0] * 20, of=of), fake_run("B", [1.5] * 20, of=of)])
    assert "by 0.50 [the same on every item]" in found.sentence


def test_repeats_do_not_make_items():
    rng = np.random.default_rng(4)
    one, two = rng.integers(0, 2, 40), rng.integers(0, 2, 40)
    (once,) = compare([fake_run("A", one), fake_run("B", two)])
    (many,) = compare([fake_run("A", np.repeat(one, 5), repeats=5), fake_run("B", np.repeat(two, 5), repeats=5)])
    assert many.measures[0].paired.items == once.measures[0].paired.items == 40
    assert many.measures[0].paired.p_value == pytest.approx(once.measures[0].paired.p_value)


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


def test_a_measure_without_a_better_direction_differs():
    rng = np.random.default_rng(7)
    base, of = rng.uniform(2, 4, 40), card("number", "neither")
    (found,) = compare([fake_run("A", base, of=of), fake_run("B", base - 0.5 + rng.normal(0, 0.1, 40), of=of)])
    assert found.measures[0].verdict == "differs"
    assert found.sentence.startswith("B differs from A by −0.")
    assert not found.worse


def test_levels_of_one_cluster_are_left_out_and_told():
    facets = [{"theme": "alone" if place == 0 else "wide"} for place in range(40)]
    (found,) = compare([fake_run("A", [0, 1] * 20, facets=facets), fake_run("B", [1, 0] * 20, facets=facets)])
    assert [row.group for row in found.measures] == [{}, {"theme": "wide"}]
    assert "by theme, 1 of 2 levels have one cluster and are left out" in found.notes


def test_a_difference_of_shares_is_not_said_to_pass_a_hundred_points():
    (found,) = compare([fake_run("A", [0.0] * 12), fake_run("B", [1.0] * 11 + [0.8])])
    assert found.measures[0].paired.interval.high == 1
