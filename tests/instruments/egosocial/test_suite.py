"""The paper's suite: which tasks `run --official` plays, what it skips, and its tables."""

import json

import pytest

from fake_runs import summarised_run
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.errors import DataError
from sociometer.core.measure import Measure, Summary
from sociometer.core.paper import PaperInput
from sociometer.engine.plan import make_plan
from sociometer.instruments import load
from sociometer.instruments.egosocial import paper
from sociometer.instruments.egosocial.worlds import socialfirst

LINE = {"Story": "You wait.", "Question": "What do you do?", "Option": ["I go.", "I stay."], "Answer": "I stay."}


def plan(data, **options):
    config = RunConfig(
        instrument="egosocial", subject="baseline/random", official=True, data_folder=str(data), **options
    )
    return make_plan(config, load("egosocial"), bindings={})


def lines(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def test_the_suite_is_both_tables_of_the_paper(official):
    found = plan(official)
    assert {task.name for task in found.tasks} == {column.task for column in paper.COLUMNS}
    assert not found.skipped


def test_a_task_without_its_file_is_skipped_and_the_file_named(tmp_path):
    lines(tmp_path / "egosocialarena" / "counterfact.jsonl", LINE)
    found = plan(tmp_path)
    assert [task.name for task in found.tasks] == ["counterfactual-official", "numbers", "holdem"]
    assert found.config.tasks == ("counterfactual-official", "numbers", "holdem")
    said = dict(line.removeprefix("task ").split(" skipped: ") for line in found.skipped)
    assert said["tomi"] == "official file 'tomi/tomi_balanced_story_types.zip' not found"
    assert " and 19 more" in said["tombench"]
    assert said["newworld"] == "official file 'tombench/Knowledge-Pretend Play Links.jsonl' not found"
    assert "egosocialarena/blackjack.jsonl" in said["blackjack"]


def test_a_task_that_is_named_is_never_skipped(tmp_path):
    found = plan(tmp_path, tasks=("tomi",))
    with pytest.raises(DataError, match=r"tomi_balanced_story_types\.zip"):
        found.item_lists()


def test_without_official_files_our_own_items_are_played():
    config = RunConfig(instrument="egosocial", subject="baseline/random")
    found = make_plan(config, load("egosocial"), bindings={})
    assert [task.name for task in found.tasks] == [
        "generated", "counterfactual", "worlds", "blackjack", "numbers", "holdem",
    ]  # fmt: skip


def test_the_command_names_what_it_skips(tmp_path, capsys):
    lines(tmp_path / "data" / "egosocialarena" / "counterfact.jsonl", LINE)
    lines(tmp_path / "data" / "egosocialarena" / "socialfirst.jsonl", {**LINE, "Ability": "Desire"})
    command = ["run", "egosocial", "--data", str(tmp_path / "data"), "--model", "baseline/oracle", "--limit", "2"]
    assert run_command([*command, "--quiet", "--store", str(tmp_path / "runs.db")]) == 0
    shown = capsys.readouterr()
    assert "task tomi skipped: official file 'tomi/tomi_balanced_story_types.zip' not found" in shown.err


def test_the_authors_first_person_items_are_read_with_their_abilities(tmp_path, source):
    lines(tmp_path / "socialfirst.jsonl", {**LINE, "Ability": "Non-li"}, {**LINE, "Ability": "Desire"})
    one, two = socialfirst(source(tmp_path))
    assert (one.facets["ability"], two.facets["ability"]) == ("non-literal communication", "desire")
    assert one.tellings[0].name == "first" and one.tellings[0].answer == 1


def test_all_49_released_first_person_items_are_read(official, source):
    scenes = list(socialfirst(source(official)))
    assert len(scenes) == 49
    assert {scene.facets["ability"] for scene in scenes} == {
        "desire", "emotion", "intention", "belief", "knowledge", "non-literal communication",
    }  # fmt: skip


def test_an_answer_outside_the_options_names_file_and_line(tmp_path, source):
    lines(tmp_path / "socialfirst.jsonl", LINE, {**LINE, "Answer": "I fly."})
    with pytest.raises(DataError, match=r"socialfirst\.jsonl:2"):
        list(socialfirst(source(tmp_path)))


def test_a_column_with_our_own_items_has_a_star_in_every_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    words = ["run", "egosocial", "--model", "baseline/first", "--task", "holdem", "--limit", "2", "--official"]
    assert run_command([*words, "--data", str(tmp_path), "--quiet"]) == 0
    assert run_command(["paper", "tables", "egosocial", "--to", str(tmp_path / "paper")]) == 0
    files = {path.name: path.read_text("utf-8") for path in (tmp_path / "paper").rglob("*") if path.suffix != ".svg"}
    tables = [text for name, text in files.items() if name.endswith((".csv", ".tex")) and "Hold'em" in text]
    assert len(tables) == 2
    assert "*Entering Real Social World! Benchmarking" in files["README.md"] and ". ." not in files["README.md"]
    assert all("Hold'em*" in text and "opponents and hands are ours" in text for text in tables)


def test_table_3_says_that_new_world_is_ours_and_how_many_questions_the_paper_asked():
    def run(task, measure, items):
        summary = Summary((Measure(measure, 0.5, items=items),))
        return summarised_run(task, task, "owl", {}, summary, name="owl", whose_items="official")

    runs = (
        run("newworld", "newworld", 30),
        run("counterfactual-official", "counterfactual", 10),
        run("tomi", "first_official", 2664),
    )
    parts = {one.label: one.table for one in paper.paper(PaperInput(runs)) if one.table}
    heads = [column.title for column in parts["Table 3"].columns]
    assert "New World*" in heads
    said = parts["Table 3"].rows[0].remarks
    assert "Counterfact: 10 questions; the paper asked 100" in said
    assert any(remark.startswith("New World*: a file of ToMBench that we chose") for remark in said)
    said = parts["Table 2"].rows[0].remarks
    assert [remark.partition(" with")[0] for remark in said] == ["ToMi: 2,664 questions"], "one for both persons"
    assert "the key as released (reports and comparisons use a corrected key); the paper asked 231" in said[0]
