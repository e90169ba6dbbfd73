"""How many people a norm needs: simulated people take the items of an instrument."""

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from statistics import fmean

import numpy as np
from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError
from sociometer.core.measure import Interval, Table
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.formatting import scale_and_digits
from sociometer.statistics.intervals import Floats, cluster_codes, mean_variance
from sociometer.statistics.people import FEWEST_PEOPLE, curve_of, place_interval, share_worse

SIZES = (30, 60, 100, 200, 400, 800, 1600)
CONVENTION = "abilities and difficulties with a standard deviation of 1 logit, the convention of item response theory"
_POOL, _RUNS, _MODELS, _MOST, _SEED = 20_000, 200, 40, 100_000, 63


class PeopleNeeded(Struct, frozen=True):
    """The numbers of people that two widths need (None: not asked for), and the widths that other numbers give."""

    percentile: int
    mean: int | None
    spread: float
    """The standard deviation of people's scores."""
    source: str
    table: Table


def people_needed(
    card: MeasureCard,
    clusters: Sequence[str],
    *,
    percent: float,
    width: float,
    mean_width: float | None = None,
    spread: float | None = None,
) -> PeopleNeeded:
    """The people for a percentile within ± `width` percent, and for a mean within ± `mean_width`, 19 times in 20.

    `clusters` has the cluster of each item. `spread` is the standard deviation of people's scores; without it, that of
    the card, or else that of simulated abilities. A model of that percentile has an effect of its own on each item.
    """
    lots, (scale, _) = np.random.default_rng(_SEED), scale_and_digits(card.unit)
    hard, abilities = lots.normal(size=len(clusters)), lots.normal(size=(_POOL, 1))
    parts = [_answers(card, part - hard, lots) for part in np.array_split(abilities, 40)]
    scores, means = np.concatenate([part.mean(axis=1) for part in parts]), np.mean([p.mean(axis=0) for p in parts], 0)
    stated = card.human_deviation if spread is None else spread
    factor = 1.0 if stated is None else stated / scale / float(scores.std())
    scores = scores.mean() + factor * (scores - scores.mean())
    lower, deviation = card.better == "lower", scale * float(scores.std())
    at = float(np.quantile(scores, 1 - percent / 100 if lower else percent / 100, method="nearest"))
    model = float(np.quantile(abilities, percent / 100)) + lots.normal(size=(_MODELS, hard.size)) - hard
    codes, count = cluster_codes(list(clusters), hard.size)
    t = factor * t_quantile(0.975, max(1, count - 1))
    errors = [t * math.sqrt(mean_variance(one - means, codes, count)) for one in _answers(card, model, lots)]

    def half(people: int, error: float) -> float:
        curve = curve_of(lots.choice(scores, people), lower_is_better=lower)
        found = place_interval(cache(partial(share_worse, curve)), people, at, Interval(at - error, at + error))
        return 50 * ((found.high or 0.0) - (found.low or 0.0))

    def of_score(people: int) -> float:
        return fmean(half(people, 0.0) for _ in range(_RUNS))

    def of_mean(people: int) -> float:
        return t_quantile(0.975, people - 1) * deviation / math.sqrt(people)

    columns = ("people", "± of a percentile", "± of a model's percentile", "± of the mean")
    units = {**dict.fromkeys(columns[1:], "points"), columns[3]: "number" if card.unit == "number" else "points"}
    rows = tuple((n, of_score(n), fmean(half(n, error) for error in errors), of_mean(n)) for n in SIZES)
    source = CONVENTION if stated is None else "the people of the paper on all its items" if spread is None else "given"
    return PeopleNeeded(
        _fewest(of_score, width),
        None if mean_width is None else _fewest(of_mean, mean_width),
        deviation,
        source,
        Table("people", f"Intervals at the {percent:g}th percentile", columns, rows, units=units),
    )


def _answers(card: MeasureCard, ability: Floats, lots: np.random.Generator) -> Floats:
    """Answers of these abilities: right or wrong for a share, else anything between the ends of the scale."""
    guessing = card.chance if card.unit == "share" and card.chance else 0.0
    chance = guessing + (1 - guessing) / (1 + np.exp(-ability))
    if card.unit == "share":
        return np.asarray(lots.random(chance.shape) < chance, dtype=np.float64)
    worst, best = (card.scale or (0.0, 1.0))[:: -1 if card.better == "lower" else 1]
    return np.asarray(worst + (best - worst) * lots.beta(2 * chance, 2 * (1 - chance)), dtype=np.float64)


def _fewest(width_of: Callable[[int], float], width: float) -> int:
    """The smallest number of people with this width, by doubling and bisection."""
    low, high = FEWEST_PEOPLE - 1, FEWEST_PEOPLE
    while width_of(high) > width:
        if high > _MOST:
            raise UsageError(f"± {width:g} needs more than {_MOST:,} people; give a larger width.")
        low, high = high, 2 * high
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if width_of(middle) <= width else (middle, high)
    return high
