"""Social against academic scores: the paper's own table gives the correlations that FACTS and R give."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.instruments import FOLDER
from sociometer.instruments.sesi import academic, items
from sociometer.instruments.sesi.build.assembly import official_csv
from sociometer.reading import read_items

TABLE1 = FOLDER / "sesi" / "published" / "table1.csv"


def pairs():
    found = academic.correlate(academic.read_scores(TABLE1))
    return {frozenset((pair.first, pair.second)): pair for pair in found}


def test_table_1_gives_the_correlations_of_the_thirteen_models():
    cell = pairs()[frozenset(("DROP", "SESI"))].correlation
    assert cell.r == pytest.approx(0.75, abs=0.005)
    assert cell.n == 13
    assert cell.interval.low is None
    assert academic.pair_table(academic.correlate(academic.read_scores(TABLE1))).note.startswith(
        "No interval: the models"
    )
    assert pairs()[frozenset(("MATH", "SESI"))].correlation.r == pytest.approx(0.58, abs=0.005)


def test_a_cell_that_one_model_carries_is_named():
    """Without davinci SI-DROP falls from .75 to .55."""
    pair = pairs()[frozenset(("DROP", "SESI"))]
    assert pair.note == "depends on davinci"
    assert pair.correlation.lowest == pytest.approx(0.55, abs=0.005)


def test_the_test_of_the_difference_says_that_thirteen_models_are_few():
    table, _ = academic.apart(academic.read_scores(TABLE1))
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["SESI with academic"] < row["among academic"]
    assert row["families"] == 4
    assert table.note == "No interval: the models are of 4 families, 10 are needed."


def test_bad_scores_are_refused_by_line(tmp_path: Path):
    path = tmp_path / "scores.csv"
    path.write_text("model,MMLU\na,high\n")
    with pytest.raises(DataError, match=r"scores\.csv:2: 'high'"):
        academic.read_scores(path)
    path.write_text("name,MMLU\na,1\n")
    with pytest.raises(DataError, match=r"columns missing: model; .* the file has: name, MMLU"):
        academic.read_scores(path)


def test_nan_is_a_missing_score_and_infinity_is_refused(tmp_path: Path):
    path = tmp_path / "scores.csv"
    path.write_text("model,MMLU,MATH\na,nan,1\nb,60,NaN\n")
    assert academic.read_scores(path).values == {"a": {"MATH": 1.0}, "b": {"MMLU": 60.0}}
    path.write_text("model,MMLU\na,50\nb,inf\n")
    with pytest.raises(DataError, match=r"scores\.csv:3: 'inf'"):
        academic.read_scores(path)


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))

    def call(*words):
        code = run_command([*words, "--json", "--quiet"])
        out, err = capsys.readouterr()
        return code, json.loads(out) if code == 0 else {}, err

    return call


NAMES = ("random", "first", "longest", "oracle")


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    rows = zip(NAMES, "aabb", (1, 2, 3, 9), strict=True)
    path.write_text("model,family,X,Y\n" + "".join(f"baseline/{n},{f},{v},{v * v}\n" for n, f, v in rows))
    return path


def play(cli, name, *words):
    code, result, err = cli("run", "sesi", "--model", f"baseline/{name}", *words)
    assert code == 0, err
    return result[0]["run"]


def correlate(cli, scores, runs, *words):
    return cli(
        "sesi", "correlate", "--academic", str(scores), *(word for run in runs for word in ("--run", run)), *words
    )


def test_correlate_joins_stored_runs_by_model(cli, tmp_path):
    runs = [play(cli, name) for name in NAMES]
    path = tmp_path / "short.csv"
    rows = zip(NAMES, "aabb", (1, 2, 3, 9), strict=True)
    path.write_text("model,family,X,Y\n" + "".join(f"{n},{f},{v},{v * v}\n" for n, f, v in rows))
    names = [word for name in NAMES for word in ("--as", f"baseline/{name}={name}")]
    code, result, err = correlate(cli, path, runs, *names)
    assert code == 0, err
    found = {(row[0], row[1]): row for row in result["tables"][0]["rows"]}
    assert found["X", "SESI"][8] == 4
    assert found["X", "SESI"][2] > 0.9
    count = len(list(items.bundled()))
    assert f"SESI is the accuracy on the {count} items that all 4 runs have." in result["notes"]
    assert any(note.startswith("Bundled items of this project") for note in result["notes"])


def test_runs_on_some_of_the_items_are_joined_on_those_that_all_have(cli, scores):
    runs = [play(cli, name, *(("--limit", "20") if name == "first" else ())) for name in NAMES]
    code, result, err = correlate(cli, scores, runs)
    assert code == 0, err
    assert any("items that all 4 runs have; left out: baseline/random has " in note for note in result["notes"])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (("random", "--seed", "1"), "are both of 'baseline/random'"),
        (("first", "--condition", "anxiety"), "was played under the condition 'anxiety'"),
        (("first", "--data"), "share no item"),
    ],
)
def test_runs_that_belong_in_no_one_column_are_refused(cli, scores, tmp_path, second, message):
    if second[-1] == "--data":
        bundled = [replace(item, id=f"own-{item.id}", kinds=()) for item in read_items(items.BUNDLED, items.Question)]
        (tmp_path / "sesi.csv").write_text(official_csv(bundled[:20]), encoding="utf-8")
        second = (*second, str(tmp_path))
    code, _, err = correlate(cli, scores, [play(cli, "random"), play(cli, *second)])
    assert code == 2
    assert message in err


def test_the_same_id_with_another_text_is_another_item(cli, scores, tmp_path):
    bundled = [replace(item, situation="Elsewhere.") for item in read_items(items.BUNDLED, items.Question)]
    (tmp_path / "sesi.csv").write_text(official_csv(bundled[:20]), encoding="utf-8")
    code, _, err = correlate(cli, scores, [play(cli, "random"), play(cli, "first", "--data", str(tmp_path))])
    assert code == 2
    assert "is not the same in runs" in err


def test_a_judges_run_is_no_score_of_a_model(cli, scores):
    run = play(cli, "random", "--limit", "10")
    assert cli("sesi", "analyse", run, "--role", "judge=baseline/random")[0] == 0
    code, _, err = correlate(cli, scores, ["last"])
    assert code == 2
    assert "is of the task 'errors'" in err


def test_a_social_column_beside_runs_is_spoken_of(cli, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("model,X,SESI\nbaseline/random,1,50\nother,2,60\nthird,4,70\n")
    code, result, err = correlate(cli, path, [play(cli, "random", "--limit", "20")])
    assert code == 0, err
    assert any("not the one in the file (50.0)" in note for note in result["notes"])
    assert any(note.startswith("The SESI of other, third comes from the file") for note in result["notes"])
