"""The commands that messages print: every one is made by one function, exists, and does what the message says."""

import ast
import re
import shlex
from functools import cache
from pathlib import Path

import click
import pytest

import sociometer
from sociometer.cli.main import COMMANDS, run_command, sociometer_command
from sociometer.core.hints import called, hint, use_store
from sociometer.instruments import cards

TYPED = re.compile(rf"\bsociometer (?:{'|'.join((*COMMANDS, *cards()))})\b")
HELP = {"option", "RunOption"}
KEPT = "A high emotion does not show"
"""How a note begins that a store keeps, so that it is the same for everybody."""


@cache
def sources():
    """The text of each file of the package."""
    return {path: path.read_text("utf-8") for path in sorted(Path(sociometer.__file__).parent.rglob("*.py"))}


def help_and_docstrings(tree):
    """The strings that describe code or options, and print no hint."""
    for node in ast.walk(tree):
        if (
            (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            or (isinstance(node, ast.keyword) and node.arg == "help")
            or (isinstance(node, ast.Call) and getattr(node.func, "id", "") in HELP)
        ):
            yield from ast.walk(node)


def test_no_message_writes_a_command_by_hand():
    by_hand = []
    for text in sources().values():
        tree = ast.parse(text if re.search(r"sociometer[^.\w]", text) else "")
        described = set(map(id, help_and_docstrings(tree)))
        strings = [one for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        by_hand += [one.value for one in strings if id(one) not in described and TYPED.search(one.value)]
    assert not [text for text in by_hand if not text.startswith(KEPT)]


def calls():
    """Each call of `hint`, with a word in place of every value that only a run knows."""
    for path, text in sources().items():
        for node in ast.walk(ast.parse(text if "hint(" in text else "")):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "hint":
                yield f"{path.name}:{node.lineno}", node.args


def word(node):
    """A word of a command: as it is written, or a value that fits there."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
    return "sesi"  # a value: the name of an instrument fits wherever one must be known


def parsed(words):
    """The command that the command line finds for these words; its options are read, nothing is run."""
    words = words[1:] if words[0] == "help" else words
    context = click.Context(sociometer_command, info_name="sociometer")
    command = sociometer_command
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, *words = words
        if name == "COMMAND":
            break
        command = command.get_command(context, name)
        context = click.Context(command, info_name=name, parent=context)
    if not words or words == ["--help"]:
        return command
    command.parse_args(context, list(words))
    return command


def test_every_command_that_a_message_prints_exists_with_its_options(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("FILE", "sesi"):
        Path(name).touch()
    found = dict(calls())
    assert len(found) > 80
    for place, arguments in found.items():
        literal = [one for one in arguments if not isinstance(one, ast.Starred)]
        words = [*word(literal[0]).split(), *map(word, literal[1:])]
        if words == ["sesi", "sesi"]:  # the commands of an instrument, from its card
            words = ["sesi", "COMMAND"]
        words = ["sesi" if one in ("INSTRUMENT", "NAME") and words[0] in ("run", "study") else one for one in words]
        try:
            parsed(words)
        except click.exceptions.Exit:
            pass
        except click.MissingParameter:
            assert len(literal) < len(arguments), f"{place}: {words}"
        except Exception as error:
            raise AssertionError(f"{place}: {words}") from error


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Runs a command line on a store that the user names; gives code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = run_command([*words, "--store", "my runs.db"] if "--store" not in words else list(words))
        return code, *capsys.readouterr()

    return call


def printed(text, start):
    """The words of the command that follows a text."""
    return shlex.split(text.partition(start)[2].splitlines()[0])[1:]


def test_hints_are_what_the_user_typed_and_work_when_pasted(cli, openai_server):
    openai_server.say = lambda body: "A"
    model = f"vllm/ckpt-b@{openai_server.url}#b"
    play = (
        "run",
        "sesi",
        "--model",
        model,
        "--limit",
        "4",
        "--name",
        "slow2",
        "--max-requests",
        "2",
        "-o",
        "in-flight=1",
    )
    code, _, err = cli(*play)
    assert code == 3
    resume = printed(err, "continue with: ")
    assert resume[0] == "resume" and resume[1].startswith("sesi-")
    assert resume[2:] == ["--max-requests", "MORE", "--store", "my runs.db"]
    code, out, _ = cli(*(word.replace("MORE", "9") for word in resume))
    assert code == 0
    show = printed(out, "Transcripts: ")
    assert show[:2] == ["show", resume[1]] and cli(*show)[0] == 0
    code, out, _ = cli("show", "slow2", "--items")
    assert cli(*(word.replace("ITEM", show[2]) for word in printed(out, "turn by turn: ")))[0] == 0
    simulator = f"vllm/ckpt-a@{openai_server.url}#a"
    _, _, err = cli("run", "sage", "--model", "baseline/first", "--role", f"simulator={simulator}", "--limit", "1")
    assert printed(err, "against people: ")[:4] == ["sage", "passport", "--role", f"simulator={simulator}"]


def test_results_of_one_subject_are_told_apart_by_what_was_asked(cli):
    play = ("run", "socialeval", "--task", "goals", "--repeats", "1", "--model", "baseline/first", "--limit", "1")
    assert cli(*play)[0] == cli(*play, "--votes", "3")[0] == 0
    assert cli("show", "baseline/first")[0] == 0, "both are shown"
    err = cli("show", "baseline/first", "--items")[2]
    assert "'baseline/first' has several results: " in err
    assert "(socialeval, votes 3)" in err and "(socialeval, votes not set)" in err and "None" not in err


def test_a_word_means_a_subject_by_its_name_or_its_model(cli, openai_server):
    openai_server.say = lambda body: "A"
    model = f"vllm/ckpt-b@{openai_server.url}#b"
    assert cli("run", "sesi", "--model", "baseline/first", "--limit", "12", "--name", "spring")[0] == 0
    assert cli("run", "sesi", "--model", model, "--limit", "12", "--quiet")[0] == 0
    said = {
        cli("compare", first, second)[1]
        for first in ("spring", "baseline/first")
        for second in ("vllm/ckpt-b", "vllm/ckpt-b#b", model)
    }
    assert len(said) == 1
    for limit in ("4", "8"):
        assert cli("run", "seceu", "--model", "baseline/first", "--name", "spring", "--limit", limit)[0] == 0
    code, out, _ = cli("show", "spring")
    assert code == 0 and "8 items" in out, "4 items and 8 are one result of 8"
    assert cli("compare", "sesi", "spring", "vllm/ckpt-b#b")[0] == 0
    assert "did you mean 'spring'?" in cli("show", "sprin")[2]


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("gpt-4o-mini", "openai/gpt-4o-mini"), ("./weights", "hf/./weights"), ("claude-x", "anthropic/claude-x"),
        ("my.gguf", "local/my.gguf"), ("random", "baseline/random"),
        ("agent:reply", "python/agent:reply"),
    ],
)  # fmt: skip
def test_a_bare_model_name_is_told_its_provider(cli, model, meant):
    Path("my.gguf").touch()
    Path("weights").mkdir()
    code, _, err = cli("run", "sesi", "--model", model)
    assert code == 2 and f"did you mean '{meant}'?" in err


@pytest.mark.parametrize("model", ["./nofolder", "/no/such/folder", "./no.gguf"])
def test_a_model_in_a_folder_that_does_not_exist_is_told_so(cli, model):
    code, _, err = cli("run", "sesi", "--model", model)
    assert code == 2 and "there is no such file or folder" in err and "did you mean" not in err


def test_help_is_a_command_and_instruments_can_be_listed(cli, capsys):
    shown = []
    for words in (
        ["help", "run", "sesi"],
        ["run", "sesi", "--help"],
        ["help"],
        ["--help"],
        ["list", "instruments"],
        ["list"],
    ):
        assert run_command(words) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] and shown[2] == shown[3] and shown[4] == shown[5]
    assert run_command(["help", "rnu"]) == 2 and "did you mean 'run'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("report", "one", "--to", "nowhere/r.html"), ("export", "one", "--to", "nowhere/r.csv"),
        ("compare", "one", "two", "--to", "nowhere/r.csv"), ("compare", "one", "two", "--to", "nowhere/folder"),
        ("runs", "--store", "nowhere/r.db"),
        ("paper", "tables", "sesi", "all", "--to", "nowhere/x"),
    ],
)  # fmt: skip
def test_a_missing_folder_is_refused_by_its_name_and_the_last_one_created(cli, words):
    for name, model in (("one", "baseline/first"), ("two", "baseline/random")):
        assert cli("run", "sesi", "--model", model, "--limit", "12", "--name", name, "--quiet")[0] == 0
    code, _, err = cli(*words)
    assert code == 2 and "there is no folder 'nowhere'" in err
    assert not Path("nowhere").exists()
    assert cli("compare", "one", "two", "--to", "folder")[0] == 0 and list(Path("folder").iterdir())


def test_a_command_is_quoted_and_names_the_store_that_the_user_named():
    with called():
        use_store("my runs.db", "--store", "my runs.db")
        line = hint("resume", "a run", "--code", "python/m:f#1")
        assert shlex.split(line)[1:] == ["resume", "a run", "--code", "python/m:f#1", "--store", "my runs.db"]
        assert hint("get data sesi") == "sociometer get data sesi"
        assert hint("check", "run.sociometer") == "sociometer check run.sociometer", "a file needs no store"
        assert shlex.split(hint("check store"))[-2:] == ["--store", "my runs.db"]
    assert hint("runs") == "sociometer runs"
    with called(python=True):
        use_store("my runs.db")
        line = hint("store delete", "a run")
        assert shlex.split(line)[1:] == ["store", "delete", "a run", "--store", "my runs.db"], "Python has no such call"
        assert hint("get data sesi") == "sociometer get data sesi"


def test_a_run_of_a_function_that_only_python_can_give_is_resumed_in_python():
    own, other = "python/__main__:agent", "python/m:make.<locals>.agent"
    with called():
        use_store("s.db", "--store", "s.db")
        line = hint("resume", "mine", "--code", own, "--max-requests", "MORE")
        where = f"  # in the script or notebook that has {own!r}"
        assert line == f"sm.resume('mine', code=[FUNCTION], max_requests=MORE, store='s.db'){where}"
        line = hint("resume", "mine", "--code", other, "--code", "python/m:judge")
        assert line.startswith("sm.resume('mine', code=[FUNCTION, 'python/m:judge'], store='s.db')  # in the script")
        assert "\n" not in hint("resume", "theirs", "--code", f"{own}\nimport os"), "a store may name anything"
    with called(python=True):
        assert hint("resume", "mine", "--code", f"{own}#1").startswith(
            "sm.resume('mine', code=['python/__main__:agent#1'])"
        )
