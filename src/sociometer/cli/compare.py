"""`sociometer compare`: runs paired by item, with a verdict in one sentence."""

from collections.abc import Sequence
from pathlib import Path

import click

from sociometer.api import compare
from sociometer.cli.chosen import chosen_runs, runs_argument, terms_options
from sociometer.cli.comparison_tables import (
    complete_table,
    overall_rows,
    overview_table,
    pair_table,
    raw_table,
    verdict_sentences,
)
from sociometer.cli.opening import open_stored
from sociometer.cli.options import store_option, store_path
from sociometer.cli.output import SCREEN, Display, display_options, print_json, print_text
from sociometer.cli.table_text import harmless
from sociometer.core.errors import ExitCode
from sociometer.reporting.progress import working
from sociometer.results.comparison import FAMILIES, Comparison
from sociometer.statistics.formatting import amount, in_sentence
from sociometer.store.place import StorePlace

_PAIRS_IN_FULL = 2
_MOST_NEEDED = 6
_GATE = (
    "Condition for exit code 1: a later run is worse on a primary measure, or a comparison has no verdict (the runs "
    "cannot be compared, there are too few clusters, or a run lacks the task)."
)


def _compare(
    runs: tuple[str, ...],
    task: str,
    margin: float | None,
    power: float,
    level: float,
    fail_if: str | None,
    store: StorePlace | None,
    everything: bool,
    csv: Path | None,
    as_json: bool,
) -> int:
    with open_stored(store_path(store)) as engine:
        chosen = chosen_runs(engine, runs)
        with working("comparing runs"):
            compared = compare(*chosen, task=task, margin=margin, power=power, level=level)
    found = (*compared, *compared.lacking)
    if as_json:
        print_json(found)
    else:
        _print(compared.comparisons, Display(everything, csv))
        _print_lacking(compared.lacking)
        if everything and any(comparison.measures for comparison in compared):
            print_text(FAMILIES)
    return int(ExitCode.GATE_FAILED if fail_if == "worse" and not _gate_holds(found) else ExitCode.OK)


def _gate_holds(found: Sequence[Comparison]) -> bool:
    """Whether no later run is worse; a comparison without a verdict does not pass."""
    undecided = [comparison for comparison in found if comparison.undecided]
    if undecided:
        told = "; ".join(f"{c.second} against {c.first} on {c.instrument}/{c.task}: {c.undecided}" for c in undecided)
        click.echo(
            harmless(
                f"--fail-if worse fails: {len(undecided)} of {len(found)} comparisons have no verdict ({told}). "
                "Compare runs of the same test with more items, or choose one task with --task."
            ),
            err=True,
        )
    return not undecided and not any(comparison.worse for comparison in found)


def _print(compared: Sequence[Comparison], display: Display) -> None:
    """The verdicts first; then one or two pairs in full, or all pairs in one table."""
    needed = [
        f"To detect {amount(row.equivalence.margin, row.unit)} on {in_sentence(row.title)}: about {row.needed:,} items."
        for one in compared
        for row in one.measures
        if row.needed is not None and row.equivalence is not None and row.primary and not row.group
    ]
    able = [one for one in compared if one.measures]
    few = len(able) <= _PAIRS_IN_FULL
    tables = [pair_table(one) for one in able] if few else [overview_table(able)]
    display.show(
        tables,
        finding=verdict_sentences(compared),
        more=[complete_table(one) for one in able],
        notes=list(dict.fromkeys(needed))[:_MOST_NEEDED],
        limits=[min(SCREEN // len(able), overall_rows(one)) for one in able] if few else (),
        files=[raw_table(compared)],
    )


def _print_lacking(comparisons: Sequence[Comparison]) -> None:
    """One line per task: the subjects that have no run of it and so are not compared."""
    lacking: dict[str, list[str]] = {}
    for comparison in comparisons:
        lacking.setdefault(f"{comparison.instrument}/{comparison.task}", []).append(comparison.second)
    for task, who in lacking.items():
        print_text(
            f"{task}: not compared with {', '.join(who)}, which {'have' if len(who) > 1 else 'has'} no run of it."
        )


command = click.Command(
    "compare",
    callback=_compare,
    params=[
        runs_argument(required=True),
        click.Option(["--task"], default="", help="Task to compare [default: all]."),
        *terms_options(),
        click.Option(["--fail-if"], type=click.Choice(["worse"]), help=_GATE),
        store_option(),
        *display_options(),
    ],
    help="Compare runs item by item with the first RUN. RUN is an id, the start of an id, a name, 'last' or 'all'.",
)
