"""Runs and files of models from the command line, on a store of their own."""

import json

import pytest

from sociometer.cli.main import main
from sociometer.core.errors import DataError
from sociometer.instruments.seceu.family_tree import published_subjects
from sociometer.statistics.model_kinds import read_properties


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


def test_fifteen_models_of_table_1_completed_the_test():
    assert len([one for one in published_subjects() if not one.failed]) == 15


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
