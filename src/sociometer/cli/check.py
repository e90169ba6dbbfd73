"""`sociometer check`: this machine, the store, an instrument, or the numbers in the file of somebody's run."""

import importlib.util
import platform
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import click
from msgspec import Struct, structs

from sociometer.cli.options import open_stored, store_option, store_path
from sociometer.cli.output import Display, TableCommand, display_options
from sociometer.core.card import Card
from sociometer.core.errors import ExitCode, SociometerError, UsageError, hint, install, unknown
from sociometer.core.measure import Table
from sociometer.core.version import __version__
from sociometer.core.words import counted
from sociometer.engine.data import data_root
from sociometer.engine.prices import read_prices, user_file
from sociometer.engine.replay import Checked, check_file
from sociometer.instruments import card_of, cards, load
from sociometer.models.files import local_models
from sociometer.models.registry import describe
from sociometer.reporting.progress import track, working
from sociometer.statistics.formatting import number
from sociometer.store.bundle import ENDING
from sociometer.store.place import StorePlace, StoreUrl
from sociometer.store.records import changed_code
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun
from sociometer.store.verify import verify_file, verify_run

_EXTRAS = {
    "xllamacpp": ("local", "runs GGUF models in process"),
    "transformers": ("hf", "runs open weights in process, in batches"),
    "pyarrow": ("frame", "gives data frames and exports to Parquet"),
    "psycopg": ("postgres", "keeps runs in PostgreSQL"),
}


class Finding(Struct, frozen=True):
    """One check; if a `needed` one fails, the exit code is 1."""

    what: str
    well: bool
    state: str
    next_step: str = ""
    needed: bool = False


def _check(what: str | None, runs: tuple[str, ...], store: StorePlace | None, display: Display) -> int:
    if runs and what != "store":
        raise UsageError(f"only 'check store' takes runs; check one at a time: {hint('check', str(what))}")
    if what is not None and what.endswith(ENDING):
        return _bundle(Path(what), display)
    if what is None:
        return _machine(store, display)
    if what == "store":
        return _store(runs, store, display)
    if what not in cards() and (Path(what).suffix or Path(what).is_file() or "://" in what):
        place = what if "://" in what or what.endswith(".db") else "FILE.db"
        raise UsageError(
            f"'{what}' is neither an instrument nor a {ENDING} file, which '{hint('export RUN --to', f'FILE{ENDING}')}'"
            f" writes. To check a store: {hint('check store --store', place)}"
        )
    if what not in cards() and not what.startswith("_"):
        raise unknown("instrument", what, cards(), f"To check a stored run: {hint('check store', what)}")
    return _instrument(what, display)


def _machine(store: StorePlace | None, display: Display) -> int:
    findings = [*_ground(store_path(store)), *_models(), *_extras(), *_data()]
    table = Table(
        "machine",
        f"Sociometer {__version__} on Python {platform.python_version()}",
        ("what", "ok", "state", "next step"),
        tuple((one.what, one.well, one.state, one.next_step or None) for one in findings),
    )
    display.show([table], finding=_finding(findings), limits=[len(findings)], data=findings)
    return int(ExitCode.GATE_FAILED if any(one.needed and not one.well for one in findings) else ExitCode.OK)


def _finding(findings: list[Finding]) -> str:
    """Whether everything required is set up, and how many optional parts are not."""
    missing = [one.what for one in findings if one.needed and not one.well]
    optional = sum(not one.needed and not one.well for one in findings)
    rest = f" {counted(optional, 'optional part is', 'optional parts are')} not set up." if optional else ""
    return (f"Required but not working: {', '.join(missing)}." if missing else "Everything required is set up.") + rest


def _ground(path: StorePlace) -> Iterator[Finding]:
    try:
        runs, kind = "none yet", f"SQLite {sqlite3.sqlite_version}"
        if path.exists():
            with Store(path) as store:
                count = sum(1 for _ in store.runs.all())
                runs = counted(count, "run")
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
        if entry.ready is None or entry.spec.startswith("baseline/"):
            continue
        model = local_models().get(entry.spec.removeprefix("local/"))
        if model is not None and model.repository and not entry.ready:
            continue
        step = f"export {entry.key_variable}=…" if entry.key_variable else hint("get model", entry.spec[6:])
        state = "ready" if entry.ready else f"{entry.key_variable} is not set" if entry.key_variable else "not fetched"
        yield Finding(f"model {entry.spec}", entry.ready, state, "" if entry.ready else step)


def _extras() -> Iterator[Finding]:
    for module, (extra, what) in _EXTRAS.items():
        present = importlib.util.find_spec(module) is not None
        step = "" if present else install(extra)
        yield Finding(f"extra {extra}", present, what if present else f"{module} is not installed; it {what}", step)


def _data() -> Iterator[Finding]:
    for card in cards().values():
        if files := card.files():
            here = sum((data_root() / file.name).exists() for file in files)
            step = "" if here == len(files) else hint("get data", card.name)
            yield Finding(f"data {card.name}", here == len(files), f"{here} of {len(files)} official files", step)


def _store(runs: tuple[str, ...], store: StorePlace | None, display: Display) -> int:
    """Checksums, scores against outcomes, and summaries against scores; of these runs, or of the whole store."""
    with open_stored(store) as engine:
        found = [] if runs else list(verify_file(engine.store))
        records = engine.resolver.parts_of(runs) or list(engine.store.runs.all())
        sound = [one for one in records if not one.damage]
        left_out = [one.id for one in sound if one.instrument not in cards() and one.manifest.card is None]
        past: list[str] = []
        for record in track([one for one in sound if one.id not in left_out], "checking runs"):
            run = engine.stored(record.id)
            found += verify_run(run)
            past += _not_computed(run)
    checked = len(sound) - len(left_out)
    rows = tuple((one.where, one.what, one.next_step) for one in found)
    table = Table("findings", "Findings", ("where", "what", "next step"), rows)
    absent = f"Not checked, because the instrument is not installed: {', '.join(left_out)}."
    display.show(
        [table] if found else [],
        finding=f"{counted(checked, 'run')} checked: {counted(len(found), 'finding') if found else 'no findings'}.",
        notes=[*([absent] if left_out else []), *dict.fromkeys(past)],
        data={"findings": found, "runs": checked, "left_out": left_out},
    )
    return int(ExitCode.GATE_FAILED if found else ExitCode.OK)


def _not_computed(run: StoredRun) -> Iterator[str]:
    """Why numbers of a run were not computed again, in a sentence each."""
    for why in run.past.values():
        yield f"{run.reference} was {why}: its numbers were not computed again."
    if run.tasks and run.of_other_version:
        yield (
            f"{run.reference} was made with {run.instrument} {run.version}, and {run.definition.card.version} is"
            " installed: its numbers were not computed again."
        )


def _bundle(path: Path, display: Display) -> int:
    """Whether the numbers of a run follow from its replies."""
    with working("checking"):
        bundle, done = check_file(path, load)
    run, config = bundle.run, bundle.run.manifest.config
    said = *_what_replies_say(done, card_of(config.instrument)), *changed_code(run.manifest)
    plan = f"plan {run.plan}"
    if not done.plan_agrees:
        plan = "The digest of the plan was not computed again: the file has fields that this version does not have."
    notes = [*said, plan, f"root {bundle.root}"]
    if config.until is not None and not done.why_not:
        notes.append("The run stopped early after comparisons with other runs; these are taken from the file.")
    data = {"file": path, "run": run.id, "plan": run.plan, "root": bundle.root, **structs.asdict(done)}
    who = f"{run.id} ({config.subject_label} on {config.instrument})"
    display.show([], finding=f"{who}: {done.finding}", notes=notes, data=data)
    return int(ExitCode.NOT_CHECKED if done.why_not else ExitCode.OK)


def _what_replies_say(done: Checked, card: Card) -> Iterator[str]:
    """What was compared with the manifest and may be honest: failures, served names, sampling, finish."""
    for name, value, worst in done.at_worst:
        task, _, measure = name.rpartition("/")
        unit = next((one.unit for one in card.measures_of(task) if one.name == measure), "number")
        said = "has no worst value" if worst is None else f"would be {number(worst, unit)}"
        yield f"{name} is {number(value, unit)} without the failed episodes; if all of them were wrong, it {said}."
    for what, count in done.served.items():
        yield f"Served name differs: {count} of {done.replies} replies, {what}."
    if done.unsaid:
        yield f"Sampling: {done.unsaid} of {done.replies} replies lack a parameter that the run sets."
    if others := {name: count for name, count in done.finishes.items() if name != "stop"}:
        yield f"Finish of {done.replies} replies: {', '.join(f'{name} {count}' for name, count in others.items())}."


def _instrument(name: str, display: Display) -> int:
    """Whether an instrument keeps its contract: it loads, and every task can be made, played and scored."""
    from sociometer.api import check  # here, since only this needs it

    table = check(name)
    good = all(row[1] is not False for row in table.rows)
    said = f"{name} keeps the contract of an instrument." if good else f"{name} does not keep the contract."
    play, other = hint("run", name, "--task", "TASK", "--model", "MODEL"), hint(name, "COMMAND")
    skipped = any(row[1] is None for row in table.rows)
    notes = [f"To play what is not checked, use '{play}' or '{other}'."] * skipped
    data = {"instrument": name, "good": good, "checks": table.records()}
    display.show([table], finding=said, notes=notes, limits=[len(table.rows)], data=data)
    return int(ExitCode.OK if good else ExitCode.GATE_FAILED)


command = TableCommand(
    "check",
    callback=_check,
    params=[
        click.Argument(["what"], required=False, metavar="[store|INSTRUMENT|FILE]"),
        click.Argument(["runs"], nargs=-1, metavar="[RUN…]"),
        store_option(),
        *display_options(),
    ],
    help="Check what is set up on this machine and what is missing; with 'store', the records of the store or of"
    f" RUN…; with the name of an instrument, whether it can be played and scored; with a FILE{ENDING}, whether the"
    " numbers of the run follow from its replies.",
)
