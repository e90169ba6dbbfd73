"""Which runs stand for their subjects when none is named."""

import shlex
import shutil

import pytest

import sociometer as sm
from sociometer.cli.main import run_command
from sociometer.core.config import RunConfig
from sociometer.core.conversation import Identity
from sociometer.instruments import load
from sociometer.instruments.sesi.items import OFFICIAL
from sociometer.instruments.socialeval.items import BUNDLED
from sociometer.results.choice import _fullest, _kind, _Standing, _why_not_chosen
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
        stored = StoredRun(store, record, load("sage"))
        return _Standing(stored, _kind(stored), items)

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


def test_of_equals_the_kind_with_the_most_items_then_the_newest_is_chosen(run):
    assert chosen(run("a", "v3", 9, 1), run("a", "4o", 5, 2), run("a", "4o", 7, 3)) == ["a-v3"]
    assert chosen(run("a", "v3", 9, 1), run("a", "4o", 9, 2)) == ["a-4o"]


def test_a_trial_of_a_few_items_displaces_no_full_run(run):
    full = (run("a", "v3", 100, 1), run("b", "v3", 100, 2))
    assert chosen(*full, run("a", "4o", 12, 3), run("b", "4o", 12, 4), run("c", "4o", 12, 5)) == ["a-v3", "b-v3"]
    halves = [run(subject, "4o", 50, 6) for subject in "bcd"]
    assert chosen(*full, run("a", "4o", 0, 7), *halves) == ["b-4o", "c-4o", "d-4o"], "the kind that most subjects have"


def test_a_run_that_is_left_out_is_told_which_run_was_chosen_instead(run):
    short, chosen_run, same = run("a", "v3", 5, 1), run("a", "v3", 9, 2), run("a", "v3", 9, 0)
    assert _why_not_chosen(short, [chosen_run]) == "run a-v3 of the subject has more items (9 instead of 5)"
    assert _why_not_chosen(same, [chosen_run]) == "run a-v3 of the subject has as many items (9) and is newer"
    other, company = run("a", "4o", 12, 1), run("b", "4o", 12, 1)
    said = "run a-v3 of the subject has the items, roles and settings that most subjects have"
    assert _why_not_chosen(other, [chosen_run, company]) == said


def test_runs_on_the_same_items_are_compared_and_the_command_for_the_others_is_shown(tmp_path, capsys, official_data):
    store = ["--store", str(tmp_path / "s.db"), "--quiet"]
    models = ("baseline/random", "baseline/first")
    asked = [word for model in models for word in ("--model", model)]
    for items in (["--official", "--data", str(official_data)], ["--shuffle"]):  # the bundled ones are newer
        assert run_command(["run", "seceu", *items, *asked, *store]) == 0
    assert run_command(["run", "seceu", "--shuffle", "--model", "baseline/last", *store]) == 0
    capsys.readouterr()
    for words in (["seceu", *models], models):
        assert run_command(["compare", *words, *store[:2]]) == 0
        out, err = capsys.readouterr()
        assert "official items" in out and "EQ" in out
        assert "(40 official items)" in err and "runs on bundled items are left out" in err
    others = shlex.split(err.rpartition("To compare those: sociometer ")[2])
    assert run_command(others) == 0
    assert "official" not in "".join(capsys.readouterr())
    assert run_command(["compare", models[0], "baseline/last", *store[:2]]) == 0
    out, err = capsys.readouterr()
    assert "official" not in out + err and "(40 bundled items)" in err
    bundled = [word for word in others if word.startswith("seceu-")]
    official = [one.id for one in sm.runs(store=tmp_path / "s.db") if one.official]
    for shown in ([], ["--json"]):
        assert run_command(["compare", official[0], bundled[1], *store[:2], *shown]) == 2
        assert "cannot be compared: one has official items and the other bundled ones" in " ".join(
            "".join(capsys.readouterr()).split()
        )


def test_runs_with_the_options_in_another_order_are_neither_ranked_nor_compared_with_the_others(tmp_path, capsys):
    store = ["--store", str(tmp_path / "s.db")]
    for number, model in enumerate(("random", "first", "even", "last")):
        order = ["--shuffle"] if model == "last" else []
        assert (
            run_command(["run", "seceu", "--model", f"baseline/{model}", "--name", f"n{number}", *order, *store]) == 0
        )
    capsys.readouterr()
    ranked = sm.compare("all", store=tmp_path / "s.db").ranking()
    assert {one.subject for one in ranked.boards[0].standings} == {"n0", "n1", "n2"}
    assert any(line.endswith(": another --shuffle") for line in ranked.boards[0].left_out)
    differ = "they differ in the setting 'shuffle': False and True"
    assert run_command(["compare", "n0", "n3", *store]) == 2
    assert f"n0 and n3 cannot be compared: {differ}" in capsys.readouterr().err
    assert run_command(["compare", "n0", "n3", "--fail-if", "worse", *store]) == 1
    assert f"n0 and n3 on seceu/feelings: {differ}" in " ".join(capsys.readouterr().err.split())


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


def test_the_name_of_an_instrument_means_its_runs_in_report_and_export(tmp_path, capsys, monkeypatch, official_data):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOCIOMETER_STORE", "runs.db")
    monkeypatch.setenv("SOCIOMETER_DATA", str(official_data))
    official = ("--official", "--quiet")
    for model, limit in (("baseline/random", "12"), ("baseline/random", "10"), ("baseline/even", "12")):
        assert run_command(["run", "seceu", "--model", model, "--limit", limit, *official]) == 0
    assert run_command(["seceu", "contamination", "--limit", "1", "--model", "baseline/random", *official]) == 0
    capsys.readouterr()
    assert run_command(["report", "seceu", "--to", "x.html", "--evidence", "0"]) == 0
    told = capsys.readouterr().err
    assert "each subject's run with the most items: baseline/random" in told and told.count("12 official items") == 2
    assert run_command(["export", "seceu", "--to", "x.csv"]) == 0
    assert "34 rows" in capsys.readouterr().out, "all runs of the test, without the check for contamination"
    assert run_command(["show", "seceu"]) == 2
    assert capsys.readouterr().err.count("a step of 'contamination'") == 1


def test_the_command_that_includes_the_short_runs_is_shown_once(tmp_path, capsys):
    store = ["--store", str(tmp_path / "s.db")]
    for model, limit in (("oracle", 40), ("random", 40), ("even", 40), ("first", 8), ("longest", 8)):
        words = ["run", "sesi", "--model", f"baseline/{model}", "--limit", str(limit), "--name", model, "--quiet"]
        assert run_command([*words, *store]) == 0
    capsys.readouterr()
    assert run_command(["report", "--figure", "list", *store]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("has 8 of the 40 items that most runs have") == 2
    assert said.count("sociometer report oracle random even first longest") == 1 and "' includes all 2." in said


def test_an_item_that_is_asked_in_several_ways_counts_once(tmp_path, capsys):
    store = ("--store", str(tmp_path / "runs.db"))
    for words in (("baseline/first", "--prompting", "all"), ("baseline/first",), ("baseline/even",)):
        assert run_command(["run", "seceu", "--limit", "12", "--quiet", *store, "--model", *words]) == 0
    mine = [one for one in sm.runs(store=tmp_path / "runs.db") if one.subject == "baseline/first"]
    newest = max(mine, key=lambda one: one.record.created)
    capsys.readouterr()
    assert run_command(["compare", "all", *store]) == 0
    assert f"baseline/first {newest.id} (12 bundled items)" in " ".join(capsys.readouterr().err.split())


def test_all_names_a_test_of_which_only_altered_runs_are_stored(tmp_path, capsys):
    store = ["--store", str(tmp_path / "s.db")]
    altered = ["run", "sesi", "--wording", "answer", "--limit", "4", "--name", "other", "--quiet"]
    assert run_command([*altered, "--model", "baseline/random", *store]) == 0
    capsys.readouterr()
    assert run_command(["report", "all", "--to", str(tmp_path / "r.html"), *store]) == 2
    said = "sesi: no run of the unaltered test; left out: other."
    assert f"{said} Name the runs that you want." in " ".join(capsys.readouterr().err.split())
    assert run_command(["run", "seceu", "--limit", "4", "--model", "baseline/random", "--quiet", *store]) == 0
    assert run_command(["report", "all", "--to", str(tmp_path / "r.html"), *store]) == 0
    assert said in " ".join(capsys.readouterr().err.split())
