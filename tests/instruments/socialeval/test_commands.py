"""Sheets for reviewers from the command line, on a store of its own."""

import csv
import json

import pytest

from raters import fill
from sociometer.cli.main import run_command
from sociometer.instruments.socialeval.items import BUNDLED


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Runs a command line in a folder of its own; gives code, standard output and standard error."""
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = run_command(list(words))
        out, err = capsys.readouterr()
        return code, out, err

    return call


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_reviewers_get_whole_trees_in_words(cli, tmp_path):
    code, out, _ = cli("socialeval", "sheet", str(BUNDLED / "[1,1]_en_night-market.json"), "--to", "trees.csv")
    assert code == 0 and "1 rows. For reviewers: sociometer sheet read trees.csv" in out
    (row,) = rows_of(tmp_path / "trees.csv")
    assert list(row) == ["tree", "parts", "story", "abilities", "goals"]
    document = json.loads((BUNDLED / "[1,1]_en_night-market.json").read_text(encoding="utf-8"))
    assert row["tree"] == "cooperation-night-market-en" and document["scenario"].strip() in row["parts"]
    for node in document["interactive_plot"]:
        assert f"({node['cid']})\n" in row["parts"]
        for choice in node.get("choices", ()):
            assert f"→ ({choice['cid']}) [{', '.join(choice['skill'])}] " in row["parts"]
    assert "\n= 2/2" in row["parts"]
    fill("trees.csv", "ann.csv", story="yes", abilities="no", goals="yes")
    assert "abilities" in cli("sheet", "read", "ann.csv")[1]


def test_reviewers_get_each_part_beside_its_translation(cli, tmp_path):
    code, _, err = cli("socialeval", "sheet", "--of", "translations", "--to", "sheet.csv")
    assert code == 0, err
    rows = rows_of(tmp_path / "sheet.csv")
    assert len({row["tree"] for row in rows}) == 7 and all(row["tree"].endswith("-zh") for row in rows)
    assert all(row["English"] and row["translation"] for row in rows)
    assert sum(row["part"] == "opening" for row in rows) == 7
    fill("sheet.csv", "ann.csv", accepted=lambda number, row: "yes" if number < 30 else "")
    assert "30 independent" not in cli("sheet", "read", "ann.csv")[1]
    lonely = str(BUNDLED / "[1,1]_en_night-market.json")
    assert (
        "no tree is there with its translation"
        in cli("socialeval", "sheet", lonely, "--of", "translations", "--to", "x.csv")[2]
    )
