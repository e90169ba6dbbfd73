"""`sociometer compare`: runs paired by item, with a verdict in one sentence."""

from collections.abc import Sequence
from pathlib import Path

import click

from sociometer.analysis.compare import ComparedMeasure, Comparison, compare
from sociometer.analysis.verdict import amount, bracket, signed_amount
from sociometer.cli.chosen import candidates, chosen_runs, runs_argument, terms, terms_options
from sociometer.cli.opening import open_stored
from sociometer.cli.options import json_option, store_option, store_path
from sociometer.cli.output import print_json, print_line, print_table
from sociometer.core.errors import ExitCode, UsageError
from sociometer.core.measure import Cell, Table
from sociometer.report.page import p_text
from sociometer.report.strips import number

_GATE = "Exit code 1 when a later run is worse on a primary measure, or could not be compared at all."
_TESTED = ("difference", "interval", "p", "p Holm", "p BH", "effect", "would show")
_COUNTED = ("items", "clusters", "verdict")


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
    with open_stored(store_path(store)) as engine:
        found = compare(candidates(chosen_runs(engine, runs), task), wanted)
    if as_json:
        print_json(found)
    else:
        for comparison in found:
            _print(comparison)
    return int(ExitCode.GATE_FAILED if fail_if == "worse" and not _gate_holds(found) else ExitCode.OK)


def _gate_holds(found: Sequence[Comparison]) -> bool:
    """Whether no later run is worse; a comparison that was refused shows nothing, so it does not pass."""
    refused = [comparison for comparison in found if comparison.refused]
    if refused:
        names = ", ".join(f"{c.second} against {c.first} on {c.instrument}/{c.task}" for c in refused)
        click.echo(
            f"--fail-if worse does not hold: {len(refused)} of {len(found)} comparisons could not be made ({names}). "
            "Give runs that can be compared.",
            err=True,
        )
    return not refused and not any(comparison.worse for comparison in found)


def _print(comparison: Comparison) -> None:
    title = f"{comparison.instrument}/{comparison.task}: {comparison.second} against {comparison.first}"
    if comparison.measures:
        print_table(_table(comparison, title))
    else:
        print_line(title)
    print_line(comparison.sentence)
    for row in comparison.measures:
        if row.needed is not None and not row.group:
            margin = row.equivalence.margin if row.equivalence else 0.0
            print_line(f"To find {amount(margin, row.unit)} on {row.title.lower()}: about {row.needed} items.")
    print_line()


def _table(comparison: Comparison, title: str) -> Table:
    """One row a measure and level; equivalence and McNemar stand in it where some row has them."""
    same = any(row.equivalence for row in comparison.measures)
    binary = any(row.paired.mcnemar for row in comparison.measures)
    columns = (
        "measure",
        "of",
        comparison.first,
        comparison.second,
        *_TESTED,
        *(("same within", "p same") if same else ()),
        *(("only first : only second right", "p McNemar") if binary else ()),
        *_COUNTED,
    )
    rows = tuple(
        (*_tested(row), *(_same(row) if same else ()), *(_discordant(row) if binary else ()), *_counted(row))
        for row in comparison.measures
    )
    note = "; ".join(comparison.notes)
    return Table("compare", title, columns, rows, note[:1].upper() + note[1:])


def _tested(row: ComparedMeasure) -> tuple[Cell, ...]:
    """Values and their difference, in the measure's own unit: a difference of shares is in points, as its interval."""
    paired = row.paired
    return (
        row.title,
        ", ".join(row.group.values()) or "all",
        number(paired.first, row.unit),
        number(paired.second, row.unit),
        signed_amount(paired.difference, row.unit),
        bracket(paired.interval, row.unit),
        p_text(paired.p_value),
        p_text(row.p_holm),
        p_text(row.p_benjamini_hochberg),
        None if paired.effect is None else round(paired.effect, 3),
        None if row.detectable is None else amount(row.detectable, row.unit),
    )


def _same(row: ComparedMeasure) -> tuple[Cell, Cell]:
    """The two one-sided tests: the margin with yes or no, and their p."""
    found = row.equivalence
    if found is None:
        return None, None
    return f"{amount(found.margin, row.unit)}: {'yes' if found.equivalent else 'not shown'}", p_text(found.p_value)


def _discordant(row: ComparedMeasure) -> tuple[Cell, Cell]:
    """McNemar's counts and exact p, which takes items as independent."""
    found = row.paired.mcnemar
    return (None, None) if found is None else (f"{found.only_first} : {found.only_second}", p_text(found.p_exact))


def _counted(row: ComparedMeasure) -> tuple[Cell, ...]:
    return row.paired.items, row.paired.clusters, row.verdict


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
