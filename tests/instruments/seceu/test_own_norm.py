"""Your own norms: percentiles to 0.1 %, the order of the feelings, hedging."""

import msgspec
import numpy as np
import pytest

from fake_runs import summarised_run
from simulated_people import SCENARIOS, simulated_people
from sociometer.core.errors import DataError
from sociometer.instruments.seceu.figures import figures
from sociometer.instruments.seceu.norm import Norm, read_norm
from sociometer.instruments.seceu.norming import build_norm
from sociometer.statistics.formatting import estimate


@pytest.fixture(scope="module")
def people():
    return simulated_people(6)


@pytest.fixture(scope="module")
def norm(people):
    return build_norm(people, SCENARIOS, name="simulated", sample="", order="printed").norm


@pytest.fixture
def norm_file(tmp_path, norm):
    path = tmp_path / "norm.json"
    path.write_bytes(msgspec.json.encode(norm))
    return str(path)


def test_hedging_is_said_to_pay_only_where_it_does(rehearse, norm_file, official_data, tmp_path):
    rewarded = rehearse("baseline/even", official_data).summarise("feelings").notes
    assert any("an EQ of 112, more than the average person: this norm rewards hedging" in note for note in rewarded)
    steady = build_norm(simulated_people(7, mean_steadiness=4.5), SCENARIOS, name="steady", sample="").norm
    path = tmp_path / "steady.json"
    path.write_bytes(msgspec.json.encode(steady))
    summary = rehearse("baseline/even", norm=str(path)).summarise("feelings")
    assert summary.measure("eq").value < 100
    assert not any("rewards hedging" in note for note in summary.notes)
    without = rehearse("baseline/even").summarise("feelings").notes
    assert not any("rewards hedging" in note for note in without)


def test_a_distance_says_whose_answers_it_is_measured_from(rehearse, norm_file):
    notes = " ".join(rehearse("baseline/even", norm=norm_file).summarise("feelings").notes)
    assert "Distance to the mean answers of the norm's 300 people." in notes and "our own judgement" not in notes


def test_people_whose_scores_are_noise_give_no_eq(rehearse, norm, tmp_path):
    path = tmp_path / "noise.json"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(norm, alpha=-0.03)))
    summary = rehearse("baseline/even", norm=str(path)).summarise("feelings")
    for name in ("eq", "percentile"):
        assert summary.measure(name).value is None and "no reliability (alpha -0.03)" in summary.measure(name).note
    assert summary.measure("distance").value > 0
    said = " ".join(summary.notes)
    assert "No EQ or percentile: the scores of the norm's people" in said and "standard error of meas" not in said


def test_an_eq_without_an_interval_has_no_word(rehearse, norm_file):
    made = rehearse("baseline/oracle", norm=norm_file)
    items = list(made.instrument.task("feelings").items(made.source()))
    few, many = (made.summarise("feelings", items[:count]) for count in (6, 12))
    assert few.measure("eq").interval.low is None and few.measure("eq").value > 115
    assert "'expert'" not in few.measure("eq").note and "'expert'" in many.measure("eq").note
    assert [table.rows[0][3] for table in (few.tables[0], many.tables[0])] == ["", "expert"]


def test_a_person_is_placed_to_a_tenth_of_a_percent_and_counts_half(people, norm):
    scores = sorted(
        (np.mean([np.linalg.norm(np.subtract(p.answers[s], norm.standards[s])) for s in SCENARIOS]) for p in people),
        reverse=True,
    )
    others = len(people) / (len(people) - 1)  # people are measured against the mean of all the others
    for rank in (3, 30, 150, 290):
        assert norm.percent_below(others * scores[rank]) == pytest.approx(100 * (rank + 0.5) / len(scores), abs=0.01)
    assert len(norm.score_below) == 300
    assert [norm.percent_below(others * (scores[at] + by)) for at, by in ((0, 0.01), (-1, -0.01))] == [0, 100]
    assert [norm.percent_less_similar(by) for by in (-1, 1)] == [0, 100]


def test_a_percentile_has_a_standard_error(norm):
    assert norm.percent_error(50) == pytest.approx(100 * (0.25 / 300) ** 0.5)
    assert norm.percent_error(0) == pytest.approx(norm.percent_error(100))
    assert norm.percent_error(0) > 0


def test_the_percentile_says_the_error_of_a_norm_of_ones_own_and_the_table_has_its_interval(
    rehearse, norm_file, official_data
):
    own = rehearse("baseline/even", norm=norm_file).summarise("feelings")
    official = rehearse("baseline/even", official_data).summarise("feelings")
    for summary in (own, official):
        found = summary.measure("percentile")
        assert ("standard error of the norm" in found.note) == (summary is own)
        row = next(table for table in summary.tables if table.name == "results").records()[0]
        assert row["people with a worse score"] == estimate(found.value, "share", found.interval)


def test_an_eq_under_shuffle_says_what_it_is_comparable_with(rehearse, norm_file, official_data):
    shuffled = rehearse("baseline/even", official_data, shuffle=True).summarise("feelings")
    assert any(
        "comparable with other runs with --shuffle on these items, not with published EQs or with runs without it"
        in note
        for note in shuffled.notes
    )
    assert "comparable only with other runs with --shuffle" in shuffled.measure("eq").note
    plain = rehearse("baseline/even", official_data).summarise("feelings")
    assert not any("random order" in note for note in plain.notes)
    own = rehearse("baseline/even", norm=norm_file, shuffle=True).summarise("feelings")
    assert any("the people of the norm in the printed order" in note for note in own.notes)


def test_people_who_saw_a_random_order_make_shuffled_runs_comparable(rehearse, norm, tmp_path):
    path = tmp_path / "shuffled.json"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(norm, order="shuffled")))
    shuffled = rehearse("baseline/even", norm=str(path), shuffle=True).summarise("feelings")
    assert any("as the people of the norm did" in note for note in shuffled.notes)
    assert "--shuffle" not in shuffled.measure("eq").note
    plain = rehearse("baseline/even", norm=str(path)).summarise("feelings")
    assert any("Add --shuffle for an EQ that is comparable with theirs" in note for note in plain.notes)


def test_the_figure_of_ones_own_norm_shows_its_people(rehearse, norm_file):
    summary = rehearse("baseline/even", norm=norm_file).summarise("feelings")
    made = {one.name: one for one in figures([summarised_run("r", "feelings", "even", {}, summary)])}
    for name in ("eq-among-people", "similarity-among-people"):
        assert "not released" not in made[name].caption
        assert "the distribution of the 300 people of the norm" in made[name].caption
        assert "not counted" not in str(made[name].chart["title"])


def test_a_norm_file_with_the_percentiles_of_an_earlier_version_is_refused(tmp_path, norm):
    scores = [score for score, _ in norm.score_below]
    edges = tuple((float(np.quantile(scores, 1 - step / 1000)), step / 10) for step in range(1001))
    path = tmp_path / "old.json"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(norm, score_below=edges)))
    with pytest.raises(DataError, match=r"an earlier version counted the percentiles .* study norms STUDY --to FILE"):
        read_norm(path)


def test_a_norm_file_of_an_earlier_version_is_still_read(tmp_path, norm):
    old = msgspec.to_builtins(norm)
    for name in ("deviations", "order"):
        del old[name]
    old["allocations"] = {"ours-01": [[2.5, 2.5, 2.5, 2.5, 300]]}
    path = tmp_path / "old.json"
    path.write_bytes(msgspec.json.encode(old))
    assert isinstance(read_norm(path), Norm)
