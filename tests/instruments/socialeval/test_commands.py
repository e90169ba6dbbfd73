"""Lint and draw from the command line, on a store of their own."""

import json

import pytest

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


def test_lint_passes_our_trees_and_fails_a_broken_one(cli, tmp_path):
    assert cli("socialeval", "lint")[0] == 0
    broken = json.loads((BUNDLED / "[1,1]_en_night-market.json").read_text(encoding="utf-8"))
    broken["interactive_plot"][0]["choices"][0]["cid"] = 99
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    code, out, _ = cli("socialeval", "lint", "broken.json", "--json")
    assert code == 1
    tables = {table["name"]: table["rows"] for table in json.loads(out)["tables"]}
    assert ["missing-target", "broken.json", 0, "a choice leads to 99"] in tables["findings"]


def test_lint_refuses_what_is_not_there_and_kinds_it_does_not_know(cli):
    code, _, err = cli("socialeval", "lint", "nowhere.json")
    assert code == 2
    assert "nowhere.json" in err
    code, _, err = cli("socialeval", "lint", "--kind", "cycel")
    assert code == 2
    assert "did you mean 'cycle'" in err


def test_a_file_without_a_tree_is_refused_and_never_stands_for_our_own(cli, tmp_path):
    (tmp_path / "empty.json").write_text("[]")
    for verb in ("lint", "draw"):
        code, _, err = cli("socialeval", verb, "empty.json")
        assert code == 2
        assert "contains no world tree" in err


def test_draw_says_which_of_several_it_drew(cli, tmp_path):
    code, out, _ = cli("socialeval", "draw", "cooperation-night-market")
    assert code == 0
    assert "drew cooperation-night-market-zh, the first of 2 matching trees" in out
    code, out, _ = cli("socialeval", "draw", "cooperation-night-market", "--language", "en")
    assert "cooperation-night-market-en.html" in out
    assert "may mean" not in out
    halves = {
        f"{code}_data": json.loads((BUNDLED / f"[1,1]_{code}_night-market.json").read_text("utf-8"))
        for code in ("cn", "en")
    }
    (tmp_path / "merged.json").write_text(json.dumps([{"data_id": 3, **halves}]))
    code, out, _ = cli("socialeval", "draw", "merged.json")
    assert "drew cooperation-3-zh, the first of 2 matching trees" in out
    for name in ("merged.json#cooperation-3-en", "merged.json#3"):
        code, out, _ = cli("socialeval", "draw", name, "--language", "en")
        assert "cooperation-3-en.html" in out
    code, _, err = cli("socialeval", "draw", "merged.json#cooperation-4-en")
    assert code == 2
    assert "did you mean 'cooperation-3-en'" in err


def test_draw_writes_a_page_and_a_wrong_name_names_the_nearest(cli, tmp_path):
    code, out, _ = cli("socialeval", "draw", "induction-feather-parade-zh")
    assert code == 0
    assert "induction-feather-parade-zh.html" in out
    assert "<svg" in (tmp_path / "induction-feather-parade-zh.html").read_text(encoding="utf-8")
    code, _, err = cli("socialeval", "draw", "induction-feather-parad-zh")
    assert code == 2
    assert "did you mean 'induction-feather-parade-zh'" in err


def test_draw_shows_the_walks_of_a_stored_run(cli, tmp_path):
    run = ("run", "socialeval", "--task", "goals", "--model", "baseline/oracle", "--repeats", "2", "--quiet")
    assert cli(*run)[0] == 0
    code, _, _ = cli("socialeval", "draw", "altruism-three-nights-en", "--run", "last", "--to", "walked.html")
    assert code == 0
    assert "×2" in (tmp_path / "walked.html").read_text(encoding="utf-8")
