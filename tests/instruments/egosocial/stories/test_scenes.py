"""The keys of generated stories, found a second time from the words of the story by another oracle."""

import pytest

import sociometer as sm
from sociometer.instruments.egosocial.stories import scenes
from sociometer.instruments.egosocial.stories.scenes import generated_scenes
from tests.instruments.egosocial.stories.second_oracle import second_answer


@pytest.mark.parametrize("language", ["en", "zh"])
def test_two_oracles_agree_on_every_item(language):
    """`python bench/two_oracles.py` compares 720 items."""
    for scene in generated_scenes(41, 16, language):
        told = scene.tellings[0]
        assert second_answer(told.story, told.question, language) == told.options[told.answer], scene.id


def test_rescoring_makes_no_story(tmp_path):
    how = {"tasks": ["generated"], "settings": {"stories": 4}, "limit": 6, "store": tmp_path / "s.db"}
    run = sm.run("egosocial", model="baseline/random", **how)
    before = run.summary()
    scenes._story.cache_clear()
    assert run.rescore("generated") == before
    assert scenes._story.cache_info().misses == 0
