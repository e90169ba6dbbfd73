"""`sociometer import run|csv FILE…`: others' runs, and scores of any test from a table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from msgspec import structs

from sociometer.adapters.csv_scores import import_csv
from sociometer.cli.options import open_engine, stored_command
from sociometer.cli.output import Group, option, print_json, print_table, print_text
from sociometer.core.errors import ExitCode, UsageError, hint
from sociometer.engine.engine import Engine
from sociometer.engine.replay import check_bundle
from sociometer.instruments import load
from sociometer.results.summaries import run_json, summary_table
from sociometer.store.bundle import ENDING, BundleError, Difference, read_bundle
from sociometer.store.place import StorePlace
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun

FORMATS = {
    "run": (f"runs that others exported (FILE{ENDING}), after checking them", f"*{ENDING}"),
    "csv": ("a table with the columns item, subject, score and, if items share something, cluster", "*.csv"),
}
"""What each format is, and the names of its files in a folder."""
Reader = Callable[[Engine, Path, dict[str, Any]], list[StoredRun]]


def format_command(name: str) -> click.Command:
    """The command that imports files of one format."""

    def call(files: tuple[Path, ...], store: StorePlace | None, as_json: bool, **options: Any) -> int:
        found = _found(name, files)
        if len(found) > 1 and options.get("name"):
            raise click.UsageError("--name works with a single file; import the files one by one.")
        with open_engine(store) as engine:
            stored = {record.id for record in engine.store.runs.all() if record.status is not RunStatus.PLAYING}
            runs: dict[str, StoredRun] = {}
            failed: list[dict[str, str]] = []
            for file in found:
                try:
                    read = _READERS[name](engine, file, options)
                except (UsageError, Difference) as error:
                    if len(found) == 1:
                        raise
                    said = str(error) if str(file) in str(error) else f"{file}: {error}"
                    failed.append({"file": str(file), "error": said})
                    print_text(f"error: {said}", err=True)
                    continue
                for run in read:
                    if run.id in stored or run.id in runs:
                        print_text(f"{file}: run {run.id} is already in the store.", err=True)
                    runs[run.id] = run
            if as_json:
                print_json([*({**run_json(run), "already_stored": run.id in stored} for run in runs.values()), *failed])
            else:
                for run in runs.values():
                    for task in run.tasks:
                        print_table(summary_table(run, task))
            return int(ExitCode.GATE_FAILED if failed else ExitCode.OK)

    files = click.Argument(["files"], nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
    scale = option(
        "--scale",
        "Lowest and highest possible score [default: 0:1 if all scores are between, else unknown].",
        default="",
        metavar="LOW:HIGH",
    )
    run_name = option("--name", "Name of the run, to use in place of its id.", default="")
    text = f"Import {FORMATS[name][0]}. The runs can be shown, compared, ranked and reported like any other."
    own = [*_TABLE_OPTIONS, scale] if name == "csv" else []
    return stored_command(name, call, text, files, *own, run_name)


def _found(name: str, given: tuple[Path, ...]) -> list[Path]:
    """The files that were given; a folder means the files of the format that are in it."""
    found: list[Path] = []
    for path in given:
        _, *patterns = FORMATS[name]
        if not path.exists():
            raise UsageError(f"there is no such file or folder '{path}'; give {' or '.join(patterns)}.")
        inside = sorted(one for like in patterns for one in path.rglob(like)) if path.is_dir() else [path]
        if not inside:
            raise UsageError(f"the folder '{path}' has no {' or '.join(patterns)}; give a file or another folder.")
        found += inside
    return found


_TABLE_OPTIONS = (
    option("--benchmark", "Name of the test [default: the file name].", default=""),
    option("--lower-is-better", "Treat lower scores as better.", is_flag=True),
)


def _bundle(engine: Engine, file: Path, options: dict[str, Any]) -> list[StoredRun]:
    bundle = read_bundle(file)
    manifest = bundle.run.manifest
    name = options["name"] or manifest.config.name
    for record in (one for one in engine.store.runs.all() if one.id == bundle.run.id):
        if record.status is not RunStatus.PLAYING or not record.manifest.imported:
            if options["name"] not in ("", record.manifest.config.name):
                rename = hint("store rename", record.id, options["name"])
                raise UsageError(f"run {record.id} is already in the store; to rename it: {rename}")
            return [engine.stored(record.id)]
        with engine.store.hold(record.id):  # an import that was killed
            engine.store.runs.delete(record.id)
    if name:
        engine.check_name(name, option="--name")
    named = structs.replace(manifest, config=structs.replace(manifest.config, name=name))
    bundle = structs.replace(bundle, run=structs.replace(bundle.run, manifest=named))
    done = check_bundle(bundle, load, engine.store, f"{file.name} {bundle.root}")
    if done.why_not:
        raise BundleError(f"{file}: its numbers cannot be recomputed here, so it is not imported: {done.why_not}")
    print_text(f"Imported {bundle.run.id}: {done.finding[:-1]}; root {bundle.root[:12]}….", err=True)
    return [engine.stored(bundle.run.id)]


_READERS: dict[str, Reader] = {"run": _bundle, "csv": lambda engine, file, options: import_csv(engine, file, **options)}

command = Group(
    "import",
    commands=[format_command(name) for name in FORMATS],
    help="Read others' runs, and scores of any test from a table.",
)
