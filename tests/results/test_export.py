"""What other tools read: every column of an export is described, and gives the numbers of the run again."""

import csv
import re
from statistics import fmean

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.card import column
from sociometer.instruments import cards
from sociometer.results.export import COLUMNS, export_runs, rows


def described(name):
    return name in COLUMNS or f"{name.partition('.')[0]}.NAME" in COLUMNS


@pytest.mark.parametrize("name", sorted(cards()))
def test_every_column_is_described(name, tmp_path):
    roles = {"simulator": "baseline/random"} if name == "sage" else {}
    run = sm.run(name, model="baseline/random", limit=2, roles=roles, store=tmp_path / "s.db")
    found = dict.fromkeys(one for row in rows(run) for one in row)
    assert found and [one for one in found if not described(one)] == []
    assert [one for one in found if not re.fullmatch(r"[A-Za-z][\w.]*", one)] == [], "names need no quotes in R"
    values = {column("score", measure.value) for measure in cards()[name].measure if measure.value}
    assert values & set(found), "'list' names the columns of measures"


def test_columns_of_a_stopping_rule_are_described(tmp_path):
    sm.run("sesi", model="baseline/oracle", limit=24, name="old", store=tmp_path / "s.db")
    run = sm.run("sesi", model="baseline/random", limit=24, against="old", store=tmp_path / "s.db")
    found = next(iter(rows(run)))
    assert "counted" in found and all(map(described, found))


def test_the_rows_that_count_give_the_score_of_a_run_that_a_limit_stopped(tmp_path):
    run = sm.run("sesi", model=lambda _: "A", limit=30, max_requests=12, store=tmp_path / "s.db")
    assert run.status == "stopped" and all("counted" in row for row in rows(run))
    scores = [row["score.correct"] for row in rows(run) if row["counted"]]
    assert fmean(scores) == pytest.approx(run.summary().measure("accuracy").value)
    export_runs([run], path := tmp_path / "scores.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        assert {row["counted"] for row in csv.DictReader(stream)} <= {"True", "False"}


def test_the_help_has_every_column_and_a_file_gives_the_score_again(tmp_path, capsys):
    assert run_command(["export", "--help"]) == 0
    told = capsys.readouterr().out
    assert all(f"  {name}" in told for name in COLUMNS)
    run = sm.run("sesi", model="baseline/random", limit=20, store=tmp_path / "s.db")
    path = tmp_path / "scores.csv"
    assert run_command(["export", run.id, "--to", str(path), "--store", str(tmp_path / "s.db")]) == 0
    with path.open(encoding="utf-8", newline="") as stream:
        right = [float(row["score.correct"]) for row in csv.DictReader(stream)]
    assert sum(right) / len(right) == run.summary().measure("accuracy").value


def test_a_value_without_variation_has_no_bounds_in_the_file_of_measures(tmp_path):
    store = ("--store", str(tmp_path / "s.db"))
    assert run_command(["run", "seceu", "--limit", "12", "--quiet", "--model", "baseline/even", *store]) == 0
    assert run_command(["show", "last", "--to", str(tmp_path / "measures.csv"), *store]) == 0
    with (tmp_path / "measures.csv").open(encoding="utf-8", newline="") as stream:
        found = {row["measure"]: (row["low"], row["high"]) for row in csv.DictReader(stream) if not row["group"]}
    assert found["profile"] == ("", "") and all(found["distance"]), "an even answer has a profile of 0 on every item"


def test_the_mean_over_items_of_each_items_mean_is_the_measure(tmp_path):
    tree = sm.run("socialeval", model="baseline/random", limit=6, tasks=["goals"], store=tmp_path / "s.db")
    methods = {"settings": {"prompting": "all"}, "limit": 6}
    story = sm.run("seceu", model="baseline/random", **methods, store=tmp_path / "s.db")
    for run, value, column_name, level in (
        (tree, "prosocial_loss", "score.prosocial_loss", None),
        (story, "distance", "score.distance", "direct"),
    ):
        items: dict[str, list[float]] = {}
        for row in rows(run):
            if row.get(column_name) is not None and row.get("facet.prompting") == level:
                items.setdefault(row["item"], []).append(row[column_name])
        assert fmean(map(fmean, items.values())) == pytest.approx(run.summary().measure(value).value)


@pytest.mark.parametrize("word", ["sesi", "all"])
def test_python_writes_the_runs_that_the_command_writes(tmp_path, monkeypatch, word):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "s.db"))
    sm.run("sesi", "baseline/first", limit=4)
    sm.run("sesi", "baseline/first", limit=6)
    sm.run("sesi", "baseline/random", limit=5, settings={"orders": 2})
    assert run_command(["export", word, "--to", str(tmp_path / "command.csv")]) == 0
    written = sm.export(word, tmp_path / "python.csv").read_text()
    assert written == (tmp_path / "command.csv").read_text()
    assert written.count("\n") - 1 == 11, "what was asked in two commands on one form counts once"
