"""Error causes: a seeded sample, a judge's verdicts, people's labels of the same sample, and their agreement."""

import json

import msgspec
import pytest

from raters import fill
from rehearsal import Rehearsal
from sociometer.cli.main import run_command
from sociometer.core.settings import Settings
from sociometer.core.task import Episode, Failure, RunView
from sociometer.instruments import load
from sociometer.instruments.sesi import errors, items
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve
from sociometer.models.scripted import Scripted
from sociometer.reading import read_items

FOUND = list(read_items(items.BUNDLED, items.Question))


WRONG = sum(item.answer != 0 for item in items.bundled())


def wrong(count=50, seed=0):
    show = Rehearsal(load("sesi"), {"subject": resolve("baseline/first", ModelOptions())})
    return errors.sample_wrong(show.play_all("questions"), count, seed)


def test_the_sample_is_seeded_and_holds_only_wrong_answers():
    assert wrong() == wrong()
    assert wrong(seed=1) != wrong()
    assert len(wrong()) == 50
    assert len(wrong(1000)) == WRONG
    assert all(entry.right != entry.picked for entry in wrong())


def judged(reply, count=10):
    sample = wrong(count)
    show = Rehearsal(load("sesi"), {"judge": Scripted([reply] * count)})
    return show.summarise("errors", sample)


def test_the_judges_causes_become_shares_with_intervals():
    summary = judged('{"reason": "Too nice.", "cause": "superficially friendly"}', 20)
    share = summary.find("share", cause="superficially friendly", subject="random") or summary.measure(
        "share", cause="superficially friendly"
    )
    assert share.value == 1.0
    assert share.interval.low > 0.7
    assert summary.measure("share", cause="sidestepping").value == 0.0


def test_an_unreadable_verdict_is_in_no_share_and_counted():
    old = errors.Verdict(None, "", "no json")  # as earlier versions stored it
    entries = [Episode(one, 0, old, errors.score(one, old), None) for one in wrong(10)]
    summary = errors.summarise(RunView(lambda: iter(entries), Settings({})))
    share = summary.measure("share", cause="other")
    assert (share.value, share.unreadable, share.errors) == (None, 0, 10), "the judge failed, not the subject"
    assert summary.notes[0] == "10 verdicts of the judge could not be read; they count as failed."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("analyse", "last", "--role", "judge=scripted/JUNK"), "judge names no cause that can be read: 'Who knows?'"),
        (("build", "--posts", "demo", "--role", "builder=scripted/JUNK", "--to", "OUT"), "that can be read"),
    ],
    ids=["analyse", "build"],
)
def test_a_role_whose_replies_cannot_be_read_is_no_success_and_another_model_is_asked_for(cli, tmp_path, words, said):
    junk, out = tmp_path / "junk.jsonl", tmp_path / "out"
    junk.write_text(json.dumps({"match": ".", "reply": "Who knows?"}) + "\n")
    played(cli)
    code, _, err = cli("sesi", *(word.replace("JUNK", str(junk)).replace("OUT", str(out)) for word in words))
    role = words[-1 if words[0] == "analyse" else 4].partition("=")[0]
    assert code == 4 and f"failed: unreadable {role}" in err and said in err
    assert f"give another model: --role {role}=MODEL" in err and "repeat" not in err


def test_a_subject_whose_judgements_all_failed_has_a_row_for_each_cause():
    item = errors.WrongAnswer(id="1", subject="model", situation="s", question="q", right="r", picked="p")
    failed = Episode(item, 0, None, None, Failure("timeout", "no answer"))
    summary = errors.summarise(RunView(lambda: iter([failed]), Settings({})))
    found = summary.measure("share", cause="other", subject="model")
    assert (found.value, found.errors) == (None, 1)


def test_the_sheet_for_people_names_neither_subject_nor_item():
    sample = [msgspec.structs.replace(entry, subject="some-model") for entry in wrong(20)]
    shown = str([entry.for_raters() for entry in sample])
    assert "some-model" not in shown and "baseline" not in shown and "sesi-" not in shown
    assert all("first" not in entry.id and entry.item not in entry.id for entry in sample)
    assert len({entry.id for entry in wrong(1000)}) == WRONG


def test_kappa_of_people_and_judge_is_worked_by_hand():
    """Observed .75, expected .5 x .25 + .5 x .75 = .5, so kappa = .5."""
    people = {"a": "other", "b": "other", "c": "sidestepping", "d": "sidestepping"}
    judge = {"a": "other", "b": "sidestepping", "c": "sidestepping", "d": "sidestepping"}
    assert errors.agreement_table(people, judge).rows[0][1] == pytest.approx(0.5)
    assert errors.agreement_table(people, {"z": "other"}).rows == ()


def test_kappa_has_a_table_with_its_interval_for_each_cause_that_both_sides_vary_on():
    people = {name: "other" if name in "abc" else "sidestepping" for name in "abcdef"}
    judge = {**people, "c": "sidestepping"}
    table = errors.agreement_table(people, judge)
    rows = {row[0]: row for row in table.rows}
    assert {name for name, row in rows.items() if row[1] is not None} == {"all causes", "other", "sidestepping"}
    assert rows["all causes"][1] == pytest.approx(2 / 3)
    assert rows["all causes"][2] < 2 / 3 < rows["all causes"][3] <= 1
    assert errors.agreement_table(people, dict.fromkeys(people, "other")).rows[0][1:5] == (None, None, None, 0.5)


def test_analyse_on_the_command_line_from_run_to_kappa(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    assert run_command(["run", "sesi", "--model", "baseline/first", "--quiet"]) == 0
    sheet = tmp_path / "sheet.csv"
    assert run_command(["sheet", "write", "last", "--of", "causes", "--sample", "12", "--to", str(sheet)]) == 0
    text = sheet.read_text(encoding="utf-8")
    assert "baseline" not in text and "sesi-" not in text
    fill(sheet, tmp_path / "ann.csv", cause="Other")
    assert run_command(["sheet", "read", str(tmp_path / "ann.csv")]) == 0
    script = tmp_path / "judge.jsonl"
    script.write_text(json.dumps({"match": ".", "reply": '{"reason": "r", "cause": "other"}'}) + "\n")
    capsys.readouterr()
    figures = tmp_path / "figures"
    run = ["sesi", "analyse", "last", "--role", f"judge=scripted/{script}", "--to", str(figures)]
    assert run_command([*run, "--json", "--quiet"]) == 0
    result = json.loads(capsys.readouterr().out)
    tables = {table["name"]: table["rows"] for table in result["tables"]}
    assert set(tables) == {"causes", "people", "agreement"}
    assert tables["agreement"][0] == ["all causes", None, None, None, 1.0, 12]
    assert tables["people"][-1] == ["other", 12, "100 % [76, 100]"]
    assert (figures / "causes.svg").exists()
    assert f"Stand-ins, not real models: scripted/{script.name} (judge)." in result["notes"]


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))

    def call(*words):
        code = run_command([*words, *(() if words[0] == "runs" else ("--quiet",))])
        return code, *capsys.readouterr()

    return call


def played(cli, *words):
    code, out, err = cli("run", "sesi", "--model", "baseline/random", "--limit", "12", *words, "--json")
    assert code == 0, err
    return json.loads(out)[0]["run"]


def test_two_runs_of_one_subject_are_told_apart_by_their_run(cli):
    first, second = played(cli), played(cli, "--condition", "anxiety")
    code, out, err = cli("sesi", "analyse", first, second, first, "--role", "judge=baseline/random", "--json")
    assert code == 0, err
    subjects = {row[0] for row in json.loads(out)["tables"][0]["rows"]}
    assert subjects == {f"baseline/random ({first})", f"baseline/random ({second})"}


def test_a_judges_own_run_is_refused_as_no_run_of_the_test(cli):
    first = played(cli)
    assert cli("sesi", "analyse", first, "--role", "judge=baseline/random")[0] == 0
    assert cli("sesi", "analyse", "--role", "judge=baseline/random")[0] == 0, "the last run of the test is meant"
    runs = [entry["run"] for entry in json.loads(cli("runs", "--json")[1])]
    code, _, err = cli("sesi", "analyse", next(run for run in runs if run != first), "--role", "judge=baseline/random")
    assert code == 2
    assert "is of the task 'errors', not of 'questions'" in err
