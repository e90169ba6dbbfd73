"""The result of one prompting method: EQ, intervals and failed tests, worked against the norm."""

import pytest
from msgspec import structs

from sociometer.results.leaderboard import leaderboard, leaderboard_table
from sociometer.statistics.formatting import estimate
from sociometer.statistics.item_values import item_values
from sociometer.statistics.people import mean_over_people


def test_even_allocation_earns_an_eq_of_112_on_the_official_norm(rehearse, official_data):
    summary = rehearse("baseline/even", official_data).summarise("feelings")
    assert summary.measure("distance").value == pytest.approx(2.124, abs=1e-3)
    assert round(summary.measure("eq").value) == 112
    assert summary.measure("similarity").value == pytest.approx(-0.31, abs=0.005)
    assert "different mechanism" in summary.measure("similarity").note
    interval = summary.measure("eq").interval
    assert interval.low < 112 < interval.high


def test_the_standard_scores_themselves_earn_the_top_eq(rehearse, official_data):
    summary = rehearse("baseline/oracle", official_data).summarise("feelings")
    assert summary.measure("distance").value == pytest.approx(0, abs=0.005)
    assert summary.measure("eq").value == pytest.approx(100 + 15 * 2.79 / 0.822, abs=0.1)
    assert summary.measure("eq").note.startswith(
        "'expert' in the paper's terms; an even allocation earns 112; people's standard error"
    )
    assert summary.measure("similarity").value is None


def test_no_answer_stands_at_51_and_is_a_failed_test(rehearse, official_data):
    summary = rehearse("baseline/refuse", official_data).summarise("feelings")
    assert summary.measure("eq").value is None
    assert summary.measure("eq").note.startswith("FAILED: 40 of 40")
    assert summary.measure("distance").unreadable == 40
    results = next(table for table in summary.tables if table.name == "results")
    assert results.rows[0][2] == "FAILED"
    silent = next(row for row in results.rows if row[0] == "no answer")
    assert round(silent[2]) == 51


@pytest.mark.parametrize(("nulls", "failed"), [(20, False), (21, True)])
def test_a_majority_of_null_answers_fails_and_half_does_not(rehearse, official_data, nulls, failed):
    answered = iter([*(["no idea"] * 2 * nulls), *(["4, 3, 2, 1"] * (40 - nulls))])
    summary = rehearse(lambda _: next(answered), official_data).summarise("feelings")
    assert (summary.measure("eq").value is None) == failed


def test_the_interval_is_of_the_difference_from_people(rehearse, official_data):
    """Items that are hard for people and for the subject alike must not widen the interval of the EQ."""
    made = rehearse("baseline/even", official_data)
    run = made.play_all("feelings")
    template = run.norm["template"]
    summary = made.instrument.task("feelings").summarise(run)
    gaps = [score.values["distance"] - template[item.scenario] for item, _, score in run.scored()]
    spread = (sum((gap - sum(gaps) / 40) ** 2 for gap in gaps) / 39) ** 0.5 / 40**0.5
    interval = summary.measure("eq").interval
    assert interval.high - interval.low == pytest.approx(2 * 2.02 * spread * 15 / 0.822, rel=0.1)
    assert "of differences from people's distances, with the norm's error" in interval.method
    assert summary.measure("distance").interval.method.endswith("of differences from people's distances")


def test_repeats_are_averaged_and_count_as_one_item(rehearse):
    summary = rehearse("baseline/random").summarise("feelings", repeats=3)
    assert summary.measure("distance").items == 40


def test_people_have_one_interval_over_people_and_items_and_all_their_answers_are_counted(rehearse, official_data):
    for data in (None, official_data):
        made = rehearse("baseline/random", data)
        run = structs.replace(made.play_all("feelings", repeats=12), people=12)
        summary = made.instrument.task("feelings").summarise(run)
        row = next(table for table in summary.tables if table.name == "results").rows[0]
        usual = run.norm["template"] if data else {}
        values = {
            name: structs.replace(one, repeats=tuple(each - usual.get(name, 0) for each in one.repeats))
            for name, one in item_values(run, "distance").items()
        }
        found = mean_over_people(values).interval
        assert row[-1] == "0 of 480"
        if data:
            wide = (found.high - found.low) * 15 / 0.822
            around = summary.measure("eq").interval
            assert row[2] == estimate(summary.measure("eq").value, "points", around)
            assert wide < around.high - around.low < 1.2 * wide  # the rest is the error of the norm's people
        else:
            assert row[1] == estimate(summary.measure("distance").value, "number", found)


@pytest.mark.parametrize("normed", [True, False])
def test_a_ranking_on_shared_items_has_the_interval_of_the_summary(rehearse, official_data, normed):
    made = rehearse("baseline/random", official_data if normed else None)
    task = made.instrument.task("feelings")
    runs = [made.play_all("feelings", list(task.items(made.source()))[:count]) for count in (40, 30)]
    views = [
        structs.replace(task.headline(run), subject=name, summary=task.summarise(run))
        for run, name in zip(runs, "ab", strict=True)
    ]
    first = leaderboard(views).standings[1]
    own = views[1].summary.measure("distance").interval
    assert (first.interval.low, first.interval.high) == pytest.approx((own.low, own.high))
    people = " of differences from people's distances" * normed
    assert first.interval.method == f"cluster bootstrap with expanded percentiles{people}" == own.method


def test_a_distance_of_zero_on_every_item_reads_alike_wherever_it_is(rehearse):
    made = rehearse("baseline/oracle")
    task, run = made.instrument.task("feelings"), made.play_all("feelings")
    summary = task.summarise(run)
    views = [structs.replace(task.headline(run), subject=name, summary=summary) for name in "ab"]
    board = leaderboard(views)
    assert [str(one.value) for one in board.standings] == ["0.0", "0.0"], "no minus sign"
    assert leaderboard_table(board).rows[0][4] == "the same on every item"
    results = next(table for table in summary.tables if table.name == "results")
    assert results.rows[0][1] == "0 [the same on every item]"
    assert str(summary.measure("distance")) == "distance 0.000 [the same on every item], 40 items"
