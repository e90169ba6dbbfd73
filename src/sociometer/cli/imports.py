"""`sociometer import csv FILE…`: scores of any test from a table."""

from pathlib import Path

import click

from sociometer.adapters.csv_scores import import_csv
from sociometer.cli.options import open_engine, stored_command
from sociometer.cli.output import Group, option, print_json, print_table, print_text
from sociometer.core.errors import ExitCode, UsageError
from sociometer.results.summaries import run_json, summary_table
from sociometer.store.place import StorePlace
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun


def _import_csv(
    files: tuple[Path, ...], benchmark: str, lower_is_better: bool, scale: str, store: StorePlace | None, as_json: bool
) -> int:
    tables = _tables(files)
    with open_engine(store) as engine:
        stored = {record.id for record in engine.store.runs.all() if record.status is not RunStatus.PLAYING}
        runs: dict[str, StoredRun] = {}
        failed: list[dict[str, str]] = []
        for file in tables:
            try:
                read = import_csv(engine, file, benchmark=benchmark, lower_is_better=lower_is_better, scale=scale)
            except UsageError as error:
                if len(tables) == 1:
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


def _tables(given: tuple[Path, ...]) -> list[Path]:
    """The files that were given; a folder means the tables in it."""
    tables: list[Path] = []
    for path in given:
        if not path.exists():
            raise UsageError(f"there is no such file or folder '{path}'; give *.csv.")
        if not path.is_dir():
            tables.append(path)
            continue
        inside = sorted(path.rglob("*.csv"))
        if not inside:
            raise UsageError(f"the folder '{path}' has no *.csv; give a file or another folder.")
        tables += inside
    return tables


command = Group(
    "import",
    commands=[
        stored_command(
            "csv",
            _import_csv,
            "Import a table with the columns item, subject, score and, if items share something, cluster. The runs can"
            " be shown, compared, ranked and reported like any other.",
            click.Argument(["files"], nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…"),
            option("--benchmark", "Name of the test [default: the file name].", default=""),
            option("--lower-is-better", "Treat lower scores as better.", is_flag=True),
            option(
                "--scale",
                "Lowest and highest possible score [default: 0:1 if all scores are between, else unknown].",
                default="",
                metavar="LOW:HIGH",
            ),
        )
    ],
    help="Import scores of any test from a table.",
)
