"""`sociometer paper`: an instrument's paper filled from your runs, recomputed, or its models run again."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from sociometer.api import paper
from sociometer.cli.chosen import chosen_runs, means_all, runs_argument
from sociometer.cli.options import open_stored, store_option, store_path
from sociometer.cli.output import Display, Group, TableCommand, display_options, option, print_result
from sociometer.cli.project import with_project
from sociometer.cli.replicate import REPLICATE
from sociometer.cli.reproduce import REPRODUCE
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Result
from sociometer.engine.engine import Engine
from sociometer.instruments import card_of
from sociometer.reporting.progress import working
from sociometer.store.place import StorePlace
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.stored_run import StoredRun


def _paper(
    instrument: str,
    runs: tuple[str, ...],
    folder: Path,
    models: Path | None,
    published: bool,
    store: StorePlace | None,
    display: Display,
) -> int:
    name = card_of(instrument).name
    with open_stored(store_path(store)) as engine:
        chosen = _runs(engine, name, runs)
        with working("writing tables and figures"):
            pack = paper(chosen, folder, models=models, published=published)
    missing = [part.label for part in pack.parts if not part.files]
    said = f"{len(pack.parts) - len(missing)} of {len(pack.parts)} tables and figures of the paper were written."
    notes = [f"Not written: {', '.join(missing)}. README.md in the folder says why."] if missing else []
    wrote = pack.files if display.as_json else (f"{folder} ({len(pack.files)} files)",)
    result = Result((pack.table(),), tuple(notes), wrote=wrote, finding=said, data={"parts": list(pack.parts)})
    return print_result(result, display)


def _runs(engine: Engine, instrument: str, references: Sequence[str]) -> list[StoredRun]:
    """The named runs; without names or with `all`, the most complete run of each subject, task and setting."""
    if references and not means_all(references):
        return chosen_runs(engine, references, instrument=instrument)
    fullest: dict[tuple[object, ...], tuple[tuple[bool, int, float], RunRecord]] = {}
    for record in engine.store.runs.all():
        analysis = bool(record.manifest.given_items)
        if record.instrument != instrument or record.manifest.card is not None or not (record.subject or analysis):
            continue
        config = record.manifest.config
        roles = tuple(sorted((role, who.label) for role, who in record.manifest.roles.items()))
        kind: tuple[object, ...] = (
            record.subject,
            config.tasks,
            tuple(sorted(config.settings.items())),
            config.official,
            roles,
        )
        if analysis:
            # Analyses of different runs of a subject differ in their items only.
            kind += (_first_item(engine.stored(record.id)),)
        weight = (record.status is RunStatus.FINISHED, engine.store.totals(record).done, record.created)
        if kind not in fullest or weight > fullest[kind][0]:
            fullest[kind] = (weight, record)
    if not fullest:
        raise UsageError(
            f"the store has no run of {instrument}. Start one with: sociometer run {instrument} --model MODEL"
        )
    return [engine.stored(record.id) for _, record in fullest.values()]


def _first_item(run: StoredRun) -> bytes:
    """The first item of a run, with everything in it."""
    first = next(run.episodes(), None)
    return b"" if first is None else msgspec.json.encode(first.item)


_TABLES = TableCommand(
    "tables",
    callback=_paper,
    params=[
        click.Argument(["instrument"]),
        runs_argument(),
        option(
            "--to folder",
            "Folder to write: new, empty, or written by 'paper' before, whose files are then replaced.",
            type=click.Path(path_type=Path),
            required=True,
        ),
        option(
            "--models",
            "CSV file with a column `model` and facts about models that the paper shows next to the scores.",
            type=click.Path(path_type=Path, dir_okay=False, exists=True),
        ),
        option("--published", "Add the rows that the paper prints to its tables.", is_flag=True),
        store_option(),
        *display_options(to=False),
    ],
    help="Write every table (CSV, LaTeX) and figure (SVG, PDF) of INSTRUMENT's paper from the given runs, with a text"
    " on how each was computed and what is missing. Without RUN, use the most complete run of each subject and"
    " setting.",
)

command = Group(
    "paper",
    commands=[with_project(_TABLES), REPRODUCE, with_project(REPLICATE)],
    help="Fill the tables and figures of an instrument's paper from your runs, recompute its published figures, or run"
    " its models again.",
)
