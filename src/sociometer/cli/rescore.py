"""`sociometer rescore`: recomputes the scores of stored runs from their outcomes."""

from pathlib import Path

import click

from sociometer.cli.options import open_stored, store_option, store_path
from sociometer.cli.output import Display, display_options, print_json
from sociometer.cli.summaries import finding, raw_table, run_json, summary_table
from sociometer.reporting.progress import track
from sociometer.store.place import StorePlace


def _rescore(
    runs: tuple[str, ...], store: StorePlace | None, everything: bool, csv: Path | None, as_json: bool
) -> None:
    with open_stored(store_path(store)) as engine:
        stored = [engine.stored(run) for run in runs]
        for one, task in track([(run, task) for run in stored for task in run.tasks], "rescoring"):
            one.rescore(task)
        if as_json:
            print_json([run_json(run) for run in stored])
            return
        Display(everything, csv).show(
            [summary_table(run) for run in stored],
            finding="\n".join(finding(run) for run in stored),
            files=[raw_table(stored)],
        )


command = click.Command(
    "rescore",
    callback=_rescore,
    params=[click.Argument(["runs"], nargs=-1, required=True), store_option(), *display_options()],
    help="Recompute the scores of RUNS from stored outcomes. Calls no model and reads no data file.",
)
