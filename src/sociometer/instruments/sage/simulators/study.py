"""Simulators compared: ranks, leniency, and a link between their scales. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import sqrt
from statistics import fmean, pstdev
from typing import TypeVar

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from sociometer.core.measure import CLUSTER_BOOTSTRAP, Cell, Interval, Table
from sociometer.core.task import AnyRun
from sociometer.instruments.sage.judges.asking import stand_in_caveat
from sociometer.statistics.distributions import chi_square_above, t_quantile
from sociometer.statistics.formatting import bounds_text
from sociometer.statistics.intervals import (
    MINIMUM_CLUSTERS,
    Floats,
    bootstrap_means,
    cluster_codes,
    cluster_sums,
    expanded_percentiles,
    too_few,
)
from sociometer.statistics.paired import PairedDifference, paired_difference
from sociometer.statistics.ranking import Rank, rank_correlations, rank_intervals

Scores = Mapping[str, Mapping[str, float]]
"""Final emotions by subject and scenario."""
KeyT = TypeVar("KeyT", str, int)


class Leniency(Struct, frozen=True):
    """How much more lenient a simulator is than the reference on shared dialogues, and the link between the scales.

    The subjects of both simulators are the anchors. `gaps` is how much more lenient it is to each of them. `unlinked`
    and `error` are the root mean square errors for the mean of an anchor that is left out in turn, before and after a
    linear link; None with one anchor. `alike` is the p-value of one link for all anchors: by chance alone their misses
    would differ as much.
    """

    simulator: str
    dialogues: int
    mean: float
    difference: PairedDifference
    slope: float
    intercept: float
    gaps: dict[str, float]
    misses: dict[str, float]
    """What the linear link misses for each anchor, with all anchors in the link."""
    unlinked: float | None
    error: float | None
    alike: float | None

    def calibrated(self, score: float) -> float | None:
        """A score on the reference's scale (linear equating: same mean, same spread); None with one subject.

        One subject cannot show how much of the gap comes from the simulator and how much from this subject.
        """
        return None if self.error is None else self.intercept + self.slope * score

    def interval(self, score: float) -> Interval:
        """The interval of a calibrated score, by Student's t over the subjects that the line is based on."""
        value = self.calibrated(score)
        if value is None or self.error is None:
            return too_few(len(self.gaps))
        half = t_quantile(0.975, len(self.gaps) - 1) * self.error
        low, high = max(0.0, value - half), min(100.0, value + half)
        return Interval(low, high, 0.95, "left-out subjects, Student's t", len(self.gaps))


def rank_on_shared(scores: Mapping[KeyT, Mapping[str, float]]) -> tuple[dict[KeyT, Rank], int]:
    """Ranks on the scenarios that all ranked subjects share, and their number; a subject that shares none has no rank.

    The subjects with the most scenarios come first; each is added as long as half of the shared scenarios remain.
    """
    kept: list[KeyT] = []
    shared: set[str] = set()
    for key in sorted(scores, key=lambda key: -len(scores[key])):
        common = shared & scores[key].keys() if kept else set(scores[key])
        if common and 2 * len(common) >= len(shared):
            kept.append(key)
            shared = common
    names = sorted(shared)
    table = [[scores[key][name] for key in kept] for name in names]
    ranked = {each.subject: each for each in rank_intervals(table, list(map(str, kept)), names)} if names else {}
    return {key: ranked[str(key)] for key in kept if ranked}, len(shared)


def means(scores: Scores) -> dict[str, float]:
    """Each subject's mean over its scenarios."""
    return {subject: fmean(values.values()) for subject, values in scores.items() if values}


def leniency(simulator: str, theirs: Scores, reference: Scores) -> Leniency | None:
    """A simulator against the reference on the dialogues (subject and scenario) that both have; None without any."""
    pairs = {
        subject: [(theirs[subject][name], reference[subject][name], name) for name in shared]
        for subject in sorted(set(theirs) & set(reference))
        if (shared := sorted(set(theirs[subject]) & set(reference[subject])))
    }
    every = [pair for found in pairs.values() for pair in found]
    if len(every) < 2:
        return None
    own, base = [one for one, _, _ in every], [two for _, two, _ in every]
    difference = paired_difference(base, own, [scenario for _, _, scenario in every])
    slope, intercept = _line(own, base)
    gaps = {subject: fmean(one - two for one, two, _ in found) for subject, found in pairs.items()}
    missed = []
    for left in pairs if len(pairs) > 1 else ():
        rest = [pair for subject, found in pairs.items() if subject != left for pair in found]
        steep, above = _line([one for one, _, _ in rest], [two for _, two, _ in rest])
        missed.append(fmean(two - above - steep * one for one, two, _ in pairs[left]))
    rests = {name: [two - intercept - slope * one for one, two, _ in found] for name, found in pairs.items()}
    misses = {name: fmean(found) for name, found in rests.items()}
    before, after = (_root_mean_square(gaps.values()), _root_mean_square(missed)) if missed else (None, None)
    return Leniency(
        simulator, len(every), fmean(own), difference, slope, intercept, gaps, misses, before, after, _alike(rests)
    )


def _root_mean_square(values: Iterable[float]) -> float:
    return sqrt(fmean(value * value for value in values))


def _alike(rests: Mapping[str, Sequence[float]]) -> float | None:
    """Cochran's test of equal misses: p of Σ (miss / standard error)² around their weighted mean; None with one."""
    known = [found for found in rests.values() if len(found) > 1 and pstdev(found) > 0]
    if len(known) < 2:
        return None
    weights = [len(found) / (pstdev(found) ** 2 * len(found) / (len(found) - 1)) for found in known]
    centre = sum(weight * fmean(found) for weight, found in zip(weights, known, strict=True)) / sum(weights)
    spread = sum(weight * (fmean(found) - centre) ** 2 for weight, found in zip(weights, known, strict=True))
    return chi_square_above(spread, len(known) - 1)


def _line(own: Sequence[float], base: Sequence[float]) -> tuple[float, float]:
    """Slope and intercept of the line that gives one scale's scores the mean and the spread of the other's."""
    spread = pstdev(own)
    slope = pstdev(base) / spread if spread else 1.0
    return slope, fmean(base) - slope * fmean(own)


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
    cells: Floats

    def met(self) -> NDArray[np.bool_]:
        """Whether a simulator talked with a subject, subjects × simulators."""
        return np.asarray((~np.isnan(self.cells)).any(axis=0))

    def on_shared(self, subjects: Sequence[int], simulators: Sequence[int]) -> "Cube":
        """The scenarios that these subjects finished under each of these simulators that met them.

        Without it, a subject whose hardest dialogues failed would be compared on the easier ones.
        """
        chosen = np.zeros_like(self.met())
        chosen[np.ix_(list(subjects), list(simulators))] = True
        kept = np.flatnonzero(~np.isnan(self.cells[:, self.met() & chosen]).any(axis=1))
        return structs.replace(
            self,
            scenarios=tuple(self.scenarios[at] for at in kept),
            clusters=tuple(self.clusters[at] for at in kept),
            cells=self.cells[kept],
        )


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
    """Spearman's rho of every two simulators with an interval over scenarios; it needs three subjects."""
    found = []
    met = table.met()
    for first, second in combinations(range(len(table.simulators)), 2):
        shared = [at for at in range(len(table.subjects)) if met[at, first] and met[at, second]]
        names = table.simulators[first], table.simulators[second]
        both = table.on_shared(shared, (first, second))
        able = len(shared) > 2 and bool(both.scenarios)
        # A simulator that none of these subjects met has no mean, and none is needed.
        means = both.cells[:, shared][:, :, [first, second]].mean(axis=0) if able else np.empty((0, 2))
        sample = _sample(both, shared) if able else None
        rho = rank_correlations(means[None, :, 0], means[None, :, 1])[0] if able else np.nan
        interval = too_few(len(set(both.clusters)))
        if sample is not None and np.isfinite(rho):
            interval = _central(rank_correlations(sample[:, :, first], sample[:, :, second]), both)
        found.append(RankAgreement(*names, len(shared), float(rho) if np.isfinite(rho) else None, interval))
    return found


def _sample(table: Cube, places: Sequence[int]) -> Floats | None:
    """Means of subjects under every simulator over drawn scenarios, draws × subjects × simulators."""
    codes, count = cluster_codes(table.clusters, len(table.scenarios))
    if count < MINIMUM_CLUSTERS or not places:
        return None
    flat = table.cells[:, list(places)].reshape(len(table.scenarios), -1)
    sums, sizes = cluster_sums(flat, codes, count)
    return bootstrap_means(sums, sizes, draws=DRAWS).reshape(DRAWS, len(places), len(table.simulators))


def _central(sample: Floats, table: Cube) -> Interval:
    count = len(set(table.clusters))
    if np.isnan(sample).all():
        return too_few(count)
    low, high = expanded_percentiles(sample, count)
    return Interval(low, high, 0.95, CLUSTER_BOOTSTRAP, count)


def simulator_of(run: AnyRun) -> str:
    """The simulator of a run's dialogues."""
    series = run.summary.series
    names = series.get("simulators") or [entry.get("simulator", "") for entry in series.get("dialogues", [])]
    return ", ".join(sorted({str(name) for name in names} - {""}))


def by_simulator(runs: Sequence[AnyRun]) -> dict[str, list[AnyRun]]:
    """The runs of each simulator, most runs first; a run without any outcome is listed with these."""
    groups: dict[str, list[AnyRun]] = {}
    for run in runs:
        groups.setdefault(simulator_of(run), []).append(run)
    ordered = dict(sorted(groups.items(), key=lambda group: -len(group[1])))
    unknown = ordered.get("", [])
    if len(ordered) > 1 and unknown and not any(any(run.summary.series.values()) for run in unknown):
        del ordered[""]
        next(iter(ordered.values())).extend(unknown)
    return ordered


def leaderboard_table(runs: Sequence[AnyRun]) -> Table:
    """Score, success and failure with intervals; ranked within a simulator, on the shared scenarios."""
    rows = [row for members in by_simulator(runs).values() for row in _standings(members)]
    columns = (
        "rank", "rank, 95 %", "subject", "simulator", "score", "from", "to", "success", "failure", "tokens a dialogue",
        "dialogues", "errors", "caveat",
    )  # fmt: skip
    note = stand_in_caveat(name for run in runs for name in run.stand_ins)
    note += " Leaderboards exclude them." if note else ""
    ranked_first = tuple(sorted(rows, key=lambda row: row[0] is None))
    units = {"score": "points", "from": "points", "to": "points", "success": "share", "failure": "share"}
    return Table("leaderboard", "Sentient leaderboard", columns, ranked_first, note=note, units=units)


def _standings(runs: Sequence[AnyRun]) -> list[tuple[Cell, ...]]:
    """The lines of one simulator's runs, best first; a stand-in or other scenarios give no rank."""
    finals = {place: _finals(run) for place, run in enumerate(runs) if not run.stand_ins}
    ranked, shared = rank_on_shared(finals)
    order = sorted(range(len(runs)), key=lambda place: -(value_of(runs[place], "sentient") or 0.0))
    rows: list[tuple[Cell, ...]] = []
    for place in sorted(order, key=lambda place: ranked[place].rank if place in ranked else len(runs) + 1):
        run, score = runs[place], runs[place].summary.measure("sentient")
        if score is None:
            continue
        standing = ranked.get(place)
        caveat = ""
        if run.stand_ins:
            caveat = "stand-in: not ranked"
        elif standing is None:
            caveat = "other scenarios: not ranked" if finals[place] else "no outcome: not ranked"
        elif len(finals[place]) > shared:
            caveat = f"ranked on the {shared} scenarios that all runs share: {standing.mean:.1f}"
        more = [value_of(run, name) for name in ("success", "failure", "tokens")]
        who = (standing.rank if standing else None, _range(standing), run.subject, simulator_of(run))
        rows.append((*who, score.value, *ends(score.interval), *more, score.items, score.errors, caveat))
    return rows


def _range(standing: Rank | None) -> str:
    """The ranks that other scenarios of the same kind might give."""
    if standing is None:
        return ""
    return bounds_text(standing.interval, lambda low, high: f"{low:.0f} to {high:.0f}", too_few="too few")


def _finals(run: AnyRun) -> dict[str, float]:
    """The final emotion by scenario, repeats averaged."""
    values: dict[str, list[float]] = {}
    for entry in run.summary.series.get("dialogues", []):
        values.setdefault(entry.get("scenario", entry["item"]), []).append(float(entry["trajectory"][-1]))
    return {name: sum(finals) / len(finals) for name, finals in values.items()}


def value_of(run: AnyRun, name: str) -> float | None:
    """The value of a measure of a run."""
    measure = run.summary.measure(name)
    return measure.value if measure else None


def ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """Both ends of an interval."""
    return (interval.low, interval.high) if interval else (None, None)
