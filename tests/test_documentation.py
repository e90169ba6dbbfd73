"""The documentation names what is there: files, commands, examples that run."""

import importlib
import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest

import forked
import sociometer as sm
from sociometer.cli.main import COMMANDS, run_command, sociometer_command

ROOT = Path(__file__).parent.parent
READMES = sorted((ROOT / "src/sociometer/instruments").glob("[!_]*/README.md"))
PAGES = [ROOT / "README.md", ROOT / "README.zh.md", *sorted((ROOT / "docs").rglob("*.md")), *READMES]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
TITLED = re.compile(r'^```\w+ title="([\w.-]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
SOURCE = ROOT / "src" / "sociometer"
HELP = {}
"""The help of each command, asked for once."""
SETTINGS = " ".join(f"--{setting.name}" for card in sm.list_instruments().values() for setting in card.setting)


def blocks(path, language):
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def test_the_example_of_contributing_runs(tmp_path, monkeypatch, capsys):
    (code,) = blocks(ROOT / "CONTRIBUTING.md", "python")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert "accuracy 1.000, 1 item\n" in capsys.readouterr().out


def test_the_tables_of_contributing_name_files_that_are_there():
    for name in ("core/card.py", "core/command.py", "core/player.py", "models/presets.py"):
        assert (SOURCE / name).exists()
    assert sm.CommandContext.__module__.replace(".", "/").removeprefix("sociometer/") == "core/command"


def test_no_page_says_that_one_of_several_runs_is_chosen_or_names_a_label():
    for name, page in zip(NAMES, PAGES, strict=True):
        text = " ".join(page.read_text(encoding="utf-8").split())
        assert not re.search(r"--label|label=\"|with the most items|several runs fit|the name of the run", text), name


def having(mark):
    # The pages of the adapters have tests beside those of the adapters: their commands are other tools'.
    pages = [(name, page) for name, page in zip(NAMES, PAGES, strict=True) if not name.startswith("docs/adapters/")]
    return [name for name, page in pages if mark in page.read_text(encoding="utf-8")]


def script(name, *arguments):
    running = forked.start([ROOT / "scripts" / name, *arguments], stdout=forked.PIPE, stderr=forked.PIPE)
    said = running.communicate()
    return subprocess.CompletedProcess(arguments, running.returncode, *said)


def examples(*arguments):
    return script("examples.py", *arguments)


@pytest.fixture
def reference(monkeypatch):
    """What the site adds to the pages of docs/reference."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return importlib.import_module("reference")


def test_the_site_has_the_help_of_every_command(reference):
    text = reference.commands()
    for name in COMMANDS:
        assert re.search(rf"^## {name}\b", text, re.MULTILINE), name


def test_the_page_of_python_describes_every_public_name(reference):
    described = {entry.partition(":")[0].rpartition(".")[2] for names in reference.PYTHON.values() for entry in names}
    assert set(sm.__all__) <= described


def test_every_cell_of_a_table_on_python_says_something(reference):
    text = reference.python()
    assert "| field | type | meaning |" in text
    assert not re.findall(r"^\|.*\| *\|.*$", text, re.MULTILINE)


def test_the_examples_of_json_are_excerpts_of_what_the_commands_print(tmp_path, capsys):
    text = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8").split("### Examples of `--json`\n")[1]
    shown = re.findall(r"```sh\n(.*?)```\n\n```json\n(.*?)```", text, re.DOTALL)
    assert [words.split()[-1] for words, _ in shown] == ["--json"] * 3
    for words, excerpt in shown:
        for line in words.splitlines():
            capsys.readouterr()
            assert run_command([*shlex.split(line)[1:], "--store", str(tmp_path / "s.db")]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert part_of(printed, json.loads(excerpt)) == json.loads(excerpt), json.dumps(printed)[:9000]


def test_every_key_of_a_comparison_and_a_ranking_is_described(reference, tmp_path, capsys):
    text = reference.exported().partition("## Fields of `compare --json`\n")[2].partition("\n## ")[0]
    parts = re.findall(r"### `(.*?)`\n(.*?)(?=\n###|\Z)", text, re.DOTALL)
    described = {part: dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", rows, re.MULTILINE)) for part, rows in parts}
    store, models = ["--store", str(tmp_path / "s.db")], ("baseline/random", "baseline/first", "baseline/last")
    for model in models:
        assert run_command(["run", "sesi", "--limit", "12", "--quiet", "--model", model, *store]) == 0
    for words in (models[:2], models):
        capsys.readouterr()
        assert run_command(["compare", *words, "--json", *store]) == 0
        printed = json.loads(capsys.readouterr().out)
        for part, rows in described.items():
            found = [printed]
            for name in part.split("."):
                inner = [one[name.removesuffix("[]")] for one in found]
                found = [each for one in inner for each in (one if isinstance(one, list) else [one]) if each]
            assert {key for one in found for key in one} <= rows.keys(), part
    assert described.keys() >= {"comparisons[].measures[].paired", "rankings[].standings"}


def part_of(whole, excerpt):
    """What an excerpt shows of a value: its keys, the first elements of its lists, rounded numbers."""
    if isinstance(excerpt, dict):
        return {key: part_of(whole[key], shown) for key, shown in excerpt.items()}
    if isinstance(excerpt, list):
        assert bool(whole) == bool(excerpt)
        return [part_of(*pair) for pair in zip(whole, excerpt, strict=False)]
    if isinstance(whole, str) and re.fullmatch("sesi-[a-z0-9]{5}", whole):
        return excerpt  # the id of a run differs from time to time
    return round(whole, 4) if isinstance(whole, float) else whole


def headings(page):
    """The anchors that a forge gives to the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", [*NAMES, "CONTRIBUTING.md"])
def test_the_links_of_a_page_lead_somewhere_in_a_checkout(name):
    page = ROOT / name
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in headings(target), link


def test_the_tutorial_and_the_reference_can_be_followed_in_one_store():
    pages = [
        (ROOT / f"docs/{name}.md").read_text("utf-8") for name in ("tutorial", "reference/python", "reference/commands")
    ]
    names = [set(re.findall(r"(?:--name |name=\")([a-z0-9-]+)", page)) for page in pages]
    assert any(names) and sum(map(len, names)) == len(set.union(*names)), names
    named = [model for page in pages for model in re.findall(r"(baseline/\w+)(?: |\", )(?:--name|name=)", page)]
    assert named and len(named) == len(set(named)), f"a model has one name: {named}"


def test_the_readme_and_the_tutorial_have_examples():
    assert {"README.md", "README.zh.md", "docs/tutorial.md", "docs/how-to/ci-gate.md"} <= set(having("```console\n"))


# The Chinese README has the commands of the English one; a study of 24 people and a paper's tables take many seconds.
LONG = ("tutorial-people", "tutorial-paper", "how-to/paper", "how-to/replicate")
SLOW = dict.fromkeys(("README.zh.md", *(f"docs/{one}.md" for one in LONG)), pytest.mark.slow)
OFFICIAL = re.compile(r"--official|paper reproduce|paper replicate \w+ --model")


@pytest.mark.parametrize("name", [pytest.param(one, marks=SLOW.get(one, ())) for one in having("```console\n")])
def test_the_commands_of_a_page_print_what_the_page_shows(name, request):
    if any(OFFICIAL.search(block) for block in blocks(ROOT / name, "console")):
        request.getfixturevalue("official_data")
    run = examples(ROOT / name)
    assert run.returncode == 0, f"{run.stdout}{run.stderr}\nto rewrite it: python scripts/examples.py --write {name}"


def test_a_page_that_shows_something_else_is_found_and_rewritten(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo one\ntwo\n```\n", encoding="utf-8")
    found = examples(page)
    assert found.returncode == 1
    assert "-two" in found.stdout.splitlines()
    assert examples("--write", page).returncode == 0
    assert page.read_text(encoding="utf-8") == "```console\n$ echo one\none\n```\n"
    assert examples(page).returncode == 0


def test_a_page_shows_both_streams_in_order_and_no_progress_bar(tmp_path):
    page = tmp_path / "page.md"
    bar = r"printf 'playing ━━━━ 50%%\r\n\033[1A\033[2Kplaying ━━━━ 90%%\r\033[2K' >&2"
    page.write_text(f"```console\n$ echo one; echo two >&2; {bar}; echo three\n```\n", encoding="utf-8")
    examples("--write", page)
    assert page.read_text(encoding="utf-8").splitlines()[2:] == ["one", "two", "three", "```"]


@pytest.mark.parametrize("name", having("```python\n"))
def test_the_python_of_a_page_runs(name, tmp_path, monkeypatch):
    text = (ROOT / name).read_text(encoding="utf-8")
    for title, code in TITLED.findall(text):
        (tmp_path / title).write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    for code in blocks(ROOT / name, "python"):
        exec(code, {"__name__": name})


def shown_commands(text):
    """The commands that a page shows without running them: arguments up to a comment, and which options are given."""
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("sociometer ")]


@pytest.mark.parametrize("name", having("```sh\n"))
def test_the_commands_that_a_page_shows_have_these_options(name, capsys):
    for words in shown_commands((ROOT / name).read_text(encoding="utf-8")):
        arguments = [word for word in words if not word.startswith("-")]
        command, inner = sociometer_command, ()
        while isinstance(command, click.Group):
            word = arguments[len(inner)]
            command, inner = command.get_command(click.Context(command), word), (*inner, word)
        if inner not in HELP:
            assert run_command([*inner, "--help-all"]) == 0 or run_command([*inner, "--help"]) == 0, words
            HELP[inner] = capsys.readouterr().out
        allowed = HELP[inner] + (SETTINGS if arguments[0] == "run" else "")
        for option in (word for word in words if word.startswith("--")):
            assert re.search(rf"{option}\b", allowed), f"{words}: no option {option}"


def test_the_common_commands_of_the_readme_run(openai_server, tmp_path, monkeypatch, capsys):
    """With baselines in place of models; `view` runs until it is stopped, and has tests of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    here = os.environ.get("SOCIOMETER_DATA")
    (tmp_path / "my_agent.py").write_text("def answer(messages):\n    return 'A'\n", encoding="utf-8")
    runs = ("sesi --model baseline/random --name OLD", "sesi --model baseline/first --name NEW")
    for words in (*(f"run {one}" for one in runs), "run seceu --model baseline/even --limit 12"):
        assert run_command([*words.split(), "--quiet"]) == 0
    (block,) = [one for one in blocks(ROOT / "README.md", "sh") if "sociometer list " in one]
    for name, put in (
        ("python/MODULE:FUNCTION", "python/my_agent:answer"),
        (" RUN", " OLD"),
        ("http://localhost:8000/v1", openai_server.url),
        ("openai/gpt-4o-mini", "baseline/last"),
        ("seceu contamination", "seceu contamination --limit 10"),
        ("deepseek/deepseek-chat", "baseline/random"),
    ):
        assert name in block
        block = block.replace(name, put)
    for words in shown_commands(f"```sh\n{block}```"):
        plays = words[0] == "run" and not {"--limit", "--against"} & set(words)
        if words != ["view"] and (here or not OFFICIAL.search(" ".join(words))):
            code = run_command([*words, *(["--limit", "1"] if plays else [])])
            assert code in ((0, 1) if words[0] in ("check", "compare") else (0,)), (words, capsys.readouterr().err)
