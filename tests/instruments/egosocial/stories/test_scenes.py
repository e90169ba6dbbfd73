"""The keys of generated stories, found a second time from the words of the story by another oracle."""

import pytest

import sociometer as sm
from sociometer.instruments.egosocial.stories import scenes
from sociometer.instruments.egosocial.stories.scenes import generated_scenes
from sociometer.instruments.egosocial.stories.testimony import TIERS
from tests.instruments.egosocial.stories.second_oracle import second_answer


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("tier", "stories"), [("seen", 16), ("told", 9), ("deep", 4)])
def test_two_oracles_agree_on_every_item(tier, stories, language):
    """`python bench/two_oracles.py` compares 2,000 items."""
    for scene in generated_scenes(41, stories, tiers=[tier], language=language):
        told = scene.tellings[0]
        assert second_answer(told.story, told.question, language) == told.options[told.answer], scene.id


def test_rescoring_makes_no_story(tmp_path):
    how = {"tasks": ["generated"], "settings": {"stories": 4}, "limit": 6, "store": tmp_path / "s.db"}
    run = sm.run("egosocial", model="baseline/random", **how)
    before = run.summary()
    for made in (scenes._seen_story, scenes.told_stories):
        made.cache_clear()
    assert run.rescore("generated") == before
    assert [made.cache_info().misses for made in (scenes._seen_story, scenes.told_stories)] == [0, 0]


@pytest.mark.parametrize("tier", TIERS)
def test_the_stories_of_a_run_without_options_are_those_that_the_generator_makes(tier):
    """If this fails after a change of the generator: `python tools/usual_stories.py`, and a new version."""
    seed, stories, language = scenes.USUAL
    made = scenes.told_stories(seed, stories, tier, language)
    assert tuple(generated_scenes(seed, stories, [tier], language)) == made
    assert scenes.usual_stories()[tier] is not made


def test_a_run_without_options_makes_no_story_by_word_of_mouth(tmp_path):
    scenes.told_stories.cache_clear()
    run = sm.run("egosocial", model="baseline/random", tasks=["generated"], limit=6, store=tmp_path / "s.db")
    assert run.manifest.config.seed == scenes.USUAL[0] and scenes.told_stories.cache_info().misses == 0
