"""How many people a norm needs: simulated people take the items of an instrument."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean

import numpy as np
from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError
from sociometer.core.measure import Interval, Table
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.formatting import scale_and_digits
from sociometer.statistics.intervals import Floats, cluster_codes, mean_variance
from sociometer.statistics.norms import FEWEST_PEOPLE, curve_of, place_interval, share_worse

SIZES = (30, 60, 100, 200, 400, 800, 1600)
CONVENTION = "abilities and difficulties with a standard deviation of 1 logit, the convention of item response theory"
_POOL, _RUNS, _MODELS, _MOST, _SEED = 20_000, 200, 40, 100_000, 63


class PeopleNeeded(Struct, frozen=True):
    """The numbers of people that two widths need (None: not asked for), and the widths that other numbers give."""

    percentile: int
    mean: int | None
    table: Table
    spread: float
    """The standard deviation of people's scores."""
    source: str


class _Population:
    """Simulated people, each with a score on the items, and models at one percentile of them."""

    def __init__(self, card: MeasureCard, clusters: Sequence[str], spread: float | None) -> None:
        self._lots, self._card, self._clusters = np.random.default_rng(_SEED), card, clusters
        self._guessing = card.chance if card.unit == "share" and card.chance else 0.0
        self._hard = self._lots.normal(size=len(clusters))
        self.abilities = np.sort(self._lots.normal(size=_POOL))
        parts = [self._answers(self.abilities[start : start + 500, None]) for start in range(0, _POOL, 500)]
        self.means: Floats = np.mean([part.mean(axis=0) for part in parts], axis=0)
        scores: Floats = np.concatenate([part.mean(axis=1) for part in parts])
        self.natural = float(scores.std())
        self.factor = 1.0 if spread is None else spread / self.natural
        self.scores = scores.mean() + self.factor * (scores - scores.mean())

    def _answers(self, ability: Floats, own: float = 0.0) -> Floats:
        """Answers to all items: right or wrong for a share, else anything between the ends of the scale."""
        chance = 1 / (1 + np.exp(self._hard - ability - own * self._lots.normal(size=self._hard.size)))
        chance = self._guessing + (1 - self._guessing) * chance
        if self._card.unit == "share":
            return np.asarray(self._lots.random(chance.shape) < chance, dtype=np.float64)
        low, high = self._card.scale or (0.0, 1.0)
        ends = (high, low) if self._card.better == "lower" else (low, high)
        return np.asarray(ends[0] + (ends[1] - ends[0]) * self._lots.beta(2 * chance, 2 * (1 - chance)))

    def people(self, count: int) -> Floats:
        """The scores of so many people."""
        return self._lots.choice(self.scores, count)

    def score_at(self, percent: float) -> float:
        """The score with so many percent of people below it."""
        share = 1 - percent / 100 if self._card.better == "lower" else percent / 100
        return float(np.quantile(self.scores, share, method="nearest"))

    def errors(self, percent: float) -> list[float]:
        """The half-widths of the intervals of models of this percentile, over items, before people are counted."""
        codes, count = cluster_codes(list(self._clusters), self._hard.size)
        ability = float(np.quantile(self.abilities, percent / 100))
        gaps = [self._answers(np.array([[ability]]), own=1.0)[0] - self.means for _ in range(_MODELS)]
        t = t_quantile(0.975, max(1, count - 1))
        t *= self.factor
        return [t * math.sqrt(mean_variance(one, codes, count)) if count > 1 else math.inf for one in gaps]


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
    the card, or else that of simulated abilities.
    """
    scale = scale_and_digits(card.unit)[0]
    stated = spread if spread is not None else card.human_deviation
    population = _Population(card, clusters, None if stated is None else stated / scale)
    deviation = float(population.scores.std())
    at, errors = population.score_at(percent), population.errors(percent)

    def of_score(people: int) -> float:
        """The half-width of the percentile of a given score."""
        return fmean(_half(card, population.people(people), at, 0.0) for _ in range(_RUNS))

    def of_mean(people: int) -> float:
        return t_quantile(0.975, people - 1) * deviation / math.sqrt(people) * scale

    def of_model(people: int) -> float:
        return fmean(_half(card, population.people(people), at, error) for error in errors)

    rows = tuple((count, of_score(count), of_model(count), of_mean(count)) for count in SIZES)
    columns = ("people", "± of a percentile", "± of a model's percentile", "± of the mean")
    units = {**dict.fromkeys(columns[1:], "points"), columns[3]: "number" if card.unit == "number" else "points"}
    if spread is not None:
        source = "given with --spread"
    else:
        source = CONVENTION if card.human_deviation is None else "the people of the paper"
    return PeopleNeeded(
        _fewest(of_score, width),
        None if mean_width is None else _fewest(of_mean, mean_width),
        Table("people", f"Intervals at the {percent:g}th percentile", columns, rows, units=units),
        deviation * scale,
        source,
    )


def _half(card: MeasureCard, scores: Floats, at: float, error: float) -> float:
    """Half of the interval of a percentile, in percent."""
    worse = partial(share_worse, curve_of(scores, lower_is_better=card.better == "lower"))
    found = place_interval(worse, scores.size, at, Interval(at - error, at + error))
    return 50 * ((found.high or 0.0) - (found.low or 0.0))


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
