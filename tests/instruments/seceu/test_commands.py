"""Analyses from the command line, on a store of their own."""

import json

import pytest

from sociometer.cli.main import main
from sociometer.core.errors import DataError
from sociometer.instruments.seceu.contrasts import Subject, analysis, published_subjects
from sociometer.statistics.model_kinds import Properties, read_properties


@pytest.fixture
def sociometer(tmp_path, monkeypatch, capsys):
    """Runs a command and gives its exit code and what it printed."""
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr("sys.argv", ["sociometer", *words])
        try:
            code = main()
        except SystemExit as stopped:
            code = stopped.code
        printed = capsys.readouterr()
        return int(code or 0), printed.out, printed.err

    return call


def take_test(sociometer, subject="baseline/random", seed="0"):
    code, out, _ = sociometer("run", "seceu", "--model", subject, "--seed", seed, "--json")
    assert code == 0
    return json.loads(out)


def test_the_papers_models_are_contrasted_by_training(sociometer):
    code, out, _ = sociometer("seceu", "analyse", "--published")
    assert code == 0
    assert "rlhf" in out
    assert "106.8" in out


def test_a_failed_test_is_left_out_by_name_and_moves_no_table(sociometer, tmp_path, official_data):
    models = ("baseline/even", "baseline/first", "baseline/refuse")
    runs = []
    for model in models:
        code, out, err = sociometer("run", "seceu", "--official", "--model", model, "--json")
        assert code == 0, err
        runs.append(json.loads(out)[0]["run"])
    about = tmp_path / "models.csv"
    about.write_text("model,sft\n" + "".join(f"{model},yes\n" for model in models))
    code, out, err = sociometer("seceu", "analyse", *runs, "--models", str(about), "--json")
    assert code == 0, err
    found = json.loads(out)
    assert any(note.startswith("baseline/refuse is left out: FAILED") for note in found["notes"])
    kinds = next(table for table in found["tables"] if table["name"] == "kinds")
    assert kinds["title"] == "Mean EQ by kind of model"
    assert kinds["rows"][0][2] == 2


def test_runs_that_stand_on_no_one_norm_are_contrasted_by_distance_and_this_is_said():
    about = Properties(kinds={"sft": "yes"})
    one = Subject("a", 110.0, 2.1, norm="x")
    two = Subject("b", None, 2.5)
    notes = analysis([one, two], [], {"a": about, "b": about}).notes
    assert "The runs use different norms: contrasts compare distances, not EQs." in notes


def test_a_script_is_named_as_no_model(sociometer, tmp_path):
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"match": ".", "reply": "4, 3, 2, 1"}) + "\n")
    take_test(sociometer, f"scripted/{script}")
    code, out, _ = sociometer("seceu", "analyse", "last", "--published", "--json")
    assert code == 0
    assert f"scripted/{script.name} is a script, not a model to be measured." in json.loads(out)["notes"]


def test_analyse_needs_something_to_analyse(sociometer):
    code, _, err = sociometer("seceu", "analyse")
    assert code == 2
    assert "--published" in err


def test_fifteen_models_of_table_1_completed_the_test():
    assert len(published_subjects()) == 15


def test_a_models_file_gives_sizes_dates_and_kinds(tmp_path):
    path = tmp_path / "models.csv"
    path.write_text("model,size_billion,launched,sft\nmine,7,2024-07-01,yes\nother,,,\n")
    found = read_properties(path)
    assert found["mine"].size_billion == 7
    assert found["mine"].launched == pytest.approx(2024.5, abs=0.01)
    assert found["mine"].kinds == {"sft": "yes"}
    path.write_text("model,size_billion\nmine,big\n")
    with pytest.raises(DataError, match=r"models\.csv:2: size_billion 'big'"):
        read_properties(path)
    path.write_text("name\nmine\n")
    with pytest.raises(DataError, match=r"columns missing: model; .* the file has: name"):
        read_properties(path)


def test_a_limit_counts_scenarios_so_that_the_ways_can_be_compared(sociometer):
    code, out, err = sociometer(
        *("run", "seceu", "--model", "baseline/even", "--prompting", "best", "--limit", "4", "--json")
    )
    assert code == 0, err
    (run,) = json.loads(out)
    code, out, _ = sociometer("show", run["run"], "--json")
    assert code == 0
    assert "too few stories" not in out
    assert "best of 5 methods" in out
