"""`sociometer demo`: ranks released results, plays all instruments with a recorded model, and writes the page."""

import os
import shlex
import shutil
import sys
import time
import webbrowser
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from msgspec import structs

from sociometer.adapters.csv_scores import import_csv
from sociometer.cli.options import detail_values, json_option, open_engine
from sociometer.cli.output import option, print_json, print_table, print_text
from sociometer.cli.run import command as run_command
from sociometer.cli.run import configs_of, exit_code
from sociometer.core.card import Card
from sociometer.core.config import RunConfig
from sociometer.core.errors import ExitCode
from sociometer.core.hints import use_store
from sociometer.core.sheets import folder_for
from sociometer.core.version import __version__
from sociometer.core.words import counted
from sociometer.engine.engine import Engine
from sociometer.engine.recordings import matching
from sociometer.instruments import card_of, cards, load
from sociometer.models.recorded import ModelRecording, bundled, load_recording
from sociometer.reporting.page import write_report
from sociometer.results.leaderboard import leaderboard, leaderboard_sentence, leaderboard_table
from sociometer.results.runs import candidates
from sociometer.results.summaries import joint_table
from sociometer.statistics.intervals import MINIMUM_CLUSTERS
from sociometer.store.stored_run import StoredRun

ORACLE, GUESSER = "baseline/oracle", "baseline/random"
RELEASED = Path(__file__).parent / "released" / "sage-feelings.csv"
_SOURCE = (
    "the dialogues that the authors of SAGE released (Tencent/digitalhuman, MIT): six models talk with the authors'"
    " simulated person, played by DeepSeek-V3, and the score is the person's final feeling, from 0 to 100"
)
_ABOUT = (
    "how a simulated person feels after a conversation with the model, from 0 to 100: results released by the authors"
    " of SAGE"
)
_SCORE = "Person's final feeling"
Say = Callable[[str], None]


def sample_config(instrument: str, model: str, options: str = "", **changes: Any) -> RunConfig:
    """The run of the demonstration's sample of an instrument (`demo` on its card) on a model, with more options."""
    words = [instrument, "--model", model, "--repeats", "1", *card_of(instrument).demo.split(), *options.split()]
    values = dict(run_command.make_context("run", words).params)
    values.update(detail_values(values.pop("details", ())))
    return structs.replace(configs_of(values.pop("instruments"), values)[0], **changes)


class _Demo:
    """Plays the samples into one store; `runs` has them by instrument and model."""

    def __init__(self, engine: Engine, recordings: Mapping[str, ModelRecording], say: Say) -> None:
        """`recordings` are named as `--model` names them."""
        self._engine, self._recordings, self._say = engine, recordings, say
        self.runs: dict[str, dict[str, StoredRun]] = {}
        self.code = int(ExitCode.OK)

    def play(self) -> bool:
        """Plays the samples of all instruments; false if the user stopped it."""
        for card in cards().values():
            played = self.runs.setdefault(card.name, {})
            recorded = self._recorded_items(card)
            if _talks(card):  # a rehearsal without a simulator: only its dialogue is shown
                model, items = next(iter(recorded.items()), (GUESSER, ()))
                name = _name(self._recordings[model]) if items else ""
                self._run(played, card, model, items=items[:1], limit=None if items else 1, name=name)
                continue
            # The same items for all, so that they can be ranked; the whole sample where too few are recorded.
            shared = [item for item in next(iter(recorded.values()), ()) if all(item in of for of in recorded.values())]
            same: dict[str, Any] = {}
            if len(shared) >= MINIMUM_CLUSTERS:
                same = {"items": tuple(shared), "limit": None}
                for model in recorded:
                    self._run(played, card, model, **same, name=_name(self._recordings[model]))
            for model in (ORACLE, GUESSER):
                self._run(played, card, model, **same)
        return self.code != ExitCode.INTERRUPTED

    def _recorded_items(self, card: Card) -> dict[str, tuple[str, ...]]:
        """The recorded items that still match, by recording; prints how many do not."""
        items: dict[str, tuple[str, ...]] = {}
        for model, recording in self._recordings.items():
            found = matching(recording, load, card.name)
            if found.changed:
                self._say(f"{card.name}: {counted(len(found.changed), 'item')} left out: changed since the recording.")
            if found.items:
                items[model] = tuple(item.item for item in found.items)
        return items

    def _run(self, played: dict[str, StoredRun], card: Card, model: str, **changes: Any) -> None:
        found = self._engine.play_plan(self._engine.plan(sample_config(card.name, model, **changes)))
        played[model], self.code = found.run, self.code or exit_code([found])


def _name(recording: ModelRecording) -> str:
    model = recording.about.model
    name, _, kind = model.replace("Language model by hand", "recorded model").partition(", ")
    return f"{model} (recorded)" if recording.about.sha256 else f"{name} ({kind})" if kind else model


def _talks(card: Card) -> bool:
    return any(role.name == "simulator" for role in card.role)


def _demo(folder: Path, as_json: bool) -> int:
    def say(text: str) -> None:
        print_text(text, err=as_json)

    begun = time.monotonic()
    recordings = {f"recorded/{name}": load_recording(name) for name in bundled()}
    folder_for(folder / "demo.db", within=folder)
    store, page = folder / "demo.db", folder / "report.html"
    use_store(str(store), "--store", str(store))
    with open_engine(store) as engine:
        released = import_csv(
            engine, RELEASED, benchmark="SAGE dialogues", scale="0:100", origin=_SOURCE, about=_ABOUT, title=_SCORE
        )
        board = leaderboard(candidates(released))
        say("Sociometer measures the social intelligence of language models.")
        said = leaderboard_sentence(board).partition(": ")[2]
        say(f"\nA real result, how a simulated person feels (0 to 100) after talks released by SAGE's authors. {said}")
        if not as_json:
            shown = leaderboard_table(board).only((1, 2, 3, 4))
            print_table(structs.replace(shown, title="", note=""), piped=False)
        demo = _Demo(engine, recordings, say)
        if not demo.play():
            return demo.code
        # The released results first, then the recorded subjects before the baselines: the page keeps this order.
        order = (*recordings, ORACLE, GUESSER)
        played = [runs[one] for one in order for runs in demo.runs.values() if one in runs]
        scored = [run for run in played if not _talks(run.definition.card)]  # a rehearsal has no score
        table = joint_table(scored)
        if not as_json:
            say(f"Samples, too small to measure: a recorded model and {GUESSER}. A talk of SAGE is on the page.")
            recorded = {name for name, runs in demo.runs.items() if order[0] in runs}
            two = [run for run in scored if run.manifest.config.subject in (order[0], GUESSER)]
            two = [run for run in two if run.instrument in recorded]
            print_table(structs.replace(joint_table(two), title="", note=""), piped=False)
        now = datetime.now(UTC)
        samples = {run.id for run in played}
        write_report([*released, *played], page, made=f"{now.day} {now:%B %Y}", version=__version__, samples=samples)
        say(f"Wrote the page in {time.monotonic() - begun:.0f} s: {page.resolve()}")
        if not as_json and can_show_pages():
            webbrowser.open(page.resolve().as_uri())
    if as_json:
        print_json({"released": board, "table": table, "finding": said, "page": str(page), "store": str(store)})
    else:
        say(f"Next, every question and reply in the browser: {_typed()} view --store {shlex.quote(str(store))}")
        say(f"Next, your own model: {_typed()} run sesi --model NAME; names: {_typed()} list models")
    return demo.code


def can_show_pages() -> bool:
    """Whether somebody sits at this machine and has a browser: not in CI, in a pipe or on another machine."""
    away = any(os.environ.get(name) for name in ("CI", "SSH_CONNECTION")) or not sys.stdout.isatty()
    display = sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return display and not away


def _typed() -> str:
    """What the user types to call Sociometer: its name, or its path if it is not on PATH."""
    called = sys.argv[0]
    return called if called.endswith("/sociometer") and shutil.which("sociometer") is None else "sociometer"


command = click.Command(
    "demo",
    callback=_demo,
    params=[
        option(
            "--to folder",
            "Folder for the store and the page.",
            type=click.Path(path_type=Path, file_okay=False),
            default="demo",
        ),
        json_option(),
    ],
    help="Rank six models by dialogues that the authors of SAGE released, play a sample of every instrument with a"
    " recorded model, an oracle and a guesser, and write the page. It needs no key and no GPU.",
)
