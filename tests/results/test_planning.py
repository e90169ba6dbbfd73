"""What the items of a run can show, said before it is played."""

import numpy as np
import pytest

from fake_runs import card, fake_run
from sociometer.core.task import Item
from sociometer.instruments import load
from sociometer.results.comparison import compare
from sociometer.results.planning import planned_difference, planned_sentence
from sociometer.results.runs import Comparisons, _could_see
from sociometer.statistics.formatting import amount
from sociometer.statistics.paired import item_differences


def alone(count):
    return [Item(id=f"i{nth}") for nth in range(count)]


@pytest.mark.parametrize("of", [{}, {"unit": "points", "high": 10.0}])
def test_a_comparison_and_a_gate_detect_the_same_on_the_same_items(of):
    test = card(**of)
    rows = ([1, 0, 1, 1] * 30, [1, 1, 0, 1] * 30) if not of else ([3, 5.5, 8, 2] * 30, [4, 5, 7, 3] * 30)
    runs = [fake_run(name, row, of=test) for name, row in zip("AB", rows, strict=True)]
    (compared,) = compare(runs)
    detected = compared.primary_rows[0].detectable
    size = amount(detected, test.measure[0].unit, interval=compared.primary_rows[0].paired.interval)
    said = _could_see(Comparisons((compared,)))
    assert "80 % power, paired by item" in said and f": {size} on tact/questions" in said


def test_a_plan_and_a_comparison_of_two_such_models_say_the_same():
    """Two models that answer 20 % of 120 items differently, none of them better."""
    measure = card().measure[0]
    one, two = ([1, 0, 1, 1, 1] * 24, [1, 0, 1, 1, 0] * 12 + [1, 1, 1, 1, 1] * 12)
    (compared,) = compare([fake_run("A", one), fake_run("B", two)])
    planned = planned_difference(measure, [f"i{nth}" for nth in range(120)])
    assert planned == pytest.approx(compared.primary_rows[0].detectable, rel=0.01)


def test_repeats_never_show_less():
    measure = card().measure[0]
    for count in (20, 60, 192):
        names = [f"i{nth}" for nth in range(count)]
        sizes = [planned_difference(measure, names, repeats) for repeats in (1, 2, 3, 5)]
        assert sizes == sorted(sizes, reverse=True)


def test_the_difference_of_graded_scores_is_found_in_four_of_five_comparisons():
    measure, rng = card(unit="points", high=10.0).measure[0], np.random.default_rng(8)
    size = planned_difference(measure, [f"i{nth}" for nth in range(40)])
    drawn = rng.normal(size, (0.2 * 100) ** 0.5, (2000, 40))
    found = [item_differences(np.zeros(40), row, binary=False).interval().low > 0 for row in drawn]
    assert np.mean(found) == pytest.approx(0.8, abs=0.03)


def test_a_family_of_items_counts_once():
    sesi, socialeval = load("sesi"), load("socialeval")
    twins = [Item(id=f"i{nth}", cluster=f"pair {nth // 2}") for nth in range(200)]
    measure = sesi.card.primary_of("questions")
    assert planned_difference(measure, [one.cluster for one in twins]) == planned_difference(
        measure, [one.id for one in alone(100)]
    )
    said = planned_sentence(sesi, "questions", twins, 1)
    assert said.startswith("200 items (100 scenes) can show a difference of ")
    assert said.endswith("the items of a scene count as one.")
    assert planned_sentence(sesi, "questions", alone(100), 1).endswith("items are independent.")
    trees = [Item(id=f"i{nth}", cluster=f"tree {nth % 7}") for nth in range(238)]
    assert planned_sentence(socialeval, "abilities", trees, 1) == (
        "238 items are too few for a verdict: they have 7 trees, and a comparison needs 10."
    )


def test_seceu_is_planned_by_how_people_differ_on_an_item():
    seceu = load("seceu")
    names = [one.id for one in alone(40)]
    measure = seceu.card.primary_of("feelings")
    assert planned_difference(measure, names) == pytest.approx(0.97, abs=0.01), "1.2 SD of people's scores, not 3.5"
    said = planned_sentence(seceu, "feelings", alone(40), 4)
    assert said == (
        "40 items, played 4 times, can show a difference of 0.76 or more (80 % power, paired by item). Assumed: two"
        " models differ on an item as two people do (SD 1.5 each), half of that by chance; items are independent."
    )
