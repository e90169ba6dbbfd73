"""A score at an end of its test says so: at the top, at chance, or too few items to tell."""

import numpy as np
import pytest
from msgspec import structs

import sociometer as sm
from fake_runs import card, fake_run
from sociometer.core.card import MeasureCard
from sociometer.core.measure import Measure, Summary
from sociometer.results.ceiling import end_of
from sociometer.results.comparison import compare
from sociometer.results.comparison_tables import verdict_sentences
from sociometer.results.profile import ends_sentences, profile_lines
from sociometer.results.summaries import finding
from sociometer.results.verdicts import Terms
from sociometer.statistics.measures import grouped_measures

CARD = card()
ACCURACY = CARD.measure[0]


def played(label, values, of=CARD, **more):
    run = fake_run(label, values, of=of, **more)
    return structs.replace(run, summary=Summary(grouped_measures(run, "correct", "accuracy")))


def end(values, of=CARD, chance=0.25):
    found = end_of(of.measure[0], played("A", values, of=of).summary, chance)
    return (found.at, found.sure) if found else None


def right(count, of):
    return [1.0] * count + [0.0] * (of - count)


@pytest.mark.parametrize(
    ("values", "reached"),
    [
        (right(40, 40), ("top", True)),
        (right(39, 40), ("top", True)),
        (right(20, 20), ("top", False)),
        (right(18, 20), ("top", False)),
        (right(6, 6), None),
        (right(28, 40), None),
        (right(940, 1000), None),
        (right(998, 1000), ("top", True)),
        (right(15, 60), ("chance", True)),
        (right(12, 40), ("chance", False)),
        (right(200, 1000), None),
        (right(300, 1000), None),
    ],
)
def test_an_end_needs_a_narrow_interval_and_items_that_show_no_better_model(values, reached):
    assert end(values) == reached


def test_failures_count_at_their_worst():
    assert end([*right(60, 60), None]) == ("top", True)
    assert end([*right(40, 40), *[None] * 10]) is None
    open_ended = structs.replace(CARD, measure=(structs.replace(ACCURACY, high=None),))
    assert end(right(60, 60), of=open_ended) is None


def test_distances_are_reversed_and_measures_without_a_better_end_have_no_top():
    near = np.random.default_rng(1).uniform(0, 0.3, 40)
    for better, values, reached in (("lower", 1 - np.array(right(40, 40)), ("top", True)), ("neither", near, None)):
        of = structs.replace(CARD, measure=(structs.replace(ACCURACY, better=better, top=None, chance=None),))
        assert end(values, of=of, chance=None) == reached
    # an EQ is no mean over items
    eq = MeasureCard("questions", "eq", "EQ", "points", low=-110.0, high=151.0, human=100.0)
    assert end_of(eq, Summary((Measure("eq", 150.0),)), None) is None


def test_a_score_that_may_be_far_above_or_below_chance_is_not_at_chance():
    lower = structs.replace(CARD, measure=(structs.replace(ACCURACY, better="lower", top=None),))
    assert end(right(15, 60), of=lower) == ("chance", True)
    assert end(right(4, 10), of=lower) == end(right(3, 10), of=lower) == ("chance", False)
    assert end(right(5, 40)) == ("chance", False)
    assert end([*right(15, 60), *[None] * 10], of=lower) == ("chance", False)
    two = [played("A", right(4, 10), of=lower), played("B", right(3, 10)[::-1], of=lower)]
    assert compare(two)[0].verdict == "cannot tell"


def test_a_score_that_is_better_the_lower_is_at_the_best_value():
    of = structs.replace(CARD, measure=(structs.replace(ACCURACY, better="lower", top=0.0, chance=None),))
    runs = [played(name, [0.0] * 40, of=of) for name in "AB"]
    known, summary = of.measure[0], runs[0].summary
    said = end_of(known, summary, None).sentence("tact/questions", known, summary.measures[0], "models")
    assert "is at the best value (0 %), so this test does not separate" in said and "top" not in said
    assert ends_sentences(profile_lines(runs))[0].startswith("At the best value: tact/questions, which cannot show")
    worse = played("C", right(20, 40), of=of)
    assert "(A is at the best value of this test: the true difference" in verdict_sentences(compare([runs[0], worse]))


def test_the_best_policy_of_a_tree_is_its_top():
    """A test whose best policy reaches the goal in 92 % of the plays: who has 92 % is at the top."""
    values = right(92, 100)
    summary = played("A", values).summary
    assert end_of(ACCURACY, summary, 0.05) is None
    tree = structs.replace(ACCURACY, title="Goal achieved", oracle="best")
    summary = Summary((*summary.measures, Measure("best", 0.92)))
    found = end_of(tree, summary, 0.05)
    assert (found.at, found.value, found.sure) == ("top", 0.92, True)
    assert found.sentence("socialeval/goals", tree, summary.measures[0], "models") == (
        "socialeval/goals: goal achieved 92 % [85, 96] is at the top (92 %), so this test does not separate such "
        "models: its 100 items show differences of 8 points or more."
    )


def pair(one, two, **more):
    (found,) = compare([played("A", one), played("B", two)], **more)
    return found.measures[0].verdict, verdict_sentences([found])


def test_two_runs_at_the_top_are_not_called_the_same():
    room = "Tests with room for capable models: sage/dialogue, seceu/feelings (see 'sociometer list')."
    verdict, said = pair(right(40, 40), right(39, 40))
    assert verdict == "both at the top"
    assert said == (
        "B and A are both at the top, where this test does not separate models: B is 2.5 points lower "
        f"[−10.4, 5.7]. 40 items detect 16 points or more (80 % power, paired by item, with the spread of these runs)."
        f"\n{room}"
    )
    assert pair(right(400, 400), right(400, 400), terms=Terms(margin=3))[0] == "both at the top"
    failures = structs.replace(CARD, measure=(structs.replace(ACCURACY, better="lower", top=0.0, chance=None),))
    none = [played(name, [0.0] * 400, of=failures) for name in "AB"]
    assert compare(none)[0].verdict == "both at the best value", "0 % of failures is not at the top of anything"


def test_one_at_the_top_and_one_below():
    verdict, said = pair(right(40, 40), right(25, 40))
    assert verdict == "worse"
    assert said == (
        "B is worse than A: 37.5 points lower [−51.6, −19.8]"
        " (A is at the top of this test: the true difference may be larger)."
    )


def test_both_are_named_if_chance_is_in_both_intervals_though_one_is_wide():
    assert end(right(12, 40)) == ("chance", False) and end(right(9, 40)) == ("chance", True)
    said = pair(right(12, 40), right(9, 40)[::-1])[1]
    assert "; neither can be told from chance." in said and "B cannot be told" not in said
    top = pair(right(40, 40), right(12, 40))[1]
    assert "(A is at the top of this test and B cannot be told from chance: the true difference may be larger)" in top


def test_two_runs_at_chance():
    verdict, said = pair(right(15, 60), right(15, 60)[::-1])
    assert verdict == "both at chance"
    assert said.startswith("B and A are both at chance, where this test does not separate models: ")


def test_two_runs_at_chance_overall_may_differ_on_groups():
    facets = [{"ability": "empathy" if place % 2 else "influence"} for place in range(120)]
    first = [float(place % 8 in (0, 2)) for place in range(120)]
    second = [float(place % 8 in (1, 3)) for place in range(120)]
    (found,) = compare([played("A", first, facets=facets), played("B", second, facets=facets)])
    assert [row.verdict for row in found.measures] == ["both at chance", "worse", "better"]
    assert str(found).startswith("B and A are both at chance overall, where this test does not separate models: ")


def test_a_report_does_not_count_such_tests_as_equality():
    lines = profile_lines([played("A", right(40, 40)), played("B", right(39, 40))])
    assert ends_sentences(lines)[0] == ("At the top: tact/questions, which cannot show whether such models are equal.")
    assert not ends_sentences(profile_lines([played("A", right(40, 40)), played("B", right(25, 40))]))


def test_a_test_is_not_told_from_chance_if_every_interval_includes_chance_however_wide():
    near = ends_sentences(profile_lines([played("A", right(50, 200)), played("B", right(52, 200))]))
    wide = ends_sentences(profile_lines([played("A", right(3, 12)), played("B", right(52, 200))]))
    said = "Not to be told from chance: tact/questions, which cannot show whether such models are equal."
    assert near[0] == wide[0] == said
    assert not ends_sentences(profile_lines([played("A", right(3, 12)), played("B", right(150, 200))]))
    assert not ends_sentences(profile_lines([played("A", right(20, 20)), played("B", right(200, 200))]))


def test_a_run_says_what_its_end_means(tmp_path):
    def knows(key):
        items = iter(key)
        return lambda messages: f"Answer: {next(items)}"

    run = sm.run("sesi", model=knows("A" * 400), limit=120, store=tmp_path / "s.db")
    said = finding(run)
    assert "cannot be told from chance (25 %), so this test does not separate such models: its 120 items" in said


def test_a_run_that_was_found_to_be_worse_does_not_say_that_its_test_separates_nothing(tmp_path):
    sm.run("sesi", "baseline/oracle", name="base", store=tmp_path / "s.db")
    run = sm.run("sesi", lambda messages: "A", against="base", store=tmp_path / "s.db")
    said = finding(run)
    assert "worse after" in said and "from chance" not in said and "Tests with room" not in said


@pytest.mark.parametrize(("items", "power"), [(40, False), (100, False), (400, True)])
def test_a_true_difference_near_the_top_is_called_a_ceiling_only_where_the_items_cannot_show_it(items, power):
    """99 against 94 % right, 30 pairs of runs: 5 points."""
    rng = np.random.default_rng(items)
    found = []
    for _ in range(30):
        one, two = (played(name, (rng.random(items) < share) * 1.0) for name, share in (("A", 0.99), ("B", 0.94)))
        found.append(compare([one, two])[0].measures[0])
    ceiling = np.mean([row.verdict == "both at the top" for row in found])
    shown = np.mean([row.verdict == "worse" for row in found])
    if power:
        assert ceiling == 0 and shown >= 0.9
    else:
        assert ceiling > 0.2 and shown < 0.5
    assert all(row.detectable > 0.05 for row in found if row.verdict == "both at the top")
