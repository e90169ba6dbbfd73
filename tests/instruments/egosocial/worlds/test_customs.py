"""Customs that nobody states: the oracle, and what a question promises."""

import random
from collections import Counter

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.egosocial.worlds.customs import (
    HOME,
    TIERS,
    Shown,
    custom_scenes,
    make_custom,
    oracle,
    read_domains,
    rules_of,
)


def test_one_circumstance_that_explains_every_scene_decides():
    shown = [Shown((0, 0, 1), 0), Shown((0, 1, 0), 1), Shown((1, 1, 1), 0), Shown((1, 0, 0), 1)]
    assert oracle(shown, (1, 1, 0)) == 1
    assert oracle(shown, (0, 0, 0)) == 1


def test_scenes_that_two_circumstances_explain_settle_nothing():
    assert oracle([Shown((0, 0, 0), 0), Shown((1, 1, 0), 1)], (1, 0, 0)) is None


def test_an_act_that_is_frowned_upon_is_not_the_custom():
    shown = [Shown((0, 0, 0), 0), Shown((1, 0, 0), 0, approved=False), Shown((1, 0, 0), 1, approved=False)]
    assert oracle(shown, (1, 0, 0)) == 2


def test_the_higher_custom_of_two_follows_from_both_clashes_with_a_third():
    shown = [
        Shown((1, 0, 0), 0), Shown((0, 1, 0), 1), Shown((0, 0, 1), 2), Shown((1, 1, 0), 0), Shown((0, 1, 1), 1),
    ]  # fmt: skip
    assert oracle(shown, (1, 0, 1)) == 0
    assert oracle(shown[:3], (1, 0, 1)) is None
    assert oracle(shown, (0, 0, 0)) == HOME


@pytest.mark.parametrize("tier", TIERS)
def test_every_custom_made_is_settled_and_no_act_is_favoured(tier):
    answers = Counter()
    for seed in range(60):
        made = make_custom(random.Random(seed), tier)
        assert oracle(made.shown, made.asked) == made.answer
        assert made.asked not in [one.circumstances for one in made.shown]
        answers[made.answer] += 1
    assert set(answers) == {0, 1, 2} and max(answers.values()) < 32


def test_in_a_conflict_the_right_act_is_seen_no_more_often_than_the_others():
    made = make_custom(random.Random(3), "conflict")
    assert set(Counter(one.act for one in made.shown).values()) == {2}


def test_every_kind_of_rule_is_gone_through():
    assert sum(1 for _ in rules_of("inferred")) == 27
    assert sum(1 for _ in rules_of("conflict")) == 36


@pytest.mark.parametrize("language", ["en", "zh"])
def test_scenes_have_four_acts_one_of_them_our_worlds(language):
    scenes = list(custom_scenes(0, 32, language))
    assert Counter(scene.facets["tier"] for scene in scenes) == dict.fromkeys(TIERS, 16)
    assert len({scene.facets["domain"] for scene in scenes}) == len(read_domains(language)) == 8
    for scene in scenes:
        (telling,) = scene.tellings
        assert len(set(telling.options)) == 4 and telling.home not in (None, telling.answer)
        assert "{" not in telling.story + telling.question
    assert len({scene.tellings[0].answer for scene in scenes}) == 4


def test_the_same_seed_gives_the_same_societies():
    assert list(custom_scenes(1, 4)) == list(custom_scenes(1, 8))[:4] != list(custom_scenes(2, 4))


def test_a_bad_file_is_an_error_with_its_name(tmp_path):
    (tmp_path / "c.toml").write_text("[[domain]]\nname = 'x'\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"c\.toml"):
        read_domains("en", tmp_path / "c.toml")
