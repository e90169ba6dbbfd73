"""`sociometer compare`: runs paired by item, with a verdict in one sentence."""

from pathlib import Path

import click

from sociometer.analysis.compare import ComparedMeasure, Comparison, compare
from sociometer.analysis.verdict import amount, bracket
from sociometer.cli.chosen import candidates, chosen_runs, runs_argument, terms, terms_options
from sociometer.cli.opening import open_engine
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_json, print_line, print_table
from sociometer.core.errors import ExitCode, UsageError
from sociometer.core.measure import Cell, Table

_COLUMNS = ("measure", "of", "first", "second", "difference", "interval", "p", "p Holm", "p BH", "effect")
_MORE = ("would show", "items", "clusters", "verdict")


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
    if len(set(runs)) < 2:
        raise UsageError("compare needs at least two runs: sociometer compare RUN RUN. `sociometer runs` lists them.")
    wanted = terms(margin, power, level)
    with open_engine(store_path(store)) as engine:
        found = compare(candidates(chosen_runs(engine, runs), task), wanted)
    if as_json:
        print_json(found)
    else:
        for comparison in found:
            _print(comparison)
    worse = fail_if == "worse" and any(comparison.worse for comparison in found)
    return int(ExitCode.GATE_FAILED if worse else ExitCode.OK)


def _print(comparison: Comparison) -> None:
    title = f"{comparison.instrument}/{comparison.task}: {comparison.second} against {comparison.first}"
    if comparison.measures:
        rows = tuple(_row(row) for row in comparison.measures)
        print_table(Table("compare", title, (*_COLUMNS, *_MORE), rows, "; ".join(comparison.notes)))
    else:
        print_line(title)
    print_line(comparison.sentence)
    for row in comparison.measures:
        if row.needed is not None and not row.group:
            margin = row.equivalence.margin if row.equivalence else 0.0
            print_line(f"To find {amount(margin, row.unit)} on {row.title.lower()}: about {row.needed} items.")
    print_line()


def _row(row: ComparedMeasure) -> tuple[Cell, ...]:
    paired = row.paired
    return (
        row.title,
        ", ".join(row.group.values()) or "all",
        paired.first,
        paired.second,
        paired.difference,
        bracket(paired.interval, row.unit),
        round(paired.p_value, 5),
        round(row.p_holm, 5),
        round(row.p_benjamini_hochberg, 5),
        None if paired.effect is None else round(paired.effect, 3),
        "–" if row.detectable is None else amount(row.detectable, row.unit),
        paired.items,
        paired.clusters,
        row.verdict,
    )


command = click.Command(
    "compare",
    callback=_compare,
    params=[
        runs_argument(required=True),
        click.Option(["--task"], default="", help="Only this task."),
        *terms_options(),
        click.Option(["--fail-if"], type=click.Choice(["worse"]), help="Exit code 1 when a later run is worse."),
        store_option(),
        json_option(),
    ],
    help="Compare runs item by item with the first one given; ids, beginnings of ids, 'last' or 'all'.",
)
