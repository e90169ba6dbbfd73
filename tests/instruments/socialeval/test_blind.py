"""Blind sheets hold no key and no story, answers are scored by hand-worked figures, and cues solve no bundled tree."""

import json

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments._blind.cues import readers, take
from sociometer.instruments._blind.sheets import read_answers, read_sheet
from sociometer.instruments.socialeval.blind import branches, policies, result, scripted, sheet

READERS = readers()


@pytest.fixture
def small(draw, at):
    """Two branches: the first loses the goal in one of two choices, the second in two of three."""
    return draw(at(0, 1, 9), at(1, 2, 9, 8), at(2, goal=2), at(8, goal=1), at(9, goal=0))


def answers_by(text_of, given):
    return {
        str(q.number): next(letter for letter, text in q.choices.items() if text == text_of(q)) for q in given.questions
    }


def test_a_sheet_has_goals_and_choices_and_nothing_else(bundled):
    given = sheet(bundled, "en", seed=1)
    assert len(given.questions) == 49
    assert [question.number for question in given.questions] == list(range(1, 50))
    goals = {tree.protagonist.goal for tree in bundled if tree.language == "en"}
    assert {question.asked for question in given.questions} == goals
    scenes = [tree.scene for tree in bundled] + [tree.protagonist.private for tree in bundled]
    assert not [text for text in scenes if text in str(given)]


def test_the_order_follows_the_seed_and_mixes_trees_and_choices(bundled):
    one, again, other = (sheet(bundled, "zh", seed=seed) for seed in (1, 1, 2))
    assert one == again != other
    assert len({question.asked for question in one.questions[:7]}) > 2
    own = {frozenset(c.text for c in node.choices): node for tree in bundled for node in branches(tree)}
    first = [next(iter(q.choices.values())) for q in one.questions]
    same = sum(
        own[frozenset(q.choices.values())].choices[0].text == text for q, text in zip(one.questions, first, strict=True)
    )
    assert 10 < same < 32, "the first choice of the tree stands first about as often as chance has it"


def test_answers_are_scored_against_the_exact_solution(small):
    given = sheet([small], "en", seed=0)
    right = answers_by(lambda q: next(text for text in q.choices.values() if text in ("say 0.0", "say 1.0")), given)
    found, changed = policies(given, right, [small])
    best = result(small, found[small.id])
    assert (best.branches, best.kept, best.chance, best.reached) == (2, 1.0, pytest.approx((1 / 2 + 1 / 3) / 2), 1.0)
    assert best.random == pytest.approx(1 / 6)
    assert changed == 0


def test_a_missing_answer_counts_as_a_guess_and_a_changed_question_is_left_out(small, draw, at):
    given = sheet([small], "en", seed=0)
    found, _ = policies(given, {}, [small])
    assert found == {}
    guess = result(small, {})
    assert (guess.kept, guess.reached) == (pytest.approx(guess.chance), pytest.approx(guess.random))
    other = draw(at(5, 1, 9), at(1, goal=2), at(9, goal=0))
    assert policies(given, {"1": "A", "2": "A"}, [other])[1] == 2


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


def test_files_are_read_and_what_is_none_is_refused(tmp_path, bundled):
    path = tmp_path / "x.json"
    path.write_text('{"1": "B"}')
    assert read_answers(path) == {"1": "B"}
    with pytest.raises(DataError, match="not a blind sheet"):
        read_sheet(path)
    path.write_text("[]")
    with pytest.raises(DataError, match="not a list of answers"):
        read_answers(path)
    with pytest.raises(DataError, match="no such file"):
        read_answers(tmp_path / "y.json")


def test_the_command_writes_sheets_of_goals_and_abilities_and_scores_answers(tmp_path, monkeypatch, capsys):
    from sociometer.cli.main import run_command

    monkeypatch.chdir(tmp_path)
    assert run_command(["socialeval", "blind", "--language", "en", "--to", "sheets", "--json"]) == 0
    tables = {table["name"]: table["rows"] for table in json.loads(capsys.readouterr().out)["tables"]}
    assert {row[0] for row in tables["readers"]} == set(READERS)
    assert {row[0] for row in tables["cues-en"]} > set(READERS)
    given = read_sheet(tmp_path / "sheets" / "sheet-en.json")
    (tmp_path / "anna.json").write_text(json.dumps({str(q.number): "A" for q in given.questions}))
    words = ["socialeval", "blind", "--sheet", "sheets/sheet-en.json", "--answers", "anna.json", "--json"]
    assert run_command(words) == 0
    rows = json.loads(capsys.readouterr().out)["tables"][0]["rows"]
    assert rows[-1][:3] == ["anna", "all", 47]
    assert len(rows) == 8
    assert run_command(["socialeval", "blind", "--sheet", "sheets/sheet-en.json"]) == 2
    assert "--answers needs --sheet" in capsys.readouterr().err
    given = read_sheet(tmp_path / "sheets" / "sheet-abilities-en.json")
    assert len(given.questions) == 119
    (tmp_path / "anna.json").write_text(json.dumps({str(q.number): "A" for q in given.questions[1:]}))
    words = ["socialeval", "blind", "--sheet", "sheets/sheet-abilities-en.json", "--answers", "anna.json", "--json"]
    assert run_command(words) == 0
    result = json.loads(capsys.readouterr().out)
    (row,) = result["tables"][0]["rows"]
    assert row[:2] == ["anna", 119] and 0.1 < row[2] < 0.4
    assert "anna: 1 questions have no answer and count as wrong." in result["notes"]


def test_the_control_plays_each_question_with_and_without_its_story(tmp_path, monkeypatch, capsys):
    from sociometer.cli.main import run_command

    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    words = ["run", "socialeval", "--task", "abilities", "--language", "en", "--orders", "1", "--blind", "--json"]
    assert run_command([*words, "--model", "baseline/oracle"]) == 0
    shown = capsys.readouterr().out
    assert "Understood from the story" in shown or "understood" in shown
