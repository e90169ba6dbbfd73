"""Norms of one's own, on simulated people whose parameters are known."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sociometer.core.errors import UsageError
from sociometer.instruments.seceu.norming import Person, _similarities, build_norm

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
        )
        for at, steady in enumerate(steadiness)
    ]
    return truth, answers


def scores_of(made):
    return np.nanmean(made.distances, axis=1).tolist()


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
    eqs = [made.norm.eq(value) for value in scores_of(made)]
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
    scores = sorted(scores_of(made))
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
    assert _similarities(made.distances)[4] == pytest.approx(np.corrcoef(table[4], others)[0, 1])


def test_the_same_four_numbers_throughout_are_left_out():
    _, people = simulate(30, 5)
    lazy = Person("lazy", dict.fromkeys(SCENARIOS, (2.5, 2.5, 2.5, 2.5)))
    made = build_norm([*people, lazy], SCENARIOS, name="sim", sample="31 people")
    assert list(made.people) == people
    assert made.norm.people == 30
    why = "1 person left out for the same four numbers in at least 95 % of the stories"
    assert made.norm.sample == f"31 people; {why}"


def test_a_few_gaps_are_borne():
    _, people = simulate(30, 6)
    gappy = Person("gappy", dict(list(people[0].answers.items())[1:]))
    made = build_norm([*people, gappy], SCENARIOS, name="sim", sample="")
    assert made.norm.people == 31
    assert gappy in made.people


def test_too_few_people_make_no_norm():
    with pytest.raises(UsageError, match="at least 10"):
        build_norm(simulate(9, 9)[1], SCENARIOS, name="sim", sample="")


def test_too_few_people_are_counted_with_why_they_were_left_out():
    _, people = simulate(9, 4)
    lazy = [Person(f"lazy {at}", dict.fromkeys(SCENARIOS, (4.0, 3.0, 2.0, 1.0))) for at in range(2)]
    with pytest.raises(UsageError) as refused:
        build_norm([*people, *lazy], SCENARIOS, name="few", sample="")
    assert str(refused.value) == (
        "9 of 11 people remain; a norm needs at least 10;"
        " 2 people left out for the same four numbers in at least 95 % of the stories."
    )


def test_someone_new_of_the_same_kind_has_an_eq_of_100_on_a_norm_of_ten_people():
    found = []
    for seed in range(25):
        _, people = simulate(14, seed)
        norm = build_norm(people[:10], SCENARIOS, name="small", sample="").norm
        found += [norm.eq(norm_distance(person, norm)) for person in people[10:]]
    assert np.median(found) == pytest.approx(100, abs=5)


def norm_distance(person, norm):
    return np.mean([math.dist(person.answers[name], norm.standards[name]) for name in SCENARIOS])


def test_two_stories_make_no_norm():
    _, people = simulate(40, 10, scenarios=SCENARIOS[:2])
    with pytest.raises(UsageError, match="at least 3 stories; the responses have 2"):
        build_norm(people, SCENARIOS[:2], name="s", sample="")
