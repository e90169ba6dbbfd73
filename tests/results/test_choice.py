"""Which runs stand for their subjects when none is named."""

import shutil

import pytest

from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.conversation import Identity
from sociometer.instruments import load
from sociometer.instruments.sesi.items import OFFICIAL
from sociometer.instruments.socialeval.items import BUNDLED
from sociometer.results.choice import _fullest, _kind, _Standing
from sociometer.store.records import Manifest, RoleRecord, RunRecord, RunStatus
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun


@pytest.fixture
def run(tmp_path):
    """Makes runs of a store that has none."""

    def made(subject, simulator, items, created, *, stand_in=False):
        roles = {
            "subject": RoleRecord(subject, Identity("openai", subject), subject),
            "simulator": RoleRecord(simulator, Identity("openai", simulator, stand_in=stand_in), simulator),
        }
        config = RunConfig(instrument="sage", subject=subject, tasks=("dialogues",), official=True)
        manifest = Manifest(config, "1", roles, {}, "", {}, {}, "", "", "", imported=True)
        record = RunRecord(f"{subject}-{simulator}", "sage", subject, RunStatus.FINISHED, manifest, created, created)
        return _Standing(StoredRun(store, record, load("sage")), _kind(record), items)

    with Store(tmp_path / "none.db") as store:
        yield made


def chosen(*standing):
    return [one.run.id for one in _fullest(standing, one_kind=True)]


def test_the_company_that_most_subjects_share_goes_before_a_fuller_run(run):
    standing = (run("a", "v3", 90, 1), run("a", "4o", 100, 9), run("b", "v3", 100, 2), run("c", "v3", 100, 3))
    assert chosen(*standing) == ["a-v3", "b-v3", "c-v3"]


def test_a_stand_in_beside_the_subject_is_chosen_last(run):
    standing = (run("a", "rule", 9, 1, stand_in=True), run("b", "rule", 9, 2, stand_in=True), run("a", "v3", 3, 0))
    assert chosen(*standing) == ["a-v3"]


def test_of_equals_the_kind_played_last_and_of_its_runs_the_fullest_are_chosen(run):
    standing = (run("a", "v3", 9, 1), run("a", "4o", 5, 2), run("a", "4o", 7, 3))
    assert [one.items for one in _fullest(standing, one_kind=True)] == [7]


def test_a_set_of_ones_own_in_the_official_layout_is_not_called_official(tmp_path, official_data):
    (tmp_path / "own/sesi").mkdir(parents=True)
    lines = (official_data / OFFICIAL).read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "own" / OFFICIAL).write_text("".join(lines[:60]), encoding="utf-8")
    asked = ["run", "sesi", "--model", "baseline/random", "--limit", "4", "--quiet", "--store", str(tmp_path / "s.db")]
    assert run_command(asked) == 0
    for folder in (tmp_path / "own", official_data):
        assert run_command([*asked, "--official", "--data", str(folder)]) == 0
    with Store(tmp_path / "s.db") as store:
        assert [record.manifest.whose_items for record in store.runs.all()] == ["bundled", "own", "official"]


def test_trees_of_ones_own_are_not_called_official_and_a_file_of_them_cannot_be_checked(tmp_path, capsys):
    own, store = tmp_path / "own", ["--store", str(tmp_path / "s.db")]
    own.mkdir()
    shutil.copy(next(iter(sorted(BUNDLED.glob("*_en_*.json")))), own)
    asked = ["run", "socialeval", "--task", "goals", "--data", str(own), "--model", "baseline/oracle", "--name", "mine"]
    assert run_command([*asked, *store, "--quiet"]) == 0
    assert run_command(["paper", "tables", "socialeval", "mine", "--to", str(tmp_path / "pack"), *store]) == 0
    assert "not the paper's items" in (tmp_path / "pack" / "README.md").read_text(encoding="utf-8")
    assert run_command(["export", "mine", "--to", str(tmp_path / "mine.sociometer"), *store]) == 0
    capsys.readouterr()
    assert run_command(["check", str(tmp_path / "mine.sociometer"), *store]) == 6
    assert "items of somebody's own" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "words", [("compare", "nothing", "all"), ("report", "all", "nothing"), ("compare", "all", "nothing")]
)
def test_a_run_that_is_named_next_to_all_is_not_ignored(tmp_path, capsys, words):
    store = ["--store", str(tmp_path / "s.db")]
    for model in ("baseline/random", "baseline/oracle"):
        assert run_command(["run", "sesi", "--model", model, "--limit", "4", "--quiet", *store]) == 0
    assert run_command([*words, *store]) == 2
    assert "'all' chooses the runs itself; leave out 'nothing', or name every run." in capsys.readouterr().err
