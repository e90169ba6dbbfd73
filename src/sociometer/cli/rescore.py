"""`sociometer rescore`: rebuilds every number of a run from what was played."""

from pathlib import Path

import click

from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_json, print_table
from sociometer.cli.summaries import run_json, summary_table


def _rescore(runs: tuple[str, ...], store: Path | None, as_json: bool) -> None:
    with open_stored(store_path(store)) as engine:
        stored = [engine.stored(run) for run in runs]
        for run in stored:
            for task in run.tasks:
                run.rescore(task)
        if as_json:
            print_json([run_json(run) for run in stored])
            return
        for run in stored:
            for task in run.tasks:
                print_table(summary_table(run, task))


command = click.Command(
    "rescore",
    callback=_rescore,
    params=[click.Argument(["runs"], nargs=-1, required=True), store_option(), json_option()],
    help="Score RUNS anew, offline: no model is asked and no data file is read.",
)
