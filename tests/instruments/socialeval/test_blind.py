"""Choices are scored by hand-worked figures, and cues solve no bundled tree."""

import json

import pytest

from sociometer.instruments._blind.cues import readers, take
from sociometer.instruments.socialeval.blind import result, scripted

READERS = readers()


@pytest.fixture
def small(draw, at):
    """Two branches: the first loses the goal in one of two choices, the second in two of three."""
    return draw(at(0, 1, 9), at(1, 2, 9, 8), at(2, goal=2), at(8, goal=1), at(9, goal=0))


def test_choices_are_scored_against_the_exact_solution(small):
    best = result(small, {0: [1.0, 0.0], 1: [1.0, 0.0, 0.0]})
    assert (best.branches, best.kept, best.chance, best.reached) == (2, 1.0, pytest.approx((1 / 2 + 1 / 3) / 2), 1.0)
    assert best.random == pytest.approx(1 / 6)
    guess = result(small, {})
    assert (guess.kept, guess.reached) == (pytest.approx(guess.chance), pytest.approx(guess.random))


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
    found = [result(tree, scripted(tree, READERS[cue])) for tree in bundled if tree.language == language]
    count = sum(r.branches for r in found)
    kept, chance = (sum(getattr(r, name) * r.branches for r in found) / count for name in ("kept", "chance"))
    assert count == 47
    assert kept - chance < 0.15, "47 branches: a standard error is 7 points"
    assert sum(r.reached for r in found) / len(found) < 0.3, "no cue reaches the goal in more than two of seven trees"


def test_the_command_tries_cues_on_goals_and_abilities(tmp_path, monkeypatch, capsys):
    from sociometer.cli.main import run_command

    monkeypatch.chdir(tmp_path)
    assert run_command(["socialeval", "blind", "--language", "en", "--json"]) == 0
    tables = {table["name"]: table["rows"] for table in json.loads(capsys.readouterr().out)["tables"]}
    assert {row[0] for row in tables["readers"]} == set(READERS)
    assert {row[0] for row in tables["cues-en"]} > set(READERS)


def test_the_control_plays_each_question_with_and_without_its_story(tmp_path, monkeypatch, capsys):
    from sociometer.cli.main import run_command

    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    words = ["run", "socialeval", "--task", "abilities", "--language", "en", "--orders", "1", "--blind", "--json"]
    assert run_command([*words, "--model", "baseline/oracle"]) == 0
    shown = capsys.readouterr().out
    assert "Understood from the story" in shown or "understood" in shown
