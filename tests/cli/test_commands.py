"""The command line as a user meets it: each command, its JSON, and bad input."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import click
import msgspec
import pytest

import sociometer as sm
from simulated_people import SCENARIOS, simulated_people
from sociometer.cli.main import COMMANDS, run_command, sociometer_command
from sociometer.cli.output import Number
from sociometer.core.config import Caps, RunConfig
from sociometer.core.errors import StopCause
from sociometer.core.sheets import read_rows
from sociometer.engine.budget import Budget
from sociometer.engine.progress import Progress
from sociometer.engine.runner import Ending
from sociometer.instruments import cards
from sociometer.instruments.seceu.norming import build_norm
from sociometer.reporting.progress import cost_in_words, how_it_ended, line
from sociometer.store.records import RunStatus


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Runs a command line on a store of its own; gives code, standard output and standard error."""
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    def call(*words):
        code = run_command(list(words))
        out, err = capsys.readouterr()
        return code, out, err

    return call


FIRST = next(iter(cards()))
PLAN = ("plan", "sesi", "--limit", "3")
PLAY = ("run", "sesi", "--model", "baseline/random", "--limit", "12", "--quiet")


def test_version_help_and_every_command_have_help(cli):
    assert cli("--version")[0] == 0
    code, out, _ = cli("--help")
    assert code == 0
    for name in COMMANDS:
        assert re.search(rf"^\s+{name}\s", out, re.MULTILINE)
        assert cli(name, "--help")[0] == 0, name


def test_the_help_can_be_remembered(cli):
    assert len(cli("--help")[1].splitlines()) <= 41
    shown = [len(re.findall(r"^  -", cli("run", words)[1], re.MULTILINE)) for words in ("--help", "--help-all")]
    assert shown[0] - 1 <= 12  # without --help-all
    assert shown[1] <= 39


NOT_A_SHAPE = ("The", "A", "An", "One", "Only", "Most", "Who", "What", "Which", "How", "Also", "Of")


def helps(command, context):
    """The help of a command and of all commands in it, at 80 columns."""
    yield command.get_help(context)
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        inner = command.get_command(context, name)
        yield from helps(inner, click.Context(inner, info_name=name, parent=context, terminal_width=80))


def test_no_help_is_wider_than_80_columns_or_cut():
    shown = list(
        helps(sociometer_command, click.Context(sociometer_command, info_name="sociometer", terminal_width=80))
    )
    assert len(shown) > 50
    for usage, *lines in map(str.splitlines, shown):
        assert not [line for line in lines if len(line) > 80 or line.endswith("...")], usage
        assert not [line for line in lines if "RANGE" in line or "INTEGER" in line or "FLOAT" in line], usage


def test_help_texts_have_one_shape():
    """A command's help starts with its verb; an option's is a noun phrase or, for a flag, a verb; all are sentences."""
    context = click.Context(sociometer_command)
    for name, short in COMMANDS.items():
        command = sociometer_command.get_command(context, name)
        nested = command.commands.values() if isinstance(command, click.Group) else ()
        options = [one for part in (command, *nested) for one in part.params if isinstance(one, click.Option)]
        assert command.help.split()[0] == short.split()[0], name
        for text in (short, command.help, *(part.help for part in nested), *(option.help for option in options)):
            assert text, (name, [option.opts for option in options if not option.help])
            assert text[0] == text[0].upper() and text.split()[0] not in NOT_A_SHAPE, (name, text)
            assert text.split("\n\n")[0].endswith("."), (name, text)


def test_help_texts_of_instruments_have_the_same_shape():
    for card in cards().values():
        options = [option for command in card.command for option in command.option]
        for text in (part.help for part in (*card.command, *card.setting, *options)):
            assert text[0] == text[0].upper() and text.split()[0] not in NOT_A_SHAPE, (card.name, text)
            assert text.endswith("."), (card.name, text)
            assert "(default:" not in text and "may be repeated" not in text, (card.name, text)


def test_every_verb_of_every_instrument_has_help(cli):
    for card in cards().values():
        for command in card.command:
            code, out, err = cli(card.name, command.verb, "--help")
            assert code == 0, (card.name, command.verb, err)
            assert "--json" in out


def test_a_mistyped_option_is_told_in_whole_sentences(cli):
    _, _, err = cli("run", FIRST, "--oficial")
    assert "Did you mean '--official'? For more: " in err


def test_the_check_of_a_file_that_is_a_store_says_how_a_store_is_checked(cli):
    code, _, err = cli("check", "paper.db")
    assert code == 2 and "To check a store: sociometer check store --store paper.db" in err


def test_the_check_of_a_run_says_how_a_run_is_checked(cli):
    code, _, err = cli("check", f"{FIRST}-abcde")
    assert code == 2 and f"To check a stored run: sociometer check store {FIRST}-abcde" in err


def test_the_check_of_a_file_that_cannot_be_checked_says_which_can(cli):
    code, _, err = cli("check", "ledger.csv")
    assert code == 2 and "'ledger.csv' is neither an instrument nor a .sociometer file" in err
    assert "To check a store: sociometer check store --store FILE.db" in err


def test_list_shows_the_instruments_and_one_of_them(cli):
    code, out, _ = cli("list")
    assert code == 0
    assert all(name in out for name in cards())
    assert json.loads(cli("list", "--json")[1])[0]["name"] == FIRST
    for name in cards():
        assert cli("list", name)[0] == 0
        assert json.loads(cli("list", name, "--json")[1])["name"] == name


def test_models_and_doctor_say_what_is_missing(cli):
    code, out, _ = cli("list", "models")
    assert code == 0
    assert "OPENAI_API_KEY" in out
    assert "key not set" in out
    code, out, _ = cli("check", "--json")
    assert code == 0
    assert any(one["what"] == "store" and one["well"] for one in json.loads(out))


STAND_INS = [(card.name, role) for card in cards().values() for role in card.default_stand_ins()]


def test_the_simulator_of_sage_is_a_stand_in_by_default():
    assert STAND_INS == [("sage", "simulator")]


def test_the_first_line_of_a_run_says_what_a_model_adds_to_a_stand_in(cli):
    play = ("run", "sage", "--model", "baseline/random", "--limit", "1")
    code, _, err = cli(*play)
    assert code == 0
    first, *rest = err.splitlines()
    assert first.startswith("sage: the simulator is a stand-in (rehearsal). A model gives a score")
    assert first.endswith("add --role simulator=MODEL.")
    assert first not in rest
    for more in (("--role", "simulator=rehearsal"), ("--quiet",)):
        assert "A model understands" not in cli(*play, "--seed", "2", *more)[2]


def test_a_card_says_how_to_cite_the_paper_and_the_program(cli):
    code, said, _ = cli("list", "seceu")
    assert code == 0
    assert "@article{wang2023seceu, " in said and "doi = {10.1177/18344909231213958}" in said
    assert "@software{sociometer, title = {Sociometer}, " in said and f"version = {{{sm.__version__}}}}}" in said


def test_a_run_is_shown_listed_rescored_and_exported(cli, tmp_path):
    code, out, _ = cli(*PLAY, "--json")
    assert code == 0
    run = json.loads(out)[0]
    assert run["ending"]["status"] == "finished"
    assert run["done"] == 12
    name = run["run"]
    listed = json.loads(cli("runs", "--json")[1])[0]
    assert listed["run"] == name
    assert name in cli("runs")[1]
    shown = json.loads(cli("show", name, "--json")[1])
    assert shown["summaries"] == run["summaries"]
    (accuracy, *_) = shown["summaries"]["questions"]["measures"]
    assert (accuracy["unit"], accuracy["better"], accuracy["chance"]) == ("share", "higher", 0.25)
    interval = accuracy["interval"]
    assert [listed[key] for key in ("value", "low", "high")] == [accuracy["value"], interval["low"], interval["high"]]
    assert shown["items"] == "bundled" and not shown["manifest"].get("official_files")
    assert json.loads(cli("store", "rescore", name, "--json")[1])[0]["summaries"] == run["summaries"]
    for kind in ("jsonl", "csv", "parquet"):
        code, out, _ = cli("export", name, "--to", str(tmp_path / f"out.{kind}"), "--json")
        assert code == 0
        assert json.loads(out)["rows"] == 12
        assert (tmp_path / f"out.{kind}").stat().st_size > 0
    item = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])["episode"]["item"]["id"]
    code, out, _ = cli("show", "last", item)
    assert code == 0
    assert "outcome:" in out
    assert json.loads(cli("show", name[:7], item, "--json")[1])["episode"]["item"]["id"] == item


def test_resuming_a_finished_run_changes_nothing(cli):
    run = json.loads(cli(*PLAY, "--json")[1])[0]
    code, out, _ = cli("resume", run["run"], "--json")
    assert code == 0
    (again,) = json.loads(out)
    assert again["summaries"] == run["summaries"]
    assert again["sent"] == 0


def test_a_dry_run_sends_nothing_and_keeps_nothing(cli):
    code, out, _ = cli(*PLAY, "--dry-run", "--json")
    assert code == 0
    assert json.loads(out)[0]["estimate"]["items"] == 12
    assert json.loads(cli("runs", "--json")[1]) == []


def test_a_run_without_its_primary_measure_says_what_was_measured(cli):
    words = ("--task", "generated", "--perspective", "third", "--stories", "2", "--quiet")
    code, out, _ = cli("run", "egosocial", "--model", "baseline/oracle", *words)
    assert code == 0
    assert "no result" not in out
    assert "on egosocial: accuracy" in out.lower()


def test_the_first_line_of_a_run_of_several_tasks_counts_the_items_of_all(cli):
    tasks = ("--task", "worlds", "--task", "blackjack")
    out = cli("run", "egosocial", "--model", "baseline/random", *tasks, "--limit", "3", "--quiet")[1]
    assert out.splitlines()[0].endswith("; 6 items of 2 tasks.")


def test_an_analysis_is_shown_under_the_name_of_its_task(cli):
    cli(*PLAY)
    assert cli("sesi", "analyse", "last", "--role", "judge=baseline/random")[0] == 0
    out = cli("show", "last")[1]
    assert re.match(r"errors on sesi: no overall score; \d+ items\.\n\n# sesi · errors  ", out)
    assert "sidestepping" in out


def test_a_dry_run_needs_no_key_and_states_the_cost(cli):
    code, out, _ = cli("run", "sesi", "--model", "openai/gpt-4o-mini", "--limit", "5", "--dry-run", "--json")
    assert code == 0
    row = json.loads(out)[0]["estimate"]
    assert row["requests"] == 5
    assert row["cost"] > 0
    assert row["prices_as_of"]


def test_a_plan_of_a_model_without_a_price_shows_the_entry_to_add(cli):
    plan = ("plan", "sesi", "--model", "openai/gpt-9", "--limit", "5")
    entry = (
        'add ["openai/gpt-9"] with input and output, in dollars per million tokens, and as_of, a date, to your price'
    )
    assert f"No known price: openai/gpt-9. To see its cost, {entry} list" in cli(*plan)[1]
    assert f"cannot be guaranteed; {entry} list" in cli(*plan, "--max-cost", "1")[2]


def test_the_price_list_of_the_page_can_be_read_and_a_wrong_one_is_told_the_unit(cli, tmp_path, monkeypatch):
    page = Path(__file__).parents[2] / "docs" / "how-to" / "own-model.md"
    entry = re.search(r"```toml\n(\[\"openai/gpt-9.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)[1]
    prices = tmp_path / "prices.toml"
    monkeypatch.setenv("SOCIOMETER_PRICES", str(prices))
    prices.write_text(entry, encoding="utf-8")
    plan = ("plan", "sesi", "--model", "openai/gpt-9", "--limit", "5", "--json")
    row = json.loads(cli(*plan)[1])[0]["estimate"]
    assert row["cost"] == pytest.approx((row["input_tokens"] * 0.15 + row["output_tokens"] * 0.6) / 1e6)
    prices.write_text(entry.replace("output", "outptu"), encoding="utf-8")
    assert "with input and output, in dollars per million tokens, and as_of, a date." in cli(*plan)[2]


def test_a_plan_says_whether_the_spending_limits_are_enough_and_what_has_no_limit(cli):
    plan = ("plan", "sesi", "--model", "openai/gpt-4o-mini")
    out = cli(*plan, "--max-cost", "0.0124", "--max-requests", "500", "--max-tokens", "50000")[1]
    assert "--max-cost 0.0124 will probably stop the run after about 96 of 192 items." in out
    assert "--max-requests 500 is probably enough for all 192 items." in out
    assert "--max-tokens 50000 will probably stop the run after about 100 of 192 items." in out
    out = cli("plan", "egosocial", "--task", "numbers", *plan[2:], "--limit", "4", "--max-requests", "20")[1]
    assert "; at most $0." in out, "a rule costs nothing"
    assert "--max-requests 20 will probably stop the run after about 2 of 4 items." in out, "a rule makes no requests"
    out = cli("plan", "sage", *plan[2:], "--limit", "2")[1]
    assert "no limit, because openai/gpt-4o-mini (subject) has no limit on its replies (-o reply-tokens)." in out


def test_a_cost_below_a_cent_is_not_rounded_to_nothing(cli):
    _, out, _ = cli("plan", "sesi", "--model", "openai/gpt-4o-mini", "--limit", "3")
    total = re.search(r"In all: about \$(0\.00\d+); at most \$(0\.00\d+)\.", out)
    assert 0 < float(total.group(1)) < float(total.group(2)) < 0.01


def test_a_plan_shows_all_its_rows_and_its_digest_only_where_everything_is_shown(cli, monkeypatch):
    models = [word for name in range(25) for word in ("--model", f"openai/gpt-{name}-none")]
    assert re.search(r"publish before the run: [0-9a-f]{64}  sesi", cli(*PLAN, *models[:2], "--format", "wide")[1])
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = cli(*PLAN, *models)[1]
    assert "openai/gpt-24-none" in out.partition("Expected")[0] and "rows" not in out.partition("Not shown")[2]
    assert not re.search("[0-9a-f]{64}", out)


BAD = [
    (("run", "sesy", "--model", "baseline/random"), "did you mean 'sesi'"),
    (("run", "sesi"), "no model given"),
    (("run", "baseline/random", "sesi"), "'baseline/random' is not an instrument; give a model as --model"),
    ((*PLAY, "--turns", "3"), "No such option '--turns'; write it with 'run sage' only."),
    (("sesi", "probe", "--condition", "anxiety"), "No such option '--condition'; write it with 'run sesi' only."),
    (("study", "delete", "s"), "unknown study command 'delete'; known: change, "),
    (("view", "--port", "99999"), "99999 is not from 0 to 65535."),
    (("report", "--evidence", "-1"), "-1 is not at least 0."),
    (("runs", "--store", "/tmp"), "'/tmp' is a folder; give the file of a store."),
    (("store", "copy", "/tmp", "x.db"), "'/tmp' is a folder; give the file of a store."),
    (("sage", "import", "/tmp"), "/tmp: there is no file of this name; give released dialogue files"),
    (("sage", "build", "--schema", "/none.toml"), "/none.toml: not a dialogue schema: No such file or directory"),
    (("run",), "INSTRUMENT"),
    (("run", "sesi", "all", "--model", "baseline/random"), "either 'all' or instrument names"),
    (("run", "sesi", "--model", "opanai/gpt"), "did you mean 'openai'"),
    (("run", "sesi", "--model", "openai/gpt-4o-mini"), "OPENAI_API_KEY is not set"),
    (("run", "sesi", "--model", "baseline/randon"), "random"),
    (("run", "sesi", "--model", "baseline/random", "--role", "judgee=human"), "unknown role"),
    (("run", "sesi", "--model", "baseline/random", "--role", "judge"), "ROLE=MODEL"),
    (("run", "sesi", "--model", "baseline/random", "--role", "subject=human"), "--model"),
    (("run", "sesi", "--model", "baseline/random", "--nonsense", "1"), "--nonsense"),
    (("run", "sesi", "--model", "baseline/random", "--limit", "0"), "at least 1"),
    (("run", "sesi", "--model", "baseline/random", "--limit", "many"), "many"),
    (("run", "sesi", "--model", "baseline/random", "--task", "nope"), "unknown sesi task"),
    (("run", "sesi", "--model", "baseline/random", "--max-cost", "-1"), "at least 0"),
    (("run", "sesi", "--model", "baseline/random", "--data", "/nowhere"), "folder does not exist"),
    (("run", "sesi", "--model", "baseline/random", "--prompts", "/nowhere"), "folder does not exist"),
    (("run", "sesi", "--model", "vllm/m@ftp://x"), "an address that is not valid"),
    (("run", "sesi", "--model", "vllm/m@localhost:8000"), "write it in lower case and with http://"),
    (
        ("run", "sesi", "baseline/random"),
        "'baseline/random' is not an instrument; give a model as --model baseline/random",
    ),
    (("run", "sesi", "--model", "baseline/random", "-o", "server-sampling", "-o", "top-p=1"), "server-sampling"),
    (("run", "sesi", "--model", "baseline/random", "-o", "concurrency=4"), "did you mean 'in-flight'"),
    (("run", "seceu", "--model", "baseline/random", "--set", "shufle=true"), "did you mean '--shuffle'"),
    (("run", "sesi", "--model", "local/none"), "smollm2"),
    (("show", "none"), "there is no store at"),
    (("resume", "none"), "there is no store at"),
    (("store", "rescore", "none"), "there is no store at"),
    (("export", "none", "--to", "x.csv"), "there is no store at"),
    (("get", "data", "sesy"), "did you mean 'sesi'"),
    (("nonsense",), "unknown command"),
]


@pytest.mark.parametrize(("words", "told"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_bad_input_gives_one_clear_message_exit_code_2_and_nothing_half_written(cli, words, told):
    code, out, err = cli(*words)
    assert code == 2, err
    assert told in err
    assert err.startswith("error: ")
    assert "Traceback" not in err
    assert out == ""
    assert json.loads(cli("runs", "--json")[1]) == []


def test_a_bad_row_is_refused_naming_file_and_line(cli, tmp_path):
    (tmp_path / "sesi").mkdir()
    header = "ID,Type,Situation,Question,Option_0,Option_1,Option_2,Option_3,Answer\n"
    good = "a1,Empathy,S,Q,o,p,q,r,1\n"
    (tmp_path / "sesi" / "sesi.csv").write_text(header + good + "a2,Empathy,S,Q,o,p,q,r,9\n")
    code, _, err = cli("run", "sesi", "--model", "baseline/random", "--data", str(tmp_path))
    assert code == 2
    assert re.search(r"sesi\.csv:3: ", err)
    assert json.loads(cli("runs", "--json")[1]) == []


def test_a_cap_holds_for_the_whole_command_and_says_so(cli, openai_server):
    code, out, _ = cli(
        "run", "sesi", "seceu", "--model", f"vllm/m@{openai_server.url}", "--limit", "4",
        "--max-requests", "6", "--json", "--quiet",
    )  # fmt: skip
    assert code == 3
    assert [run["ending"]["status"] for run in json.loads(out)] == ["finished", "stopped"]
    assert len(openai_server.received) == 6


def test_a_misspelt_role_is_refused_with_several_instruments_too(cli):
    code, _, err = cli("run", "sesi", "seceu", "--model", "baseline/random", "--role", "judgee=human")
    assert code == 2
    assert "unknown role 'judgee'" in err


def test_missing_data_of_a_later_instrument_is_met_before_anything_is_played(cli, tmp_path, monkeypatch):
    (tmp_path / "data" / "sesi").mkdir(parents=True)
    header = "ID,Type,Situation,Question,Option_0,Option_1,Option_2,Option_3,Answer\n"
    (tmp_path / "data" / "sesi" / "sesi.csv").write_text(header + "a1,Empathy,S,Q,o,p,q,r,1\n")
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path / "data"))
    code, _, err = cli("run", "sesi", "seceu", "--official", "--model", "baseline/random", "--limit", "1")
    assert code == 2
    assert "get data seceu" in err
    assert json.loads(cli("runs", "--json")[1]) == []


def test_show_has_the_sampling_as_it_was_sent(cli, openai_server):
    openai_server.say = lambda body: "A"
    options = ("--limit", "2", "--quiet", "-o", "temperature=0.5")
    assert cli("run", "sesi", "--model", f"vllm/m@{openai_server.url}", *options)[0] == 0
    (kind,) = json.loads(cli("show", "last", "--json")[1])["sampling"]["subject"]
    assert kind["temperature"] == 0.5 and {"max_tokens", "seed"} <= kind.keys()
    body = openai_server.received[0].body
    assert {name: body[name] for name in kind} == kind
    assert (
        json.loads(cli("run", "sesi", "--model", "baseline/random", "--limit", "2", "--json")[1])[0]["sampling"] == {}
    )


def test_what_a_model_says_cannot_move_the_terminal(cli, openai_server):
    openai_server.say = lambda body: "A \x1b]0;owned\x07 \x1b[2J"
    cli("run", "sesi", "--model", f"vllm/m@{openai_server.url}", "--limit", "1", "--quiet")
    item = json.loads(cli("show", "last", "--json")[1])["run"]
    assert item
    name = next(iter(json.loads(cli("export", item, "--to", "/dev/null/x.csv", "--json")[1]).values()))
    assert "there is no folder" in name
    text = "".join(cli("show", "last", one)[1] for one in _items(cli))
    assert "\x1b" not in text
    assert "\\x1b]0;owned" in text


def _items(cli):
    """The ids of the items that the last run played."""
    return re.findall(r"known: ([^.]+)\.", cli("show", "last", "nothing")[2])[0].split(", ")


def test_files_that_cannot_be_read_or_written_are_named(cli, tmp_path, monkeypatch):
    cli(*PLAY)
    (tmp_path / "file").write_text("")
    for words in (
        ("export", "last", "--to", str(tmp_path / "file" / "x.csv")),
        ("export", "last", "--to", str(tmp_path / "missing" / "x.sociometer")),
        ("report", "last", "--to", str(tmp_path / "file" / "x.html")),
    ):
        code, _, err = cli(*words)
        assert code == 2, err
        assert "Traceback" not in err
    prompts = tmp_path / "own" / "en"
    prompts.mkdir(parents=True)
    (prompts / "question.md").write_bytes(b"\xff\xfe")
    code, _, err = cli("run", "sesi", "--model", "baseline/random", "--prompts", str(tmp_path / "own"))
    assert code == 2
    assert "UTF-8" in err
    monkeypatch.setenv("SOCIOMETER_PRICES", str(tmp_path))
    assert cli("run", "sesi", "--model", "baseline/random", "--limit", "1")[0] == 2


def test_an_error_with_json_is_json(cli):
    code, out, _ = cli("show", "none", "--json")
    assert code == 2
    assert json.loads(out)["exit_code"] == 2


def test_an_exported_csv_holds_no_formula(cli, tmp_path):
    cli(*PLAY, "--name", "=HYPERLINK(1)")
    out = tmp_path / "x.csv"
    assert cli("export", "last", "--to", str(out))[0] == 0
    assert "'=HYPERLINK(1)" in out.read_text(encoding="utf-8")
    read = [row for _, row in read_rows(out, guarded=True)]
    assert {row["subject"] for row in read} == {"=HYPERLINK(1)"}
    numbers = [cell for row in read for name, cell in row.items() if name.startswith("score.") and cell]
    assert numbers
    assert all(float(number) >= 0 for number in numbers)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_several_runs_or_all_are_exported_to_one_table(cli, tmp_path, ending):
    cli(*PLAY, "--name", "one")
    cli("run", "sesi", "--model", "baseline/oracle", "--limit", "5", "--name", "two")
    for words, count in ((("one", "two"), 17), (("all",), 17), (("two", "two"), 5)):
        code, out, _ = cli("export", *words, "--to", str(tmp_path / f"x.{ending}"), "--json")
        assert code == 0 and json.loads(out)["rows"] == count
    code, _, err = cli("export", "one", "two", "--to", str(tmp_path / "x.sociometer"))
    assert code == 2 and "has one run, not 2" in err


def test_runs_are_exported_to_a_folder_each_as_a_file_that_others_check(cli, tmp_path):
    cli(*PLAY, "--name", "one")
    cli("run", "sesi", "--model", "baseline/first", "--limit", "12", "--name", "two")
    folder = tmp_path / "files"
    code, out, _ = cli("export", "all", "--to", str(folder), "--json")
    roots = json.loads(out)["roots"]
    assert code == 0 and sorted(map(str, folder.iterdir())) == sorted(roots) and len(roots) == 2
    for file, root in roots.items():
        code, out, _ = cli("check", file)
        assert code == 0 and f"root {root}" in out
    code, out, _ = cli("export", "all", "--to", str(folder))
    assert code == 0 and out.splitlines()[-1] == f"others check each with: sociometer check {next(iter(roots))}"
    (tmp_path / "taken").touch()
    assert cli("export", "all", "--to", str(tmp_path / "taken"))[0] == 2


def test_runs_that_cannot_be_written_are_left_out_of_a_folder_of_all_and_named(cli, tmp_path, openai_server):
    cli(*PLAY, "--name", "ended")
    model = f"vllm/m@{openai_server.url}/v1#1"
    words = ("run", "sesi", "--model", model, "--limit", "12", "--name", "half", "-o", "in-flight=1", "--quiet")
    assert cli(*words, "--max-requests", "3")[0] == 3
    half = next(run.id for run in sm.runs(store=tmp_path / "store.db") if run.subject == "half")
    folder, why = tmp_path / "files", f"run {half} is stopped, 25 %; finish it first: sociometer resume {half}"
    for words in (("all",), ("sesi",)):
        code, out, _ = cli("export", *words, "--to", str(folder))
        assert code == 0 and out.count("wrote ") == 1 and f"left out: {why}\n" in out
    code, out, _ = cli("export", "all", "--to", str(folder), "--json")
    assert list(json.loads(out)["left_out"].values()) == [why] and len(list(folder.iterdir())) == 1
    for words in (("half",), ("ended", "half")):
        code, out, err = cli("export", *words, "--to", str(tmp_path / "named"))
        assert code == 2 and f"error: {why}" in err and not (tmp_path / "named").exists(), "they were named"
    with pytest.warns(UserWarning, match=f"left out: run {half} is stopped, 25 %"):
        sm.export("all", folder)
    with pytest.raises(sm.SociometerError, match=f"run {half} is stopped, 25 %"):
        sm.export(["ended", "half"], tmp_path / "named")


def test_a_file_for_others_to_check_has_one_run_and_a_folder_has_all_parts_of_a_result(cli, tmp_path):
    for limit in ("2", "4"):
        assert cli("run", "sesi", "--model", "baseline/random", "--limit", limit, "--name", "mine", "--quiet")[0] == 0
    for word in ("sesi", "all", "mine"):
        code, out, _ = cli("export", word, "--to", str(tmp_path / word))
        assert code == 0 and out.count("wrote ") == 2 == len(list((tmp_path / word).iterdir()))
    code, out, _ = cli("export", "mine", "--to", str(tmp_path / "mine.csv"), "--json")
    assert (code, json.loads(out)["rows"]) == (0, 4)


def test_an_export_with_an_unknown_ending_is_refused(cli, tmp_path):
    cli(*PLAY)
    code, _, err = cli("export", "last", "--to", str(tmp_path / "x.xlsx"))
    assert code == 2
    assert "has none of the endings .jsonl, .csv, .parquet, .sociometer" in err
    assert not list(tmp_path.glob("x*"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run", "Usage: sociometer run INSTRUMENT…|all --model MODEL. For more: sociometer help run"),
        ("show", "Missing argument 'RUN'. Usage: sociometer show RUN [ITEM]. 'sociometer runs' lists the runs."),
        ("export last", "Missing option '--to'. Usage: sociometer export RUN… --to PATH."),
        ("study create sesi", "Missing option '--name'. Usage: sociometer study create INSTRUMENT... --name TEXT. For"),
        (
            "study create sesi --name x --consent @no.txt",
            "--consent @no.txt cannot be read: No such file or directory.",
        ),
        ("runs nope", "Usage: sociometer runs. For more: sociometer help runs"),
        ("run sesi --model baseline/first --temp 0.2", "No such option '--temp'; write -o temperature=VALUE. For more"),
        ("plan sesi --model baseline/first --concurrency=4", "'--concurrency'; write -o in-flight=VALUE. For more"),
        ("run sesi --model baseline/first -q", "No such option '-q'; write --quiet. For more: sociometer help run"),
        ("sesi probe --n 50", "No such option '--n'; write --limit N. For more: sociometer help sesi probe"),
        ("run sesi --model baseline/first -o x.csv", "To name a file, write --to FILE."),
        ("export all -o x.csv", "No such option '-o'; write --to FILE. For more: sociometer help export"),
        ("compare a b --alpha 0.05", "No such option '--alpha'; write --level 0.95. For more: sociometer help compare"),
        ("show --model x", "No such option '--model'; write sociometer show MODEL. For more: sociometer help show"),
        (
            "run seceu --model baseline/first --role judge=x/y",
            "unknown role 'judge'. Run 'sociometer list seceu' to see",
        ),
        (
            "--store x.db runs",
            "No such option '--store' before a command; write it after the command. For more: sociometer",
        ),
        ("sesi run", "probe. To play it: sociometer run sesi --model MODEL"),
        ("run sesi --model baseline/first --limit abc", "'abc' is not a number. For more: sociometer help run"),
        ("study create sesi --name x --fastest abc", "'abc' is not a number. For more: sociometer help study create"),
        ("study create seceu --name x --shuffle", "a setting of the instrument; give it as --set shuffle=true."),
        ("study create seceu --name x --norm f", "a setting of the instrument; give it as --set norm=VALUE."),
        (
            "study change x --limit 5",
            "--limit is fixed when a study is created, so that all participants take the same",
        ),
        ("study change x --attention 2", "create another study: sociometer study create INSTRUMENT --name NAME"),
        ("study change x --nope", "No such option '--nope'"),
        ("get", "'sociometer get' needs one of its commands: data, model. For more: sociometer help get"),
        ("list model", "did you mean 'models'?"),
        ("check absent.sociometer", "there is no file 'absent.sociometer'; 'sociometer export RUN --to absent.soc"),
        ("import csv absent.csv", "there is no such file or folder 'absent.csv'; give *.csv."),
    ],
)
def test_a_wrong_call_says_what_is_wrong_and_what_to_type(cli, words, told):
    code, out, err = cli(*words.split())
    assert (code, out) == (2, "") and told in err


def test_the_help_of_studies_fits_a_narrow_terminal_and_has_options_in_groups(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    commands = cli("study", "--help")[1].partition("Commands:")[2]
    assert commands.count("\n") == 9 and "..." not in commands
    for name, groups in (("create", 4), ("change", 3)):
        shown = cli("study", name, "--help")[1]
        assert (
            len(re.findall(r"^\S.*:$", shown, re.MULTILINE)) == groups
            and "How many take part, and who counts:" in shown
        )


def test_an_empty_list_of_runs_is_one_line_and_a_run_without_a_score_says_why(cli):
    assert len(cli("runs")[1].splitlines()) == 1 and json.loads(cli("runs", "--json")[1]) == []
    out = cli("run", "sage", "--model", "baseline/first", "--limit", "1", "--quiet")[1]
    assert out.startswith("baseline/first on sage: no result (rehearsal: no simulator, no score).")
    assert "they have: dialogue." in cli("compare", "sage", "--task", "foo")[2]


def test_a_ledger_is_written_to_the_file_that_was_typed_and_a_missing_folder_is_refused_first(cli, tmp_path):
    code, out, err = cli("paper", "reproduce", "seceu", "egosocial", "--to", str(tmp_path / "missing" / "led.csv"))
    assert (code, out) == (2, "") and "there is no folder" in err
    cli("paper", "reproduce", "seceu", "egosocial", "--to", str(tmp_path / "led.csv"))
    assert [path.name for path in tmp_path.glob("led*")] == ["led.csv"]
    written = (tmp_path / "led.csv").read_text(encoding="utf-8")
    assert written.startswith("instrument,where,what,") and "\negosocial," in written and "our finding" in written


def test_an_export_to_an_unknown_kind_names_the_allowed_ones(cli, tmp_path):
    cli(*PLAY)
    code, _, err = cli("export", "last", "--to", str(tmp_path / "x.xlsx"))
    assert code == 2
    assert ".jsonl, .csv, .parquet" in err
    assert not list(tmp_path.glob("*x.xlsx*"))


def test_piped_output_is_plain_columns_and_a_closed_pipe_is_no_error(tmp_path):
    script = f"{sys.executable} -m sociometer.cli.main list | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# Instruments")
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_does_not_change_the_exit_code(tmp_path):
    """`compare --fail-if worse | head -1` passed a model that is worse."""
    path = tmp_path / "s.db"
    for model in ("oracle", "random"):
        sm.run("sesi", model=f"baseline/{model}", limit=30, name=model, store=path)
    call = f"{sys.executable} -m sociometer.cli.main compare oracle random --fail-if worse --store {path}"
    script = f"{call} | sed -n 1q; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Gate failed: random against " in done.stderr, done


@pytest.mark.parametrize(
    ("words", "code", "buffered"),
    [
        ("list > /dev/full", 2, True),
        ("list > /dev/full", 2, False),
        ("list --json > /dev/full", 2, True),
        ("runs >&-", 0, False),
    ],
)
def test_a_standard_output_that_cannot_be_written_is_no_traceback(tmp_path, words, code, buffered):
    script = f"{sys.executable} {'' if buffered else '-u'} -m sociometer.cli.main {words}"
    environment = {**os.environ, "SOCIOMETER_STORE": str(tmp_path / "store.db"), "PYTHONUNBUFFERED": ""}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, "error: No space left on device\n" if code else "")


@pytest.mark.parametrize(
    ("answer", "told"),
    [(b"<!DOCTYPE html><html></html>", "HTML"), (b'{"unexpected": true}', "")],
    ids=["html", "other json"],
)
def test_a_base_url_that_speaks_something_else_is_said(cli, openai_server, answer, told):
    from servers.faults import Fault

    openai_server.fault_of = lambda number: Fault(raw=answer, content_type="text/html" if told else "application/json")
    code, _, err = cli("run", "sesi", "--model", f"vllm/m@{openai_server.url}", "--limit", "2", "-o", "retries=0")
    assert code == (2 if told else 4)
    assert "Traceback" not in err
    assert told in err
    assert len(json.loads(cli("runs", "--json")[1])) == (0 if told else 1)


def test_a_server_that_refuses_connections_is_said_at_once_and_leaves_no_run(cli):
    code, _, err = cli("run", "sesi", "--model", "vllm/m@http://127.0.0.1:9/v1", "--limit", "2", "-o", "retries=0")
    assert code == 2
    assert "cannot reach http://127.0.0.1:9/v1: Connection refused. Is the server running?" in err
    assert "If it has another address, write it after the model's name: NAME@URL." in err
    assert json.loads(cli("runs", "--json")[1]) == []


@pytest.mark.parametrize(
    "words",
    [
        ("show", "last"), ("resume", "last"), ("store", "rescore", "last"), ("export", "last", "--to", "x.jsonl"),
        ("compare", "a", "b"), ("compare", "sesi"), ("compare", "--reliability", "sesi"),
        ("report",), ("report", "--figure", "list"), ("sesi", "analyse", "some"), ("sesi", "analyse", "last"),
    ],
)  # fmt: skip
def test_a_mistyped_store_makes_no_new_one(cli, tmp_path, words):
    path = tmp_path / "mistyped.db"
    code, _, err = cli(*words, "--store", str(path))
    assert code == 2
    assert "there is no store at" in err
    assert not path.exists()


def test_a_mistyped_folder_of_a_store_is_not_made(cli, tmp_path):
    code, _, err = cli(*PLAY, "--store", str(tmp_path / "reslts" / "s.db"))
    assert code == 2
    assert "there is no folder" in err
    assert not (tmp_path / "reslts").exists()


def test_an_unfinished_command_of_unknown_weights_is_answered_with_resume(cli, openai_server):
    words = ("run", "sesi", "--model", f"vllm/m@{openai_server.url}", "--name", "night", "--quiet", "--limit", "12")
    assert cli(*words, "--max-requests", "3")[0] == 3
    code, _, err = cli(*words, "--max-requests", "3")
    assert code == 2 and "was not finished" in err and "add --fresh" in err
    run = re.search(r"sociometer resume (sesi-\w+)", err)[1]
    assert cli("resume", run, "--max-requests", "12", "--quiet")[0] == 0


def test_a_named_model_of_unknown_weights_is_added_to_only_with_same(cli, openai_server):
    words = ("run", "sesi", "--model", f"vllm/m@{openai_server.url}", "--name", "night", "--quiet")
    assert cli(*words, "--limit", "3")[0] == 0
    code, _, err = cli(*words, "--limit", "5")
    assert code == 2 and "'night' was measured on sesi on " in err and "add --same" in err
    before = openai_server.count if hasattr(openai_server, "count") else None
    assert cli(*words, "--limit", "5", "--same")[0] == 0
    shown = json.loads(cli("show", "night", "--json")[1])
    assert "+" in shown["run"] and before == before
    assert len(json.loads(cli("runs", "--json")[1])) == 2


def test_one_model_has_one_name(cli):
    assert cli("run", "seceu", "--model", "baseline/even", "--limit", "20", "--quiet")[0] == 0
    code, _, err = cli("run", "seceu", "--model", "baseline/even", "--name", "new", "--quiet")
    assert code == 2
    assert "this model is stored as 'baseline/even'; leave out --name 'new'" in err
    assert "sociometer store rename baseline/even new" in err
    assert cli("store", "rename", "baseline/even", "new")[0] == 0
    assert cli("run", "seceu", "--model", "baseline/even", "--name", "new", "--quiet")[0] == 0


def test_a_name_in_the_place_of_a_model_is_answered_with_the_model(cli):
    assert cli(*PLAY, "--name", "big")[0] == 0
    code, _, err = cli("run", "sesi", "--model", "big", "--limit", "20")
    assert code == 2 and "give the model: --model baseline/random --name big" in err
    assert "unknown model 'bigger'" in cli("run", "sesi", "--model", "bigger")[2]
    assert "\tbaseline/random\t" in cli("runs", "--format", "wide")[1]


def test_a_name_stays_with_its_model_after_it_was_renamed(cli):
    first = ("run", "sesi", "--model", "baseline/oracle", "--limit", "4", "--name", "o", "--quiet")
    assert cli(*first)[0] == 0
    assert cli("store", "rename", "o", "o2")[0] == 0
    code, _, err = cli(*first)
    assert code == 2 and "this model is stored as 'o2'" in err


def test_two_models_cannot_have_one_name(cli):
    assert cli("run", "sesi", "--model", "baseline/oracle", "--limit", "4", "--name", "Ann", "--quiet")[0] == 0
    code, _, err = cli("run", "sesi", "--model", "baseline/random", "--limit", "4", "--name", "Ann", "--quiet")
    assert code == 2 and "the name 'Ann' is that of baseline/oracle" in err


def test_a_study_a_benchmark_and_a_model_share_one_table_of_names(cli, tmp_path):
    assert cli("study", "create", "seceu", "--name", "spring", "--limit", "3")[0] == 0
    code, _, err = cli(*PLAY, "--name", "spring")
    assert code == 2 and "is that of a study" in err
    assert cli(*PLAY, "--name", "bench")[0] == 0
    table = tmp_path / "scores.csv"
    table.write_text("item,subject,score\n1,m,0.5\n2,m,1\n", encoding="utf-8")
    for word in ("bench", "all", "spring"):
        code, _, err = cli("import", "csv", str(table), "--benchmark", word)
        assert code == 2, (word, err)
    assert cli("import", "csv", str(table), "--benchmark", "tact")[0] == 0
    other = ("run", "sesi", "--model", "baseline/first", "--limit", "3")
    for words in ((*other, "--name", "tact"), ("study", "create", "seceu", "--name", "tact", "--limit", "3")):
        assert "is that of an imported benchmark" in cli(*words)[2]
    assert "is that of baseline/random" in cli("study", "create", "seceu", "--name", "bench", "--limit", "3")[2]


NO_NAMES = {"last": "meaning", "all": "meaning", "sage": "an instrument", "-x": "begins with '-'", "n" * 81: "80",
            " a": "space", "other": "is that of baseline/first"}  # fmt: skip


@pytest.mark.parametrize(("name", "told"), NO_NAMES.items(), ids=list(NO_NAMES))
def test_a_name_that_means_something_else_is_refused(cli, name, told):
    cli(*PLAY, "--name", "mine")
    cli("run", "sesi", "--model", "baseline/first", "--limit", "3", "--name", "other")
    new = ("sesi", "--model", "baseline/oracle", "--limit", "3", f"--name={name}")
    for words in (("run", *new), ("plan", *new), ("store", "rename", "mine", "--", name)):
        code, _, err = cli(*words)
        assert code == 2 and told in err, (words, err)
    assert cli("plan", *PLAY[1:-1], "--name", "mine")[0] == 0


def test_neither_an_id_nor_nothing_is_a_name(cli):
    first, second = (json.loads(cli(*PLAY, "--seed", seed, "--json")[1])[0]["run"] for seed in "12")
    assert "is the id of a run" in cli("store", "rename", first, second)[2]
    assert "no letter or digit" in cli("store", "rename", first, "")[2]
    assert cli("store", "rename", first, "night-1.b")[0] == 0


def test_an_instrument_is_not_blamed_for_tasks_that_cannot_be_played_here(cli):
    for name, playable in (("sesi", 2), ("sage", 2)):
        code, out, err = cli("check", name, "--json")
        found = {one["what"]: one for one in json.loads(out)["checks"]}
        assert code == 0, err
        assert sum(one["ok"] is True for one in found.values()) == playable
        assert all(one["ok"] is not None or one["state"].startswith("not checked: ") for one in found.values())
    assert "keeps the contract" in cli("check", "sesi")[1]


MISLEADING = [
    (("run", "sesi", "--model", "baseline/random", "--name", "\udcff"), "is not UTF-8"),
    (("study", "create", "sesi", "--name", "s", "--consent", "@bin.csv"), "bin.csv: is not UTF-8"),
    (("study", "create", "sesi", "--name", "s", "--set", "language=zh"), "with --language"),
    (("study", "change", "s"), "nothing to change"),
    (("report", "mine", "--to", ""), "a page cannot be written to"),
    (("runs", "--store", "bin.csv"), "not a store, or a damaged one"),
    (("compare", "mine", "mine"), "two different runs, not only sesi-"),
    (
        ("run", "egosocial", "--task", "tomi", "--task", "newworld", "--model", "baseline/first"),
        "the items of tomi and newworld are the authors'; add --official, or leave out --task.",
    ),
    (("view", "--host", "300.1.1.1"), "--host"),
]


@pytest.mark.parametrize(("words", "told"), MISLEADING, ids=[told for _, told in MISLEADING])
def test_a_message_gives_the_reason(cli, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin.csv").write_bytes(b"\xff\xdc")
    cli(*PLAY, "--name", "mine")
    code, _, err = cli(*words)
    assert code in (2, 5) and told in err
    assert "codec" not in err


def test_without_a_store_there_are_no_runs_and_none_is_made(cli, tmp_path):
    assert "There are no runs in " in cli("runs")[1]
    assert json.loads(cli("runs", "--json")[1]) == []
    assert list(tmp_path.iterdir()) == []


def test_other_contents_of_a_file_that_a_setting_names_make_another_run(cli, tmp_path):
    def norm(name):
        made = build_norm(simulated_people(1, people=12), SCENARIOS, name=name, sample="").norm
        (tmp_path / "norm.json").write_bytes(msgspec.json.encode(made))

    norm("one")
    words = ("run", "seceu", "--model", "baseline/random", "--limit", "2", "--quiet", "--norm", f"{tmp_path}/norm.json")
    assert cli(*words)[0] == 0
    assert cli(*words)[0] == 0
    assert len(json.loads(cli("runs", "--json")[1])) == 1
    norm("two")
    assert cli(*words)[0] == 0
    assert len(json.loads(cli("runs", "--json")[1])) == 2
    norm("one")
    assert cli("resume", "last")[0] == 2


def test_runs_says_nothing_of_what_is_as_usual(cli):
    assert cli("run", "egosocial", "--task", "numbers", "--model", "baseline/first", "--limit", "1", "--quiet")[0] == 0
    assert "opponents" not in cli("runs")[1]


def test_show_lists_the_items_right_or_wrong(cli):
    assert cli(*PLAY)[0] == 0
    items = json.loads(cli("show", "last", "--items", "--json")[1])
    assert len(items) == 12
    assert {one["result"] for one in items} == {"right", "wrong"}
    shown = cli("show", "last", "--items")[1].splitlines()
    assert f"{items[0]['item']}\t{items[0]['result']}" in shown
    assert shown[0].endswith("), in the order of the test"), "items are played in a random order"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("nobody --format csv", "a transcript"), ("nobody --to x.csv", "a transcript"),
        ("--repeat 1", "--repeat needs an ITEM"), ("nobody --items", "leave out 'nobody'"),
    ],
)  # fmt: skip
def test_what_show_would_ignore_is_refused(cli, words, told):
    cli(*PLAY)
    code, _, err = cli("show", "last", *words.split())
    assert code == 2
    assert told in err


def test_the_card_of_an_instrument_as_csv_is_tables_alone(cli):
    assert cli("list", "sesi", "--format", "csv")[1].startswith("task,what,")


def test_a_run_says_its_spending_limit_first(cli):
    assert "runs of one command: $2, 50 requests." in cli(*PLAY[:-1], "--max-cost", "2", "--max-requests", "50")[2]


def test_the_help_of_run_names_the_options_that_only_one_test_has(cli):
    assert "--prompting" in cli("run", "--help-all")[1]
    assert "--prompting" not in cli("run", "--help")[1]


@pytest.mark.parametrize("width", ["80", "140"])
def test_a_table_of_four_subjects_shows_all_of_them(cli, monkeypatch, width):
    names = ("oracle", "random", "first", "last")
    models = [word for name in names for word in ("--model", f"baseline/{name}")]
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    table = cli("run", "sesi", *models, "--quiet")[1].partition("4 subjects")[2]
    assert all(f"baseline/{name}" in "".join(table.split()) for name in names), table
    assert "baseline/" not in table.partition("Not shown")[2]


def test_runs_has_ids_and_the_names_of_models_and_the_store_as_the_folder_does(cli, tmp_path, monkeypatch):
    cli(*PLAY, "--name", "a-name-that-one-types")
    cli(*PLAY[:-1], "--seed", "1", "--quiet")
    found = json.loads(cli("runs", "--json")[1])
    title, _, *rows = cli("runs")[1].splitlines()
    assert title == f"# Runs in {tmp_path / 'store.db'}"
    assert [row.partition("\t")[0] for row in rows[:2]] == [one["run"] for one in found]
    assert all("\ta-name-that-one-types\t" in row for row in rows[:2])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = cli("runs")[1]
    assert "Runs in store.db" in shown and "a-name-that-one-types" in shown


def test_runs_says_what_sets_a_run_apart(cli):
    assert cli(*PLAY, "--condition", "anxiety")[0] == 0
    out = cli("runs")[1]
    assert "condition anxiety, limit 12" in out


def test_a_role_on_ones_own_server_is_asked_once_where_its_revision_is_named(cli, openai_server):
    openai_server.say = lambda body: '{"reason": "r", "cause": "other"}'
    for revision, expected in (("", 2), ("#r1", 1)):
        openai_server.received.clear()
        judge = f"judge=vllm/j@{openai_server.url}{revision}"
        assert cli(*PLAY)[0] == 0
        run = json.loads(cli("runs", "--json")[1])[0]["run"]
        for _ in range(2):
            assert cli("sesi", "analyse", run, "--role", judge, "--sample", "3", "--quiet")[0] == 0
        assert len(openai_server.received) == 3 * expected


def test_the_printed_command_continues_a_run_of_ones_own_function(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "gives_up.py").write_text(
        "calls = []\ndef answer(messages):\n    calls.append(1)\n"
        "    if len(calls) == 2:\n        raise ValueError('not today')\n    return 'A'\n"
    )
    words = ("run", "sesi", "--model", "python/gives_up:answer", "--limit", "2")
    for stopped in ((), ("--max-requests", "1")):
        err = cli(*words, *stopped)[2]
        command = re.search("sociometer (resume .*)", err)[1].replace("MORE", "9").split()
        assert "name it again" not in cli(*command)[2]
    other = [word.replace(":answer", ":reply") for word in command]
    assert "runs the code 'python/gives_up:answer', not 'python/gives_up:reply'. If it is yours" in cli(*other)[2]


def test_the_id_of_a_run_that_was_never_answered_is_said_to_be_of_none(cli, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "never_answers.py").write_text("def answer(messages):\n    raise ValueError('not today')\n")
    code, _, err = cli("run", "sesi", "--model", "python/never_answers:answer", "--limit", "2")
    run = err.split()[0]
    assert code == 2 and f"{run}  is not stored: nothing was answered\n" in err
    assert f"unknown run '{run}'" in cli("show", run)[2]


@pytest.mark.parametrize(
    ("ending", "failed", "told", "of_a_command"),
    [
        (
            Ending(RunStatus.STOPPED, "no more", StopCause.MAX_REQUESTS),
            {},
            "resume sesi-abc --max-requests MORE",
            "repeat the command with --max-requests MORE",
        ),
        (
            Ending(RunStatus.STOPPED, "interrupted", StopCause.INTERRUPTED),
            {},
            "continue with: sociometer resume sesi-abc",
            "Nothing is lost; repeat the command",
        ),
        (
            Ending(RunStatus.FAILED, "the key is wrong"),
            {},
            "failed: the key is wrong",
            "Fix this, then repeat the command",
        ),
        (
            Ending(RunStatus.FINISHED),
            {"timeout": "no answer in 3 s"},
            "1 failed: timeout (no answer in 3 s)",
            "To retry, repeat the command",
        ),
        (Ending(RunStatus.FINISHED), {}, "", ""),
    ],
)
def test_the_end_of_a_run_says_how_to_go_on(ending, failed, told, of_a_command):
    """`resume` refuses a run that belongs to a command, so its end does not name it."""
    resumed = partial(RunConfig(instrument="sesi", subject="m").resume_command, "sesi-abc")
    for resume, expected in ((resumed, told), (None, of_a_command)):
        progress = Progress(
            "sesi · m", Budget(Caps()), 2, resume=resume, failed=Counter(failed.keys()), last_failure=failed
        )
        said = how_it_ended(progress, ending, "sesi-abc")
        assert expected in said
        assert bool(said) == bool(expected)
        assert resume or "resume" not in said


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        ((0.0, 0, 0), "$0.0000"), ((0.0, 0, 3), "cost unknown"), ((0.00022, 4, 0), "$0.00022"),
        ((1.5, 2, 1), "$1.5000 + 1 unpriced"),
    ],
)  # fmt: skip
def test_an_unknown_cost_is_never_nought(spent, words):
    assert cost_in_words(*spent) == words


@pytest.mark.parametrize(
    "words",
    [
        ("--max-cost", "nan"), ("-o", "timeout=nan"), ("-o", "reply-tokens=-7"), ("-o", "top-p=7"),
        ("-o", "temperature=-5"), ("-o", "reply-tokens=0"),
    ],
)  # fmt: skip
def test_numbers_that_make_no_sense_are_refused(cli, words):
    code, _, err = cli(*PLAY, *words)
    assert code == 2
    assert words[0] in err


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
@pytest.mark.parametrize(
    "words",
    [
        (*PLAY, "--max-cost"), ("compare", "--level"),
        ("study", "create", "sesi", "--name", "s", "--limit", "2", "--fastest"),
    ],
)  # fmt: skip
def test_a_number_is_finite(cli, words, number):
    code, _, err = cli(*words[:-1], f"{words[-1]}={number}")
    assert code == 2 and number in err
    assert "finite" in err or "no number" in err or (number == "-inf" and ">=" in err)


def test_every_option_that_takes_a_number_takes_finite_ones():
    context = click.Context(sociometer_command)
    for name in COMMANDS:
        command = sociometer_command.get_command(context, name)
        nested = command.commands.values() if isinstance(command, click.Group) else ()
        floats = click.types.FloatParamType
        found = [one for part in (command, *nested) for one in part.params if isinstance(one.type, floats)]
        assert all(isinstance(one.type, Number) for one in found), (name, found)


def test_what_is_refused_or_only_planned_makes_no_store(cli, tmp_path):
    assert cli("run", "sesi", "--model", "opanai/gpt")[0] == 2
    assert cli("run", "sesi", "--model", "baseline/random", "--dry-run")[0] == 0
    assert list(tmp_path.iterdir()) == []


def test_a_long_wait_that_the_server_asked_for_is_shown():
    progress = Progress("sesi · m", Budget(Caps()), 2)
    assert "waiting" not in line(progress)
    progress.wait(600, "openai.example")
    assert "waiting 10 min 00 s as openai.example asked" in line(progress)


def test_a_resumed_run_says_how_much_was_played_before():
    assert "40/40 done · 25 of them played before" in line(Progress("m", Budget(Caps()), 40, done=40, done_before=25))
    assert "nothing was left to do" in line(Progress("m", Budget(Caps()), 40, done=40, done_before=40))


def test_a_base_url_that_nobody_would_ask_is_refused(cli):
    code, _, err = cli("run", "sesi", "--model", "baseline/random@http://x/v1", "--limit", "1")
    assert code == 2
    assert "takes no base URL (given: http://x/v1)" in err


def test_a_server_that_is_not_there_does_not_stop_the_other_models(cli):
    dead = "vllm/m@http://127.0.0.1:9/v1"
    words = ("run", "sesi", "--model", dead, "--model", "baseline/first", "--limit", "2", "--json")
    code, out, err = cli(*words)
    assert code == 4
    assert [run["subject"] for run in json.loads(out)] == ["baseline/first"]
    assert err.count("cannot reach http://127.0.0.1:9/v1") == 1
    assert f"resume {json.loads(out)[0]['run']}" not in err
    assert "sociometer resume" not in err


def test_the_reason_why_no_model_answered_is_given_once(cli):
    dead = "http://127.0.0.1:9/v1"
    code, _, err = cli("run", "sesi", "seceu", "--model", f"vllm/m@{dead}", "--limit", "2", "-o", "retries=0")
    assert code == 2
    assert err.count("Connection refused") == 1
    assert "error: vllm/m on sesi, vllm/m on seceu: cannot reach" in err


def test_a_store_with_one_run_is_counted_as_one(cli):
    assert cli(*PLAY)[0] == 0
    (store,) = (one for one in json.loads(cli("check", "--json")[1]) if one["what"] == "store")
    assert "(1 run, SQLite" in store["state"]


def test_runs_of_an_instrument_that_is_gone_are_still_listed(cli, monkeypatch):
    assert cli(*PLAY)[0] == 0
    monkeypatch.setattr("sociometer.cli.runs.cards", dict)
    assert "instrument not installed" in cli("runs")[1]


def test_the_version_is_printed_without_the_command_line_as_by_it(capsys):
    fast = "import sys; from sociometer.__main__ import main; main(); sys.exit('click' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", fast, "--version"], capture_output=True, text=True, check=True)
    assert run_command(["--version"]) == 0
    assert done.stdout == capsys.readouterr().out
