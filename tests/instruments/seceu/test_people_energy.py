"""Answers against the distribution of people, percentiles to 0.1 %, the order of the feelings, repeats and wordings."""

import msgspec
import numpy as np
import pytest

from fake_runs import summarised_run
from simulated_people import SCENARIOS, simulated_people, whole
from sociometer.instruments.seceu.figures import figures
from sociometer.instruments.seceu.items import bundled_scenarios
from sociometer.instruments.seceu.method_result import people_energy
from sociometer.instruments.seceu.norm import Norm, read_norm
from sociometer.instruments.seceu.norming import MOST_ALLOCATIONS, build_norm, counted_allocations

EVEN = (2.5, 2.5, 2.5, 2.5)
KEYS = {scenario.scenario: scenario.standard for scenario in bundled_scenarios("en")}


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


def drawn_like_people(seed, answers):
    rng = np.random.default_rng(seed)
    return {
        name: [
            whole(10 * rng.dirichlet(np.array(key) / 10 * np.exp(rng.normal(2.6, 0.4)) + 0.05)) for _ in range(answers)
        ]
        for name, key in KEYS.items()
    }


def test_an_even_spread_has_no_skill_and_drawing_like_people_has_all_of_it(norm):
    even = people_energy({key: [EVEN] for key in SCENARIOS}, norm)
    alike = people_energy(drawn_like_people(1, 12), norm)
    assert even.skill == pytest.approx(0, abs=1e-9)
    assert alike.skill == pytest.approx(1, abs=0.08)
    assert alike.skill_interval.low < 1 < alike.skill_interval.high + 0.08
    assert alike.score < even.score


def test_peoples_means_hedge_too_and_do_not_reach_people(norm):
    found = people_energy({name: [norm.standards[name]] for name in SCENARIOS}, norm)
    assert 0 < found.skill < 0.9
    assert found.person == pytest.approx(2 * found.floor)


def test_the_even_spread_and_4321_are_lines_in_the_table(rehearse, norm_file):
    summary = rehearse("baseline/oracle", norm=norm_file).summarise("feelings")
    table = next(table for table in summary.tables if table.name == "energy")
    skills = {row[0]: row[3] for row in table.rows}
    assert skills["even allocation"] == 0
    assert skills["people's own distribution"] == 1
    assert skills["4, 3, 2, 1 unread"] < 0
    # One answer a story shows no spread: whoever answers as one person would is not put below an even spread.
    assert skills["direct"] == "" and skills["one person, on average"] is None
    assert not any(measure.name == "energy-skill" for measure in summary.measures)
    assert "one answer to each story" in summary.measure("energy").note


def test_the_published_norm_holds_no_distribution_and_says_so(rehearse, official_data):
    summary = rehearse("baseline/oracle", official_data).summarise("feelings")
    assert summary.measure("energy") is None
    assert any("not compared with the distribution of people" in note for note in summary.notes)


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


def test_a_person_is_placed_to_a_tenth_of_a_percent(people, norm):
    scores = sorted(
        (np.mean([np.linalg.norm(np.subtract(p.answers[s], norm.standards[s])) for s in SCENARIOS]) for p in people),
        reverse=True,
    )
    others = len(people) / (len(people) - 1)  # people are measured against the mean of all the others
    for rank in (3, 30, 150, 290):
        assert norm.percent_below(others * scores[rank]) == pytest.approx(100 * rank / (len(scores) - 1), abs=0.1)
    assert len(norm.score_below) == 1001


def test_a_percentile_has_a_standard_error(norm):
    assert norm.percent_error(50) == pytest.approx(100 * (0.25 / 300) ** 0.5)
    assert norm.percent_error(0) == pytest.approx(norm.percent_error(100))
    assert norm.percent_error(0) > 0
    assert norm.percent_text(76.34) == "76.3 % ± 2.5"


def test_the_result_shows_the_percentile_with_its_error(rehearse, norm_file, official_data):
    summary = rehearse("baseline/even", norm=norm_file).summarise("feelings")
    assert "standard error of the norm" in summary.measure("percentile").note
    row = next(table for table in summary.tables if table.name == "results").rows[0]
    assert any("±" in str(cell) for cell in row)
    official = rehearse("baseline/even", official_data).summarise("feelings")
    assert not any("±" in str(cell) for cell in next(t for t in official.tables if t.name == "results").rows[0])


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


def speaker(*evenness):
    """Answers between the key and an even spread: how even depends on the wording, and on the draw by chance."""
    rng = np.random.default_rng(3)
    stories = list(bundled_scenarios("en"))
    wordings = []

    def say(request):
        text = request.messages[-1].content
        story = next(story for story in stories if story.story in text)
        wording = text.replace(story.story, "")[:12]
        if wording not in wordings:
            wordings.append(wording)
        share = evenness[wordings.index(wording) % len(evenness)] + rng.uniform(0, 0.1)
        points = [share * 2.5 + (1 - share) * value for value in story.standard]
        return ", ".join(f"{value:.3f}" for value in points)

    return say


def test_wordings_are_averaged_and_enter_the_interval(rehearse):
    several = rehearse(speaker(0.0, 0.2, 0.4, 0.9), paraphrases=4).summarise("feelings")
    single = several.measure("distance", prompting="direct").interval
    pooled = several.measure("distance")
    names = ("direct", "direct-2", "direct-3", "direct-4")
    each = [several.measure("distance", prompting=name).value for name in names]
    assert pooled.value == pytest.approx(np.mean(each))
    assert pooled.interval.method.startswith("items and wordings crossed")
    assert pooled.interval.high - pooled.interval.low > 3 * (single.high - single.low)
    assert any("means over 4 wordings of the direct prompt" in note for note in several.notes)


def test_repeats_count_as_several_answers_to_a_story(rehearse, norm_file):
    summary = rehearse(speaker(0.2), norm=norm_file).summarise("feelings", repeats=3)
    table = next(table for table in summary.tables if table.name == "energy")
    assert table.rows[0][5] == 3
    assert "one answer" not in summary.measure("energy").note


def test_a_norm_keeps_allocations_without_their_people(people, norm):
    rows = norm.allocations["ours-01"]
    assert sum(row[-1] for row in rows) == 300
    assert list(rows) == sorted(rows)
    mean = np.average([row[:-1] for row in rows], axis=0, weights=[row[-1] for row in rows])
    assert mean.tolist() == pytest.approx(list(norm.standards["ours-01"]))


def test_many_different_allocations_are_rounded_to_whole_points():
    points = 10 * np.random.default_rng(1).dirichlet((2, 2, 2, 2), size=2000)
    rows = counted_allocations(points)
    assert len(rows) <= MOST_ALLOCATIONS
    assert all(sum(row[:-1]) == 10 for row in rows)
    assert sum(row[-1] for row in rows) == 2000


def test_a_norm_file_of_an_earlier_version_is_still_read(tmp_path, norm):
    old = msgspec.to_builtins(norm)
    for name in ("allocations", "deviations", "order"):
        del old[name]
    path = tmp_path / "old.json"
    path.write_bytes(msgspec.json.encode(old))
    assert isinstance(read_norm(path), Norm)
