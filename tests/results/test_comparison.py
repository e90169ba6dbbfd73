"""Comparison: items are paired as they should be, and what would mislead is refused."""

import numpy as np
import pytest
from msgspec import structs

from fake_runs import card, fake_run
from sociometer.core.card import MeasureCard, TaskCard
from sociometer.core.errors import UsageError
from sociometer.core.measure import Measure, Summary
from sociometer.results.comparison import compare, not_compared
from sociometer.results.leaderboard import ranked_measure
from sociometer.results.verdicts import Terms


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


def test_a_facet_of_the_answer_divides_nothing():
    one = [{"ability": "tact", "picked": "right" if place % 2 else "wrong"} for place in range(24)]
    two = [{"ability": "tact", "picked": "wrong" if place % 2 else "right"} for place in range(24)]
    (found,) = compare([fake_run("A", [0, 1] * 12, facets=one), fake_run("B", [1, 0] * 12, facets=two)])
    assert [row.group for row in found.measures] == [{}]
    (same,) = compare([fake_run("A", [0, 1] * 12, facets=one), fake_run("B", [1, 0] * 12, facets=one)])
    assert [row.group for row in same.measures] == [{}], "two subjects that picked the same"


def test_clustered_items_count_for_less_than_lone_ones():
    rng = np.random.default_rng(9)
    trees = rng.integers(0, 2, 40)
    one, two = np.zeros(200), np.repeat(trees, 5)
    clusters = [f"tree {place // 5}" for place in range(200)]
    lone = compare([fake_run("A", one), fake_run("B", two)], Terms(margin=10))[0].measures[0]
    shared = [fake_run(name, values, clusters=clusters) for name, values in (("A", one), ("B", two))]
    row = compare(shared, Terms(margin=10))[0].measures[0]
    assert row.detectable / lone.detectable == pytest.approx(5**0.5, rel=0.15)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"version": "2"}, "versions 1 and 2 of tact"),
        ({"roles": {"subject": "B", "simulator": "y"}}, "in the role simulator: x and y"),
        ({"norm": {"mean": 2.0}}, "different norms"),
        ({"texts": "changed"}, "differ in content under the same id"),
        ({"texts": "changed", "settings": {"language": "zh"}}, "their languages differ: en and zh; give both runs"),
    ],
)
def test_what_is_not_comparable_is_refused_with_the_reason(other, reason):
    values = [0, 1] * 10
    same = {"norm": {"mean": 1.0}, "settings": {"language": "en"}}
    first = fake_run("A", values, roles={"subject": "A", "simulator": "x"}, **same)
    told = {"roles": {"subject": "B", "simulator": "x"}, **same, **other}
    (found,) = compare([first, fake_run("B", values, **told)])
    assert reason in found.refused
    assert found.measures == ()
    assert found.sentence == f"A and B cannot be compared: {found.refused}.", "the reason names A's value first"


def test_runs_of_different_tasks_leave_nothing_to_compare():
    with pytest.raises(UsageError, match="no two of the given runs have the same task"):
        compare([fake_run("A", [1] * 12)])


def test_a_failure_of_the_machinery_is_left_out_of_both_sides_and_told():
    first, second = [1.0] * 20, [1.0] * 18 + [None] * 2
    (found,) = compare([fake_run("A", first), fake_run("B", second)])
    assert found.measures[0].paired.items == 18
    assert found.measures[0].paired.difference == 0
    told = "2 episodes of B failed: differences are without them, and a verdict holds whatever they would have scored"
    assert told in found.notes


@pytest.mark.parametrize(("stand_in", "verdict"), [("simulator: x", "no verdict"), ("subject: x", "better")])
def test_a_stand_in_in_another_role_leaves_a_difference_without_a_verdict(stand_in, verdict):
    (found,) = compare([fake_run("A", [0, 1] * 10), fake_run("B", [1] * 20, stand_ins=[stand_in])])
    assert (found.verdict, found.value, found.worse) == (verdict, 0.5, False)
    if verdict == "no verdict":
        assert found.measures[0].verdict_text == "no verdict (stand-in)"
        assert found.sentence.startswith("No verdict, because a stand-in played a role: B is 50 points higher than A [")
        assert found.undecided == "a stand-in played a role, so there is no verdict"
        assert "simulator: x is a stand-in, not a real model" in found.notes


def test_settings_that_differ_are_told_beside_the_verdict():
    values = [0, 1] * 10
    runs = [fake_run(name, values, settings={"prompting": how}) for name, how in (("A", "direct"), ("B", "steps"))]
    assert "settings differ in prompting: direct and steps" in compare(runs)[0].notes


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


def test_what_is_known_from_the_items_alone_is_neither_compared_nor_ranked():
    known = card()
    more = [MeasureCard("questions", name, name, value="correct") for name in ("style", "guess")]
    of = structs.replace(known, measure=(*known.measure, more[0], structs.replace(more[1], of_items=True)))
    runs = [fake_run(name, values, of=of) for name, values in (("A", [0, 1] * 20), ("B", [1, 1, 0, 1] * 10))]
    assert [(row.name, row.family) for row in compare(runs)[0].measures] == [("accuracy", 1), ("style", 1)]
    for refused in (lambda: compare(runs, Terms(margin={"guess": 3})), lambda: ranked_measure(runs[0], "guess")):
        with pytest.raises(UsageError, match="guess"):
            refused()


def test_repeats_do_not_make_items():
    rng = np.random.default_rng(4)
    one, two = rng.integers(0, 2, 40), rng.integers(0, 2, 40)
    (once,) = compare([fake_run("A", one), fake_run("B", two)])
    (many,) = compare([fake_run("A", np.repeat(one, 5), repeats=5), fake_run("B", np.repeat(two, 5), repeats=5)])
    assert many.measures[0].paired.items == once.measures[0].paired.items == 40
    assert many.measures[0].paired.p_value == pytest.approx(once.measures[0].paired.p_value)


def test_levels_of_one_cluster_are_left_out_and_told():
    facets = [{"theme": "alone" if place == 0 else "wide"} for place in range(40)]
    (found,) = compare([fake_run("A", [0, 1] * 20, facets=facets), fake_run("B", [1, 0] * 20, facets=facets)])
    assert [row.group for row in found.measures] == [{}, {"theme": "wide"}]
    assert "by theme, 1 of 2 levels have one independent item and are left out" in found.notes


def on_norm(name, far, items=None):
    """A run with distances and the EQ that a norm gives their mean: 160 minus 20 times the distance."""
    known = card("number", "lower")
    eq = MeasureCard("questions", "eq", "EQ", "points", low=-110.0, high=151.0, human=100.0)
    mean = float(np.mean(far[:items]))
    summary = Summary((Measure("accuracy", mean, items=len(far)), Measure("eq", 160 - 20 * mean)))
    run = fake_run(name, far, of=structs.replace(known, measure=(*known.measure, eq)))
    return structs.replace(run, summary=summary)


def test_a_score_on_a_norm_has_the_difference_of_its_mean_on_its_own_scale():
    far = np.random.default_rng(1).uniform(2, 4, (2, 40))
    (found,) = compare([on_norm("A", far[0]), on_norm("B", far[1] - 0.7)], Terms(margin=0.1))
    distance, eq = found.measures
    assert (eq.name, eq.unit, eq.better, eq.primary) == ("eq", "points", "higher", False)
    assert eq.paired.difference == pytest.approx(-20 * distance.paired.difference)
    assert eq.paired.interval.low == pytest.approx(-20 * distance.paired.interval.high)
    assert eq.paired.effect == pytest.approx(-distance.paired.effect)
    assert (eq.detectable, eq.margin) == (pytest.approx(20 * distance.detectable), pytest.approx(2.0))
    assert eq.verdict == distance.verdict == "better"
    assert [row.name for row in found.primary_rows] == ["accuracy"], "it is no second test"
    (apart,) = compare([on_norm("A", far[0]), on_norm("B", far[1], items=30)])
    assert [row.name for row in apart.measures] == ["accuracy"]
    assert "no difference in “EQ”: equal means, or other items" in apart.notes


def test_the_verdict_says_if_many_replies_could_not_be_read():
    wrong, right = [0, 1] * 20, [1] * 40
    read, unread = (
        structs.replace(fake_run(name, values), summary=Summary((Measure("accuracy", 0.5, items=40, unreadable=lost),)))
        for name, values, lost in (("A", right, 2), ("B", wrong, 3))
    )
    (found,) = compare([read, unread])
    assert found.sentence.startswith("B is worse than A: 50 points lower")
    assert found.sentence.endswith("; 3 replies of B could not be read (40 items).")
    (rule,) = compare([read, structs.replace(unread, baseline=True)])
    assert "could not be read" not in rule.sentence, "a baseline reads nothing"


def _twins(label, values, **more):
    """A run of pairs of items, with the measure over pairs in its card and its summary."""
    known = card()
    both = MeasureCard("questions", "pairs", "Pairs with both right", chance=0.0625, top=1.0, pairs_of="correct")
    of = structs.replace(known, measure=(*known.measure, both))
    run = fake_run(label, values, of=of, clusters=[f"pair {place // 2}" for place in range(len(values))], **more)
    return structs.replace(run, summary=Summary((Measure("accuracy", 0.5), Measure("pairs", 0.5))))


def test_a_measure_over_pairs_is_compared_pair_by_pair():
    """The first has one of two right in every pair, the second both in the first half of the pairs and else none."""
    one, two = _twins("A", [0, 1] * 20), _twins("B", [1] * 20 + [0] * 20)
    row = compare([one, two])[0].measure("pairs")
    assert (row.paired.first, row.paired.second, row.paired.items) == (0.0, 0.5, 20)
    assert (row.verdict, row.paired.binary) == ("better", True)


def test_a_pair_with_a_failed_item_is_a_failed_one():
    one, two = _twins("A", [0, 1] * 20), _twins("B", [None] + [1] * 19 + [0] * 20)
    row = compare([one, two])[0].measure("pairs")
    assert (row.paired.items, row.failed) == (19, 1)


def test_repeats_of_a_pair_are_paired_by_their_number():
    """The items of a pair are right in different repeats, so that no repeat of the pair is."""
    two = _twins("B", [1, 0, 0, 1] * 12, repeats=2)
    row = compare([_twins("A", [1, 0, 1, 0] * 12, repeats=2), two])[0].measure("pairs")
    assert (row.paired.first, row.paired.second) == (0.5, 0.0)


def test_a_run_without_a_whole_pair_is_told():
    one = _twins("A", [0, 1] * 20)
    half = structs.replace(_twins("B", [1] * 40), summary=Summary((Measure("accuracy", 1.0),)))
    (found,) = compare([one, half])
    assert "“Pairs with both right” is left out: they share no scored item" in found.notes
    assert [row.name for row in found.measures] == ["accuracy"]
