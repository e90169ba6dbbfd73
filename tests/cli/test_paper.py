"""`sociometer paper`: every instrument's tables and figures from real runs, with what is missing and why."""

import csv
import io
import json
import re
from pathlib import Path
from shutil import copytree
from xml.etree import ElementTree

import pytest

from sociometer.cli.main import run_command
from sociometer.instruments import cards, load

HOSTILE = '=1+1 & \\input{x} <b> | "owl"'
TASKS = {"egosocial": ("--task", "counterfactual", "--task", "numbers"), "socialeval": ("--task", "goals")}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A baseline and an oracle with a hostile name on a few items of every instrument."""
    path = tmp_path_factory.mktemp("store") / "runs.db"
    for name in cards():
        for model, label in (("baseline/random", ()), ("baseline/oracle", ("--name", HOSTILE))):
            words = ["run", name, "--model", model, *label, "--limit", "4", *TASKS.get(name, ()), "--quiet"]
            assert run_command([*words, "--store", str(path)]) == 0
    return path


@pytest.fixture
def call(store, capsys):
    def run(*words):
        capsys.readouterr()
        code = run_command([*words, "--store", str(store)])
        said = capsys.readouterr()
        return code, said.out if "--json" in words else said.out + said.err

    return run


def rows(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("name", sorted(name for name, card in cards().items() if card.paper.title))
def test_every_instrument_fills_its_paper_and_says_what_is_missing(call, tmp_path, name):
    code, text = call("paper", "tables", name, "all", "--to", str(tmp_path / "pack"), "--json")
    assert code == 0, text
    found = json.loads(text)
    listed = {path.rpartition("/")[2] for path in found["wrote"]}
    assert listed == {path.name for path in (tmp_path / "pack").iterdir()}
    parts = found["data"]["parts"]
    assert len({part["label"] for part in parts}) == len(parts)
    assert any(part["files"] for part in parts)
    assert all(part["files"] or part["missing"] for part in parts)
    readme = (tmp_path / "pack" / "README.md").read_text(encoding="utf-8")
    assert all(f"## {part['label']}" in readme for part in parts)
    of_paper = [part for part in parts if part["label"] != "Claims"]
    counted = f"{sum(bool(part['files']) for part in of_paper)} of"
    assert found["finding"] == f"{counted} {len(of_paper)} tables and figures of the paper were written."
    assert f"filled {counted} its {len(of_paper)} tables and figures" in readme
    for path in (tmp_path / "pack").glob("*.svg"):
        ElementTree.parse(path)
        assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF-")
    for path in (tmp_path / "pack").glob("*.tex"):
        assert r"\input{x}" not in path.read_text(encoding="utf-8")
        assert path.name == "all.tex" or path.with_suffix(".csv").exists()
    written = [path for path in (tmp_path / "pack").iterdir() if path.suffix in (".svg", ".csv", ".tex")]
    played = [text for path in written if "baseline/random" in (text := path.read_text(encoding="utf-8"))]
    assert played
    assert all("not the paper's items" in text for text in played)


def test_a_formula_in_a_name_is_guarded_in_every_sheet_and_a_missing_interval_is_named(undrawn, call, tmp_path):
    assert call("paper", "tables", "seceu", "all", "--to", str(tmp_path / "pack"))[0] == 0
    for path in (tmp_path / "pack").glob("*.csv"):
        cells = [cell for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8"))) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "@"))], path.name
    assert any("'=1+1" in row["Models"] for row in rows(tmp_path / "pack" / "table-s1.csv"))
    first = rows(tmp_path / "pack" / "table-s1.csv")[0]
    assert first["SECEU score from"] == ""
    assert "no interval: SECEU score" in first["remarks"]


def test_rows_of_the_paper_are_added_only_on_request(undrawn, call, tmp_path):
    for words, there in (((), False), (("--published",), True)):
        folder = tmp_path / f"pack{len(words)}"
        assert call("paper", "tables", "seceu", "all", "--to", str(folder), *words)[0] == 0
        assert ("text-davinci-003" in (folder / "table-1.csv").read_text(encoding="utf-8")) is there


def test_a_later_pack_replaces_the_earlier_one_and_leaves_other_files(undrawn, call, tmp_path):
    folder = tmp_path / "pack"
    assert call("paper", "tables", "egosocial", "all", "--to", str(folder))[0] == 0
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    before = {path.name for path in folder.iterdir()}
    assert call("paper", "tables", "seceu", "all", "--to", str(folder))[0] == 0
    after = {path.name for path in folder.iterdir()}
    assert "notes.txt" in after
    assert "table-2.csv" in before - after
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_pack_that_cannot_be_written_leaves_the_earlier_one(undrawn, call, tmp_path):
    folder = tmp_path / "pack"
    assert call("paper", "tables", "egosocial", "all", "--to", str(folder))[0] == 0
    (folder / "all.tex").unlink()
    (folder / "all.tex").mkdir()
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    assert call("paper", "tables", "seceu", "all", "--to", str(folder))[0] == 2
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_a_manifest_cannot_delete_files_elsewhere(undrawn, call, tmp_path):
    folder, outside = tmp_path / "pack", tmp_path / "precious.txt"
    outside.write_text("mine", encoding="utf-8")
    folder.mkdir()
    (folder / "pack.json").write_text(json.dumps({"files": ["../precious.txt", str(outside), ".."]}), encoding="utf-8")
    assert call("paper", "tables", "seceu", "all", "--to", str(folder))[0] == 0
    assert outside.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("paper", "tables", "sesy", "--to", "x"), "did you mean 'sesi'"),
        (("paper", "tables", "sesi", "nothing", "--to", "x"), "nothing"),
        (("paper", "tables", "sesi"), "--to"),
    ],
)
def test_bad_input_is_named(call, words, said):
    code, text = call(*words)
    assert code == 2
    assert said in text


def test_a_folder_with_other_content_is_refused(call, tmp_path):
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    code, text = call("paper", "tables", "seceu", "all", "--to", str(tmp_path))
    assert code == 2
    assert "is not empty and was not written by 'paper'; give --to a new folder" in text
    code, text = call("paper", "tables", "seceu", "all", "--to", str(tmp_path / "mine.txt"))
    assert "is a file; give --to a folder" in text


def test_a_run_of_another_instrument_is_refused(call, tmp_path):
    known = json.loads(call("runs", "--json")[1])
    other = next(run["run"] for run in known if run["instrument"] == "sage")
    code, text = call("paper", "tables", "sesi", other, "--to", str(tmp_path / "pack"))
    assert code == 2
    assert "has no result of sesi, only of sage." in text


def test_facts_about_models_fill_the_columns_that_no_run_has(undrawn, call, tmp_path):
    facts = tmp_path / "models.csv"
    facts.write_text(
        "model,family,size_billion,launched,sft,rlhf\nbaseline/random,Dice,7,2023-03-14,yes,no\n", encoding="utf-8"
    )
    assert call("paper", "tables", "seceu", "all", "--to", str(tmp_path / "pack"), "--models", str(facts))[0] == 0
    row = next(row for row in rows(tmp_path / "pack" / "table-1.csv") if "random" in row["Models"])
    assert (row["section"], row["Properties: Size"], row["Properties: Time"]) == ("Dice", "7B", "2023-03-14")
    assert (tmp_path / "pack" / "fig-4.svg").exists()


def test_facts_that_are_about_no_run_are_an_error(call, tmp_path):
    facts = tmp_path / "models.csv"
    facts.write_text("model,family\nfoo,x\nbar,y\n", encoding="utf-8")
    code, text = call("paper", "tables", "seceu", "all", "--to", str(tmp_path / "pack"), "--models", str(facts))
    assert code == 2 and "no facts about baseline/random" in text and "but about foo, bar" in text
    assert not (tmp_path / "pack").exists()


def test_facts_that_no_table_can_use_are_named(undrawn, call, tmp_path):
    facts = tmp_path / "models.csv"
    lines = ("model,size_billion", "baseline/random,7", "baseline/even,x", "baseline/oracle,8", "nosuch,9")
    facts.write_text("\n".join(lines), encoding="utf-8")
    code, text = call("paper", "tables", "seceu", "all", "--to", str(tmp_path / "pack"), "--models", str(facts))
    assert code == 0 and "no run of nosuch" in text and "'x' is no number (size_billion of baseline/even)" in text


def test_a_model_that_appears_twice_in_the_facts_is_named_by_line(call, tmp_path):
    facts = tmp_path / "models.csv"
    facts.write_text("model,family\na,x\na,y\n", encoding="utf-8")
    code, text = call("paper", "tables", "seceu", "all", "--to", str(tmp_path / "pack"), "--models", str(facts))
    assert code != 0
    assert "models.csv:3: the model 'a' is empty or appears twice" in text
    assert not (tmp_path / "pack").exists()


@pytest.mark.slow
def test_released_dialogues_give_the_scores_that_the_paper_prints(official_data, tmp_path, capsys):
    path = str(tmp_path / "runs.db")
    files = sorted(str(file) for file in (official_data / "sage" / "transcripts").glob("*.jsonl"))
    assert run_command(["sage", "import", *files, "--store", path]) == 0
    assert run_command(["paper", "tables", "sage", "--to", str(tmp_path / "pack"), "--published", "--store", path]) == 0
    text = (tmp_path / "pack" / "table-3.tex").read_text(encoding="utf-8")
    ours, papers = text.split("Printed in the paper")
    for score, model in (("68.2", "gpt-4.1"), ("61.3", "claude3.7-think"), ("19.1", "qwen2.5-72b")):
        assert re.search(rf"^{re.escape(model)}.*\\shortstack{{{score}\\", ours, re.MULTILINE), model
        assert score in papers
    ranks = [int(line.split("&")[2]) for line in ours.splitlines() if line.count("&") == 7 and "shortstack" in line]
    assert sorted(ranks) == [1, 2, 3, 4, 5, 6]


@pytest.mark.slow
def test_without_runs_every_result_is_used_and_analyses_of_each(tmp_path, capsys, official_data):
    path = str(tmp_path / "runs.db")
    for folder in ("transcripts", "transcripts-judge-gpt-4o"):
        file = next((official_data / "sage" / folder).glob("claude3.7_*.jsonl"))
        assert run_command(["sage", "import", str(file), "--store", path]) == 0
    capsys.readouterr()
    assert run_command(["runs", "--json", "--store", path]) == 0
    runs = [run["run"] for run in json.loads(capsys.readouterr().out)]
    words = ["sage", "analyse", *runs, "--what", "coordinate", "--limit", "2", "--role", "judge=baseline/random"]
    assert run_command([*words, "--quiet", "--store", path]) == 0
    capsys.readouterr()
    assert run_command(["paper", "tables", "sage", "--to", str(tmp_path / "pack"), "--json", "--store", path]) == 0
    files = {file.rpartition("/")[2] for file in json.loads(capsys.readouterr().out)["wrote"]}
    assert {"fig-6-coordinate-deepseek-v3.svg", "fig-6-coordinate-gpt-4o.svg"} <= files
    drawn = (tmp_path / "pack" / "fig-6-coordinate-gpt-4o.svg").read_text(encoding="utf-8")
    assert "stand-in for a real model: judge: baseline/random" in drawn
    assert "not the paper's items" not in drawn


def test_an_eq_under_shuffle_is_marked_in_the_tables(undrawn, tmp_path, official_data):
    path, folder = str(tmp_path / "runs.db"), tmp_path / "pack"
    words = ["run", "seceu", "--data", str(official_data), "--shuffle", "--model", "baseline/even", "--quiet"]
    assert run_command([*words, "--store", path]) == 0
    assert run_command(["paper", "tables", "seceu", "--to", str(folder), "--store", path]) == 0
    for name in ("table-1", "table-s1"):
        assert "comparable only with other runs with --shuffle" in rows(folder / f"{name}.csv")[0]["remarks"]
        assert "comparable only with other runs with" in (folder / f"{name}.tex").read_text(encoding="utf-8")


def test_without_run_a_finished_analysis_fills_its_figure(undrawn, call, tmp_path):
    assert call("run", "sesi", "--model", "baseline/random", "--limit", "12", "--quiet")[0] == 0
    assert call("sesi", "analyse", "last", "--role", "judge=baseline/random", "--quiet")[0] == 0
    code, text = call("paper", "tables", "sesi", "all", "--to", str(tmp_path / "pack"))
    assert code == 0, text
    assert "Extended Data Fig. 1" not in next(line for line in text.splitlines() if line.startswith("Not written"))


def test_a_figure_of_labels_of_which_none_could_be_read_is_not_written(undrawn, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wordless.py").write_text("def judge(messages):\n    return 'hm'\n", encoding="utf-8")
    store = ["--store", str(tmp_path / "own.db")]
    assert run_command(["run", "sesi", "--model", "baseline/random", "--limit", "12", "--quiet", *store]) == 0
    assert run_command(["sesi", "analyse", "last", "--role", "judge=python/wordless:judge", "--quiet", *store]) == 4
    assert run_command(["paper", "tables", "sesi", "all", "--to", str(tmp_path / "pack"), *store]) == 0
    readme = (tmp_path / "pack" / "README.md").read_text(encoding="utf-8")
    part = readme.partition("## Extended Data Fig. 1:")[2].partition("## ")[0]
    assert "Not written." in part and "No label could be read." in part
    assert not list((tmp_path / "pack").glob("extended-data-fig-1*"))
    assert re.search(r"^- errors: \d+ failed items\.$", readme, re.MULTILINE)


def test_claims_of_the_paper_are_tested_on_the_runs(undrawn, tmp_path, official_data):
    run_command(["run", "socialeval", "--official", "--data", str(official_data), "--task", "goals", "--limit", "6",
                 "--model", "baseline/random", "--store", str(tmp_path / "s.db"), "--quiet"])  # fmt: skip
    assert (
        run_command(["paper", "tables", "socialeval", "--to", str(tmp_path / "p"), "--store", str(tmp_path / "s.db")])
        == 0
    )
    found = rows(tmp_path / "p" / "claims.csv")
    below = next(row for row in found if row["Claim"] == "every model is below the average person at goals")
    assert below["Rows of the paper"] == "8 of 8" and below["Your rows"] == "1 of 1"
    assert below["Result in your runs"] == "no model, only baselines or stand-ins"
    assert not [row for row in found if "Qwen" in row["Claim"]], "no run is of the models that it names"


def test_without_run_only_official_items_are_taken_and_named(
    undrawn, call, tmp_path, official_data, capsys, monkeypatch
):
    monkeypatch.setenv("SOCIOMETER_DATA", str(official_data))
    code, text = call("paper", "tables", "seceu", "--to", str(tmp_path / "pack"))
    assert code == 2 and "no stored run has the official items of seceu" in text and "give 'all'" in text
    store = ["--store", str(tmp_path / "runs.db")]
    for words in ([], ["--official"]):
        assert run_command(["run", "seceu", "--model", "baseline/even", "--quiet", *words, *store]) == 0
    capsys.readouterr()
    check = ["seceu", "contamination", "--official", "--limit", "1", "--quiet"]
    assert run_command([*check, "--model", "baseline/random", *store]) == 0
    capsys.readouterr()
    assert run_command(["paper", "tables", "seceu", "--to", str(tmp_path / "two"), *store]) == 0
    said = capsys.readouterr().err
    assert "baseline/random" not in said, "a check for contamination is no subject of the paper"
    assert "seceu: using baseline/even seceu-" in said and "left out, on bundled items: 1 result." in said
    shown = rows(tmp_path / "two" / "table-1.csv")
    assert len(shown) == 1 and "not the paper's items" not in shown[0]["remarks"]


def test_a_replication_without_grades_says_why_and_how_to_get_them(tmp_path, official_data, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mumbler.py").write_text("def grade(messages):\n    return 'hm'\n", encoding="utf-8")
    words = ["paper", "replicate", "egosocial", "--model", "GPT-4o=baseline/random", "--data", str(official_data)]
    words += ["--limit", "12", "--quiet", "--store", str(tmp_path / "runs.db")]
    assert run_command(words) == 1
    told = capsys.readouterr().out
    assert "nothing was replicated" in told and "1 printed figure could not be measured." in told
    assert "GPT-4o: Beliefs in sentences are stored and not graded. Add --role judge=MODEL, or let people" in told
    assert run_command([*words, "--role", "judge=python/mumbler:grade"]) == 1
    told = capsys.readouterr().out
    assert "no figure can be judged: nothing was scored" in told and "too few" not in told
    assert "GPT-4o: The judge gave no readable grade for 24 of 24 beliefs" in told


def test_the_direct_prompt_is_replicated_in_our_words_and_marked(tmp_path, official_data, capsys):
    words = ["paper", "replicate", "seceu", "--model", "Vicuna=baseline/even", "--data", str(official_data), "--quiet"]
    assert run_command([*words, "--store", str(tmp_path / "runs.db"), "--json"]) in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert not found["not_played"]
    assert run_command([*words, "--store", str(tmp_path / "runs.db")]) in (0, 1)
    said = " ".join(capsys.readouterr().out.split())
    assert "earns an EQ of 122" in said, "a figure within is no proof of reading"
    assert "eq 105 112 107 to 117 +7 outside" in said, "all numbers of a row have the printed decimals"
    assert {figure["about"] for figure in found["figures"]} == {"direct, not the authors' wording"}


def test_the_verdict_on_contamination_is_next_to_the_scores(undrawn, official_data, tmp_path, capsys, monkeypatch):
    (tmp_path / "ladder.py").write_text("def reply(messages):\n    return '4, 3, 2, 1'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SOCIOMETER_STORE", "runs.db")
    monkeypatch.setenv("SOCIOMETER_DATA", str(official_data))
    played = ("--official", "--model", "python/ladder:reply#1", "--quiet")
    assert run_command(["run", "seceu", "--limit", "12", *played]) == 0
    assert run_command(["paper", "tables", "seceu", "--to", "before"]) == 0
    readme = (tmp_path / "before" / "README.md").read_text(encoding="utf-8")
    assert r"Not checked for contamination: python/ladder:reply\#1." in readme
    assert "@article{wang2023seceu, " in readme and "@software{sociometer, " in readme, "what to cite"
    assert re.search(r"`sociometer export seceu-\w+ --to files`", readme), "how to check"
    assert run_command(["seceu", "contamination", "--limit", "12", *played]) == 0
    assert run_command(["paper", "tables", "seceu", "--to", "pack"]) == 0
    verdict = "Contamination: cannot tell, because more than half of the replies contain no answer"
    for name in ("table-s1.csv", "table-s1.tex", "claims.csv", "README.md"):
        text = (tmp_path / "pack" / name).read_text(encoding="utf-8")
        assert verdict in text and "Not checked" not in text, name
    capsys.readouterr()
    assert run_command(["seceu", "contamination", "--limit", "1", "--official", "--model", "python/ladder:nope"]) == 2
    assert "requests" not in capsys.readouterr().err, "an unknown model is an error before requests are announced"
    assert run_command(["sage", "contamination"]) == 2
    told = capsys.readouterr().err
    assert "sage has no command 'contamination', only seceu and sesi; sage has: " in told
    assert told.count("passport") == 1


def test_a_replication_without_a_key_says_which_rows_lack_what(call, official_data, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    words = ("paper", "replicate", "seceu", "--data", str(official_data))
    code, said = call(*words, "--model", "GPT-4", "--model", "GPT-3.5-turbo")
    assert code == 2 and said.startswith("error: no row can be played here. All rows: sociometer paper replicate seceu")
    assert "--rows" in said and "--model ROW=MODEL" in said
    assert "Not played: GPT-4 (direct). Reason: no key for 'openai/gpt-4'" in said


def test_a_figure_has_the_remarks_of_its_own_task_and_the_command_names_the_task(tmp_path, official_data, capsys):
    store, folder = ("--store", str(tmp_path / "runs.db")), tmp_path / "pack"
    words = ["run", "egosocial", "--official", "--data", str(official_data), "--model", "baseline/random", "--quiet"]
    assert run_command([*words, "--limit", "5", "--task", "numbers", "--task", "socialfirst", *store]) == 0
    capsys.readouterr()
    assert run_command(["paper", "tables", "egosocial", "--to", str(folder), *store]) == 0
    picture = (folder / "fig-4.svg").read_text(encoding="utf-8")
    assert "baseline/random: a baseline, not a model" in picture and "of the official items" not in picture
    told = " ".join(capsys.readouterr().out.split())
    assert "Marked in every file: baseline/random (socialfirst): only 5 of the official items." in told, (
        "all three matches of number guessing were played"
    )


def test_a_number_has_the_remarks_of_its_own_run_and_of_no_other(undrawn, tmp_path, official_data):
    played = ("run", "egosocial", "--official", "--data", str(official_data), "--quiet")
    store = ("--store", str(tmp_path / "own.db"))
    five = ("--model", "baseline/first", "--name", "five")
    twelve = ("--model", "baseline/random", "--name", "twelve")
    run_command([*played, *five, "--limit", "5", "--task", "socialfirst", *store])
    run_command([*played, *twelve, "--limit", "12", "--task", "socialfirst", "--task", "tomi", *store])
    run_command([*played, *twelve, "--task", "numbers", *store])
    assert run_command(["paper", "tables", "egosocial", "five", "twelve", "--to", str(tmp_path / "pack"), *store]) == 0
    five, twelve = rows(tmp_path / "pack" / "table-3.csv")
    assert (five["Methods"], twelve["Methods"]) == ("five", "twelve")
    assert "ToMBench: only 5 of" in five["remarks"] and "only 12" not in five["remarks"]
    assert "ToMBench: only 12 of" in twelve["remarks"] and "only 5" not in twelve["remarks"]
    assert five["ToMBench: All"] != "" != twelve["ToMBench: All"]
    (both,) = rows(tmp_path / "pack" / "table-2.csv")
    assert both["Methods"] == "twelve" and "ToMi: only 12" in both["remarks"]
    claims = {row["Claim"]: row["remarks"] for row in rows(tmp_path / "pack" / "claims.csv")}
    of_tomi, of_tombench = (next(claims[one] for one in claims if one.startswith(of)) for of in ("ToMi:", "ToMBench:"))
    assert "ToMi: only 12" in of_tomi and "ToMBench" not in of_tomi
    assert "ToMBench: only 5 of" in of_tombench and "ToMi" not in of_tombench


@pytest.mark.parametrize(
    ("name", "tasks", "table", "said"),
    [
        ("sesi", (), "table-1", "12 of the paper's 500 items"),
        ("seceu", (), "table-s1", "12 of the paper's 40 items"),
        ("seceu", ("--prompting", "all"), "table-s1", "12 of the paper's 40 items"),
        ("egosocial", ("--task", "socialfirst"), "table-3", "ToMBench: only 12 of the official items"),
    ],
)
def test_a_run_on_a_part_of_the_papers_items_is_marked_everywhere(
    undrawn, tmp_path, official_data, capsys, name, tasks, table, said
):
    store, folder = ("--store", str(tmp_path / "runs.db")), tmp_path / "pack"
    words = ["run", name, "--official", "--data", str(official_data), "--limit", "12", *tasks]
    assert run_command([*words, "--model", "baseline/random", "--quiet", *store]) == 0
    capsys.readouterr()
    assert run_command(["paper", "tables", name, "--to", str(folder), "--published", *store]) == 0
    shown = capsys.readouterr()
    assert f"Marked in every file: baseline/random: {said.rpartition(': ')[2]}." in " ".join(
        (shown.out + shown.err).split()
    )
    mine = next(row for row in rows(folder / f"{table}.csv") if "baseline/random" in row.values())
    assert said in mine["remarks"]
    latex = (folder / f"{table}.tex").read_text(encoding="utf-8")
    letter = re.search(rf"\^\{{\\mathrm\{{(\w)\}}\}}\$ {said}\.", latex)
    assert letter and re.search(rf"baseline/random\$\^\{{\\mathrm\{{[\w,]*{letter[1]}", latex), latex
    assert said.rpartition(": ")[2] in (folder / "README.md").read_text(encoding="utf-8")
    assert run_command(["report", "--to", str(tmp_path / "page.html"), "--evidence", "0", *store]) == 0
    assert (
        said.startswith("ToMBench: ") or f"({said.replace(chr(39), '&#39;')})" in (tmp_path / "page.html").read_text()
    )
    claims = rows(folder / "claims.csv") if (folder / "claims.csv").exists() else []
    assert all(said in row["remarks"] for row in claims)


def test_a_part_of_the_released_files_is_marked_everywhere(undrawn, tmp_path, capsys, monkeypatch):
    copytree(load("socialeval").folder / "data", tmp_path / "data" / "socialeval")
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path / "data"))
    store, folder = ("--store", str(tmp_path / "runs.db")), tmp_path / "pack"
    words = ["run", "socialeval", "--official", "--language", "en", "--repeats", "1", "--quiet", *store]
    assert run_command([*words, "--model", "baseline/random", "--json"]) == 0
    shown = capsys.readouterr()
    (found,) = json.loads(shown.out)
    part, few = "7 of the paper's 153 trees", f"only {found['summaries']['abilities']['measures'][0]['items']} of the"
    assert f"socialeval: task goals has {part}; run 'sociometer get data socialeval' or give --data DIR." in shown.err
    assert f"socialeval: task abilities has {few} official items; run" in shown.err
    assert found["part_of_paper"] == {"goals": part, "abilities": f"{few} official items"}
    assert run_command(["show", found["run"], *store]) == 0
    assert f"goals has {part}." in capsys.readouterr().out
    assert run_command([*words, "--model", "baseline/first", "--limit", "3"]) == 0
    shown = capsys.readouterr()
    assert "goals has 3 of the paper's 153 trees." in shown.out and "trees" not in shown.err, "the user chose three"
    assert run_command([*words, "--model", "baseline/last"]) == 0
    capsys.readouterr()
    assert run_command(["compare", "baseline/random", "baseline/last", *store]) == 0
    assert f"both have {part}" in capsys.readouterr().out
    assert run_command(["compare", "all", "--task", "goals", *store]) == 0
    assert f"Ranked on {part}" in capsys.readouterr().out
    assert run_command(["compare", "baseline/random", "baseline/first", *store]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"baseline/random: {part}; baseline/first: 3 of the paper's 153 trees" in told
    assert run_command(["paper", "tables", "socialeval", "--to", str(folder), "--published", *store]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "baseline/random (goals): 7 of the paper's 153 trees; baseline/random (abilities): only" in told
    for name, said in (("gae", "7 of the paper's 153 trees"), ("iae", "of the official items")):
        assert (
            said
            in next(row for row in rows(folder / f"table-{name}.csv") if row["Model"] == "baseline/random")["remarks"]
        )
        assert f"{said}." in (folder / f"table-{name}.tex").read_text(encoding="utf-8")
    assert run_command(["report", "--to", str(tmp_path / "page.html"), "--evidence", "0", *store]) == 0
    assert "7 of the paper&#39;s 153 trees" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_table_that_was_written_in_part_says_so_and_its_latex_has_no_hint(undrawn, call, tmp_path):
    code, text = call("paper", "tables", "sesi", "all", "--to", str(tmp_path / "pack"), "--published")
    assert code == 0
    shown = {line.split("\t")[0]: line.split("\t")[1:] for line in text.splitlines() if line.count("\t") > 2}
    assert shown["part"] == ["title", "state", "missing"]
    assert shown["Table 1"][1] == "partly" and "--models FILE" in shown["Table 1"][2]
    assert shown["Fig. 5"][1:] == ["written", ""] and shown["Fig. 1"][1] == "not written"
    assert "--models FILE" in (tmp_path / "pack" / "README.md").read_text(encoding="utf-8")
    latex = (tmp_path / "pack" / "table-1.tex").read_text(encoding="utf-8")
    assert "models FILE" not in latex and "empty cells" not in latex
    assert "& -- & -- &" in next(line for line in latex.splitlines() if line.startswith("baseline/random$"))
    assert call("paper", "tables", "sesi", "all", "--to", str(tmp_path / "own"))[0] == 0
    own = (tmp_path / "own" / "table-1.tex").read_text(encoding="utf-8")
    assert r"Model & SESI \\" in own, "columns that are empty in every row are left out"


def test_a_replication_on_too_few_items_to_judge_says_so_and_fails(tmp_path, official_data, capsys):
    words = ["paper", "replicate", "seceu", "--model", "Vicuna=baseline/even", "--data", str(official_data), "--quiet"]
    assert run_command([*words, "--limit", "5", "--store", str(tmp_path / "runs.db")]) == 1
    assert "no figure can be judged: too few items" in capsys.readouterr().out


def test_the_help_of_paper_shows_each_command_in_a_whole_sentence(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run_command(["paper", "--help"]) == 0
    rows = capsys.readouterr().out.partition("Commands:\n")[2].splitlines()
    assert len(rows) == 3 and not [row for row in rows if row.endswith("...")]


ASKS_AGAIN = sorted(name for name in cards() if any(task.first_replies for task in load(name).tasks.values()))
LATE = """
import hashlib

def reply(messages):
    first = messages[0]["content"]
    if len(messages) == 1 and hashlib.sha256(first.encode()).digest()[0] % 3 == 0:
        return "That is hard to say."
    return "4, 3, 2, 1" if "points" in first else "Answer: A"
"""


@pytest.mark.parametrize("name", ASKS_AGAIN)
def test_the_tables_of_a_paper_have_the_scores_that_show_has(
    undrawn, name, tmp_path, official_data, capsys, monkeypatch
):
    (tmp_path / "late.py").write_text(LATE)
    monkeypatch.syspath_prepend(str(tmp_path))
    store, folder = ("--store", str(tmp_path / "runs.db")), tmp_path / "pack"
    words = ["run", name, "--official", "--data", str(official_data), "--limit", "6", "--model", "python/late:reply"]
    assert run_command([*words, "--quiet", *store]) == 0
    assert run_command(["paper", "tables", name, "--to", str(folder), *store]) == 0
    capsys.readouterr()
    assert run_command(["show", name, "--json", *store]) == 0
    summaries = json.loads(capsys.readouterr().out)["summaries"]
    known = [one["value"] for found in summaries.values() for one in found["measures"] if one["value"] is not None]
    cells = [
        (path.name, column, float(cell))
        for path in folder.glob("*.csv")
        for row in rows(path)
        for column, cell in row.items()
        if f"{column} from" in row and cell
    ]
    assert len(cells) >= 1
    strange = [
        one for one in cells if not {round(one[2], 6)} & {round(k * value, 6) for value in known for k in (1, 100)}
    ]
    assert not strange, "values of the tables that show does not have"


def test_unreadable_replies_are_marked_in_every_file(tmp_path, official_data, capsys):
    store, folder = ("--store", str(tmp_path / "runs.db")), tmp_path / "pack"
    words = ["run", "seceu", "--official", "--data", str(official_data), "--model", "baseline/refuse"]
    assert run_command([*words, "--limit", "4", "--quiet", *store]) == 0
    capsys.readouterr()
    assert run_command(["paper", "tables", "seceu", "--to", str(folder), *store]) == 0
    said = "4 unreadable replies on 4 items"
    assert f"; baseline/refuse: {said}." in " ".join(capsys.readouterr().out.split())
    written = [path for path in folder.iterdir() if path.suffix in (".csv", ".tex", ".svg")]
    played = [text for path in written if "baseline/refuse" in (text := path.read_text(encoding="utf-8"))]
    assert len(played) >= 4 and all(said in text for text in played)
    assert said in (folder / "README.md").read_text(encoding="utf-8")


def test_a_method_is_marked_with_its_own_unreadable_replies(undrawn, tmp_path, official_data, monkeypatch):
    (tmp_path / "steps.py").write_text(
        "def reply(messages):\n    return '4, 3, 2, 1' if 'step' in messages[0]['content'] else 'Hm.'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    store, folder = ("--store", str(tmp_path / "runs.db")), tmp_path / "pack"
    words = [
        "run",
        "seceu",
        "--official",
        "--data",
        str(official_data),
        "--model",
        "python/steps:reply",
        "--limit",
        "4",
    ]
    assert run_command([*words, "--prompting", "all", "--quiet", *store]) == 0
    assert run_command(["paper", "tables", "seceu", "--to", str(folder), *store]) == 0
    remarks = {row["Prompts"]: row["remarks"] for row in rows(folder / "table-s2.csv")}
    silent, steps = "4 unreadable replies on 4 items", "Zero-Shot + Step-by-step"
    assert silent in remarks["Zero-Shot"] and "unreadable" not in remarks[steps]
    assert silent in rows(folder / "table-s1.csv")[0]["remarks"]


def test_a_paper_without_runs_says_how_to_play_its_items(tmp_path, capsys):
    at = ["--to", str(tmp_path / "p"), "--store", str(tmp_path / "s.db")]
    assert run_command(["run", "seceu", "--model", "baseline/even", "--limit", "2", "--quiet", *at[2:]]) == 0
    assert run_command(["paper", "tables", "sesi", *at]) == 2
    assert "Start one with: sociometer run sesi --official --model MODEL" in capsys.readouterr().err


def test_what_compare_writes_to_a_folder_is_named_in_its_help(store, tmp_path, capsys):
    at = ["--store", str(store), "--to"]
    assert run_command(["compare", "seceu", *at, str(tmp_path / "ranks")]) == 0
    assert run_command(["compare", "--reliability", "seceu", *at, str(tmp_path / "items")]) == 0
    capsys.readouterr()
    assert run_command(["help", "compare"]) == 0
    said = capsys.readouterr().out
    written = [path.name for path in tmp_path.rglob("*.csv")]
    assert len(written) == 2 and all(name in said for name in written), written
