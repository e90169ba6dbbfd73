"""The gate of a build: whether a new run is worse than a stored one, or is shown not to be."""

from collections.abc import Sequence

from msgspec import Struct, structs

from sociometer.core.errors import UsageError
from sociometer.core.words import lowered
from sociometer.results.comparison import ComparedMeasure, Comparison, Terms
from sociometer.results.runs import Comparisons, compare_runs
from sociometer.statistics.formatting import amount
from sociometer.store.stored_run import StoredRun


class Gate(Struct, frozen=True):
    """The comparisons behind a gate, why it fails (empty if it holds), and what it could have seen."""

    compared: Comparisons
    failures: tuple[str, ...]
    could_see: str

    @property
    def holds(self) -> bool:
        """Whether the build passes."""
        return not self.failures


def gate(runs: Sequence[StoredRun], task: str, terms: Terms, *, no_worse: bool) -> Gate:
    """Whether later runs are worse than the first (`no_worse`: whether a loss of the margin is not ruled out).

    A false “worse” on any of several tasks fails the build, so the error rate is divided by their number. To pass
    `no_worse`, every task must rule the loss out, so there it need not be. A comparison without a verdict never passes.
    """
    compared = compare_runs(runs, task, terms)
    if no_worse and terms.margin is None:
        raise UsageError("--fail-unless no-worse needs --margin, the smallest loss that matters.")
    tasks = len({(one.instrument, one.task) for one in compared})
    if not no_worse and tasks > 1:
        terms = structs.replace(terms, level=1 - (1 - terms.level) / tasks)
        compared = compare_runs(runs, task, terms)
    failures = [failure for one in (*compared, *compared.lacking) if (failure := _failure(one, no_worse))]
    return Gate(compared, tuple(failures) or (() if any(compared) else ("the runs have no task in common",)),
                _could_see(compared))  # fmt: skip


def _failure(one: Comparison, no_worse: bool) -> str:
    """Why a comparison does not pass; empty if it does."""
    where = f"{one.second} against {one.first} on {one.where}"
    if one.undecided:
        return f"{where}: {one.undecided}"
    if not no_worse:
        return one.sentence if one.worse else ""
    open_rows = [row for row in one.primary_rows if not _rules_out(row)]
    said = ", ".join(
        f"a loss of {amount(row.margin, row.unit)} on {lowered(row.title)}" for row in open_rows if row.margin
    )
    return f"{where}: the data do not rule out {said}. {one.sentence}" if said else ""


def _rules_out(row: ComparedMeasure) -> bool:
    """Whether the interval excludes a loss as large as the margin; a measure without a margin does not count."""
    interval, margin = row.paired.interval, row.margin
    if margin is None:
        return True
    if interval.low is None or interval.high is None:
        return False
    return (row.better == "lower" or interval.low > -margin) and (row.better == "higher" or interval.high < margin)


def _could_see(compared: Comparisons) -> str:
    """The smallest loss that would have been seen on each task, in a sentence."""
    found = [
        f"{amount(row.detectable, row.unit, interval=row.paired.interval)} on {one.where}"
        for one in compared
        for row in one.primary_rows
        if row.detectable is not None
    ]
    seen = f"{', '.join(found[:6])}{f' and {len(found) - 6} more' if len(found) > 6 else ''}"
    return f"Smallest loss that would have been seen with 80 % power: {seen}." if found else ""
