"""Readers without the story: by a surface cue, and two whose answers are in the corpus."""

import json
from pathlib import Path
from statistics import fmean

import pytest

from sociometer.instruments.socialeval.items import questions_of
from tests.instruments.socialeval.blind_readers import answered, kept, reached, scripted
from tools.cues import readers, take

READERS = readers()
CORPUS = Path(__file__).parents[2] / "corpus" / "blind" / "socialeval"


@pytest.fixture
def small(draw, at):
    """Two branches: the first loses the goal in one of two choices, the second in two of three."""
    return draw(at(0, 1, 9), at(1, 2, 9, 8), at(2, goal=2), at(8, goal=1), at(9, goal=0))


def test_choices_are_scored_against_the_exact_solution(small):
    best = {0: [1.0, 0.0], 1: [1.0, 0.0, 0.0]}
    assert kept(small, best) == [(1.0, 1 / 2), (1.0, pytest.approx(1 / 3))]
    assert reached(small, best) == 1
    assert reached(small, {}) == pytest.approx(1 / 6)


def test_a_tie_is_drawn_by_lot():
    assert take([1, 3, 3]) == [0.0, 0.5, 0.5]


def test_each_reader_follows_its_cue():
    asked, options = "keep the red boat", ["The red boat stays.", "Please, let's talk, dear Sir.", "At 7 we take 12."]
    picked = {name: take(reader(asked, options)) for name, reader in READERS.items()}
    assert {name: picks.index(1.0) for name, picks in picked.items() if name.startswith("most") and 1.0 in picks} == {
        "most words shared with the question": 0,
        "most characters": 1,
        "most commas and semicolons": 1,
        "most polite words": 1,
        "most specific words": 2,
    }
    assert picked["fewest characters"] == [0, 0, 1]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("cue", READERS)
def test_no_cue_solves_the_bundled_trees_without_their_story(bundled, language, cue):
    trees = [tree for tree in bundled if tree.language == language]
    policies = {tree.id: scripted(tree, READERS[cue]) for tree in trees}
    rows = [row for tree in trees for row in kept(tree, policies[tree.id])]
    assert len(rows) == 47
    assert fmean(own - chance for own, chance in rows) < 0.15, "47 branches: a standard error is 7 points"
    ends = [reached(tree, policies[tree.id]) for tree in trees]
    assert fmean(ends) < 0.3, "no cue reaches the goal in more than two of seven trees"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("cue", READERS)
def test_no_cue_finds_the_utterance_that_shows_the_ability(bundled, language, cue):
    asked = [question for question in questions_of(bundled) if question.language == language]
    assert len(asked) == 119
    earned = [take(READERS[cue](question.question, question.options))[0] for question in asked]
    assert fmean(earned) < 0.38, "119 questions: chance is 25 %, a standard error 4 points; commas earn 37.7 %"


@pytest.mark.parametrize("reader", ["en-1", "en-2", "zh-2"])
def test_careful_readers_without_the_story_stay_near_chance(bundled, reader):
    """One branch was reworded after they had read it; it counts as chance (55.3 and 57.4 % with the old words)."""
    names = (f"sheet-{reader[:2]}", f"answers-{reader}")
    sheet, answers = (json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8")) for name in names)
    found = answered(sheet, answers, bundled)
    trees = [tree for tree in bundled if tree.id in found]
    rows = [row for tree in trees for row in kept(tree, found[tree.id])]
    assert round(100 * fmean(own for own, _ in rows), 1) == 56.4
    assert round(100 * fmean(chance for _, chance in rows), 1) == 51.4
    assert not any(reached(tree, found[tree.id]) for tree in trees)
