"""`sociometer export`: writes runs to a file or a folder that other tools read."""

from collections.abc import Callable
from pathlib import Path

import click
from msgspec import Struct

from sociometer.adapters.hugging_face import publish
from sociometer.cli.options import json_option, open_stored, runs_argument, store_option
from sociometer.cli.output import option, tell
from sociometer.core.errors import UsageError, hint
from sociometer.core.lazy import require
from sociometer.core.sheets import folder_for
from sociometer.engine.replay import export_bundle
from sociometer.reporting.progress import working
from sociometer.results.export import export_run
from sociometer.store.bundle import ENDING
from sociometer.store.place import StorePlace
from sociometer.store.stored_run import StoredRun
from sociometer.store.studies import study_books


class _Chosen(Struct, frozen=True):
    """What to write, and how."""

    runs: list[StoredRun]
    to: Path
    task: str = ""
    without_keys: bool = False
    key: str = ""

    @property
    def run(self) -> StoredRun:
        """The only run."""
        if len(self.runs) != 1:
            raise UsageError(f"this format has one run, not {len(self.runs)}; give one RUN.")
        return self.runs[0]


def _rows(chosen: _Chosen) -> tuple[object, list[str]]:
    rows = export_run(chosen.run, chosen.to)
    return {"wrote": str(chosen.to), "rows": rows}, [f"wrote {chosen.to} ({rows} rows)"]


def _inspect(chosen: _Chosen) -> tuple[object, list[str]]:
    writer = require("inspect", "sociometer.adapters.inspect_export")
    rows = writer.export_log(chosen.run, chosen.to, chosen.task)
    return {"wrote": str(chosen.to), "rows": rows}, [f"wrote {chosen.to} ({rows} rows)"]


def _hugging_face(chosen: _Chosen) -> tuple[object, list[str]]:
    if chosen.to.is_file():
        raise UsageError(f"--to '{chosen.to}' is a file; give a folder.")
    done = publish(chosen.run, chosen.to, without_keys=chosen.without_keys)
    return done, [*(f"wrote {path}" for path in done.files), *([done.left_out] if done.left_out else [])]


def _bundle(chosen: _Chosen) -> tuple[object, list[str]]:
    root = export_bundle(chosen.run, chosen.to, key=chosen.key)
    said = f"root {root}" + (", signed" if chosen.key else "")
    how = f"others check it with: {hint('check', chosen.to.name)}"
    return {"wrote": str(chosen.to), "root": root}, [f"wrote {chosen.to}", said, how]


_FORMATS: dict[str, Callable[[_Chosen], tuple[object, list[str]]]] = {
    "rows": _rows, "inspect": _inspect, "hugging-face": _hugging_face, "run": _bundle,
}  # fmt: skip
_ENDINGS = {".jsonl": "rows", ".csv": "rows", ".parquet": "rows", ".eval": "inspect", ENDING: "run"}


def _export(
    runs: tuple[str, ...],
    to: Path,
    kind: str | None,
    task: str,
    without_keys: bool,
    sign: str,
    store: StorePlace | None,
    as_json: bool,
) -> None:
    kind = kind or _ENDINGS.get(to.suffix)
    if kind is None:
        endings = ", ".join(_ENDINGS)
        raise UsageError(f"'{to}' has none of the endings {endings}; for a dataset folder add --as hugging-face.")
    fitting = [ending for ending, one in _ENDINGS.items() if one == kind]
    if fitting and to.suffix not in fitting:
        raise UsageError(f"--as {kind} needs --to with the ending {', '.join(fitting)}, not '{to}'.")
    if task and kind != "inspect":
        raise UsageError("--task works only with an Inspect log (.eval); the other formats contain every task.")
    if without_keys and kind != "hugging-face":
        raise UsageError("--without-keys works only with --as hugging-face.")
    if sign and kind != "run":
        raise UsageError(f"--sign works only with a file that ends in {ENDING}.")
    folder_for(to)
    with open_stored(store) as engine, working(f"writing {to.name}"):
        for name in (name for book in study_books(engine.store.path) for name in book.names() if name in runs):
            raise UsageError(f"'{name}' is a study; to write it: {hint('study export', name, '--to', 'FOLDER')}")
        stored = [engine.stored(run) for run in dict.fromkeys(runs)]
        value, lines = _FORMATS[kind](_Chosen(stored, to, task, without_keys, sign))
    tell(as_json, value, *lines)


command = click.Command(
    "export",
    callback=_export,
    params=[
        runs_argument(required=True),
        option(
            "--to",
            "File to write: .jsonl, .csv or .parquet (one row per episode), .eval (an Inspect log),"
            f" {ENDING} (a run that others can check); or a folder with --as hugging-face.",
            type=click.Path(path_type=Path),
            required=True,
        ),
        option("--as kind", "Format, if not by the ending.", type=click.Choice(list(_FORMATS))),
        option("--task", "Task for an Inspect log, if the run has several.", default=""),
        option(
            "--without-keys", "Leave out everything that reveals the right answers of held-out items.", is_flag=True
        ),
        option("--sign", f"SSH key that signs a {ENDING} file.", default="", metavar="KEY"),
        store_option(),
        json_option(),
    ],
    help="Write RUN to a file. JSON lines contain items, outcomes and transcripts; CSV and Parquet contain scores."
    " Nothing is uploaded; official items are never in a dataset folder.",
)
