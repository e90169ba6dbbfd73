"""The instrument's own commands as a user meets them."""

import csv
import json
import shutil

import pytest

import sociometer as sm
from killed import kill_everywhere
from sociometer.cli.main import run_command
from sociometer.instruments.sage import commands
from sociometer.instruments.sage.items import read_built

from .test_build import OPENING, PERSONA, REACTIONS, SCENE
from .test_transcripts import replies, row, says, write

TALK = [
    says("开头", 40),
    replies("我听着，慢慢说。"),
    says("嗯", 50, 10),
    replies("你应该沟通。"),
    says("再见", 45, -5),
]
OTHER = [says("开头", 40), replies("你应该冷静。"), says("唉", 32, -8), replies("别难过。"), says("再见", 30, -2)]


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        got = run_command([str(word) for word in words])
        out, err = capsys.readouterr()
        assert code is None or got == code, err
        return json.loads(out) if "--json" in words else out + err

    return call


def released(folder, history, final):
    folder.mkdir(parents=True, exist_ok=True)
    rows = [{**row(history, final), "id": f"id-{number}"} for number in range(12)]
    return write(folder, *rows)


@pytest.fixture(scope="session")
def stored_imports(tmp_path_factory):
    """A store with two models' dialogues under one simulator, and the first model's under another: three runs."""
    folder = tmp_path_factory.mktemp("imported")
    store = ("--store", str(folder / "store.db"))
    for name, history, final, subject in (
        ("strict", TALK, 45, "some-model"), ("strict", OTHER, 30, "other"), ("kind", TALK, 45, "some-model"),
    ):  # fmt: skip
        path = released(folder / f"{name}_based_simulator", history, final)
        path = path.rename(path.with_name(f"{subject}.jsonl"))
        assert run_command(["sage", "import", str(path), *store]) == 0
    return folder, [run.id for run in sm.runs(store=folder / "store.db")]


@pytest.fixture
def imported(cli, tmp_path, stored_imports):
    folder, runs = stored_imports
    for path in folder.glob("store.db*"):
        if path.is_file():
            shutil.copy(path, tmp_path)
    return runs


def tables(found):
    shown = {}
    for table in found["tables"]:
        shown[table["name"]] = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    return shown


def test_imported_dialogues_are_runs_like_any_other(cli, imported):
    first, second, _ = imported
    listed = cli("runs", "--json")
    assert {each["subject"] for each in listed} == {"some-model", "other"} and len(listed) == 3
    assert "45" in cli("show", first)
    assert "开头" in cli("show", first, "id-3")
    cli("compare", first, second, "--json")
    cli("store", "rescore", first)


def test_a_killed_import_is_completed_by_the_same_command(tmp_path, monkeypatch):
    released(tmp_path / "whole", TALK, 45)
    command = ["sage", "import", next((tmp_path / "whole").iterdir()).name, "--store", "store.db"]
    killed, ended = kill_everywhere(tmp_path, *command)
    for folder in (*killed, ended):
        monkeypatch.chdir(folder)
        assert run_command(command) == 0
        assert [(run.state, len(list(run.episodes()))) for run in sm.runs(store=folder / "store.db")] == [
            ("imported", 12)
        ]


def test_a_file_that_breaks_the_protocol_is_refused_and_nothing_is_stored(cli, tmp_path):
    path = write(tmp_path, row(TALK, 45), row(TALK, 44))
    assert ":2: emo_point 44" in cli("sage", "import", path, code=2)
    assert cli("runs", "--json") == []
    assert "there is no file of this name" in cli("sage", "import", tmp_path / "absent.jsonl", code=2)


def test_a_file_without_a_dialogue_is_refused(cli, tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n")
    assert "contains no dialogue" in cli("sage", "import", "empty.jsonl", code=2)
    assert cli("runs", "--json") == []


def test_an_imported_run_is_said_to_be_chinese(cli, imported):
    shown = cli("show", imported[0], "--json")
    assert shown["manifest"]["config"]["settings"]["language"] == "zh"


def test_strategies_of_imported_dialogues(cli, imported, tmp_path):
    first, second, _ = imported
    script = tmp_path / "judge.jsonl"
    lines = [{"match": "慢慢说", "reply": '{"strategies": ["D-2"]}'}, {"match": ".", "reply": '{"strategies": []}'}]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    words = ("sage", "analyse", first, second, "--what", "strategies", "--role", f"judge=scripted/{script}", "--json")
    shares = {
        (each["subject"], each["group"]): each["value"]
        for each in tables(cli(*words))["strategies"]
        if each["measure"] == "share"
    }
    assert shares["some-model", "D-2"] == 0.5 and shares["other", "D-2"] == 0
    count = len(cli("runs", "--json"))
    cli(*words)
    assert len(cli("runs", "--json")) == count, "the same command again makes no new run"


def test_all_means_every_result_in_commands_of_an_instrument_too(cli, imported):
    found = cli("sage", "analyse", "all", "--what", "coordinate", "--role", "judge=baseline/random", "--json")
    solutions = [each for each in tables(found)["coordinate"] if each["measure"] == "solution"]
    assert {each["subject"] for each in solutions} == {"some-model · strict", "other · strict", "some-model · kind"}
    said = cli("sage", "analyse", "all", imported[0], "--role", "judge=baseline/random", code=2)
    assert f"'all' means every result; leave out '{imported[0]}'" in said


def test_a_judge_of_its_own_is_told_from_the_folder_and_kept_apart(cli, tmp_path):
    usual = cli("sage", "import", released(tmp_path / "transcripts", TALK, 45), "--json")
    other = cli("sage", "import", released(tmp_path / "transcripts-judge-gpt-4o", OTHER, 30), "--json")
    own = cli("sage", "import", released(tmp_path / "transcripts", TALK, 45), "--simulator", "mine", "--json")
    rows = [found["tables"][0]["rows"][0] for found in (usual, other, own)]
    assert [row[2] for row in rows] == ["deepseek-v3", "gpt-4o", "mine"]
    one, two = rows[0][0], rows[1][0]
    assert "different models in the role simulator" in cli("compare", one, two, code=None)
    assert tables(cli("sage", "simulators", one, two, "--json"))["leniency"][0]["more lenient by"] == -15


def test_a_talk_needs_a_turn(cli):
    assert "at least 1" in cli("run", "sage", "--model", "baseline/random", "--turns", "0", code=2)


def test_relationship_is_rated_from_the_thoughts(cli, imported, tmp_path):
    first, second, _ = imported
    script = tmp_path / "judge.jsonl"
    lines = [
        {"match": "ratings", "reply": json.dumps({"ratings": [4, 4, 3] * 4})},
        {"match": "flow", "reply": json.dumps({"flow": 4, "attentiveness": 4, "depth": 4})},
    ]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = cli(
        "sage", "analyse", first, second, "--what", "relationship", "--role", f"judge=scripted/{script}", "--json"
    )
    shown = tables(found)
    assert next(each for each in shown["relationship"] if each["measure"] == "relationship")["value"] == 60


def test_subjects_of_two_simulators_are_told_apart(cli, imported, tmp_path):
    script = tmp_path / "judge.jsonl"
    lines = [
        {"match": "ratings", "reply": json.dumps({"ratings": [4, 4, 3] * 4})},
        {"match": "flow", "reply": json.dumps({"flow": 4, "attentiveness": 4, "depth": 4})},
    ]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found = cli("sage", "analyse", *imported, "--what", "relationship", "--role", f"judge=scripted/{script}", "--json")
    shown = tables(found)
    subjects = {each["subject"] for each in shown["relationship"]}
    assert subjects == {"some-model · strict", "other · strict", "some-model · kind"}


def test_rejudging_and_stability_before_another_simulator(cli, imported, monkeypatch):
    first = imported[0]
    monkeypatch.setattr(commands, "CONTEXTS", 5)
    words = ("--what", "rejudge", "--what", "stability")
    found = cli("sage", "analyse", first, *words, "--role", "simulator=baseline/random", "--json")
    shown = tables(found)
    assert shown["rejudge"][0]["items"] == 12
    assert next(each for each in shown["stability"] if each["measure"] == "stability")["value"] < 1
    [told] = [row for row in shown["runs"] if row["analysis"] == "rejudge"]
    assert (told["subject"], told["simulator"]) == ("some-model", "baseline/random")
    run = told["run"]
    assert tables(cli("sage", "simulators", first, run, "--json"))["leniency"][0]["simulator"] == "baseline/random"


def test_simulators_are_compared(cli, imported):
    shown = tables(cli("sage", "simulators", *imported, "--json"))
    assert shown["agreement"][0]["Spearman"] is None and shown["agreement"][0]["subjects"] == 1
    assert shown["leniency"][0]["more lenient by"] == 0


def test_all_takes_every_simulator_of_each_subject(cli, imported):
    shown = tables(cli("sage", "simulators", "all", "--json"))
    assert [each["simulator"] for each in shown["leniency"]] == ["kind"], "the simulators share a subject"


def test_sheets_go_out_and_come_back(cli, imported, tmp_path):
    first, second, _ = imported
    for of, name in (("feelings", "sheet.csv"), ("reasoning", "sheet-reasoning.csv")):
        cli("sheet", "write", first, second, "--of", of, "--sample", "10", "--to", name)
    for name, out in (("sheet.csv", "ann.csv"), ("sheet-reasoning.csv", "ann-reasoning.csv")):
        with (tmp_path / name).open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        for entry in rows:
            entry["direction" if "direction" in entry else "reasonable"] = "up" if "direction" in entry else "yes"
        with (tmp_path / out).open("w", encoding="utf-8", newline="") as lines:
            writer = csv.DictWriter(lines, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    cli("sheet", "read", "ann.csv")
    cli("sheet", "read", "ann-reasoning.csv", "--rater", "ann")
    found = cli("sage", "annotations", first, second, "--json")
    shown = {each["metric"]: each["here"] for each in tables(found)["annotations"]}
    assert shown["reasonableness"] == 1
    assert 0 <= shown["consistency of simulator and annotator"] < 1
    assert shown["agreement of annotators"] is None
    lines = (tmp_path / "ann.csv").read_text(encoding="utf-8").splitlines()
    other = [
        line.removesuffix("up") + "down" if at % 2 and line.endswith("up") else line for at, line in enumerate(lines)
    ]
    (tmp_path / "ben.csv").write_text("\n".join(other) + "\n", encoding="utf-8")
    cli("sheet", "read", "ben.csv")
    found = cli("sage", "annotations", first, second, "--json")
    alpha = tables(found)["annotations"][-1]
    assert alpha["metric"].endswith("alpha") and alpha["from"] < alpha["here"] < alpha["to"]


def test_built_scenarios_can_be_played(cli, tmp_path):
    script = tmp_path / "builder.jsonl"
    steps = (("name; gender", PERSONA), ("background \\(the", SCENE), ("rises", REACTIONS), ("first_words", OPENING))
    script.write_text(
        "".join(json.dumps({"match": match, "reply": json.dumps(step)}) + "\n" for match, step in steps),
        encoding="utf-8",
    )
    found = cli("sage", "build", "--count", "8", "--role", f"builder=scripted/{script}", "--to", "own.jsonl", "--json")
    assert len(list(read_built(tmp_path / "own.jsonl"))) == 1, "the builder writes the same scenario eight times"
    assert found["finding"] == "1 of 8 scenarios were accepted; 7 were rejected."
    assert all("too similar: shares" in each["reason"] for each in tables(found)["rejected"])
    out = cli("run", "sage", "--model", "baseline/oracle", "--scenarios", "own.jsonl", "--quiet")
    assert "rehearsal: no simulator, no score" in out
    assert "No such option '--limit'" in cli(
        "sage", "build", "--limit", "3", "--role", "builder=baseline/random", code=2
    )
    assert "one language at a time" in cli(
        "sage", "build", "--language", "all", "--role", "builder=baseline/random", code=2
    )


def test_a_run_without_dialogues_cannot_be_analysed(cli, imported):
    cli("sage", "analyse", imported[0], "--what", "coordinate", "--role", "judge=baseline/random")
    assert "contains coordinate, not dialogues" in cli(
        "sage", "analyse", "last", "--role", "judge=baseline/random", code=2
    )


def test_subjects_are_crossed_with_several_simulators_in_one_command(cli, tmp_path):
    script = tmp_path / "kind.jsonl"
    felt = {"said": "a", "serves": "b", "activity": "c", "feeling": "d", "change": 7}
    answer = dict.fromkeys(("attitude", "aim", "tone", "content"), "x") | {"words": "Go on."}
    lines = [{"match": "change", "reply": json.dumps(felt)}, {"match": ".", "reply": json.dumps(answer)}]
    script.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    words = (
        "run", "sage", "--model", "baseline/oracle", "--model", "baseline/random", "--limit", "12", "--turns", "3",
        "--role", "simulator=baseline/random", "--role", f"simulator=scripted/{script}", "--quiet",
    )  # fmt: skip
    assert "--name works with a single --model, not with several" in cli(*words, "--name", "x", code=2)
    out = cli(*words)
    assert "baseline/oracle (simulator baseline/random)" in out
    assert "baseline/random (simulator scripted/kind.jsonl)" in out
    assert "simulator=baseline/random: " in out and "simulator=scripted/kind.jsonl: " in out, (
        "verdicts are within a simulator"
    )
    runs = cli("runs", "--json")
    assert len(runs) == 4 and len({each["subject"] for each in runs}) == 2
    shown = tables(cli("sage", "simulators", *(each["run"] for each in runs), "--json"))
    assert len(shown["leniency"]) == 1 and shown["agreement"][0]["subjects"] == 2


def test_other_commands_take_one_model_for_a_role(cli, imported):
    words = (
        "sage",
        "analyse",
        imported[0],
        "--what",
        "coordinate",
        "--role",
        "judge=baseline/random",
        "--role",
        "judge=baseline/random",
    )
    assert "--role judge is given twice" in cli(*words, code=2)


def test_a_leaderboard_names_every_result_that_it_leaves_out(cli, imported):
    first, second, kind = imported
    cli("run", "sage", "--model", "baseline/oracle", "--limit", "2", "--quiet", "--role", "simulator=baseline/random")
    [board] = cli("compare", "sage", "--json")["rankings"]
    assert [each["subject"] for each in board["standings"]] == ["some-model (simulator strict)", "other"]
    why = "they have different models in the role simulator: strict and kind"
    assert board["left_out"] == [
        f"some-model (simulator kind): {why}",
        "baseline/oracle: one has official items and the other bundled ones; measure both on the same items",
    ]
    assert f"Not compared: sage/dialogue of some-model (simulator kind): {why}" in cli("compare", first, second, kind)
    assert "different models in the role simulator" in cli("compare", first, kind, code=2)


def test_a_report_has_an_axis_for_each_simulator(cli, imported, tmp_path):
    cli("report", *imported, "--to", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Sentient score, simulator strict" in page and "Sentient score, simulator kind" in page
    assert "trajectories-strict" in page and "trajectories-kind" in page
