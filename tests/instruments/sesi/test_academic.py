"""Social against academic scores: the paper's own table gives the correlations that FACTS and R give."""

import json
from pathlib import Path

import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import DataError, UsageError
from sociometer.instruments import folder_of
from sociometer.instruments.sesi import academic

TABLE1 = folder_of("sesi") / "published" / "table1.csv"


def pairs(reliabilities=None):
    found = academic.correlate(academic.read_scores([TABLE1]), reliabilities or {})
    return {frozenset((pair.first, pair.second)): pair for pair in found}


def test_table_1_gives_the_correlations_of_the_thirteen_models():
    cell = pairs()[frozenset(("DROP", "SESI"))].correlation
    assert cell.r == pytest.approx(0.75, abs=0.005)
    assert cell.n == 13
    assert cell.interval.low < cell.r < cell.interval.high
    assert pairs()[frozenset(("MATH", "SESI"))].correlation.r == pytest.approx(0.58, abs=0.005)


def test_a_cell_that_one_model_carries_is_named():
    """Without davinci SI-DROP falls from .75 to .55."""
    pair = pairs()[frozenset(("DROP", "SESI"))]
    assert pair.note == "carried by davinci"
    assert pair.correlation.lowest == pytest.approx(0.55, abs=0.005)


def test_correlations_are_corrected_where_both_reliabilities_are_known():
    pair = pairs({"DROP": 0.9, "SESI": 0.8})[frozenset(("DROP", "SESI"))]
    assert pair.corrected == pytest.approx(pair.correlation.r / (0.9 * 0.8) ** 0.5)
    assert pairs({"DROP": 0.9})[frozenset(("DROP", "SESI"))].corrected is None


def test_the_test_of_the_difference_says_that_thirteen_models_are_few():
    table, _ = academic.apart(academic.read_scores([TABLE1]))
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["SESI with academic"] < row["among academic"]
    assert row["families"] == 4
    assert "13 models in 4 families are few" in table.note
    assert "includes zero" in table.note


def test_lm_eval_results_are_read_in_percent(tmp_path: Path):
    path = tmp_path / "results.json"
    arc = {"acc,none": 0.4, "acc_norm,none": 0.5, "alias": "arc"}
    results = {"arc": arc, "gsm8k": {"exact_match,strict": 0.25}}
    path.write_text(json.dumps({"model_name": "m", "results": results}))
    assert academic.read_scores([path]).values == {"m": {"arc": 50.0, "gsm8k": 25.0}}


def test_bad_scores_are_refused_by_line(tmp_path: Path):
    path = tmp_path / "scores.csv"
    path.write_text("model,MMLU\na,high\n")
    with pytest.raises(DataError, match=r"scores\.csv:2: 'high'"):
        academic.read_scores([path])
    path.write_text("name,MMLU\na,1\n")
    with pytest.raises(DataError, match="column 'model'"):
        academic.read_scores([path])


def test_a_reliability_of_an_unknown_benchmark_is_refused():
    with pytest.raises(UsageError, match="'MMMU'"):
        academic.correlate(academic.read_scores([TABLE1]), {"MMMU": 0.9})


def test_correlate_joins_stored_runs_by_model(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    names = ("random", "first", "longest", "oracle")
    for name in names:
        assert run_command(["run", "sesi", "--model", f"baseline/{name}", "--quiet"]) == 0
    capsys.readouterr()
    assert run_command(["runs", "--json"]) == 0
    ids = [entry["run"] for entry in json.loads(capsys.readouterr().out)]
    scores = tmp_path / "scores.csv"
    scores.write_text(
        "model,family,X,Y\n"
        + "".join(f"{n},{f},{v},{v * v}\n" for n, f, v in zip(names, "aabb", (1, 2, 3, 9), strict=True))
    )
    words = ["correlate", "--academic", str(scores), "--json", "--quiet"]
    for name, run in zip(names, ids, strict=True):
        words += ["--run", run, "--as", f"baseline/{name}={name}"]
    assert run_command(words) == 0
    result = json.loads(capsys.readouterr().out)
    rows = {(row[0], row[1]): row for row in result["tables"][0]["rows"]}
    assert rows["X", "SESI"][9] == 4
    assert rows["X", "SESI"][2] > 0.9
