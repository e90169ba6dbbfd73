"""Measures from a run: overall and by facet, each item weighing the same, failures counted beside."""

import pytest
from msgspec import structs

from fake_runs import Question, Said, card, fake_run
from sociometer.core.measure import NO_VARIATION, Measure
from sociometer.core.settings import Settings
from sociometer.core.task import Episode, Failure, RunView, Score
from sociometer.statistics.formatting import known_errors
from sociometer.statistics.measures import grouped_measures


def test_a_measure_stands_overall_and_for_every_level():
    facets = [{"ability": "empathy" if place < 15 else "influence"} for place in range(30)]
    run = fake_run("A", [1] * 15 + [0] * 14 + [None], facets=facets)
    overall, empathy, influence = grouped_measures(run, "correct", "accuracy", by=("ability",))
    assert (overall.value, overall.items, overall.errors) == (pytest.approx(15 / 29), 29, 1)
    assert (empathy.group, empathy.value) == ({"ability": "empathy"}, 1.0)
    assert (influence.value, influence.items) == (0.0, 14)
    assert influence.interval is not None and influence.interval.high is not None
    assert influence.interval.high > 0.1, "fourteen wrong answers do not prove that all would be"


class Able(Question, frozen=True, kw_only=True):
    ability: str = ""
    mood: str = ""

    @property
    def facets(self):
        return {"family": self.ability[:1]}


def _half_failed() -> RunView:
    """Six items, half of them failed; a score has their ability and a kind that no item names, and gets moods wrong."""

    def episodes():
        for place in range(6):
            ability, kind = ("empathy", "deep") if place < 4 else ("influence", "flat")
            item = Able(id=f"q{place}", ability=ability, mood="glad")
            facets = {"ability": ability, "kind": kind, "mood": "sad" if place else "glad", "family": ability[:1]}
            if place % 2:
                yield Episode(item, 0, None, None, Failure("timeout", "no answer"))
            else:
                yield Episode(item, 0, Said(), Score(values={"correct": 1.0}, facets=facets), None)

    return RunView(episodes, Settings({}))


def test_a_failure_counts_with_the_group_that_its_item_names():
    by = ("ability", "family", "kind", "mood", ("ability", "kind"))
    measures = grouped_measures(_half_failed(), "correct", by=by)
    errors = {tuple(measure.group.values()): measure.errors for measure in measures}
    assert (errors[()], errors["empathy",], errors["influence",], errors["e",], errors["i",]) == (3, 2, 1, 2, 1)
    assert errors["deep",] == errors["sad",] == errors["empathy", "deep"] == 0


def test_a_group_whose_items_all_failed_has_a_row_and_one_that_a_value_does_not_describe_has_none():
    def episodes():
        for place, ability in enumerate(("empathy", "influence", "influence", "humour", "humour")):
            item, facets = Able(id=f"q{place}", ability=ability, mood="glad"), {"ability": ability}
            if ability == "influence" or place == 4:
                yield Episode(item, 0, None, None, Failure("timeout", "no answer"))
            else:
                values = {"correct": 1.0} if ability == "empathy" else {"other": 1.0}
                yield Episode(item, 0, Said(), Score(values=values, facets=facets), None)

    overall, empathy, influence = grouped_measures(RunView(episodes, Settings({})), "correct", by=("ability",))
    assert (overall.errors, empathy.value, empathy.errors) == (3, 1.0, 0)
    assert (influence.group, influence.value, influence.errors) == ({"ability": "influence"}, None, 2)


def test_failures_that_fit_no_group_are_unknown_there_and_not_nought():
    measures = grouped_measures(_half_failed(), "correct", by=("ability", "kind"))
    assert known_errors(measures) == [3, 2, 1, None, None]
    assert (
        known_errors([*measures, Measure("derived", 1.0), Measure("derived", 1.0, {"kind": "deep"})])[5:] == [None] * 2
    )
    assert known_errors([structs.replace(measure, errors=0) for measure in measures]) == [0] * 5


def test_an_item_played_often_weighs_as_much_as_one_played_once():
    run = fake_run("A", [1, 1, 1, 0, 0, 0], repeats=3)
    (overall,) = grouped_measures(run, "correct")
    assert (overall.value, overall.items) == (0.5, 2)


def test_a_value_that_nobody_scored_is_absent_not_zero():
    (overall,) = grouped_measures(fake_run("A", [None, None]), "correct")
    assert overall.value is None
    assert overall.errors == 2


def test_a_quantity_that_is_no_share_has_no_share_interval():
    run = fake_run("A", [0.0] * 30)
    (share,) = grouped_measures(run, "correct")
    (distance,) = grouped_measures(run, "correct", "distance", binary=False)
    assert share.interval is not None and share.interval.method.startswith("Wilson")
    assert distance.interval is not None and distance.interval.method == "no variation"


def test_a_measure_has_its_worst_and_best_case_overall_and_in_groups():
    facets = [{"text": "?"}] * 40
    (overall, group) = grouped_measures(
        fake_run("A", [1] * 18 + [0] * 2 + [None] * 20, facets=facets), "correct", "accuracy", by=["text"]
    )
    for found in (overall, group):
        assert (found.value, found.items, found.errors) == (0.9, 20, 20)
        assert [case.value for case in found.cases] == [0.45, 0.95]
    assert overall.side(0.5) == 0 and overall.side(0.2) == 1
    assert structs.replace(overall, errors=0, cases=()).side(0.5) == 1


def test_failed_repeats_count_with_their_item():
    (found,) = grouped_measures(fake_run("A", [1, None] * 10 + [0, 0] * 10, repeats=2), "correct", "accuracy")
    assert (found.value, found.errors, [case.value for case in found.cases]) == (0.5, 10, [0.25, 0.5])


def test_failures_leave_a_count_open():
    run = fake_run("A", [3.0, 5.0] * 10 + [None], of=card("number", high=None))
    (found,) = grouped_measures(run, "correct", "accuracy", binary=False)
    assert (found.errors, found.cases, found.side(1.0)) == (1, (), 0)


def test_a_count_of_zeros_has_an_interval_only_with_an_upper_end():
    of = card("number", high=float("inf"))
    (found,) = grouped_measures(fake_run("A", [0.0] * 20, of=of), "correct", "accuracy", binary=False)
    assert of.measure[0].scale is None and found.interval.method == NO_VARIATION
    (found,) = grouped_measures(
        fake_run("A", [0.0] * 20, of=card("number", high=10)), "correct", "accuracy", binary=False
    )
    assert (found.value, found.interval.low) == (0.0, 0.0) and found.interval.high == pytest.approx(1.80, abs=0.01)
