"""`sociometer record`: plays the items of the demonstration on a model and writes its replies to one small file."""

from pathlib import Path

import click

from sociometer.cli.demo import sample_config
from sociometer.cli.opening import open_engine
from sociometer.cli.options import json_option
from sociometer.cli.output import print_result
from sociometer.core.errors import ExitCode, UsageError
from sociometer.core.task import Result
from sociometer.instruments import cards
from sociometer.reporting.progress import ProgressDisplay


def _record(
    model: str, out: Path, title: str, licence: str, kept: Path | None, only: tuple[str, ...], play: bool, as_json: bool
) -> int:
    from sociometer.cli.run import exit_code
    from sociometer.models.recorded import ENDING, write_recording
    from sociometer.recordings import recorded_items, recorded_model
    from sociometer.store.records import RunStatus

    if not out.name.endswith(ENDING):
        raise UsageError(f"--out must end in {ENDING}, not '{out.name}'; give --out NAME{ENDING}.")
    place = kept or out.with_name(out.name.removesuffix(ENDING) + ".db")
    place.parent.mkdir(parents=True, exist_ok=True)
    configs = [sample_config(name, model) for name in (only or cards())]
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
        write_recording(out, recorded_model(runs, title or subject.name, licence), items)
    counts = ", ".join(
        f"{name} {sum(item.instrument == name for item in items)}"
        for name in cards()
        if any(item.instrument == name for item in items)
    )
    told = f"{len(items)} items: {counts}; {out.stat().st_size:,} bytes"
    print_result(Result(notes=(told,), wrote=(str(out),)), as_json)
    return code


command = click.Command(
    "record",
    callback=_record,
    params=[
        click.Option(["--model"], required=True, metavar="MODEL", help="Model to record, such as local/PATH.gguf."),
        click.Option(
            ["--out"],
            required=True,
            type=click.Path(path_type=Path, dir_okay=False),
            help="File to write.",
        ),
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
        click.Option(
            ["--play/--no-play"], default=True, help="Play missing items, or only write those already played."
        ),
        json_option(),
    ],
    help="Record a model's replies to the items that 'demo' plays, for --model recorded/FILE. Repeat the command to"
    " play only missing items.",
)
