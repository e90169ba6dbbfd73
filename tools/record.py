"""Records a model for `make demo`: plays the items of the demonstration and writes the replies to one small file.

Repeat the command to play only missing items: python tools/record.py --model local/PATH.gguf --out FILE
"""

import re
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from msgspec import structs

from sociometer.cli.demo import sample_config
from sociometer.cli.options import json_option, open_engine
from sociometer.cli.output import Display, print_result
from sociometer.cli.run import exit_code
from sociometer.core.conversation import SUBJECT, Exchange
from sociometer.core.errors import ExitCode, SociometerError, UsageError
from sociometer.core.instrument import Result
from sociometer.core.sheets import whole_file
from sociometer.core.version import __version__
from sociometer.instruments import cards
from sociometer.models.recorded import ENDING, RecordedItem, RecordedModel, RecordedReply, digest, write_recording
from sociometer.reporting.progress import ProgressDisplay
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun


def _record(
    model: str,
    out: Path,
    title: str,
    licence: str,
    kept: Path | None,
    only: tuple[str, ...],
    options: str,
    play: bool,
    as_json: bool,
) -> int:
    if not out.name.endswith(ENDING):
        raise UsageError(f"--out must end in {ENDING}, not '{out.name}'; give --out NAME{ENDING}.")
    place = kept or out.with_name(out.name.removesuffix(ENDING) + ".db")
    place.parent.mkdir(parents=True, exist_ok=True)
    configs = [sample_config(name, model, options) for name in (only or cards())]
    code = int(ExitCode.OK)
    with ProgressDisplay(not play) as progress, open_engine(place, progress) as engine:
        plans = [engine.plan(config) for config in configs]
        subject = plans[0].bindings["subject"].player.identity
        for config in configs if play else ():
            played = engine.run(config)
            code = code or exit_code([played])
            if played.ending.status is RunStatus.STOPPED:
                break
        found = [engine.stored(record.id) for record in engine.store.runs.all()]
        runs = [run for run in found if run.manifest.roles["subject"].identity == subject]
        items = recorded_items(runs)
        if not items:
            raise UsageError(f"{place} has no finished item of '{model}'; nothing was written.")
        with whole_file(out) as partial:
            write_recording(partial, recorded_model(runs, title or subject.name, licence), items)
    counts = ", ".join(
        f"{name} {sum(item.instrument == name for item in items)}"
        for name in cards()
        if any(item.instrument == name for item in items)
    )
    told = f"{len(items)} items: {counts}; {out.stat().st_size:,} bytes"
    print_result(Result(notes=(told,), wrote=(str(out),)), Display("json" if as_json else "table"))
    return code


def recorded_items(runs: Iterable[StoredRun]) -> tuple[RecordedItem, ...]:
    """Each item that a run has a score for, once, with the subject's replies in the order they were asked for."""
    found: dict[tuple[str, str, str], RecordedItem] = {}
    for run in runs:
        config = run.manifest.config
        for task in run.tasks:
            for episode in run.episodes(task):
                place = (run.instrument, task, episode.item.id)
                if episode.score is not None and episode.repeat == 0:
                    found[place] = RecordedItem(
                        instrument=run.instrument, task=task, item=episode.item.id, seed=config.seed,
                        settings=dict(config.settings), replies=_replies(run, task, episode.item.id),
                    )  # fmt: skip
    return tuple(found[place] for place in sorted(found))


def recorded_model(runs: Sequence[StoredRun], model: str, licence: str = "") -> RecordedModel:
    """The model of the runs; an error if there are several, or if nothing names its weights."""
    revisions = {run.revision for run in runs}
    if len(revisions) != 1 or not all(revisions):
        raise UsageError(
            "a recording needs runs of one model with one revision (the digest of its weights, or what follows '#' in"
            f" its name); these runs are of: {', '.join(sorted({run.subject for run in runs}))}."
        )
    (revision,) = revisions
    weights = revision if re.fullmatch("[0-9a-f]{64}", revision) else ""
    latest = max(run.record.finished or run.record.created for run in runs)
    day = datetime.fromtimestamp(latest, UTC).strftime("%Y-%m-%d")
    return RecordedModel(model=model, sha256=weights, recorded=day, licence=licence, sociometer=__version__)


def _replies(run: StoredRun, task: str, item: str) -> tuple[RecordedReply, ...]:
    asked = [one for one in run.transcript(item, task) if isinstance(one, Exchange) and one.role == SUBJECT]
    return tuple(RecordedReply(digest(one.messages), structs.replace(one.reply, served_model="")) for one in asked)


command = click.Command(
    "record",
    callback=_record,
    params=[
        click.Option(["--model"], required=True, metavar="MODEL", help="Model to record, such as local/PATH.gguf."),
        click.Option(["--out"], required=True, type=click.Path(path_type=Path, dir_okay=False), help="File to write."),
        click.Option(["--title"], default="", help="Name of the model in tables and pages [default: its file name]."),
        click.Option(["--licence"], default="", help="Licence of the model, stored with the recording."),
        click.Option(
            ["--store", "kept"],  # not `store`: the project's store is not for recordings
            type=click.Path(path_type=Path, dir_okay=False),
            default=None,
            help="Store file for the runs [default: a file next to the recording].",
        ),
        click.Option(
            ["--only"],
            multiple=True,
            metavar="INSTRUMENT",
            help="Instrument to record; repeat for several [default: all].",
        ),
        click.Option(["--options"], default="", help="More options of 'run', as in '-o timeout=3600'."),
        click.Option(
            ["--play/--no-play"], default=True, help="Play missing items, or only write those already played."
        ),
        json_option(),
    ],
    help="Record a model's replies to the items that 'demo' plays, for --model recorded/FILE. Repeat the command to"
    " play only missing items.",
)

if __name__ == "__main__":
    try:
        sys.exit(command(standalone_mode=False))
    except SociometerError as error:
        sys.exit(f"error: {error}")
