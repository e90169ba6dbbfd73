"""Runs set side by side: only what stands for them is compared, and only what can be."""

import json
import os
import re
from pathlib import Path

import pytest

from sociometer.cli.demo import RELEASED
from sociometer.cli.main import run_command
from sociometer.cli.options import open_engine
from sociometer.instruments import card_of
from sociometer.results.profile import profile_lines


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path / "data"))

    def call(*words):
        capsys.readouterr()
        code = run_command(list(words))
        out, err = capsys.readouterr()
        return code, out, err

    return call


def play(cli, *words):
    code, out, err = cli("run", *words, "--quiet", "--json")
    assert code == 0, err
    return json.loads(out)[0]["run"]


def distance(cli, *runs):
    found = json.loads(cli("compare", *runs, "--json")[1])["comparisons"][0]
    row = next(row for row in found["measures"] if row["primary"] and not row["group"])
    return row["paired"], found


def test_of_several_ways_of_prompting_the_one_a_run_is_known_by_is_compared(cli):
    one = play(cli, "seceu", "--model", "baseline/even", "--prompting", "all", "--limit", "60")
    two = play(cli, "seceu", "--model", "baseline/first", "--prompting", "all", "--limit", "60")
    plain = play(cli, "seceu", "--model", "baseline/even")
    paired, found = distance(cli, one, two)
    summary = json.loads(cli("show", one, "--json")[1])["summaries"]["feelings"]["measures"]
    headline = next(m for m in summary if m["name"] == "distance" and not m.get("group"))
    assert paired["first"] == pytest.approx(headline["value"])
    assert paired["items"] == headline["items"]
    assert any("prompting method 'direct'" in note for note in found["notes"])
    board = json.loads(cli("compare", "seceu", one, two, "--json")[1])["rankings"][0]
    assert {s["items"] for s in board["standings"]} == {headline["items"]}
    again, found = distance(cli, one, plain)
    assert again["difference"] == pytest.approx(0.0)
    assert any("settings differ in prompting" in note for note in found["notes"])


def test_a_failed_test_is_neither_ranked_nor_better(cli):
    refused = play(cli, "seceu", "--model", "baseline/refuse")
    poor = play(cli, "seceu", "--model", "baseline/first")
    code, _, err = cli("compare", refused, poor)
    assert code == 2 and "FAILED" in err
    code, out, err = cli("compare", "seceu")
    assert code == 2 and not out and "only baseline/first can be ranked" in err and "baseline/refuse: FAILED" in err


def test_a_board_leaves_out_other_wordings_and_says_which_settings_differ(cli):
    play(cli, "seceu", "--model", "baseline/first")
    play(cli, "seceu", "--model", "baseline/last", "--prompting", "zero-shot")
    play(cli, "seceu", "--model", "baseline/even", "--language", "zh")
    board = json.loads(cli("compare", "seceu", "--json")[1])["rankings"][0]
    assert {s["subject"] for s in board["standings"]} == {"baseline/first", "baseline/last"}
    assert any("baseline/even" in line and "languages differ" in line for line in board["left_out"])
    assert any("differ in prompting" in note for note in board["notes"])


def test_a_run_under_a_condition_does_not_stand_for_its_subject(cli):
    for model in ("first", "last"):
        play(cli, "sesi", "--model", f"baseline/{model}", "--limit", "20")
    play(cli, "sesi", "--model", "baseline/first", "--limit", "20", "--condition", "anxiety")
    board = json.loads(cli("compare", "sesi", "--json")[1])["rankings"][0]
    assert {s["subject"] for s in board["standings"]} == {"baseline/first (condition control)", "baseline/last"}
    assert board["left_out"] == ["baseline/first (condition anxiety): nothing else was asked the same"]


def test_a_distance_has_no_share_right_and_no_top_that_everybody_reaches(cli):
    for name in ("first", "last", "even", "longest", "oracle"):
        play(cli, "seceu", "--model", f"baseline/{name}", "--limit", "12")
    found = json.loads(cli("compare", "--reliability", "seceu", "--json")[1])[0]
    assert all(item["share_right"] is None and 0 <= item["mean"] < 10 for item in found["items"])
    assert not any("top" in why for item in found["items"] for why in item["concerns"])


def test_data_of_another_folder_is_never_played_in_place_of_what_was_named(cli, tmp_path):
    fetched = tmp_path / "data" / "sesi"
    fetched.mkdir(parents=True)
    header = "ID,Type,Situation,Question,Option_0,Option_1,Option_2,Option_3,Answer\n"
    (fetched / "sesi.csv").write_text(header + "a1,Empathy,S,Q,o,p,q,r,1\n")
    (tmp_path / "mine").mkdir()
    code, _, err = cli("run", "sesi", "--model", "baseline/first", "--data", str(tmp_path / "mine"), "--quiet")
    assert code == 2
    assert "official file 'sesi/sesi.csv' not found" in err


def test_chance_is_what_the_run_says_of_the_items_played(cli):
    walks = play(cli, "socialeval", "--task", "goals", "--model", "baseline/random", "--limit", "3")
    with open_engine(Path(os.environ["SOCIOMETER_STORE"])) as engine:
        view = engine.stored(walks).summarised("goals")
        (line,) = profile_lines([view])
    assert line.chance == view.summary.series["chance"]["achieved"] != card_of("socialeval").primary_of("goals").chance


def test_boards_do_not_mix_runs_with_different_numbers_of_option_orders(cli):
    once = play(cli, "sesi", "--model", "baseline/first", "--limit", "20")
    often = play(cli, "sesi", "--model", "baseline/oracle", "--limit", "20", "--orders", "3")
    also = play(cli, "sesi", "--model", "baseline/random", "--limit", "20")
    board = json.loads(cli("compare", once, often, also, "--json")[1])["rankings"][0]
    assert {s["subject"] for s in board["standings"]} == {"baseline/first", "baseline/random"}
    assert any("they differ in the setting 'orders': 1 and 3" in note for note in board["left_out"])


def test_three_runs_are_ranked_under_their_names_as_two_are_compared(cli):
    for model, name in (("first", "old"), ("oracle", "new")):
        play(cli, "sesi", "--model", f"baseline/{model}", "--name", name, "--limit", "20")
    play(cli, "sesi", "--model", "baseline/random", "--limit", "20")
    board = json.loads(cli("compare", "old", "new", "baseline/random", "--json")[1])["rankings"][0]
    assert {one["subject"] for one in board["standings"]} == {"old", "new", "baseline/random"}
    assert " new is first of 3 " in cli("compare", "old", "new", "baseline/random")[1]


def test_a_number_has_the_same_interval_in_the_demo_a_ranking_a_summary_and_a_report(cli, tmp_path):
    assert cli("import", "csv", str(RELEASED), "--benchmark", "SAGE", "--scale", "0:100")[0] == 0
    ranked = json.loads(cli("compare", "all", "--json")[1])["rankings"][0]["standings"]
    shown = [json.loads(cli("show", run["run"], "--json")[1]) for run in json.loads(cli("runs", "--json")[1])]
    assert len(ranked) == len(shown) == 6
    for run in shown:
        (measure,) = run["summaries"]["items"]["measures"]
        (row,) = [one for one in ranked if one["subject"] == run["subject"]]
        assert row["value"] == measure["value"] and row["interval"] == measure["interval"]
    assert cli("report", "all", "--to", str(tmp_path / "r.html"))[0] == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "19 [14, 26]" in page and not re.search(r"\b19 \[(?!14, 26\])", page)
