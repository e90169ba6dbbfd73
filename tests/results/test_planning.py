"""What a comparison needs: never more power than two runs that differ so much can have."""

import re

import numpy as np
import pytest

import sociometer as sm
from fake_runs import card, fake_run
from sociometer.cli.main import run_command
from sociometer.core.task import Item
from sociometer.engine.recordings import matching
from sociometer.instruments import load
from sociometer.models.recorded import load_recording
from sociometer.results.comparison import compare
from sociometer.results.planning import Spread, _pair, at_top_before, detection_sentence, spread_of
from sociometer.results.runs import Comparisons, _could_see
from sociometer.statistics.formatting import amount
from sociometer.statistics.item_values import item_values
from sociometer.statistics.paired import item_differences

MEASURE = card().measure[0]


def test_runs_that_are_alike_do_not_promise_the_impossible():
    """Two checkpoints disagree on 1 % of the items; a difference of 5 points disagrees on at least 5 %."""
    values = [1, 0] * 100
    one, two = (
        item_values(fake_run(name, row), "correct") for name, row in (("A", values), ("B", [0, 1, *values[2:]]))
    )
    spread = _pair(MEASURE, one, two)
    assert spread.binary and spread.stable + spread.chance == pytest.approx(0.01)
    assert [spread.items(size, 1) for size in (0.05, 0.1)] == [157, 78]
    assert 140 < spread.items(0.05, 5) < 157, "two items that disagree say little of how much of it is chance"
    never = [spread.items(0.05, 5) <= spread.items(0.05, 1), spread.power(0.1, 60, 2) >= spread.power(0.1, 60, 1)]
    assert all(never) and spread.detectable(100, 2) <= spread.detectable(100, 1), "repeats never show less"
    assert spread.power(0.05, 69, 1) == pytest.approx(0.13, abs=0.005)


def test_a_plan_offers_repeats_only_if_they_save_items():
    alike, apart = Spread(0.0, 0.0, 1.0, "", True), Spread(0.05, 0.15, 1.0, "", True)
    said = [detection_sentence(one, MEASURE, 192, 1, 5) for one in (alike, apart)]
    assert "needs 157 items; repeats do not lower that (80 % power" in said[0]
    assert re.search(r"items, or \d+ items played 5 times \(80 % power", said[1])


@pytest.mark.parametrize("of", [{}, {"unit": "points", "high": 10.0}])
def test_a_plan_a_comparison_and_a_gate_detect_the_same_on_the_same_items(of):
    test = card(**of)
    rows = ([1, 0, 1, 1] * 30, [1, 1, 0, 1] * 30) if not of else ([3, 5.5, 8, 2] * 30, [4, 5, 7, 3] * 30)
    runs = [fake_run(name, row, of=test) for name, row in zip("AB", rows, strict=True)]
    (compared,) = compare(runs)
    planned = _pair(test.measure[0], *(item_values(run, "correct") for run in runs))
    detected = compared.primary_rows[0].detectable
    assert planned.detectable(120, 1) == pytest.approx(detected, rel=0.01)
    size = amount(detected, test.measure[0].unit, interval=compared.primary_rows[0].paired.interval)
    said = [_could_see(Comparisons((compared,))), detection_sentence(planned, test.measure[0], 120, 1, None)]
    assert all("80 % power, paired by item" in one for one in said) and f": {size} on tact/questions" in said[0]


@pytest.mark.parametrize(("difference", "discordant", "items"), [(0.05, 0.05, 157), (0.1, 0.2, 152), (0.1, 0.3, 230)])
def test_the_power_that_is_stated_is_the_share_of_intervals_that_exclude_zero(difference, discordant, items):
    rng = np.random.default_rng(3)
    stated = Spread(discordant, 0.0, 1.0, "", True).power(difference, items, 1)
    drawn = rng.choice([1.0, -1.0, 0.0], p=[(discordant + difference) / 2, (discordant - difference) / 2,
                                            1 - discordant], size=(2000, items))  # fmt: skip
    # The interval depends on how many differ in which direction, not on their order.
    rows, times = np.unique(np.sort(drawn), axis=0, return_counts=True)
    found = [item_differences(np.maximum(-row, 0), np.maximum(row, 0), binary=True).interval() for row in rows]
    excluded = [one.low > 0 or one.high < 0 for one in found]
    assert np.average(excluded, weights=times) == pytest.approx(stated, abs=0.03)


def test_graded_scores_need_the_items_that_show_the_difference():
    """What so many items detect, how many it needs and their power are three sides of one number."""
    rng = np.random.default_rng(8)
    for spread in (Spread(2.25, 2.25, 1.0, ""), Spread(1.0, 3.0, 4.0, "", family_size=10.0)):
        detected = spread.detectable(120, 2)
        assert spread.power(detected, 120, 2) == pytest.approx(0.8, abs=0.001)
        assert spread.items(detected, 2) == pytest.approx(120, abs=2)
    size, alone = Spread(2.25, 2.25, 1.0, "").detectable(40, 1), rng.normal(0, 4.5**0.5, (2000, 40))
    found = [item_differences(np.zeros(40), row + size, binary=False).interval().low > 0 for row in alone]
    assert np.mean(found) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("shift", [0.0, 2.0])
@pytest.mark.parametrize("repeats", [1, 3])
def test_a_plan_from_graded_runs_detects_what_they_detect_whatever_their_difference(shift, repeats):
    test, rng = card(unit="points", high=10.0), np.random.default_rng(5)
    rows = [rng.normal(4 + by, 1, 60 * repeats) for by in (0.0, shift)]
    runs = [fake_run(name, row, of=test, repeats=repeats) for name, row in zip("AB", rows, strict=True)]
    (compared,) = compare(runs)
    planned = _pair(test.measure[0], *(item_values(run, "correct") for run in runs))
    assert planned.detectable(60, repeats) == pytest.approx(compared.primary_rows[0].detectable, rel=0.01)


def test_without_stored_runs_a_family_of_items_counts_once():
    sesi, socialeval = load("sesi"), load("socialeval")
    twins = [Item(id=f"i{nth}", cluster=f"pair {nth // 2}") for nth in range(200)]
    alone = [Item(id=f"i{nth}") for nth in range(100)]
    spread, as_one = (spread_of(sesi, "questions", items, "", (), "") for items in (twins, alone))
    assert spread.detectable(200, 1) == as_one.detectable(100, 1)
    assert spread.items(0.1, 1) == 2 * as_one.items(0.1, 1)
    said = detection_sentence(spread, sesi.card.primary_of("questions"), 200, 1, None)
    assert (
        said.startswith("200 items (100 scenes) can show a difference of ") and "items of a scene count as one." in said
    )
    trees = [Item(id=f"i{nth}", cluster=f"tree {nth % 7}") for nth in range(238)]
    few = spread_of(socialeval, "abilities", trees, "", (), "")
    assert few.power(0.5, 238, 1) == 0 and few.items(0.9, 1) == 340
    said = detection_sentence(few, socialeval.card.primary_of("abilities"), 238, 1, 20)
    assert said == "238 items are too few for a verdict: they have 7 trees, and a comparison needs 10."


def test_a_plan_without_two_stored_models_uses_people_and_says_that_baselines_do_not_count(tmp_path, capsys):
    store = tmp_path / "s.db"
    for model in ("baseline/even", "baseline/random"):
        sm.run("seceu", model=model, store=store)
    assert run_command(["plan", "seceu", "--model", "baseline/even", "--store", str(store)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Assumed: two models differ on an item as two people do (SD 1.5 each)" in said
    assert "Stored baselines and stand-ins do not count." in said
    seceu = load("seceu")
    spread = spread_of(seceu, "feelings", [Item(id=f"i{nth}") for nth in range(40)], "", (), "")
    assert spread.stable + spread.chance == pytest.approx(2 * 1.5**2)
    assert spread.detectable(40, 1) == pytest.approx(0.97, abs=0.01), "1.2 SD of people's scores, not 3.5"


def test_a_plan_names_the_stored_runs_of_its_spread_and_how_far_they_differ(tmp_path, capsys):
    """One broken checkpoint makes two of three pairs differ much; with --against only pairs with that run count."""
    store = tmp_path / "s.db"

    def picks(wrong):
        return lambda messages: "B" if wrong and not len(messages[-1]["content"]) % wrong else "A"

    def fails(messages, asked=[]):  # noqa: B006
        asked.append(messages)
        if len(asked) > 5:
            raise ValueError("no longer there")
        return "A"

    sm.run("sesi", fails, store=store, name="failing", label="failing")
    for name, wrong in (("main", 0), ("similar", 7), ("broken", 2)):
        sm.run("sesi", picks(wrong), store=store, name=name, label=name)

    def said(*words):
        assert run_command(["plan", "sesi", *words, "--store", str(store)]) == 0
        return " ".join(capsys.readouterr().out.split())

    spread = (
        r"Their spread is the median of {} pairs of stored runs \(broken, similar, main; ([\d,]+) to ([\d,]+) items\)\."
    )
    least, most = re.search(spread.format(3), said("--detect", "5")).groups()
    assert int(least.replace(",", "")) < int(most.replace(",", ""))
    assert re.search(spread.format(2), said("--detect", "5", "--against", "main"))
    assert "the median of 2 pairs of stored runs (broken, similar, main)." in said(
        "--model", "baseline/random", "--against", "main"
    )


def test_a_plan_takes_no_run_without_a_score_and_no_model_twice(tmp_path, capsys):
    """Two runs of the same answers differ nowhere, and would promise that fewer items are enough."""
    store = tmp_path / "s.db"

    def points(given, times):
        said = iter([given] * times)
        return lambda messages: next(said, "I do not know.")

    answers = {"one": "4 3 2 1", "same": "4 3 2 1", "two": "1 2 3 4", "mute": "4 3 2 1", "still": "4 3 2 1"}
    for name, given in answers.items():
        times = 12 if name in ("mute", "still") else 1000
        run = sm.run("seceu", points(given, times), store=store, name=name, label=name)
        assert (run.status, "FAILED" in str(run.summary().notes)) == ("finished", times == 12)
    capsys.readouterr()
    assert run_command(["plan", "seceu", "--store", str(store)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "the median of 2 pairs of stored runs (two, same, one)" in said


def test_a_plan_warns_where_the_same_family_was_at_the_top_before(tmp_path, capsys):
    store, model = tmp_path / "s.db", "recorded/by-hand-careful"
    items = [one.item for one in matching(load_recording("by-hand-careful"), load, "sesi").items]
    run = sm.run("sesi", model=model, items=items, store=store)
    plan = ["plan", "sesi", *(word for item in items for word in ("--item", item)), "--store", str(store), "--model"]
    assert run_command([*plan, model]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"{run.subject} ({run.id}) was at the top, so a run of the same family will show little: sesi/quest" in said
    assert "Tests with room for capable models: sage/dialogue, seceu/feelings" in said
    assert run_command([*plan, "baseline/random"]) == 0
    assert "was at the top" not in capsys.readouterr().out
    assert len(at_top_before("openai/by-hand-2", ["questions"], [run])) == 2
    assert at_top_before("openai/gpt-4o", ["questions"], [run]) == at_top_before(model, ["errors"], [run]) == []
