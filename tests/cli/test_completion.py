"""Completion in real shells: what a user gets on Tab, and that nothing is written, loaded or said beyond that."""

import hashlib
import json
import os
import pty
import re
import select
import shutil
import sqlite3
import subprocess
import sys
import time

import click
import pytest

from sociometer.cli import completing
from sociometer.cli.main import COMMANDS, run_command, sociometer_command
from sociometer.instruments import cards
from sociometer.models.registry import PRESETS

HEAVY = ("aiohttp", "jinja2", "numpy", "rich", "scipy", "sociometer.api", "vl_convert")
ENGINE = ("asyncio", "sociometer.engine", "sociometer.store.store", "sociometer.cli.run", "sociometer.cli.show")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a store of two runs, one of them named, and `sociometer` as a program."""
    folder = tmp_path_factory.mktemp("completed")
    (folder / "bin").mkdir()
    program = folder / "bin" / "sociometer"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sociometer.cli.main "$@"\n')
    program.chmod(0o755)
    store = ["--store", str(folder / "s.db"), "--quiet", "--no-project"]
    assert run_command(["run", "sesi", "--model", "baseline/random", "--limit", "2", "--name", "my-first", *store]) == 0
    assert run_command(["run", "seceu", "--model", "baseline/even", "--limit", "2", *store]) == 0
    return folder


@pytest.fixture
def environment(folder):
    return {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "HOME": str(folder / "home"),
        "XDG_DATA_HOME": str(folder / "home"),
        "SOCIOMETER_STORE": str(folder / "s.db"),
        "TERM": "xterm",
    }


@pytest.fixture
def ids(folder):
    with sqlite3.connect(folder / "s.db") as connection:
        found = dict(connection.execute("SELECT instrument, id FROM run"))
    connection.close()
    return found


@pytest.fixture
def offered(environment, folder):
    """The words that are offered for a line, as bash gets them."""

    def ask(line, **changes):
        asked = {"COMP_WORDS": line, "_SOCIOMETER_COMPLETE": "bash_complete", "_SOCIOMETER_WORDBREAKS": " =:@"}
        words = [sys.executable, "-m", "sociometer.cli.main"]
        place = changes.pop("cwd", folder)
        done = subprocess.run(words, env={**environment, **asked, **changes}, cwd=place, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return [answer.partition(",")[2] for answer in done.stdout.splitlines()]

    return ask


AT_A_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""


def on_screen(sent):
    """What a terminal shows: colours left out, letters written over each other after a step back."""
    lines, place = [[]], 0
    for letter in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x07", "", sent):
        if letter == "\x08":
            place = max(0, place - 1)
        elif letter == "\r":
            place = 0
        elif letter == "\n":
            lines.append([])
            place = 0
        else:
            lines[-1][place : place + 1] = letter
            place += 1
    return "\n".join("".join(line) for line in lines)


class Terminal:
    """A shell on a terminal of its own, at which somebody types."""

    def __init__(self, words, environment, folder):
        self.screen, theirs = pty.openpty()
        program = [sys.executable, "-c", AT_A_TERMINAL, *words]
        self.process = subprocess.Popen(
            program, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, env=environment, cwd=folder
        )
        os.close(theirs)

    def type(self, text, awaited, seconds=60):
        """Types, then reads until the screen shows what is awaited."""
        os.write(self.screen, text.encode())
        shown, deadline = "", time.monotonic() + seconds
        while time.monotonic() < deadline:
            if select.select([self.screen], [], [], 0.2)[0]:
                shown += os.read(self.screen, 65536).decode(errors="replace")
                if re.search(awaited, on_screen(shown)):
                    return shown
        raise AssertionError(f"never saw {awaited!r}: {shown[-2000:]!r}")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.screen)


@pytest.fixture(params=["bash", "zsh"])
def terminal(request, environment, folder):
    shell = request.param
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    if shell == "bash" and subprocess.run(["bash", "-c", "type compopt"], capture_output=True).returncode:
        pytest.skip("this bash is too old for completions without a space behind them")
    words = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[shell]
    opened = Terminal(words, environment, folder)
    begin = {"bash": "", "zsh": "autoload -U compinit && compinit -D -u; "}[shell]
    opened.type(f'{begin}eval "$(sociometer completion {shell})"; echo rea""dy\n', "ready\n")
    yield opened
    opened.close()


def test_tab_completes_the_id_of_a_run(terminal, ids):
    terminal.type("sociometer show ses\t", rf"show {ids['sesi']} ")


def test_tab_completes_the_name_of_a_run(terminal):
    terminal.type("sociometer resume my\t", "resume my-first ")


def test_tab_completes_commands_and_options(terminal):
    terminal.type("sociometer leader\tses\t--meas\t", "leaderboard sesi --measure ")


def test_tab_leaves_room_for_the_rest_of_a_models_name(terminal):
    terminal.type("sociometer run sesi --model anth\tclaude", "--model anthropic/claude")


def test_tab_completes_a_role_and_then_its_model(terminal):
    terminal.type("sociometer run sage --role sim\tgoog\tx --lim\t", "--role simulator=google/x --limit ")


def test_tab_completes_after_an_address(terminal):
    terminal.type("sociometer run sesi --model vllm/m@http://h:1/v1 --max-c\t", "v1 --max-cost ")


def fish(environment, folder, line):
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    script = f"sociometer completion fish | source; complete -C '{line}'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script], env=environment, cwd=folder, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return dict(answer.partition("\t")[::2] for answer in done.stdout.splitlines())


def test_fish_completes_runs_with_an_explanation(environment, folder, ids):
    assert fish(environment, folder, "sociometer show se") == {
        ids["seceu"]: "baseline/even; finished",
        ids["sesi"]: "baseline/random; finished",
    }
    assert "my-first" in fish(environment, folder, "sociometer show m")


def test_fish_completes_roles_models_and_options(environment, folder):
    assert "simulator=" in fish(environment, folder, "sociometer run sage --role ")
    assert "simulator=openai/" in fish(environment, folder, "sociometer run sage --role simulator=op")
    assert "--limit" in fish(environment, folder, "sociometer run sesi --lim")


def test_runs_names_and_last_are_offered(offered, ids):
    assert set(offered("sociometer show ")) == {*ids.values(), "my-first", "last"}
    assert offered("sociometer compare my-first se") == [ids["seceu"], ids["sesi"]]
    assert offered("sociometer rescore --json sec") == [ids["seceu"]]
    assert offered("sociometer leaderboard sesi se") == [ids["sesi"]], "runs of that instrument"
    assert offered("sociometer analyse sesi se") == [ids["sesi"]]
    assert f"replay/{ids['sesi']}" in offered("sociometer run sesi --model replay/")


def test_items_and_subjects_of_the_store_are_offered(offered, ids):
    assert len(offered("sociometer show my-first ")) == 2
    assert offered("sociometer show last ") == offered(f"sociometer show {ids['seceu']} ")
    assert set(offered("sociometer profile ")) == {"baseline/random", "baseline/even"}


def test_instruments_tasks_and_choices_are_offered(offered):
    assert offered("sociometer run ") == [*cards(), "all"]
    assert offered("sociometer data fetch ") == list(cards())
    assert offered("sociometer run socialeval --task ") == [task.name for task in cards()["socialeval"].task]
    assert offered("sociometer run seceu --language ") == ["en", "zh"]
    assert offered("sociometer run sage --language ") == ["en", "zh", "all"]
    assert offered("sociometer train egosocial ") == ["holdem"]
    assert offered("sociometer probe ") == ["egosocial", "sesi"]
    assert offered("sociometer import ") == ["sage", "inspect", "lm-eval", "csv"]
    assert "--benchmark" in offered("sociometer import csv --b")
    assert "--style" in offered("sociometer train --st")
    assert offered("sociometer completion ") == ["bash", "zsh", "fish"]


def test_models_are_offered(offered, tmp_path):
    found = offered("sociometer run sesi --model ")
    assert {f"{name}/" for name in PRESETS} <= set(found)
    assert {"baseline/oracle", "local/smollm2-135m", "human"} <= set(found)
    (tmp_path / "sociometer.toml").write_text('models = ["vllm/m@http://h:1/v1"]')
    assert "vllm/m@http://h:1/v1" in offered("sociometer run sesi --model v", cwd=tmp_path)
    assert "vllm/m@http://h:1/v1" not in offered("sociometer run sesi --no-project --model v", cwd=tmp_path)


def test_the_projects_store_is_looked_at(offered, folder, tmp_path, ids):
    (tmp_path / "sociometer.toml").write_text(f'store = "{folder / "s.db"}"')
    assert ids["sesi"] in offered("sociometer show ", cwd=tmp_path, SOCIOMETER_STORE="")
    assert offered("sociometer show --no-project ", cwd=tmp_path, SOCIOMETER_STORE="") == ["last"]
    (tmp_path / "sociometer.toml").write_text("broken = [")
    assert "--task" in offered("sociometer show --t", cwd=tmp_path, SOCIOMETER_STORE="")
    assert offered("sociometer show ", cwd=tmp_path, SOCIOMETER_STORE="") == []


def test_a_store_that_the_line_names_is_looked_at(offered, folder, tmp_path, ids):
    for option in (f"--store {folder / 's.db'}", f"--store={folder / 's.db'}"):
        line = f"sociometer show {option} ses"
        assert offered(line, cwd=tmp_path, SOCIOMETER_STORE=str(tmp_path / "none.db")) == [ids["sesi"]]


@pytest.mark.parametrize(
    "line",
    ["", "sociometer", "sociometer nonsense ", "sociometer run nonsense --", "sociometer show 'x", 'sociometer show "',
     "sociometer run sesi --limit ", "sociometer probe nonsense ", "sociometer show \\", "sociometer show $(x) ",
     "sociometer run --model= --role = ", "sociometer data nonsense "],
)  # fmt: skip
def test_no_line_makes_it_fail(offered, line):
    offered(line)


@pytest.mark.parametrize("content", [b"", b"no store" * 1000, None], ids=["empty", "not a store", "a folder"])
def test_a_store_that_cannot_be_read_offers_no_runs_and_says_nothing(offered, tmp_path, content):
    path = tmp_path / "s.db"
    path.mkdir() if content is None else path.write_bytes(content)
    assert set(offered("sociometer show ", SOCIOMETER_STORE=str(path))) <= {"last"}
    assert [one.name for one in tmp_path.iterdir()] == ["s.db"]


def test_a_bogus_request_is_answered_with_nothing(environment):
    for bogus in ("", "bash", "bash_source", "nonsense_complete", "fish_complete"):
        words = [sys.executable, "-m", "sociometer.cli.main", "runs"]
        asked = {**environment, "_SOCIOMETER_COMPLETE": bogus}
        done = subprocess.run(words, env=asked, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def state(folder):
    """Every file beside the store with its content."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.db*") if path.is_file()}


def test_nothing_is_written_beside_a_store_at_rest(offered, folder):
    before = state(folder)
    assert len(offered("sociometer show ")) == 4
    assert state(folder) == before
    assert "s.db-shm" not in before


def test_a_store_that_is_being_written_is_read_and_not_changed(offered, folder, tmp_path):
    shutil.copy(folder / "s.db", tmp_path / "s.db")
    writing = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    writing.execute("PRAGMA journal_mode = WAL")
    writing.execute("UPDATE run SET name = 'just-begun' WHERE name = 'my-first'")
    writing.execute("BEGIN IMMEDIATE")
    before = {name: digest for name, digest in state(tmp_path).items() if not name.endswith("-shm")}
    assert "s.db-wal" in before
    assert "just-begun" in offered("sociometer show ", SOCIOMETER_STORE=str(tmp_path / "s.db"))
    assert {name: digest for name, digest in state(tmp_path).items() if not name.endswith("-shm")} == before
    writing.execute("ROLLBACK")
    writing.close()


@pytest.mark.parametrize("index", ["with its index", "without its index"])
def test_the_run_of_a_killed_process_is_offered_and_its_log_is_left_as_it_is(offered, folder, tmp_path, index):
    shutil.copy(folder / "s.db", tmp_path / "s.db")
    killed = (
        "import os, sqlite3, sys\nconnection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "connection.execute('PRAGMA journal_mode = WAL')\n"
        "connection.execute(\"UPDATE run SET name = 'killed' WHERE name = 'my-first'\")\nos._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", killed, tmp_path / "s.db"]).returncode == 9
    if index == "without its index":
        (tmp_path / "s.db-shm").unlink()
    before = {name: digest for name, digest in state(tmp_path).items() if not name.endswith("-shm")}
    assert set(before) == {"s.db", "s.db-wal"}
    assert "killed" in offered("sociometer show ", SOCIOMETER_STORE=str(tmp_path / "s.db"))
    assert {name: digest for name, digest in state(tmp_path).items() if not name.endswith("-shm")} == before


def test_a_name_that_a_shell_would_run_is_not_offered(offered, folder, tmp_path):
    shutil.copy(folder / "s.db", tmp_path / "s.db")
    hostile = ["$(touch x)", "`x`", "a;b", "a b", "a\nplain,b", "-rf", "a*", "a|b", "~", "!x", "a'b", "\x1b[2J", "*"]
    with sqlite3.connect(tmp_path / "s.db", isolation_level=None) as connection:
        for number, name in enumerate(hostile):
            values = (f"sesi-{number}", name, name)
            connection.execute(
                "INSERT INTO run (id, instrument, subject, config_hash, status, manifest, created, name)"
                " VALUES (?, 'sesi', ?, '', 'finished', '', 9e9, ?)",
                values,
            )
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    found = offered("sociometer show ", SOCIOMETER_STORE=str(tmp_path / "s.db"))
    assert "sesi-3" in found
    assert set(found).isdisjoint(hostile)
    assert all(re.fullmatch(r"[\w.-]+", word) for word in found)
    assert set(offered("sociometer profile ", SOCIOMETER_STORE=str(tmp_path / "s.db"))).isdisjoint(hostile)


def test_a_store_of_an_older_version_is_not_changed(offered, tmp_path):
    with sqlite3.connect(tmp_path / "s.db") as connection:
        connection.execute("CREATE TABLE run (id TEXT, instrument TEXT, subject TEXT, status TEXT, created REAL)")
        connection.execute("INSERT INTO run VALUES ('sesi-abcde', 'sesi', 'm', 'finished', 1)")
    connection.close()
    before = state(tmp_path)
    assert offered("sociometer show se", SOCIOMETER_STORE=str(tmp_path / "s.db")) == ["sesi-abcde"]
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    "line",
    [
        "sociometer run sesi --",
        "sociometer run sesi --model op",
        "sociometer run sage --role ",
        "sociometer resume --",
        "sociometer probe sesi --",
    ],
)
def test_no_heavy_library_is_loaded(environment, folder, line):
    assert loaded(environment, folder, line, HEAVY) == []


@pytest.mark.parametrize("line", ["sociometer ", "sociometer show ", "sociometer compare se", "sociometer run "])
def test_commands_runs_and_instruments_are_offered_without_loading_a_command(environment, folder, line):
    assert loaded(environment, folder, line, HEAVY + ENGINE) == []


def loaded(environment, folder, line, names):
    """The modules among these that a completion loads."""
    program = (
        "import sys\nfrom sociometer.cli.completing import answer\nanswer()\n"
        "print(*(name for name in sys.argv[1:] if name in sys.modules), file=sys.stderr)"
    )
    asked = {**environment, "COMP_WORDS": line, "_SOCIOMETER_COMPLETE": "bash_complete"}
    done = subprocess.run(
        [sys.executable, "-c", program, *names], env=asked, cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout
    return done.stderr.split()


def test_arguments_that_are_completed_without_their_command_are_those_of_the_command():
    context = sociometer_command.make_context("sociometer", ["runs"])
    for name, kinds in completing.POSITIONS.items():
        command = sociometer_command.get_command(context, name)
        arguments = [param for param in command.params if isinstance(param, click.Argument)]
        assert tuple(param.name for param in arguments) == kinds, name
        assert (arguments[-1].nargs == -1) == kinds[-1].endswith("s"), name


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_and_every_command_is_offered(shell, capsys, offered):
    assert run_command(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "_SOCIOMETER_COMPLETE" in script
    assert run_command(["completion", shell, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"shell": shell, "script": script}
    assert set(COMMANDS) <= set(offered("sociometer "))


def test_an_unknown_shell_is_an_error(capsys):
    assert run_command(["completion", "tcsh"]) == 2
    assert "'bash', 'zsh', 'fish'" in capsys.readouterr().err
