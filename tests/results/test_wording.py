"""The sentence of a comparison says the verdict, its size and what could change it."""

import numpy as np
import pytest
from msgspec import structs

from fake_runs import card, fake_run
from sociometer.results.comparison import compare
from sociometer.results.comparison_tables import pair_table, pairs_table, verdict_sentences
from sociometer.results.wording import comparison_table, place_sentence
from sociometer.statistics.item_values import ItemValue
from sociometer.statistics.people import place_among


def test_a_clear_gain_is_said_in_one_sentence():
    first, second = [0] * 30 + [1] * 30, [0] * 10 + [1] * 50
    (found,) = compare([fake_run("A", first), fake_run("B", second)])
    row = found.measures[0]
    assert row.verdict == "better"
    assert row.paired.difference == pytest.approx(20 / 60)
    assert found.sentence.startswith("B is better than A: 33 points higher [")
    assert not found.worse


def test_a_loss_fails_the_gate_and_has_the_sign_of_the_table():
    (found,) = compare([fake_run("A", [1] * 40), fake_run("B", [0] * 20 + [1] * 20)])
    assert found.worse
    assert "B is worse than A: 50 points lower [−" in found.sentence


def test_a_lower_value_that_is_better_is_called_lower():
    """Beside “−2.7” in the table, “better by 2.7” had the other sign and no unit."""
    of = card("number", "lower")
    (found,) = compare([fake_run("A", [0.8, 0.9] * 20, of=of), fake_run("B", [0.2, 0.5] * 20, of=of)])
    assert found.sentence.startswith("B is better than A on accuracy: 0.500 lower [−0.532, −0.468]"), found.sentence


def test_the_sentence_and_the_table_give_a_difference_the_same_digits():
    (found,) = compare([fake_run("A", [1] * 40), fake_run("B", [1] * 39 + [0])])
    size, _, interval = pair_table(found).rows[0][3].partition(" ")
    assert f"{size.strip('−')} points lower than A {interval}." in found.sentence


def test_where_the_data_cannot_tell_it_says_what_they_would_show():
    values = [0, 1] * 30
    (found,) = compare([fake_run("A", values), fake_run("B", values[::-1])])
    row = found.measures[0]
    assert row.verdict == "cannot tell"
    assert row.detectable is not None and 0.3 < row.detectable < 0.45
    assert "[−" in found.sentence and ". 60 items detect " in found.sentence


def test_groups_are_judged_apart_and_named():
    facets = [{"ability": "influence" if place < 40 else "empathy"} for place in range(80)]
    first = [0] * 25 + [1] * 15 + [0, 1] * 20
    second = [1] * 40 + [0, 1] * 20
    (found,) = compare([fake_run("A", first, facets=facets), fake_run("B", second, facets=facets)])
    by = {row.group.get("ability", ""): row.verdict for row in found.measures}
    assert by == {"": "better", "influence": "better", "empathy": "cannot tell"}
    assert verdict_sentences([found]) == found.sentence, "what 'compare' prints first"
    assert found.groups.startswith("Better on influence (62.5 points higher [")
    assert "; no clear difference on empathy, where the items detect" in found.groups and found.groups.endswith(".")


def test_several_comparisons_widen_each_interval_and_the_sentence_tells_it():
    rng = np.random.default_rng(13)
    base = rng.random(60)
    runs = [fake_run(name, base < rate) for name, rate in (("A", 0.4), ("B", 0.6), ("C", 0.5), ("D", 0.55))]
    alone, among = compare(runs[:2])[0], compare(runs)[0]
    one, many = alone.measures[0], among.measures[0]
    assert (one.family, many.family) == (1, 6)
    assert many.paired.interval.low < one.paired.interval.low < one.paired.interval.high < many.paired.interval.high
    assert one.p_adjusted == one.paired.p_value < many.p_adjusted
    said = verdict_sentences(compare(runs)[:3])
    assert said.endswith("\nIntervals of differences are adjusted for 6 comparisons.") and said.count("adjusted") == 1
    assert "adjusted" not in verdict_sentences([alone]) + pairs_table(compare(runs)[:3]).note


def test_many_tasks_are_counted_in_measures_where_one_has_two_and_only_adjusted_tasks_are_named():
    (found,) = compare([fake_run("A", [0, 1] * 20), fake_run("B", [1] * 40)])
    (row,) = found.primary_rows
    two = (structs.replace(row, family=2), structs.replace(row, name="other", family=2))
    tasks = [structs.replace(found, task=f"t{nth}") for nth in range(6)]
    said = verdict_sentences([*tasks, structs.replace(found, task="games", measures=two)])
    assert said.startswith("B against A, 8 measures of 7 tasks: better on 8.\n")
    assert said.endswith("\nIntervals of differences on tact/games are adjusted for 2 comparisons.")
    assert verdict_sentences([*tasks, found]).startswith("B against A, 7 tasks: better on 7.")


def test_failed_items_that_could_change_the_verdict_are_told_in_the_headline():
    """B fails where it is wrong: without these items it looks better."""
    first, second = [1] * 30 + [0] * 30, [1] * 18 + [None] * 12 + [1] * 8 + [0] * 22
    (found,) = compare([fake_run("A", first), fake_run("B", second)])
    row = found.measures[0]
    assert (row.verdict, row.observed, row.failed, row.with_failed) == ("cannot tell", "better", 12, ("cannot tell",))
    assert found.sentence.startswith("No clear difference: B is 16.7 points higher than A [")
    assert " without the 12 failed items, [" in found.sentence and found.sentence.endswith(" at their best.")
    (sure,) = compare([fake_run("A", [0] * 60), fake_run("B", [1] * 58 + [None] * 2)])
    assert sure.measures[0].with_failed == () and "failed" not in sure.sentence


def test_failed_items_leave_a_measure_without_an_upper_end_open():
    of = card("number", high=None)
    (found,) = compare([fake_run("A", [1.0, 2.0] * 20, of=of), fake_run("B", [8.0, 9.5] * 19 + [9.0, None], of=of)])
    assert found.measures[0].verdict == "cannot tell" and found.worse
    assert (
        "without the failed item, which leave it open: “Accuracy” has no lowest or no highest value" in found.sentence
    )


def test_failures_count_in_the_groups_of_a_comparison():
    facets = [{"ability": "tact" if place < 30 else "care"} for place in range(60)]
    first, second = [0] * 12 + [1] * 18 + [1, 0] * 15, [1] * 18 + [None] * 12 + [1, 0] * 15
    runs = [fake_run("A", first, facets=facets), fake_run("B", second, facets=facets)]
    (found,) = compare(runs)
    rows = {row.group["ability"]: row for row in found.measures if row.group}
    assert (rows["tact"].failed, rows["care"].failed) == (12, 0)
    assert (rows["tact"].observed, rows["tact"].verdict) == ("better", "cannot tell")
    assert (rows["tact"].why, rows["care"].why) == ("better without the 12 failed", "")
    said = [row[-2] for row in pair_table(found).rows]
    assert said[1:] == ["cannot tell (better without the 12 failed)", "cannot tell"]
    assert [row[-1] for row in comparison_table(found).rows] == said
    groups = "No clear difference on tact, without the items that failed; no clear difference on care, where the items "
    assert f"{groups}detect " in found.groups, "what items detect is no reason where items failed"


def test_a_measure_without_a_better_direction_differs():
    rng = np.random.default_rng(7)
    base, of = rng.uniform(2, 4, 40), card("number", "neither")
    (found,) = compare([fake_run("A", base, of=of), fake_run("B", base - 0.5 + rng.normal(0, 0.1, 40), of=of)])
    assert found.measures[0].verdict == "differs"
    assert found.sentence.startswith("B is different from A on accuracy: 0.")
    assert not found.worse


def test_a_difference_of_shares_is_not_said_to_pass_a_hundred_points():
    (found,) = compare([fake_run("A", [0.0] * 12), fake_run("B", [1.0] * 11 + [0.8])])
    assert found.measures[0].paired.interval.high == 1


def test_items_that_one_lacks_are_counted_and_it_is_named():
    long, short = fake_run("A", [0, 1] * 10), fake_run("B", [0, 1] * 9 + [1])
    (found,) = compare([long, short])
    assert "1 scored item of A left out: no score of B" in found.notes
    (found,) = compare([structs.replace(fake_run("people", [0, 1] * 9), people=20), long])
    assert "2 scored items of A left out: no score of people" in found.notes
    (found,) = compare([fake_run("B", [0, 1] * 9 + [None, 1]), fake_run("A", [0, 1] * 10)])
    assert any(note.startswith("1 episode of B failed: differences are without them") for note in found.notes)


@pytest.mark.parametrize(
    ("better", "value", "way"), [("lower", 0.9, "worse"), ("lower", 0.1, "better"), ("higher", 0.1, "worse")]
)
def test_the_place_among_people_says_whether_the_distance_is_good(better, value, way):
    table = {f"i{n}": ItemValue(f"i{n}", f"i{n}", 0.5, (0.4, 0.6), {}, b"", (0, 1)) for n in range(12)}
    model = {name: structs.replace(one, value=value, repeats=(value,), of=(0,)) for name, one in table.items()}
    (measure,) = [one for one in card("number", better).measures_of("questions") if one.primary]
    place = place_among(table, model, -1.0 if better == "lower" else 1.0)
    assert f" SD {way} than the mean of their scores" in place_sentence("m", measure, place)
