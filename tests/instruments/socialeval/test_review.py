"""The review of built trees by people: the sheet, what a filled-in one rejects, and the queue."""

import csv

import pytest

from sociometer.cli.main import run_command
from sociometer.instruments import cards
from sociometer.instruments.socialeval import items, lint

TREES = sorted((items.Path(items.__file__).parent / "data").rglob("*.json"))


def written(tmp_path, *names):
    sheet = tmp_path / "review.csv"
    command = ["socialeval", "review", *map(str, names), "--to", str(sheet), "--store", str(tmp_path / "s.db")]
    assert run_command(command) == 0
    with sheet.open(newline="", encoding="utf-8") as stream:
        return sheet, list(csv.DictReader(stream))


def fill(sheet, rows, answer):
    with sheet.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | answer(number) for number, row in enumerate(rows))


def test_a_tree_has_a_row_for_each_choice_with_what_comes_before_and_after(tmp_path):
    (tree, *_) = items.given_trees((str(TREES[0]),))
    _, rows = written(tmp_path, TREES[0])
    mine = [row for row in rows if row["part"].startswith(f"{tree.id}/")]
    assert len(mine) == sum(len(node.choices) for node in tree.nodes)
    root = tree.root
    first = mine[0]
    assert first["choice"] == root.choices[0].text and first["story"].endswith(root.lines[-1].text)
    following = tree.by_id()[root.choices[0].target]
    assert first["what follows"].startswith(following.lines[0].speaker or following.lines[0].text)
    assert first["goal"] == tree.protagonist.goal
    for text in root.choices[0].distractors:
        assert text in first["other options"]
    assert not any(row[label] for row in rows for label in lint.LABELS)


def test_the_card_asks_for_the_columns_that_are_read():
    (sheet,) = cards()["socialeval"].sheet
    assert tuple(label.column for label in sheet.label) == lint.LABELS
    assert (*sheet.key, *sheet.shown, *lint.LABELS, "comment") == lint.COLUMNS


def test_a_rejected_part_is_named_and_the_exit_code_says_so(tmp_path, capsys):
    sheet, rows = written(tmp_path, TREES[0])
    good = dict.fromkeys(lint.LABELS, "yes")
    fill(sheet, rows, lambda number: good | ({"follows": "No", "comment": "who is she?"} if number == 1 else {}))
    capsys.readouterr()
    assert run_command(["socialeval", "review", "--reviewed", str(sheet), "--store", str(tmp_path / "s.db")]) == 1
    said = capsys.readouterr().out
    assert rows[1]["part"] in said and "follows" in said and "who is she?" in said and rows[0]["part"] not in said
    fill(sheet, rows, lambda number: good)
    assert run_command(["socialeval", "review", "--reviewed", str(sheet), "--store", str(tmp_path / "s.db")]) == 0
    assert "none rejected" in capsys.readouterr().out


@pytest.mark.parametrize(("answer", "problem"), [("maybe", "allowed: yes, no"), ("", "no answer")])
def test_an_answer_that_is_not_allowed_or_none_at_all_is_an_error(tmp_path, capsys, answer, problem):
    sheet, rows = written(tmp_path, TREES[0])
    fill(sheet, rows, lambda number: dict.fromkeys(lint.LABELS, answer))
    assert run_command(["socialeval", "review", "--reviewed", str(sheet), "--store", str(tmp_path / "s.db")]) not in (
        0,
        1,
    )
    assert problem in capsys.readouterr().err
