"""Do simulated people rank models as real ones do? The people's ranking, the simulator's, and how far they agree."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations, permutations
from statistics import fmean

import numpy as np
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.measure import Cell, Interval, Table
from sociometer.core.words import grouped
from sociometer.instruments.sage.passport.mixed import MixedMeans, mixed_means
from sociometer.instruments.sage.passport.people import PersonAnswer, PersonProbe, TalkOf
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.formatting import estimate, number

_MOST_MODELS = 7
"""With more models, no interval of the agreement is computed: it goes through all orders."""
_TAIL = 0.025
_STRONGEST = 20.0
_STEPS = 60


class TalkMean(Struct, frozen=True):
    """A talk with a model, and the mean of its reports."""

    person: str
    task: str
    model: str
    mean: float


class Ranking(Struct, frozen=True):
    """Models from the best to the worst, with the mean of each and the differences of pairs."""

    who: str
    talks: int
    people: int
    means: dict[str, tuple[float, Interval]]
    differences: dict[tuple[str, str], tuple[float, Interval]]
    """By pair: how much better the first model is than the second."""
    deviations: tuple[float, ...]
    """Between people, between tasks, and the rest."""

    @property
    def models(self) -> list[str]:
        """The models, best first."""
        return sorted(self.means, key=lambda model: (-self.means[model][0], model))


class Agreement(Struct, frozen=True):
    """How far two rankings of the same models agree."""

    models: int
    tau: float
    interval: Interval
    chance: float
    """The share of all orders that agree at least as well."""
    decided: int
    """The pairs of models that the people tell apart."""
    same: int
    reversed: int
    """Of these, the pairs that the simulator tells apart the same way, and the other way round."""


def means_of_people(talks: Sequence[TalkOf]) -> list[TalkMean]:
    """The mean report of each talk."""
    return [
        TalkMean(person_talk.person, person_talk.talk.kind, person_talk.subject, fmean(person_talk.talk.reports))
        for person_talk in talks
    ]


def means_of_answers(rows: Sequence[tuple[PersonProbe, PersonAnswer]]) -> tuple[list[TalkMean], list[TalkMean], int]:
    """The people's and the simulator's mean of each talk that it judged, and how many answers could not be read.

    An unreadable answer counts as the simulator's mean over all turns.
    """
    asked = [(probe, answer) for probe, answer in rows if probe.asks == "report"]
    readable = [answer.report for _, answer in asked if answer.report is not None]
    if not readable:
        raise DataError("the simulator has no readable report")
    middle = fmean(readable)
    people: list[TalkMean] = []
    simulator: list[TalkMean] = []
    by_talk = grouped((probe.of_talk, (probe, answer)) for probe, answer in asked)
    for turns in by_talk.values():
        probe = turns[0][0]
        reports = [middle if answer.report is None else answer.report for _, answer in turns]
        theirs = fmean(turn.reported for turn, _ in turns)
        people.append(TalkMean(probe.cluster, probe.kind, probe.subject, theirs))
        simulator.append(TalkMean(probe.cluster, probe.kind, probe.subject, fmean(reports)))
    return people, simulator, len(asked) - len(readable)


def rank(who: str, talks: Sequence[TalkMean]) -> Ranking:
    """The ranking by a mixed model, people and tasks crossed with models; intervals over people (Student's t)."""
    models = sorted({talk.model for talk in talks})
    if len(models) < 2:
        raise DataError(f"all talks are with {models[0] if models else 'nobody'}; a ranking needs two models")
    people = len({talk.person for talk in talks})
    fitted = mixed_means(
        [talk.mean for talk in talks],
        [talk.model for talk in talks],
        [[talk.person for talk in talks], [talk.task for talk in talks]],
    )
    quantile = t_quantile(0.975, max(1, people - 1))
    means: dict[str, tuple[float, Interval]] = {}
    for place, name in enumerate(fitted.names):
        half = quantile * math.sqrt(fitted.covariance[place][place])
        means[name] = _around(fitted.means[place], half, people)
    differences: dict[tuple[str, str], tuple[float, Interval]] = {}
    order = sorted(range(len(fitted.names)), key=lambda place: -fitted.means[place])
    for first, second in combinations(order, 2):
        half = quantile * math.sqrt(_variance_of_difference(fitted, first, second))
        gap = fitted.means[first] - fitted.means[second]
        differences[fitted.names[first], fitted.names[second]] = _around(gap, half, people)
    return Ranking(who, len(talks), people, means, differences, fitted.deviations)


def _around(value: float, half: float, people: int) -> tuple[float, Interval]:
    return value, Interval(value - half, value + half, 0.95, "mixed model, t", people)


def _variance_of_difference(fitted: MixedMeans, first: int, second: int) -> float:
    covariance = fitted.covariance
    return covariance[first][first] + covariance[second][second] - 2 * covariance[first][second]


def agree(people: Ranking, simulator: Ranking) -> Agreement:
    """How far the simulator's ranking agrees with the people's, on the models that both have."""
    models = [model for model in people.models if model in simulator.means]
    theirs = [people.means[model][0] for model in models]
    mine = [simulator.means[model][0] for model in models]
    concordance = 0
    for first, second in combinations(range(len(models)), 2):
        concordance += int(np.sign((theirs[first] - theirs[second]) * (mine[first] - mine[second])))
    pairs = len(models) * (len(models) - 1) // 2
    decided = same = turned = 0
    for (first_model, second_model), (_, interval) in people.differences.items():
        if interval.low is None or interval.low <= 0:
            continue
        decided += 1
        direction = _direction(simulator, first_model, second_model)
        same += direction > 0
        turned += direction < 0
    interval, chance = _interval_over_orders(len(models), (pairs - concordance) / 2)
    return Agreement(len(models), concordance / pairs, interval, chance, decided, same, turned)


def _direction(ranking: Ranking, first: str, second: str) -> int:
    """1 if the first model is surely better than the second, -1 if surely worse, 0 if neither."""
    is_listed = (first, second) in ranking.differences
    pair = (first, second) if is_listed else (second, first)
    if pair not in ranking.differences:
        return 0
    _, interval = ranking.differences[pair]
    if interval.low is None or interval.low <= 0:
        return 0
    return 1 if is_listed else -1


def _interval_over_orders(models: int, discordant: float) -> tuple[Interval, float]:
    """An exact interval of the expected Kendall's tau of so few models, and the share of orders that agree so well.

    Orders are drawn with weights exp(-strength x discordant pairs); those strengths are kept that the observed number
    of discordant pairs does not reject. Reference: Mallows, C. L. (1957). Non-null ranking models. Biometrika 44.
    """
    if models > _MOST_MODELS:
        return Interval(None, None), math.nan
    pairs = models * (models - 1) // 2
    counts = np.zeros(pairs + 1)
    for order in permutations(range(models)):
        counts[sum(first > second for first, second in combinations(order, 2))] += 1
    numbers = np.arange(pairs + 1)

    def weights(strength: float) -> np.ndarray:
        weight = counts * np.exp(-strength * numbers)
        return np.asarray(weight / weight.sum())

    def tau(strength: float) -> float:
        return 1 - 2 * float(weights(strength) @ numbers) / pairs

    def so_few(strength: float) -> float:
        return float(weights(strength)[numbers <= discordant].sum())

    def so_many(strength: float) -> float:
        return float(weights(strength)[numbers >= discordant].sum())

    low = -1.0 if discordant == pairs else tau(_where(so_few, _TAIL))
    high = 1.0 if discordant == 0 else tau(_where(lambda strength: -so_many(strength), -_TAIL))
    interval = Interval(low, high, 0.95, "exact over orders", models)
    return interval, so_few(0.0)


def _where(rising: Callable[[float], float], level: float) -> float:
    """Where a rising function reaches a level."""
    low, high = -_STRONGEST, _STRONGEST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if rising(middle) < level:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def ranking_table(rankings: Sequence[Ranking]) -> Table:
    """The models with their means, best first by the first ranking; a column for each ranking."""
    rows: list[tuple[Cell, ...]] = []
    for model in rankings[0].models:
        cells: list[Cell] = [model]
        for ranking in rankings:
            value, interval = ranking.means.get(model, (None, None))
            cells.append(estimate(value, "number", interval) if value is not None else None)
        rows.append(tuple(cells))
    columns = ("model", *(ranking.who for ranking in rankings))
    sizes = "; ".join(f"{each.who}: {each.talks} talks of {each.people} people" for each in rankings)
    note = f"Means by a mixed model, people and tasks crossed with models. {sizes}."
    return Table("ranking", "Ranking of the models", columns, tuple(rows), note=note)


def pairs_table(rankings: Sequence[Ranking]) -> Table:
    """How much better each model is than those below it; a column for each ranking."""
    rows: list[tuple[Cell, ...]] = []
    for first, second in rankings[0].differences:
        cells: list[Cell] = [first, second]
        for ranking in rankings:
            value, interval = _difference(ranking, first, second)
            cells.append(None if value is None else estimate(value, "number", interval))
        rows.append(tuple(cells))
    columns = ("model", "better than", *(ranking.who for ranking in rankings))
    return Table("pairs", "Differences of the models", columns, tuple(rows))


def _difference(ranking: Ranking, first: str, second: str) -> tuple[float | None, Interval]:
    if (first, second) in ranking.differences:
        return ranking.differences[first, second]
    if (second, first) not in ranking.differences:
        return None, Interval(None, None)
    value, interval = ranking.differences[second, first]
    return -value, interval.scaled(-1)


def agreement_sentence(agreement: Agreement, simulator: str) -> str:
    """The agreement in a sentence."""
    tau = estimate(agreement.tau, "number", agreement.interval)
    chance = number(agreement.chance, "share")
    return (
        f"{simulator} ranks the {agreement.models} models with Kendall's tau {tau} to the people's ranking"
        f" ({chance} of all orders agree as well); of {agreement.decided} pairs that the people tell apart it"
        f" tells {agreement.same} apart the same way and {agreement.reversed} the other way round."
    )
