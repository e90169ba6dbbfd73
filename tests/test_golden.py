"""Commands of every kind send, draw and score what they always have.

`python tests/test_golden.py --write [NAME…]` renews what is expected, on purpose only.
"""

import json
import sys
import time
from contextlib import redirect_stdout
from copy import deepcopy
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec import structs

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "web"))

from golden.playing import EXPECTED, Golden, differences, golden_commands, official_folder, other_files, play
from sociometer.core.session import Draw
from sociometer.reading import score_choice

COMMANDS = golden_commands()
DATA = official_folder()


def marked(command: Golden):
    return pytest.param(command, id=command.name, marks=[pytest.mark.slow] if command.slow else [])


@pytest.fixture(scope="module")
def expected():
    return json.loads(EXPECTED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("command", [marked(command) for command in COMMANDS])
def test_command_asks_and_scores_as_before(command, expected, tmp_path, monkeypatch):
    if command.official and DATA is None:
        pytest.skip("official data is not here: set SOCIOMETER_DATA to its folder")
    found = play(command, tmp_path, DATA if command.official else None, monkeypatch)
    others = other_files(expected[command.name], found)
    if others:
        pytest.skip(f"the official files {', '.join(others)} are not those of the golden numbers")
    wrong = differences(command.name, expected[command.name], found)
    assert not wrong, "\n".join(wrong[:20])


def test_every_expected_command_is_played(expected):
    assert sorted(expected) == sorted(command.name for command in COMMANDS)


def changed_command(name: str, old: str = "", new: str = "") -> Golden:
    """A golden command with other words."""
    command = next(command for command in COMMANDS if command.name == name)
    return structs.replace(command, words=tuple(words.replace(old, new) for words in command.words))


def test_another_prompt_is_found(expected, tmp_path, monkeypatch):
    command = changed_command("sesi-items", "--quiet", "--wording answer --quiet")
    found = play(command, tmp_path, None, monkeypatch)
    wrong = differences("sesi-items", expected["sesi-items"], found)
    item = "sesi-items: item 'twin-014a' (task 'questions', run 1, repeat 0)"
    assert wrong[0].startswith(f"{item} has another request, journal key, draw")
    assert sum("request, journal key, draw" in sentence for sentence in wrong) == 3
    assert wrong[-1].startswith("sesi-items: all keys together are '3 ")


def test_another_seed_of_the_orders_is_found(expected, tmp_path, monkeypatch):
    def other_rng(draw, purpose=""):
        return rng(structs.replace(draw, seed=draw.seed + 1), purpose)

    rng = Draw.rng
    monkeypatch.setattr(Draw, "rng", other_rng)
    name = "sesi-orders-and-wording"
    found = play(changed_command(name), tmp_path, None, monkeypatch)
    wrong = differences(name, expected[name], found)
    assert "has another request, journal key, draw" in wrong[0]


def test_another_score_is_found(expected, tmp_path, monkeypatch):
    def next_is_right(answer, key, **facets):
        return score_choice(answer, (key + 1) % 4, **facets)

    monkeypatch.setattr("sociometer.instruments.sesi.scoring.score_choice", next_is_right)
    command = changed_command("sesi")
    found = play(command, tmp_path, None, monkeypatch)
    wrong = differences("sesi", expected["sesi"], found)
    assert wrong[0].endswith("has another score.")
    assert "measures of task 'questions'" in wrong[-1]


def test_one_digest_of_one_item_is_found(expected):
    found = deepcopy(expected["sesi"])
    place = next(iter(found["episodes"]))
    digests = found["episodes"][place].split()
    found["episodes"][place] = " ".join([*digests[:3], "00000000", digests[4]])
    (wrong,) = differences("sesi", expected["sesi"], found)
    assert wrong.endswith("has another outcome.")


def write(names: list[str]) -> None:
    """Renews what is expected of these commands, or of all."""
    kept = json.loads(EXPECTED.read_text(encoding="utf-8")) if EXPECTED.exists() else {}
    here = Path.cwd()
    for command in COMMANDS:
        if names and command.name not in names:
            continue
        if command.official and DATA is None:
            print(f"{command.name}: left as it is, without official data")
            continue
        started = time.monotonic()
        with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched, redirect_stdout(StringIO()):
            found = play(command, Path(folder), DATA if command.official else None, patched)
            patched.chdir(here)
        seconds = time.monotonic() - started
        changed = len(differences(command.name, kept[command.name], found)) if command.name in kept else "all"
        print(f"{command.name}: {len(found['episodes'])} episodes, {seconds:.1f} s, {changed} changed", file=sys.stderr)
        kept[command.name] = found
    present = {command.name: kept[command.name] for command in COMMANDS if command.name in kept}
    (here / EXPECTED).write_text(json.dumps(present, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit("usage: python tests/test_golden.py --write [NAME…]")
    write(sys.argv[2:])
