"""Simulators compared: rank agreement and leniency; their command."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Result
from sociometer.core.measure import EXPANDED_BOOTSTRAP, Cell, Interval, Table
from sociometer.core.settings import Settings
from sociometer.instruments.sage import samples
from sociometer.instruments.sage.leaderboard import ends
from sociometer.statistics import intervals
from sociometer.statistics.formatting import estimate, stand_in_notes
from sociometer.statistics.paired import PairedDifference, paired_difference
from sociometer.statistics.ranking import rank_correlations

DRAWS = 4_000


class Played(Struct, frozen=True):
    """The final emotion of one dialogue, and who played it."""

    subject: str
    scenario: str
    simulator: str
    final: float
    cluster: str = ""


class Cube(Struct, frozen=True, eq=False):
    """Mean final emotions, scenarios × subjects × simulators; NaN where nothing was played."""

    subjects: tuple[str, ...]
    scenarios: tuple[str, ...]
    simulators: tuple[str, ...]
    clusters: tuple[str, ...]
    cells: intervals.Floats


class Leniency(Struct, frozen=True):
    """How much more lenient a simulator is than the reference, on shared dialogues; `gaps` are by subject."""

    simulator: str
    dialogues: int
    mean: float
    difference: PairedDifference
    gaps: dict[str, float]


class RankAgreement(Struct, frozen=True):
    """Spearman's rho of two simulators over the subjects that they share."""

    first: str
    second: str
    subjects: int
    rho: float | None
    interval: Interval


def cube(played: Iterable[Played]) -> Cube:
    """The table of all dialogues, repeats averaged."""
    rows = list(played)
    subjects, scenarios, simulators = (
        tuple(dict.fromkeys(getattr(row, name) for row in rows)) for name in ("subject", "scenario", "simulator")
    )
    sums = np.zeros((len(scenarios), len(subjects), len(simulators)))
    counts = np.zeros_like(sums)
    clusters: dict[str, str] = {}
    for row in rows:
        at = scenarios.index(row.scenario), subjects.index(row.subject), simulators.index(row.simulator)
        sums[at] += row.final
        counts[at] += 1
        clusters[row.scenario] = row.cluster or row.scenario
    cells = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return Cube(subjects, scenarios, simulators, tuple(clusters[name] for name in scenarios), cells)


def rank_agreements(table: Cube) -> list[RankAgreement]:
    """Spearman's rho of every two simulators with an interval over scenarios; it needs three subjects.

    It uses the scenarios that all shared subjects finished under both. Otherwise a subject whose hardest dialogues
    failed would be compared on the easier ones.
    """
    found = []
    met = np.asarray((~np.isnan(table.cells)).any(axis=0))
    for first, second in combinations(range(len(table.simulators)), 2):
        shared = np.flatnonzero(met[:, first] & met[:, second])
        both = table.cells[:, shared][:, :, [first, second]]
        kept = np.flatnonzero(~np.isnan(both).any(axis=(1, 2)))
        clusters = [table.clusters[at] for at in kept]
        rho, interval = None, intervals.too_few(len(set(clusters)))
        if shared.size > 2 and kept.size:
            rho, interval = _correlated(both[kept], clusters)
        found.append(RankAgreement(table.simulators[first], table.simulators[second], shared.size, rho, interval))
    return found


def _correlated(finals: intervals.Floats, clusters: Sequence[str]) -> tuple[float | None, Interval]:
    """Spearman's rho of two simulators, from scenarios × subjects × 2, and its bootstrap interval over clusters."""
    codes, count = intervals.cluster_codes(clusters, len(finals))
    means = finals.mean(axis=0)
    rho = float(rank_correlations(means[None, :, 0], means[None, :, 1])[0])
    if not np.isfinite(rho) or count < intervals.MINIMUM_CLUSTERS:
        return (rho if np.isfinite(rho) else None), intervals.too_few(count)
    sums, sizes = intervals.cluster_sums(finals.reshape(len(finals), -1), codes, count)
    drawn = intervals.bootstrap_means(sums, sizes, draws=DRAWS).reshape(DRAWS, -1, 2)
    sample = rank_correlations(drawn[:, :, 0], drawn[:, :, 1])
    if np.isnan(sample).all():
        return rho, intervals.too_few(count)
    return rho, Interval(*intervals.expanded_percentiles(sample, count), 0.95, EXPANDED_BOOTSTRAP, count)


def leniency(table: Cube, simulator: int, base: int = 0) -> Leniency | None:
    """A simulator against another on the dialogues (subject and scenario) that both have; None without two of them."""
    apart = table.cells[:, :, simulator] - table.cells[:, :, base]
    scenarios, subjects = np.nonzero(~np.isnan(apart))
    if scenarios.size < 2:
        return None
    own, other = (table.cells[scenarios, subjects, one] for one in (simulator, base))
    difference = paired_difference(other, own, [table.scenarios[at] for at in scenarios])
    gaps = {table.subjects[at]: float(np.nanmean(apart[:, at])) for at in np.unique(subjects)}
    return Leniency(table.simulators[simulator], scenarios.size, float(own.mean()), difference, gaps)


def simulators(context: CommandContext, options: Settings) -> Result:
    """Rank agreement, and leniency compared with the simulator of the first run, with intervals."""
    runs = [context.run(reference) for reference in options.texts("runs")]
    known = set[tuple[str, str]]()
    played: list[Played] = []
    for run in runs:
        name = samples.simulator_of_run(run)
        if (run.subject, name) in known:
            raise UsageError(f"two runs of '{run.subject}' with the simulator '{name}'; give one of each.")
        known.add((run.subject, name))
        played += [
            Played(run.subject, each.scenario.id, each.dialogue.simulator, float(each.dialogue.final), each.cluster)
            for each in samples.stored_dialogues(run)
        ]
    table = cube(played)
    base = next(iter(table.simulators), samples.simulator_of_run(runs[0]))
    gaps = [found for at in range(1, len(table.simulators)) if (found := leniency(table, at)) is not None]
    notes = stand_in_notes(run.view(samples.dialogue_task(run)) for run in runs)
    tables = (_agreement(table), _leniency(gaps, base))
    return Result(tables=tables, finding="\n".join(_more_lenient(gaps, base)), notes=tuple(notes))


def _agreement(table: Cube) -> Table:
    rows = tuple(
        (each.first, each.second, each.subjects, each.rho, *ends(each.interval), each.interval.method)
        for each in rank_agreements(table)
    )
    columns = ("first", "second", "subjects", "Spearman", "from", "to", "interval")
    note = "With fewer than three subjects, no rank correlation is computed."
    return Table("agreement", "Rank agreement of simulators", columns, rows, note=note)


def _leniency(gaps: Sequence[Leniency], base: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for each in gaps:
        found = each.difference
        gap = sorted(each.gaps.values())
        spread = f"{gap[0]:.1f} to {gap[-1]:.1f}" if len(gap) > 1 else None
        rows.append(
            (each.simulator, each.dialogues, len(gap), each.mean, found.difference, *ends(found.interval), spread)
        )
    columns = ("simulator", "dialogues", "subjects", "mean", "more lenient by", "from", "to", "by subject")
    units = dict.fromkeys(("mean", "more lenient by", "from", "to"), "points")
    note = "The interval is of the paired difference; means and differences by subject are of the shared dialogues."
    return Table("leniency", f"Leniency compared with {base}", columns, tuple(rows), note, units)


def _more_lenient(gaps: Sequence[Leniency], base: str) -> list[str]:
    """How much more lenient each simulator is than the reference, one sentence each."""
    said = []
    for each in gaps:
        gap, interval = each.difference.difference, each.difference.interval
        size = estimate(abs(gap), "points", interval.scaled(-1) if gap < 0 else interval)
        more = "more lenient" if gap > 0 else "stricter"
        said.append(f"{each.simulator} is {more} than {base} by {size} points on {each.dialogues} shared dialogues.")
    return said or [f"No other simulator shares dialogues with {base}."]
