"""Norms of one's own, on simulated people whose parameters are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulated_people import people_csv
from sociometer.core.errors import DataError, UsageError
from sociometer.instruments.seceu.norm import distance
from sociometer.instruments.seceu.norming import Person, build_norm, concern, exclusions, read_people

SCENARIOS = tuple(f"s{number:02}" for number in range(20))


def simulate(people, seed, spread=0.5, scenarios=SCENARIOS):
    """People around known standards; each has a steadiness of their own, which makes some better throughout."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(4, 3.0), size=len(scenarios)) * 10
    steadiness = np.exp(rng.normal(3.0, spread, size=people))
    answers = [
        Person(
            f"p{at}",
            {
                name: tuple((10 * rng.dirichlet(row / 10 * steady + 0.01)).tolist())
                for name, row in zip(scenarios, truth, strict=True)
            },
            {"sex": "female" if at % 2 else "male", "age": f"{20 + at % 9}"},
        )
        for at, steady in enumerate(steadiness)
    ]
    return truth, answers


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000))
def test_the_norm_finds_the_standards_that_people_were_drawn_around(seed):
    truth, people = simulate(200, seed)
    made = build_norm(people, SCENARIOS, name="sim", sample="")
    found = np.array([made.norm.standards[name] for name in SCENARIOS])
    assert np.abs(found - truth).max() < 0.9
    assert np.abs(found - truth).mean() < 0.2
    assert found.sum(axis=1) == pytest.approx(10)


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000))
def test_people_have_a_mean_eq_of_100_with_a_deviation_of_15_on_their_own_norm(seed):
    _, people = simulate(60, seed)
    made = build_norm(people, SCENARIOS, name="sim", sample="")
    eqs = [made.norm.eq(value) for value in made.scores.values()]
    assert np.mean(eqs) == pytest.approx(100)
    assert np.std(eqs, ddof=1) == pytest.approx(15)
    assert np.mean(list(made.norm.template.values())) == pytest.approx(made.norm.mean)


def test_alpha_rises_with_how_much_people_differ():
    alike = build_norm(simulate(300, 1, spread=0.0)[1], SCENARIOS, name="a", sample="").norm.alpha
    apart = build_norm(simulate(300, 1, spread=0.8)[1], SCENARIOS, name="b", sample="").norm.alpha
    assert alike < 0.35
    assert apart > 0.85


def test_percentiles_are_the_peoples_own():
    made = build_norm(simulate(400, 2)[1], SCENARIOS, name="sim", sample="")
    scores = sorted(made.scores.values())
    for rank in (40, 200, 360):
        worse = 100 * (len(scores) - rank) / len(scores)
        assert made.norm.percent_below(scores[rank]) == pytest.approx(worse, abs=1.5)


def test_similarity_leaves_the_person_out_of_the_template():
    """With two people, each is compared with the other alone: the correlations must be equal."""
    _, people = simulate(12, 3)
    made = build_norm(people, SCENARIOS, name="sim", sample="")
    table = np.array(
        [
            [np.linalg.norm(np.subtract(person.answers[name], made.norm.standards[name])) for name in SCENARIOS]
            for person in people
        ]
    )
    others = np.delete(table, 4, axis=0).mean(axis=0)
    assert made.similarities["p4"] == pytest.approx(np.corrcoef(table[4], others)[0, 1])


def test_the_same_four_numbers_throughout_are_left_out():
    _, people = simulate(30, 5)
    lazy = Person("lazy", dict.fromkeys(SCENARIOS, (2.5, 2.5, 2.5, 2.5)))
    gone = Person("gone", dict(list(people[0].answers.items())[:10]))
    made = build_norm([*people, lazy, gone], SCENARIOS, name="sim", sample="")
    assert {entry.person for entry in made.excluded} == {"lazy", "gone"}
    assert made.norm.people == 30
    assert exclusions([gone], SCENARIOS, most_missing=0.5) == []


def test_a_few_gaps_are_borne():
    _, people = simulate(30, 6)
    gappy = Person("gappy", dict(list(people[0].answers.items())[1:]))
    made = build_norm([*people, gappy], SCENARIOS, name="sim", sample="")
    assert made.norm.people == 31
    assert "gappy" in made.scores


def test_a_ceiling_is_seen():
    _, people = simulate(40, 8)
    same = [Person(person.name, {**person.answers, "s00": (10.0, 0.0, 0.0, 0.0)}) for person in people]
    same[0] = Person("p0", {**people[0].answers, "s00": (0.0, 10.0, 0.0, 0.0)})
    made = build_norm(same, SCENARIOS, name="sim", sample="")
    assert concern(made.norm, SCENARIOS[0]) == "ceiling"


def test_too_few_people_make_no_norm():
    with pytest.raises(UsageError, match="at least 10"):
        build_norm(simulate(9, 9)[1], SCENARIOS, name="sim", sample="")


def test_people_survive_their_file(tmp_path):
    _, people = simulate(12, 10)
    path = tmp_path / "people.csv"
    path.write_text(people_csv(SCENARIOS, people), encoding="utf-8")
    scenarios, again = read_people(path)
    assert scenarios == SCENARIOS
    assert [person.name for person in again] == [person.name for person in people]
    assert again[3].answers["s05"] == pytest.approx(people[3].answers["s05"])
    assert again[3].about == people[3].about


def rows(tmp_path, *lines):
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["person,sex,age,x_1,x_2,x_3,x_4", *lines]), encoding="utf-8")
    return path


def test_answers_that_share_out_another_sum_count_as_missing(tmp_path):
    path = rows(tmp_path, "ann,F,20,4,3,2,1", "bo,男,,5,5,5,5", "cy,m,31,,,,", "di,w,,5,5,,0")
    _, people = read_people(path)
    assert people[0].answers == {"x": (4, 3, 2, 1)}
    assert (people[1].answers, people[1].about["sex"]) == ({}, "male")
    assert people[2].answers == {}
    assert people[3].answers == {"x": (5, 5, 0, 0)}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["ann,f,20,many,3,2,1"], r"people\.csv:2: x contains .* points must be numbers"),
        (["ann,f,old,4,3,2,1"], r"people\.csv:2: age 'old' is not a number"),
        (["ann,f,20,4,3,2,1", "ann,f,20,4,3,2,1"], r"people\.csv:3: person 'ann' appears twice"),
    ],
)
def test_a_bad_row_is_refused_by_its_line(tmp_path, lines, message):
    with pytest.raises(DataError, match=message):
        read_people(rows(tmp_path, *lines))


def test_a_file_without_scenarios_is_refused(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("person,x_1,x_2\nann,1,2\n")
    with pytest.raises(DataError, match="four columns"):
        read_people(path)


def test_too_few_people_are_named_with_why_they_were_left_out():
    _, people = simulate(9, 4)
    lazy = [Person(f"lazy {at}", dict.fromkeys(SCENARIOS, (4.0, 3.0, 2.0, 1.0))) for at in range(2)]
    with pytest.raises(UsageError) as refused:
        build_norm([*people, *lazy], SCENARIOS, name="few", sample="")
    said = str(refused.value)
    assert said.startswith("9 of 11 people remain; a norm needs at least 10. Excluded: lazy 0, the same four numbers")
    assert said.endswith("lazy 1, the same four numbers in 20 of 20 stories.")
    with pytest.raises(UsageError, match=r"9 of 9 people remain; a norm needs at least 10\.$"):
        build_norm(people, SCENARIOS, name="few", sample="")


def test_someone_new_of_the_same_kind_has_an_eq_of_100_on_a_norm_of_ten_people():
    found = []
    for seed in range(25):
        _, people = simulate(14, seed)
        norm = build_norm(people[:10], SCENARIOS, name="small", sample="").norm
        found += [norm.eq(norm_distance(person, norm)) for person in people[10:]]
    assert np.median(found) == pytest.approx(100, abs=5)


def norm_distance(person, norm):
    return np.mean([distance(person.answers[name], norm.standards[name]) for name in SCENARIOS])


def test_two_stories_make_no_norm():
    _, people = simulate(40, 10, scenarios=SCENARIOS[:2])
    with pytest.raises(UsageError, match="at least 3 stories; the responses have 2"):
        build_norm(people, SCENARIOS[:2], name="s", sample="")


def test_distances_of_the_paper_include_the_person_and_are_a_little_smaller():
    """With n people the mean of the others is n / (n - 1) times as far away as the mean of everybody."""
    rng = np.random.default_rng(2)
    cuts = np.sort(rng.integers(0, 11, (20, 5, 3)), axis=2)
    points = np.diff(np.concatenate([np.zeros((20, 5, 1)), cuts, np.full((20, 5, 1), 10)], axis=2), axis=2)
    names = [f"s{n}" for n in range(5)]
    people = [
        Person(f"p{n}", dict(zip(names, map(tuple, rows.tolist()), strict=True))) for n, rows in enumerate(points)
    ]
    others, own = (build_norm(people, names, name="n", sample="", own=flag).norm.mean for flag in (False, True))
    assert others == pytest.approx(own * 20 / 19)
