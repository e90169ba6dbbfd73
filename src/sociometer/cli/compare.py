"""`sociometer compare`: runs paired by item, with a verdict in one sentence."""

from collections.abc import Sequence
from pathlib import Path

import click

from sociometer.analysis.comparison import Comparison
from sociometer.analysis.formatting import amount
from sociometer.api import compare
from sociometer.cli.chosen import chosen_runs, runs_argument, terms_options
from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import harmless, print_json, print_line, print_table
from sociometer.core.errors import ExitCode
from sociometer.reporting.comparison_table import FAMILIES, comparison_table

_GATE = (
    "Exit code 1 when a later run is worse on a primary measure, and where nothing can be said of one: runs that "
    "cannot be compared, too few clusters, a task that some of them lack."
)


def _compare(
    runs: tuple[str, ...],
    task: str,
    margin: float | None,
    power: float,
    level: float,
    fail_if: str | None,
    store: Path | None,
    as_json: bool,
) -> int:
    with open_stored(store_path(store)) as engine:
        compared = compare(*chosen_runs(engine, runs), task=task, margin=margin, power=power, level=level)
    found = (*compared, *compared.lacking)
    if as_json:
        print_json(found)
    else:
        for comparison in compared:
            _print(comparison)
        _print_lacking(compared.lacking)
        if any(comparison.measures for comparison in compared):
            print_line(FAMILIES)
    return int(ExitCode.GATE_FAILED if fail_if == "worse" and not _gate_holds(found) else ExitCode.OK)


def _gate_holds(found: Sequence[Comparison]) -> bool:
    """Whether no later run is worse; a comparison of which nothing can be said shows nothing, so it does not pass."""
    undecided = [comparison for comparison in found if comparison.undecided]
    if undecided:
        told = "; ".join(f"{c.second} against {c.first} on {c.instrument}/{c.task}: {c.undecided}" for c in undecided)
        click.echo(
            harmless(
                f"--fail-if worse does not hold: {len(undecided)} of {len(found)} comparisons say nothing ({told}). "
                "Give runs that can be compared, on more items; --task keeps to one task."
            ),
            err=True,
        )
    return not undecided and not any(comparison.worse for comparison in found)


def _print(comparison: Comparison) -> None:
    table = comparison_table(comparison)
    if comparison.measures:
        print_table(table)
    else:
        print_line(table.title)
    print_line(comparison.sentence)
    for row in comparison.measures:
        if row.needed is not None and not row.group:
            margin = row.equivalence.margin if row.equivalence else 0.0
            print_line(f"To find {amount(margin, row.unit)} on {row.title.lower()}: about {row.needed} items.")
    print_line()


def _print_lacking(comparisons: Sequence[Comparison]) -> None:
    """One line a task: who has no run of it, and so stands in no comparison."""
    lacking: dict[str, list[str]] = {}
    for comparison in comparisons:
        lacking.setdefault(f"{comparison.instrument}/{comparison.task}", []).append(comparison.second)
    for task, who in lacking.items():
        print_line(
            f"{task}: not compared with {', '.join(who)}, which {'have' if len(who) > 1 else 'has'} no run of it."
        )


command = click.Command(
    "compare",
    callback=_compare,
    params=[
        runs_argument(required=True),
        click.Option(["--task"], default="", help="Only this task."),
        *terms_options(),
        click.Option(["--fail-if"], type=click.Choice(["worse"]), help=_GATE),
        store_option(),
        json_option(),
    ],
    help="Compare runs item by item with the first one given; ids, beginnings of ids, 'last' or 'all'.",
)
