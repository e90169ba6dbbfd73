"""A project file in the working folder: what commands take from it, and what they say."""

import json
import subprocess

import pytest

from sociometer.cli.main import COMMANDS, Commands, run_command, sociometer_command

PLAY = ("run", "sesi", "--limit", "2", "--quiet")
PROJECT = """
models = ["baseline/random", "baseline/oracle"]
store = "results/my.db"
[labels]
"baseline/random" = "dice"
[caps]
max-requests = 50
"""


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Runs a command line in a folder of its own, with no store named in the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOCIOMETER_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    def call(*words):
        code = run_command(list(words))
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def project(tmp_path):
    def write(text=PROJECT):
        (tmp_path / "sociometer.toml").write_text(text, encoding="utf-8")

    return write


def played(cli, *words):
    code, out, err = cli(*PLAY, "--json", *words)
    assert code == 0, err
    return [one["manifest"]["config"] for one in json.loads(out)], err


def test_a_run_takes_models_labels_caps_and_store_from_the_file(cli, project, tmp_path):
    project()
    configs, err = played(cli)
    assert [config["subject"] for config in configs] == ["baseline/random", "baseline/oracle"]
    assert [config.get("label", "") for config in configs] == ["dice", ""]
    assert {config["caps"]["max_requests"] for config in configs} == {50}
    assert (tmp_path / "results" / "my.db").exists()
    (line,) = err.splitlines()
    assert line.startswith("sociometer.toml: ")
    for part in ("label dice", "store results/my.db", "models baseline/random, baseline/oracle", "max-requests 50"):
        assert part in line


def test_the_manifest_records_what_came_from_the_file(cli, project, tmp_path):
    project()
    (dice, oracle), _ = played(cli)
    assert dice["project"]["used"] == ["store", "models", "caps.max-requests", "labels"]
    assert oracle["project"]["used"] == ["store", "models", "caps.max-requests"]
    digest = subprocess.run(["sha256sum", tmp_path / "sociometer.toml"], capture_output=True, text=True, check=True)
    assert dice["project"]["sha256"] == digest.stdout.split()[0]
    (alone,), _ = played(cli, "--model", "baseline/first", "--store", "other.db", "--max-requests", "9")
    assert "project" not in alone, "nothing was taken"


def test_the_command_line_wins_over_the_file(cli, project, tmp_path):
    project()
    (config,), err = played(
        cli, "--model", "baseline/random", "--label", "mine", "--max-requests", "7", "--store", "other.db"
    )
    assert config["label"] == "mine"
    assert config["caps"] == {"max_requests": 7}
    assert (tmp_path / "other.db").exists()
    assert not (tmp_path / "results").exists()
    assert err == "", "nothing of the file was used"


def test_a_label_of_the_file_names_a_model_of_the_command_line_too(cli, project):
    project()
    (config,), err = played(cli, "--model", "baseline/random", "--store", "other.db", "--max-requests", "9")
    assert config["label"] == "dice"
    assert config["project"]["used"] == ["labels"]
    assert err == "sociometer.toml: label dice\n"


def test_the_environments_store_wins_over_the_file(cli, project, tmp_path, monkeypatch):
    project()
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "env.db"))
    played(cli)
    assert (tmp_path / "env.db").exists()
    assert not (tmp_path / "results").exists()


def test_the_same_run_from_the_file_and_from_the_command_line_is_one_run(cli, project):
    project('models = ["baseline/random"]\nstore = "s.db"')
    first = json.loads(cli(*PLAY, "--json")[1])[0]["run"]
    again = json.loads(cli(*PLAY, "--json", "--no-project", "--model", "baseline/random", "--store", "s.db")[1])[0]
    assert again["run"] == first


def test_no_project_ignores_the_file_even_one_that_is_broken(cli, project, tmp_path):
    project("models = [")
    code, _, err = cli(*PLAY, "--no-project", "--model", "baseline/random", "--store", str(tmp_path / "s.db"))
    assert (code, err) == (0, "")
    assert cli("runs", "--no-project", "--store", "s.db")[0] == 0
    code, _, err = cli("runs")
    assert code == 2
    assert err.startswith("error: sociometer.toml: is not TOML")
    assert "--no-project" in err


def test_a_file_in_the_folder_above_is_not_used(cli, project, tmp_path, monkeypatch):
    project()
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    code, _, err = cli(*PLAY)
    assert code == 2
    assert "no model given" in err


def store_commands():
    """Every command that has `--store`, as a user finds it."""
    context = sociometer_command.make_context("sociometer", ["runs"])
    assert isinstance(sociometer_command, Commands)
    found = [sociometer_command.get_command(context, name) for name in COMMANDS]
    return {one.name: one for one in found if any(param.name == "store" for param in one.params)}


def test_every_command_with_a_store_can_ignore_the_file():
    assert set(store_commands()) >= {"run", "resume", "runs", "show", "compare", "report", "check"}
    for command in store_commands().values():
        assert [param.name for param in command.params].count("no_project") == 1, command.name


@pytest.mark.parametrize(
    "words",
    [
        ["runs"],
        ["show", "last"],
        ["resume", "last", "--quiet"],
        ["store", "rescore", "last"],
        ["check", "store"],
        ["export", "last", "--to", "out.csv"],
        ["compare", "all"],
        ["report", "all", "--to", "page.html"],
        ["compare", "sesi"],
        ["compare", "--profile", "dice"],
        ["check"],
        ["sesi", "analyse", "last"],
    ],
    ids=lambda words: words[0],
)
def test_commands_use_the_files_store_and_say_so_in_one_line(cli, project, words, tmp_path):
    project()
    assert cli(*PLAY)[0] == 0
    code, _, err = cli(*words)
    assert "sociometer.toml: store results/my.db" in err
    assert err.count("sociometer.toml") == 1
    assert "there is no store at" not in err
    assert code in (0, 1, 2), err
    assert not (tmp_path / "home" / "sociometer").exists(), "the user's own store is left alone"


def test_a_store_in_the_folder_above_is_found_where_a_user_expects_it(cli, project, tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    (tmp_path / "below" / "sociometer.toml").write_text('models = ["baseline/random"]\nstore = "../shared.db"')
    assert cli(*PLAY)[0] == 0
    assert (tmp_path / "shared.db").exists()


@pytest.mark.parametrize("store", [".", "sociometer.toml", "x" * 1000])
def test_a_store_that_cannot_be_one_is_a_short_error(cli, project, store):
    project(f'store = "{store}"')
    for words in (["runs"], [*PLAY, "--model", "baseline/random"]):
        code, _, err = cli(*words)
        assert code in (2, 5)
        assert err.splitlines()[-1].startswith("error: ")
        assert len(err.splitlines()) <= 2


def test_roles_of_the_file_are_taken_where_the_tasks_ask_them(cli, project):
    project('models = ["baseline/random"]\nstore = "s.db"\n[roles]\nsimulator = "baseline/first"')
    (sesi,), err = played(cli)
    assert "roles" not in sesi
    assert "simulator" not in err
    code, out, err = cli("run", "sage", "--limit", "1", "--dry-run", "--json")
    assert code == 0, err
    assert "simulator baseline/first" in err
    assert any(one["estimate"]["model"] == "baseline/first" for one in json.loads(out))
    code, out, _ = cli("run", "sage", "--role", "simulator=sage/rehearsal", "--limit", "1", "--dry-run", "--json")
    assert not any(one["estimate"]["model"] == "baseline/first" for one in json.loads(out))


def test_a_role_that_no_instrument_has_is_an_error_with_the_nearest(cli, project):
    project('models = ["baseline/random"]\n[roles]\nsimulater = "baseline/first"')
    code, _, err = cli(*PLAY)
    assert code == 2
    assert "unknown role in sociometer.toml 'simulater'; did you mean 'simulator'?" in err


@pytest.mark.parametrize("text", ['store = "a\\u001b[2Jb"', '"a\\u001b[2Jb" = 1', '[roles]\n"a\\u001b[2Jb" = "a/b"'])
def test_what_the_file_says_cannot_move_the_cursor(cli, project, text):
    project(text)
    for words in (["runs"], [*PLAY, "--model", "baseline/random"]):
        assert "\x1b" not in cli(*words)[2]
