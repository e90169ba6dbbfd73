"""Compares simulators: how much of a score comes from the subject, the simulator or the scenario. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from sociometer.core.measure import CLUSTER_BOOTSTRAP, Interval
from sociometer.instruments.sage.simulators.components import (
    Components,
    Precision,
    levels_needed,
    precision,
    variance_components,
)
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.intervals import (
    MINIMUM_CLUSTERS,
    SEED,
    Floats,
    bootstrap_means,
    cluster_codes,
    cluster_sums,
    expanded_percentiles,
    too_few,
)
from sociometer.statistics.ranking import rank_correlations, ranks

DRAWS = 4_000
SUBJECT, SCENARIO, SIMULATOR = "subject", "scenario", "simulator"
_BOTH = "bootstrap over scenarios and simulators"
_FAMILIES = {
    "OpenAI": r"gpt|openai|chatgpt|\bo[134]\b|o[134]-?mini",
    "Anthropic": r"claude|anthropic",
    "Google": r"gemini|gemma|google|palm",
    "DeepSeek": r"deepseek",
    "Alibaba": r"qwen|qwq",
    "Meta": r"llama",
    "Mistral": r"mistral|mixtral|ministral",
    "xAI": r"grok",
    "Zhipu": r"glm",
    "Moonshot": r"kimi|moonshot",
    "Tencent": r"hunyuan",
    "ByteDance": r"doubao|seed-",
    "Microsoft": r"\bphi-?\d",
}


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

    def crossed(self) -> list[int]:
        """The subjects that every simulator talked with."""
        met = self.met()
        return [place for place in range(len(self.subjects)) if met[place].all()]

    def on_shared(self, subjects: Sequence[int], simulators: Sequence[int] | None = None) -> "Cube":
        """The scenarios that these subjects finished under each of the simulators that met them.

        Without it, a subject whose hardest dialogues failed would be compared on the easier ones.
        """
        chosen = np.zeros_like(self.met())
        chosen[np.ix_(list(subjects), list(range(len(self.simulators)) if simulators is None else simulators))] = True
        kept = np.flatnonzero(~np.isnan(self.cells[:, self.met() & chosen]).any(axis=1))
        return structs.replace(
            self,
            scenarios=tuple(self.scenarios[at] for at in kept),
            clusters=tuple(self.clusters[at] for at in kept),
            cells=self.cells[kept],
        )


class Standing(Struct, frozen=True):
    """A subject's rank over all simulators (1 is best), with the range on other scenarios and simulators."""

    subject: str
    score: float
    rank: int
    interval: Interval


class RankAgreement(Struct, frozen=True):
    """Spearman's rho of two simulators, or of all pairs of simulators, over the subjects that they share."""

    first: str
    second: str
    subjects: int
    rho: float | None
    interval: Interval


class Preference(Struct, frozen=True):
    """How much more a simulator favours subjects of its own family than others, compared with the other simulators.

    `over` says what the interval is about: other scenarios with these subjects, or other subjects.
    """

    simulator: str
    family: str
    own: tuple[str, ...]
    others: int
    points: float
    interval: Interval
    over: str


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


def components_of(played: Sequence[Played]) -> Components | None:
    """The variance components of subject, scenario, simulator and their interactions; None without estimates."""
    labels = {name: [getattr(row, name) for row in played] for name in (SUBJECT, SCENARIO, SIMULATOR)}
    if len(set(labels[SUBJECT])) < 2 or len(set(labels[SCENARIO])) < 2:
        return None
    try:
        return variance_components([row.final for row in played], labels)
    except ValueError:
        return None


def scenarios_needed(
    components: Components, half_width: float, simulators: Sequence[int]
) -> list[tuple[int, int | None, int | None]]:
    """For each number of simulators, the scenarios that give a difference of two subjects this half-width.

    First by the estimated components, then by the largest that their interval allows; None if no number is enough.
    """
    found = []
    for count in simulators:
        likely, safe = (
            levels_needed(components, SUBJECT, SCENARIO, {SIMULATOR: count}, half_width, safe=safe)
            for safe in (False, True)
        )
        found.append((count, likely, safe))
    return found


def designs_of(components: Components, simulators: Sequence[int], scenarios: Sequence[int]) -> list[Precision]:
    """The precision of every combination of numbers of simulators and scenarios."""
    return [precision(components, SUBJECT, {SIMULATOR: one, SCENARIO: two}) for one in simulators for two in scenarios]


def standings(whole: Cube) -> list[Standing]:
    """Ranks of the subjects that every simulator met, on their mean over simulators and the scenarios they share.

    Scenarios are drawn with replacement, and so are simulators if there are two or more. The interval holds the
    central 95 % of the ranks.
    """
    places = whole.crossed()
    table = whole.on_shared(places)
    if len(places) < 2 or not table.scenarios:
        return []
    means = np.nanmean(table.cells[:, places], axis=0)
    now = ranks(-means.mean(axis=1)[None, :])[0].astype(int)
    sample = _sample(table, places)
    found = []
    drawn = None if sample is None else np.einsum("dps,ds->dp", sample, _simulator_weights(len(table.simulators)))
    for at, place in enumerate(places):
        interval = too_few(len(set(table.clusters)))
        if drawn is not None:
            best, worst = ranks(-drawn)[:, at], ranks(-drawn, worst=True)[:, at]
            low = float(np.quantile(best, 0.025, method="lower"))
            high = float(np.quantile(worst, 0.975, method="higher"))
            method = _BOTH if len(table.simulators) > 1 else CLUSTER_BOOTSTRAP
            interval = Interval(low, high, 0.95, method, len(set(table.clusters)))
        found.append(Standing(table.subjects[place], float(means[at].mean()), int(now[at]), interval))
    return sorted(found, key=lambda each: each.rank)


def rank_agreements(table: Cube) -> list[RankAgreement]:
    """Spearman's rho of every two simulators with an interval over scenarios, then the mean over all pairs.

    Rho needs three subjects. The mean of three or more simulators has an interval over scenarios and simulators.
    """
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
            interval = _central(rank_correlations(sample[:, :, first], sample[:, :, second]), CLUSTER_BOOTSTRAP, both)
        found.append(RankAgreement(*names, len(shared), float(rho) if np.isfinite(rho) else None, interval))
    if len(table.simulators) > 2:
        found.append(_mean_agreement(table))
    return found


def preferences(table: Cube, families: Mapping[str, str] | None = None) -> list[Preference]:
    """For each simulator whose family has subjects: their advantage under it, minus that of the other subjects.

    The advantage of a subject is its mean under the simulator minus its mean under the other simulators that met it.
    Two intervals: over scenarios, for these very subjects; and over subjects, by Student's t from the spread of the
    other subjects' advantages, which needs two of them.
    """
    found = []
    for at, simulator in enumerate(table.simulators):
        family = family_of(simulator, families)
        others = [place for place in range(len(table.simulators)) if place != at]
        met = table.met()
        able = [place for place in range(len(table.subjects)) if met[place, at] and met[place, others].any()]
        own = [place for place in able if family and family_of(table.subjects[place], families) == family]
        rest = [place for place in able if place not in own]
        if not own or not rest:
            continue
        shared = table.on_shared(able)
        if not shared.scenarios:
            continue
        gaps = _advantage(np.nanmean(shared.cells[:, able], axis=0)[None], at, others)[0]
        mine = np.array([place in own for place in able])
        points = float(gaps[mine].mean() - gaps[~mine].mean())
        named = tuple(table.subjects[place] for place in own)
        sample = _sample(shared, able)
        interval = too_few(len(set(shared.clusters)))
        if sample is not None:
            drawn = _advantage(sample, at, others)
            interval = _central(drawn[:, mine].mean(axis=1) - drawn[:, ~mine].mean(axis=1), CLUSTER_BOOTSTRAP, shared)
        found.append(Preference(simulator, family, named, len(rest), points, interval, "scenarios"))
        found.append(Preference(simulator, family, named, len(rest), points, _over_subjects(gaps, mine), "subjects"))
    return found


def family_of(name: str, given: Mapping[str, str] | None = None) -> str:
    """The family of a model, as the user gives it or by its name; empty if unknown."""
    if given and name in given:
        return given[name]
    return next((family for family, mark in _FAMILIES.items() if re.search(mark, name.lower())), "")


def _over_subjects(gaps: Floats, mine: NDArray[np.bool_]) -> Interval:
    rest = gaps[~mine]
    if rest.size < 2:
        return too_few(int(rest.size))
    points = float(gaps[mine].mean() - rest.mean())
    error = float(rest.std(ddof=1)) * float(np.sqrt(1 / mine.sum() + 1 / rest.size))
    half = t_quantile(0.975, rest.size - 1) * error
    return Interval(points - half, points + half, 0.95, "Student's t over subjects", int(gaps.size))


def _advantage(means: Floats, at: int, others: Sequence[int]) -> Floats:
    """For each subject (second-last axis): mean under a simulator minus the mean under its other simulators."""
    return np.asarray(means[..., at] - np.nanmean(means[..., others], axis=-1), dtype=np.float64)


def _mean_agreement(whole: Cube) -> RankAgreement:
    """The mean rho over all pairs of simulators, on the subjects and scenarios that all of them met."""
    places = whole.crossed()
    table = whole.on_shared(places)
    pairs = list(combinations(range(len(table.simulators)), 2))
    few = too_few(len(table.simulators))
    if len(places) < 3 or not table.scenarios:
        return RankAgreement("all", "all", len(places), None, few)
    means = np.nanmean(table.cells[:, places], axis=0)
    now = float(np.nanmean([rank_correlations(means[None, :, one], means[None, :, two])[0] for one, two in pairs]))
    sample = _sample(table, places)
    if sample is None:
        return RankAgreement("all", "all", len(places), now, few)
    weights = _simulator_weights(len(table.simulators))
    rhos = np.stack([rank_correlations(sample[:, :, one], sample[:, :, two]) for one, two in pairs], axis=1)
    chosen = np.stack([weights[:, one] * weights[:, two] for one, two in pairs], axis=1)
    chosen = np.where(np.isnan(rhos), 0.0, chosen)
    total = chosen.sum(axis=1)
    drawn = np.divide(
        (np.nan_to_num(rhos) * chosen).sum(axis=1), total, out=np.full(len(total), np.nan), where=total > 0
    )
    return RankAgreement("all", "all", len(places), now, _central(drawn, _BOTH, table))


def _sample(table: Cube, places: Sequence[int]) -> Floats | None:
    """Means of subjects under every simulator over drawn scenarios, draws × subjects × simulators."""
    codes, count = cluster_codes(table.clusters, len(table.scenarios))
    if count < MINIMUM_CLUSTERS or not places:
        return None
    flat = table.cells[:, list(places)].reshape(len(table.scenarios), -1)
    sums, sizes = cluster_sums(flat, codes, count)
    return bootstrap_means(sums, sizes, draws=DRAWS).reshape(DRAWS, len(places), len(table.simulators))


def _simulator_weights(count: int) -> Floats:
    """The share of each simulator in every draw; drawn with replacement."""
    generator = np.random.default_rng(SEED + 1)
    return np.asarray(generator.multinomial(count, [1 / count] * count, size=DRAWS) / count, dtype=np.float64)


def _central(sample: Floats, method: str, table: Cube) -> Interval:
    count = len(set(table.clusters))
    if np.isnan(sample).all():
        return too_few(count)
    low, high = expanded_percentiles(sample, count)
    return Interval(low, high, 0.95, method, count)
