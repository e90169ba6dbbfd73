"""Factor probes: every condition against the control, the test of each factor, and the paper's contrasts."""

import math
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from msgspec import Struct

from sociometer.core.measure import Cell, Interval, Table
from sociometer.core.task import RunView
from sociometer.instruments.sesi.conditions import CONTROL, NOISE, conditions, contrasts, implied_gender
from sociometer.instruments.sesi.items import ABILITIES, TABLES
from sociometer.instruments.sesi.items import Question as Item
from sociometer.reading import ChoiceAnswer
from sociometer.statistics.intervals import MINIMUM_CLUSTERS, SEED, Floats, Labels, cluster_codes, cluster_sums
from sociometer.statistics.measures import Observation, observations
from sociometer.statistics.paired import Change, changes, holm, paired_difference, stars


class Probe(Struct, frozen=True):
    """One subject's right and wrong answers, by condition and item."""

    subject: str
    answers: dict[str, dict[str, float]]
    abilities: dict[str, str]
    clusters: dict[str, str]

    def shared(self, names: Sequence[str], ability: str = "") -> list[str]:
        """The items of the control (of one ability, or all) that were answered under all of these conditions."""
        given = [self.answers[name] for name in names]
        mine = (item for item in self.answers[CONTROL] if not ability or self.abilities[item] == ability)
        return [item for item in mine if all(item in one for one in given)]

    def values(self, names: Sequence[str], items: Sequence[str]) -> list[float]:
        """The mean over some conditions, item by item."""
        return [sum(self.answers[name][item] for name in names) / len(names) for item in items]

    def labels(self, items: Sequence[str]) -> list[str]:
        """The clusters of some items."""
        return [self.clusters[item] for item in items]


def probe_of(subject: str, runs: Mapping[str, RunView[Item, ChoiceAnswer]]) -> Probe:
    """The results of one subject's runs, by condition; repeats of an item are averaged."""
    answers: dict[str, dict[str, float]] = {}
    abilities: dict[str, str] = {}
    clusters: dict[str, str] = {}
    for condition, run in runs.items():
        found: dict[str, list[Observation]] = {}
        for row in observations(run, "correct"):
            found.setdefault(row.item, []).append(row)
            abilities[row.item], clusters[row.item] = row.facets["ability"], row.cluster
        answers[condition] = {item: sum(r.value for r in same) / len(same) for item, same in found.items()}
    return Probe(subject, answers, abilities, clusters)


def compare(probe: Probe, names: Sequence[str], ability: str = "") -> list[Change]:
    """Each condition compared with the control on shared items; corrected over the given conditions."""
    found = ((name, probe.shared([name], ability)) for name in names)
    return changes(
        {
            name: (probe.values([CONTROL], items), probe.values([name], items), probe.labels(items))
            for name, items in found
            if items
        }
    )


def change_table(probes: Sequence[Probe], names: Sequence[str]) -> Table:
    """Every condition of every subject overall, the clearest change first; `from` and `to` bound the difference."""
    found = [(probe.subject, change) for probe in probes for change in compare(probe, names)]
    found.sort(key=lambda entry: (entry[1].p_holm, -abs(entry[1].paired.difference)))
    lines = (_line(subject, "all", change) for subject, change in found)
    return TABLES("changes", lines, details=["subject"] if len(probes) < 2 else [])


def ability_table(probes: Sequence[Probe], names: Sequence[str]) -> Table:
    """Every condition of every subject by ability."""
    lines = [
        _line(probe.subject, ability, change)
        for probe in probes
        for ability in ABILITIES
        for change in compare(probe, names, ability)
    ]
    return TABLES("abilities", lines)


@cache
def _weights(clusters: int) -> Floats:
    """How often each cluster is in each of 2,000 bootstrap draws; the same for every condition, and drawn once."""
    generator = np.random.default_rng(SEED)
    return generator.multinomial(clusters, np.full(clusters, 1 / clusters), 2000).astype(np.float64)


def ratio_interval(probe: Probe, names: Sequence[str]) -> Interval:
    """The interval of the change ratio of the mean over some conditions, from a bootstrap over clusters of items."""
    shared = probe.shared(names)
    codes, count = cluster_codes(probe.labels(shared), len(shared))
    if count < MINIMUM_CLUSTERS:
        return Interval(None, None, 0.95, "", count)
    table = np.column_stack([probe.values([CONTROL], shared), probe.values(names, shared)])
    own, other = (_weights(count) @ cluster_sums(table, codes, count)[0]).T
    if not (own > 0).all():
        return Interval(None, None, 0.95, "", count)
    low, high = np.quantile(other / own - 1, [0.025, 0.975])
    return Interval(float(low), float(high), 0.95, "cluster bootstrap", count)


def _line(subject: str, ability: str, change: Change) -> tuple[Cell, ...]:
    paired, around = change.paired, change.paired.interval
    means = (paired.first, paired.second, paired.difference, around.low, around.high)
    tests = (change.p_holm, paired.p_value, change.stars, change.p_benjamini_hochberg)
    return subject, change.condition, ability, *means, *tests, paired.items


def contrast_table(probes: Sequence[Probe]) -> Table:
    """The paper's contrasts: the mean over one group of conditions minus the mean over another, item by item."""
    lines: list[tuple[Cell, ...]] = []
    for contrast in contrasts():
        for probe in probes:
            both = (*contrast.first, *contrast.second)
            if not all(name in probe.answers for name in both) or not (shared := probe.shared(both)):
                continue
            one, two = (probe.values(names, shared) for names in (contrast.first, contrast.second))
            paired = paired_difference(two, one, probe.labels(shared))
            means = (paired.second, paired.first, paired.difference, paired.interval.low, paired.interval.high)
            tested = (paired.p_value, stars(paired.p_value), len(shared))
            lines.append((contrast.title, probe.subject, *means, *tested, contrast.paper))
    corrected = holm([float(str(line[7])) for line in lines]).tolist() if lines else []
    lines = [(*line[:9], p_value, *line[9:]) for line, p_value in zip(lines, corrected, strict=True)]
    return TABLES("contrasts", lines)


class Omnibus(Struct, frozen=True):
    """Cochran's Q, and its p-value from flipping the signs of whole items."""

    statistic: float
    p_value: float
    items: int
    conditions: int


def cochran_q(tables: Sequence[Floats], clusters: Labels | None = None, *, draws: int = 5000) -> Omnibus:
    """Whether the conditions differ; each table is a subject's items × conditions, the items the same in all.

    Values are right or wrong, or means over repeats. For each item, the deviations of all conditions from the item's
    mean change their sign together. This keeps the dependence between conditions: 63 roles that mostly share their
    answers are not 63 independent conditions, as a permutation of the conditions within items would assume. With all
    values of every item equal there is nothing to test, and the p-value is 1.
    """
    stacked = np.stack([np.asarray(table, dtype=np.float64) for table in tables])
    _, items, count = stacked.shape
    if count < 2:
        raise ValueError(f"at least two conditions are needed, not {count}")
    centred = stacked - stacked.mean(axis=2, keepdims=True)
    variance = float(np.square(centred).sum()) / (count - 1)
    if variance <= 1e-12:
        return Omnibus(0.0, 1.0, items, count)
    codes, number = cluster_codes(clusters, items)
    by_cluster = cluster_sums(centred.sum(axis=0), codes, number)[0]
    observed = float(np.square(by_cluster.sum(axis=0)).sum())
    signs = 2.0 * np.random.default_rng(SEED).integers(0, 2, (draws, number)) - 1.0
    sums = np.square(signs @ by_cluster).sum(axis=1)
    extreme = int((sums >= observed * (1 - 1e-9)).sum())
    return Omnibus(observed / variance, (1 + extreme) / (1 + draws), items, count)


class Spread(Struct, frozen=True):
    """How far conditions are from the control: the root mean square difference, and the same of noise conditions.

    `excess` is the root of the difference of the two mean squares (negative below the floor), with its interval from a
    bootstrap over clusters of items: chance adds the same to both mean squares, so it cancels. Without noise conditions
    it is None.
    """

    size: float
    floor: float | None = None
    excess: float | None = None
    interval: Interval | None = None


def spread(
    control: Sequence[Floats],
    conditions: Sequence[Floats],
    noise: Sequence[Floats] = (),
    clusters: Labels | None = None,
) -> Spread:
    """The size of a factor and of its noise floor; each array is a subject's items (× conditions), the items the same.

    Mean squares do not grow with the number of conditions, so a factor with many levels can be compared with few
    placebos.
    """
    codes, number = cluster_codes(clusters, len(control[0]))
    moved, idle = (
        [cluster_sums(table - own[:, None], codes, number)[0] for own, table in zip(control, tables, strict=False)]
        for tables in (conditions, noise)
    )
    items = np.bincount(codes, minlength=number).astype(np.float64)
    every = np.ones((1, number))
    size = float(_size(moved, items, every)[0])
    if not idle:
        return Spread(size)
    floor = float(_size(idle, items, every)[0])
    excess = _rooted(size**2 - floor**2)
    if number < MINIMUM_CLUSTERS:
        return Spread(size, floor, excess, Interval(None, None, 0.95, "", number))
    weights = _weights(number)
    sample = np.square(_size(moved, items, weights)) - np.square(_size(idle, items, weights))
    low, high = (_rooted(float(end)) for end in np.quantile(sample, [0.025, 0.975]))
    return Spread(size, floor, excess, Interval(low, high, 0.95, "cluster bootstrap", number))


def _rooted(square: float) -> float:
    """The root of a difference of squares, with its sign."""
    return math.copysign(math.sqrt(abs(square)), square)


def _size(tables: Sequence[Floats], items: Floats, weights: Floats) -> Floats:
    """The root mean square over subjects and conditions of the mean difference, for each row of cluster weights."""
    total = weights @ items
    squares = [np.square(weights @ table / total[:, None]).mean(axis=1) for table in tables]
    found: Floats = np.sqrt(np.mean(squares, axis=0))
    return found


EVERY = "all subjects"
_ROLE = "role"


def levels(names: Sequence[str], factor: str) -> list[str]:
    """The conditions of a factor among those that were played."""
    return [name for name in names if conditions()[name].factor == factor]


def factors_in(names: Sequence[str]) -> list[str]:
    """The factors of some conditions, without the noise, and without roles if only those of a gender were played."""
    found = dict.fromkeys(conditions()[name].factor for name in names)
    gendered = {name for kind in ("male", "neutral", "female") for name in implied_gender(kind)}
    partly = {_ROLE} if set(levels(names, _ROLE)) <= gendered else set()
    return [factor for factor in found if factor not in ("", NOISE, *partly)]


def tested(probes: Sequence[Probe], names: Sequence[str], noise: Sequence[str] = ()) -> tuple[Omnibus, Spread] | None:
    """The test and the size of some conditions against the control, on the items that all subjects have in all."""
    every = set.intersection(*(set(probe.shared((*names, *noise))) for probe in probes))
    shared = [item for item in probes[0].answers[CONTROL] if item in every]
    if not shared:
        return None
    clusters = probes[0].labels(shared)
    control = [_columns(probe, (CONTROL,), shared)[:, 0] for probe in probes]
    played = [_columns(probe, names, shared) for probe in probes]
    idle = [_columns(probe, noise, shared) for probe in probes] if noise else []
    beside = [np.column_stack([own, table]) for own, table in zip(control, played, strict=True)]
    return cochran_q(beside, clusters), spread(control, played, idle, clusters)


def _columns(probe: Probe, names: Sequence[str], items: Sequence[str]) -> Floats:
    return np.array([[probe.answers[name][item] for name in names] for item in items], dtype=np.float64)


def factor_table(probes: Sequence[Probe], names: Sequence[str], noise: Sequence[str]) -> Table:
    """Cochran's Q for each factor and subject, and for all subjects together, with the size next to the noise floor."""
    lines: list[tuple[Cell, ...]] = []
    groups = [(probe.subject, [probe]) for probe in probes]
    groups += [(EVERY, list(probes))] if len(probes) > 1 else []
    for subject, members in groups:
        found = [
            (factor, result)
            for factor in factors_in(names)
            if (result := tested(members, levels(names, factor), noise)) is not None
        ]
        corrected = holm([test.p_value for _, (test, _) in found]).tolist() if found else []
        for (factor, (test, size)), p_holm in zip(found, corrected, strict=True):
            lines.append(_factor_line(factor, subject, test, size, p_holm))
        if noise and (idle := tested(members, noise)) is not None:
            lines.append(_factor_line("noise (placebos and paraphrases)", subject, *idle, None))
    return TABLES("factors", lines)


def _factor_line(factor: str, subject: str, test: Omnibus, size: Spread, p_holm: float | None) -> tuple[Cell, ...]:
    low, high = (size.interval.low, size.interval.high) if size.interval else (None, None)
    tests = (test.p_value, p_holm, test.statistic, test.conditions, test.items)
    return factor, subject, size.size, size.floor, size.excess, low, high, *tests


def finding(table: Table) -> str:
    """Which factors change the accuracy of each subject, and whether by more than irrelevant words do."""
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    sentences = []
    for subject in dict.fromkeys(str(row["subject"]) for row in rows):
        mine = [row for row in rows if row["subject"] == subject and row["p (Holm)"] is not None]
        found = [row for row in mine if float(str(row["p (Holm)"])) < 0.05]
        if not found:
            which = f"none of {len(mine)} factors changes" if len(mine) > 1 else "the factor does not change"
            sentences.append(f"{subject}: {which} the accuracy significantly.")
            continue
        said = ", ".join(f"{row['factor']}{_doubt(row)}" for row in found)
        sentences.append(f"{subject}: {len(found)} of {len(mine)} factors changed the accuracy: {said}.")
    return "\n".join(sentences)


def _doubt(row: Mapping[str, Cell]) -> str:
    """The remark on a factor that is not clearly above its noise floor."""
    if row["floor"] is None:
        return ""
    if not isinstance(row["from"], float):
        return " (too few items to compare it with placebos)"
    return "" if row["from"] > 0 else " (not clearly more than placebos do)"
