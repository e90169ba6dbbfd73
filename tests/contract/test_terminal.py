"""What every command is held to on a terminal of 100 columns: nothing is wider or cut, the rest is named."""

import io
import json
import re
import sys

import pytest

from sociometer.cli.main import run_command
from sociometer.instruments import cards
from sociometer.reporting import terminal
from sociometer.reporting.terminal import GAP, fitted, shown_width

WIDTH = 100
LINES = 100
"""A screenful with the words around it, and with names of 85 letters that wrap."""
LONG = "a-laboratory-with-a-long-name/its-model-with-a-longer-one-2026-11-15-instruct"
MODELS = ("baseline/random", "baseline/first", "baseline/last")
TASKS = [task.name for task in cards()["egosocial"].task if task.default and task.name != "generated"]
"""All but the one that takes long to write its stories."""
OPTIONS = {
    "sage": ("--role", "simulator=baseline/random"),  # without a simulator a dialogue has no score
    "egosocial": ("--rounds", "4", *(word for name in TASKS for word in ("--task", name))),
    "socialeval": ("--task", "goals", "--task", "abilities"),  # rounds of visits take long to solve
}


class Terminal(io.StringIO):
    """Standard output that claims to be a terminal."""

    def isatty(self):
        return True


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Three subjects with long names on a few items of every instrument, and a short run of a fourth."""
    path = tmp_path_factory.mktemp("terminal") / "runs.db"
    for name in cards():
        for place, model in enumerate(MODELS):
            label = ("--name", f"{LONG}-{place}", *OPTIONS.get(name, ()))
            assert (
                run_command(["run", name, "--model", model, *label, "--limit", "3", "--quiet", "--store", str(path)])
                == 0
            )
        short = ("--model", "baseline/oracle", "--name", "short", "--limit", "1", *OPTIONS.get(name, ()))
        assert run_command(["run", name, *short, "--quiet", "--store", str(path)]) == 0
    return path


@pytest.fixture
def shown(store, tmp_path, monkeypatch, capsys):
    """Runs a command on a terminal; gives its lines, and the tables that it drew."""

    def run(*words):
        drawn = []

        def recorded(text, width):
            drawn.append(fitted(text, width))
            return drawn[-1]

        monkeypatch.chdir(tmp_path)  # some commands write a file
        monkeypatch.setattr(terminal, "fitted", recorded)
        monkeypatch.setenv("COLUMNS", str(WIDTH))
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setattr(sys, "stdout", Terminal())
        code = run_command([*words, "--store", str(store)])
        text = sys.stdout.getvalue()
        monkeypatch.undo()
        told = capsys.readouterr().err
        if "played with a stand-in" in told:
            pytest.skip("nobody is ranked who was played with a stand-in")
        if code == 2 and (" needs " in told or told.startswith("error: give ")):
            pytest.skip("the command needs more than this store has")
        assert code in (0, 1), told
        return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines(), drawn

    return run


def runs(store, capsys, instrument=""):
    capsys.readouterr()
    assert run_command(["runs", "--json", "--store", str(store)]) == 0
    known = json.loads(capsys.readouterr().out)
    return [one["run"] for one in known if not instrument or one["instrument"] == instrument]


def fits(lines, drawn, most=LINES):
    """No line is wider than the terminal, and every cell is there as a whole, wrapped within its column."""
    assert max(map(shown_width, lines)) <= WIDTH
    assert len(lines) <= most, f"{len(lines)} lines"
    for text in drawn:
        start = 0
        for place, width in enumerate(text.widths):
            column = _packed(" ".join(line[start : start + width] for line in lines))
            for cell in (row[place] for row in (text.columns, *text.rows)):
                assert _packed(cell) in column, cell
            start += width + GAP
    return True


def _packed(text):
    return "".join(text.split())


@pytest.mark.parametrize(
    "words",
    [
        ("runs",), ("compare", "all"), ("compare", "all", "--reliability"),
        ("report", "--figure", "list"), ("check", "store"), ("check",),
    ],
)  # fmt: skip
def test_commands_about_all_runs_fit(shown, words):
    assert fits(*shown(*words))


@pytest.mark.parametrize("instrument", sorted(cards()))
def test_runs_of_every_instrument_fit(shown, store, capsys, instrument):
    known = runs(store, capsys, instrument)
    assert fits(*shown("show", known[0]))
    assert fits(*shown("compare", *known[:2]))
    assert fits(*shown("compare", *known[:3]))
    assert fits(*shown("compare", "--reliability", *known[:3]))
    assert fits(*shown("store", "rescore", known[0]))
    assert fits(*shown("compare", instrument))


@pytest.mark.parametrize("instrument", sorted(cards()))
def test_a_run_of_several_models_ends_with_one_table_and_the_verdicts(shown, instrument):
    models = [word for model in MODELS for word in ("--model", model)]
    lines, drawn = shown("run", instrument, *models, "--limit", "3", "--quiet", *OPTIONS.get(instrument, ()))
    assert fits(lines, drawn)
    assert len(drawn) == 1
    names = [f"{LONG}-{place}" for place in range(len(MODELS))]
    assert sum(name in " ".join(drawn[0].columns) for name in names) == 3
    said = _packed(" ".join(lines).split(drawn[0].title)[0])
    assert all(name in said for name in names)


COMMANDS = {(card.name, command.verb): command for card in cards().values() for command in card.command}
ALONE = [
    names
    for names, command in COMMANDS.items()
    if {"models", "limit"} <= set(command.takes)
    or (not command.plays and not any(option.required for option in command.option))
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("names", ALONE)
def test_commands_of_instruments_that_need_nothing_more_fit(shown, names):
    plays = ("--model", "baseline/first", "--limit", "6", "--quiet") if COMMANDS[names].plays else ()
    lines, drawn = shown(*names, *plays)
    assert fits(lines, drawn)


@pytest.mark.parametrize("instrument", sorted(cards()))
def test_everything_is_shown_with_all_and_is_more(shown, store, capsys, instrument):
    first = runs(store, capsys, instrument)[0]
    brief, _ = shown("show", first)
    whole, _ = shown("show", first, "--format", "wide")
    assert len(whole) > len(brief)
    assert any(line.startswith("Not shown: ") for line in brief)
    assert not any(line.startswith("Not shown: ") for line in whole)


@pytest.mark.parametrize("instrument", sorted(cards()))
def test_a_short_run_is_left_out_and_named(shown, instrument):
    lines, _ = shown("compare", instrument)
    told = " ".join(" ".join(lines).split())
    assert re.search(r"short has \d+ of the \d+ items", told)


@pytest.mark.parametrize("names", COMMANDS)
def test_help_lists_no_option_twice_and_none_of_run_alone(capsys, names):
    assert run_command([*names, "--help-all" if COMMANDS[names].plays else "--help"]) == 0
    listed = re.findall(r"^  (--[a-z-]+)", capsys.readouterr().out.partition("Options")[2], re.MULTILINE)
    assert len(listed) == len(set(listed))
    own = {option.name for option in COMMANDS[names].option}
    assert not {"--task", "--name"} & set(listed) - {f"--{name}" for name in own}
