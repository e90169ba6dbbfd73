"""Plays golden commands on scripted models and takes down what must stay as it is.

Of each episode five digests are kept, so that a difference can be located: what a server was
asked, the journal keys, the draw (content of the item, and what each role was shown, in which
order), the outcome and the score. Nothing that is kept depends on ids, times or the machine.
"""

import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from msgspec import Struct
from open_study import OpenStudy

from golden.answers import HOST, Server, connector_to, request_digest, short
from sociometer.cli.main import run_command
from sociometer.core.conversation import Exchange
from sociometer.core.session import DrawnRequest
from sociometer.core.task import Item
from sociometer.engine.replies import ServedModel
from sociometer.instruments import load
from sociometer.store.journal import Journal
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun

FOLDER = Path(__file__).parent
EXPECTED = FOLDER / "expected.json"
THINGS = ("request", "journal key", "draw", "outcome", "score")
KEYS = ("OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL", "DEEPSEEK", "GROQ")
"""The providers whose requests are among the golden ones, as the variables of their keys begin."""
PERSON = "human"
_VOLATILE = ("run", "seconds", "created")


class Golden(Struct, frozen=True, forbid_unknown_fields=True):
    """Some command lines on one store; each string of `words` is one."""

    name: str
    words: tuple[str, ...] = ()
    official: bool = False
    """Whether it needs official data; it is skipped without."""
    slow: bool = False
    codes: tuple[int, ...] = ()
    """The exit codes of the command lines; empty if all are 0."""
    files: dict[str, str] = {}
    """Files in the working folder."""
    study: str = ""
    """What `study create` is given; one person takes part."""


def golden_commands() -> list[Golden]:
    """All of `commands.toml`."""
    table = tomllib.loads((FOLDER / "commands.toml").read_text(encoding="utf-8"))
    return msgspec.convert(table["command"], list[Golden])


class KeyBook:
    """Journal keys without what depends on the run: replies of a run of its own have its id in their key."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.portable: dict[bytes, str] = {}
        self.read: list[str] = []
        """The keys whose replies were read from a journal since the list was emptied."""
        key_of = DrawnRequest.key
        asked = Journal.asked

        def key(drawn: DrawnRequest, scope: str) -> bytes:
            made = key_of(drawn, scope)
            shared = key_of(drawn, "").hex()
            if drawn.binding.player.identity.wire == PERSON:
                shared = "of a person, whose name is drawn"
            self.portable[made] = f"{shared}, for one run" if scope else shared
            return made

        def read_asked(journal: Journal, key: bytes, *more: Any) -> Any:
            self.read.append(self.portable[key])
            return asked(journal, key, *more)

        monkeypatch.setattr(DrawnRequest, "key", key)
        monkeypatch.setattr(Journal, "asked", read_asked)


def play(command: Golden, folder: Path, data: Path | None, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What there is after the command lines, in the form of `expected.json`."""
    store = folder / "store.db"
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SOCIOMETER_STORE", str(store))
    monkeypatch.setenv("SOCIOMETER_DATA", str(data or folder / "no-data"))
    monkeypatch.setenv("NO_PROXY", HOST)
    monkeypatch.delenv("VLLM_API_KEY", raising=False)
    for provider in KEYS:
        monkeypatch.setenv(f"{provider}_API_KEY", "golden-key")
    for name, text in command.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    # The golden server gives the digest of a request as the name of its model, so this name changes with each reply.
    monkeypatch.setattr(ServedModel, "check", lambda served, reply: None)
    keys = KeyBook(monkeypatch)
    with _server(monkeypatch) as server:
        codes = command.codes or (0,) * len(command.words)
        for words, code in zip(command.words, codes, strict=True):
            got = run_command(_typed(words.replace("{data}", str(data))))
            assert got == code, f"{command.name}: 'sociometer {words}' ended with {got}, not {code}"
        if command.study:
            _take_part(store, command.study)
        asked = [request_digest(request.path, request.body) for request in server.received]
    return _taken_down(store, keys, asked)


@contextmanager
def _server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with Server() as server:
        monkeypatch.setattr(aiohttp, "TCPConnector", connector_to(server.port))
        yield server


def _typed(words: str) -> list[str]:
    """The words of a command line; `{NAME}` is a model of the server, `{NAME?}` one without a revision."""
    typed = []
    for word in words.split():
        start, brace, model = word.partition("{")
        if brace:
            name = model.rstrip("}")
            revision = "" if name.endswith("?") else "#1"
            word = f"{start}vllm/{name.rstrip('?')}@http://{HOST}/v1{revision}"
        typed.append(word)
    return typed


def _take_part(store: Path, options: str) -> None:
    with OpenStudy(store, *options.split()) as opened:
        person = opened.person().join()
        while person.answer():
            pass


def _taken_down(path: Path, keys: KeyBook, asked: list[str]) -> dict[str, Any]:
    store = Store(path)
    try:
        episodes: dict[str, str] = {}
        measures: dict[str, Any] = {}
        files: dict[str, str] = {}
        records = list(store.runs.all())
        runs = [record.id for record in records]
        for number, record in enumerate(records, 1):
            run = StoredRun(store, record, load(record.instrument, record.manifest.card))
            files |= record.manifest.data_files
            for task in run.all_tasks:
                measures[f"{number} {task}"] = _measures(run, task)
                for place, digests in _episodes(run, task, keys, runs):
                    episodes[f"{number} {task} {place}"] = digests
    finally:
        store.close()
    journal = sorted(keys.portable.values())
    return {
        "files": {name: checksum[:8] for name, checksum in sorted(files.items())},
        "requests": f"{len(asked)} {short(sorted(asked))}",
        "keys": f"{len(journal)} {short(journal)}",
        "measures": measures,
        "episodes": dict(sorted(episodes.items())),
    }


def _measures(run: StoredRun, task: str) -> list[str]:
    """The task's primary measures over all items, each with its value and interval."""
    card = run.definition.card
    primary = {measure.name for measure in card.measures_of(task) if measure.primary}
    lines = []
    for measure in run.summary(task).measures:
        if measure.name in primary and not measure.group:
            interval = measure.interval
            bounds = [interval.low, interval.high] if interval else []
            lines.append(" ".join(map(str, (measure.name, rounded([measure.value, *bounds])))))
    return lines


def _episodes(run: StoredRun, task: str, keys: KeyBook, runs: list[str]) -> Iterator[tuple[str, str]]:
    for episode in run.episodes(task):
        keys.read.clear()
        events = run.transcript(episode.item.id, task, episode.repeat)
        exchanges = [event for event in events if isinstance(event, Exchange)]
        shown = [[one.role, one.branch, plain(one.messages)] for one in exchanges]
        notes = [plain(event) for event in events if not isinstance(event, Exchange)]
        failure = episode.failure.kind if episode.failure else ""
        things = (
            sorted(one.reply.served_version or one.reply.served_model for one in exchanges),
            sorted(keys.read),
            [_content(episode.item, runs), _in_any_order(shown), _in_any_order(notes)],
            [failure, plain(episode.outcome)],
            plain(episode.score),
        )
        yield f"{episode.item.id} {episode.repeat}", " ".join(short(thing)[:8] for thing in things)


def _content(item: Item, runs: list[str]) -> str:
    """What `content_digest` is made of; items of an analysis name the run that they are about."""
    text = json.dumps(rounded(msgspec.to_builtins(item.compared())), sort_keys=True)
    for number, run in enumerate(runs, 1):
        text = text.replace(run, f"run {number}")
    return text


def _in_any_order(values: list[Any]) -> list[str]:
    """Branches of an item are played at once, so their events have no order."""
    return sorted(short(value) for value in values)


def plain(value: Any) -> Any:
    """A record as JSON has it, without times and ids; floats have nine digits."""
    return rounded(msgspec.to_builtins(value))


def rounded(value: Any) -> Any:
    """The last digits of a float depend on the machine."""
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, dict):
        return {str(name): rounded(inner) for name, inner in value.items() if name not in _VOLATILE}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    return value


def differences(name: str, expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """What differs, in a sentence each."""
    sentences = []
    before, now = expected["episodes"], found["episodes"]
    for place in sorted(before.keys() | now.keys()):
        if place not in now:
            sentences.append(f"{name}: {_where(place)} is not played any more.")
        elif place not in before:
            sentences.append(f"{name}: {_where(place)} was not played before.")
        elif before[place] != now[place]:
            pairs = zip(THINGS, before[place].split(), now[place].split(), strict=True)
            changed = [thing for thing, old, new in pairs if old != new]
            sentences.append(f"{name}: {_where(place)} has another {', '.join(changed)}.")
    for place in sorted(expected["measures"].keys() | found["measures"].keys()):
        old = expected["measures"].get(place)
        new = found["measures"].get(place)
        if old != new:
            run, task = place.split()
            sentences.append(f"{name}: the measures of task '{task}' of run {run} are {new}, not {old}.")
    if expected["files"].keys() != found["files"].keys():
        sentences.append(f"{name}: it reads {[*found['files']]}, not {[*expected['files']]}.")
    for thing in ("requests", "keys"):
        if expected[thing] != found[thing]:
            old, new = expected[thing], found[thing]
            sentences.append(f"{name}: all {thing} together are '{new}', not '{old}' (count and digest).")
    return sentences


def other_files(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Official files that are not those for which the numbers were written."""
    files = found["files"]
    return [name for name, old in expected["files"].items() if files.get(name, old) != old]


def _where(place: str) -> str:
    run, task, rest = place.split(" ", 2)
    item, _, repeat = rest.rpartition(" ")
    return f"item '{item}' (task '{task}', run {run}, repeat {repeat})"


def official_folder() -> Path | None:
    """The folder of official data; None without one."""
    folder = Path(os.environ.get("SOCIOMETER_DATA") or "no-such-folder")
    return folder if folder.is_dir() else None
