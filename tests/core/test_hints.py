"""The commands that messages print: every one is made by one function, exists, and does what the message says."""

import ast
import re
import shlex
from pathlib import Path

import click
import pytest

import sociometer
from sociometer.cli.main import COMMANDS, sociometer_command
from sociometer.core.hints import called, command_line, use_store
from sociometer.instruments import cards

SOURCES = sorted(Path(sociometer.__file__).parent.rglob("*.py"))
TYPED = re.compile(rf"\bsociometer (?:{'|'.join((*COMMANDS, *cards()))})\b")
HELP = {"option", "RunOption"}
KEPT = "A high emotion does not show"
"""How a note begins that a store keeps, so that it is the same for everybody."""


def help_and_docstrings(tree):
    """The strings that describe code or options, and print no hint."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield from ast.walk(node)
        elif (isinstance(node, ast.keyword) and node.arg == "help") or (
            isinstance(node, ast.Call) and getattr(node.func, "id", "") in HELP
        ):
            yield from ast.walk(node)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_message_writes_a_command_by_hand(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    described = set(map(id, help_and_docstrings(tree)))
    strings = [one for one in ast.walk(tree) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    by_hand = [one.value for one in strings if id(one) not in described and TYPED.search(one.value)]
    assert not [text for text in by_hand if not text.startswith(KEPT)]


def calls():
    """Each call of `command_line`, with a word in place of every value that only a run knows."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "command_line":
                yield pytest.param(node.args, id=f"{path.stem}:{node.lineno}")


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


@pytest.mark.parametrize("arguments", list(calls()))
def test_every_command_that_a_message_prints_exists_with_its_options(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("FILE", "sesi"):
        Path(name).touch()
    literal = [one for one in arguments if not isinstance(one, ast.Starred)]
    words = [*word(literal[0]).split(), *map(word, literal[1:])]
    if words == ["sesi", "sesi"]:  # the commands of an instrument, from its card
        words = ["sesi", "COMMAND"]
    words = ["sesi" if one in ("INSTRUMENT", "NAME") and words[0] in ("run", "study") else one for one in words]
    try:
        parsed(words)
    except (click.MissingParameter, click.exceptions.Exit) as missing:
        assert any(isinstance(one, ast.Starred) for one in arguments) or isinstance(missing, click.exceptions.Exit)


def test_a_command_is_quoted_and_names_the_store_that_the_user_named():
    with called():
        use_store("my runs.db")
        line = command_line("resume", "a run", "--code", "python/m:f#1")
        assert shlex.split(line)[1:] == ["resume", "a run", "--code", "python/m:f#1", "--store", "my runs.db"]
        assert command_line("get data sesi") == "sociometer get data sesi"
    assert command_line("runs") == "sociometer runs"
