"""The mean of a run over all its items, from a part of them and from earlier runs of other subjects on the same items.

How hard an item was for others predicts how hard it is. The mean of the predictions over all items, plus the mean error
of the prediction on the items played, estimates the mean over all items: a poor prediction makes it less precise, but
not wrong. Two predictions are tried: a line on the mean of the other subjects, and the mean of each of five strata of
equal size by that mean. The one with the smaller error for subjects that are left out in turn is used, if it helps.

Reference: Särndal, C.-E., Swensson, B., and Wretman, J. (1992). Model Assisted Survey Sampling, chapters 6 and 7.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from sociometer.core.measure import Interval
from sociometer.statistics.intervals import SEED, Floats, clustered_mean_interval, mean_variance

FEWEST_SUBJECTS = 3
STRATA = 5
GAIN = 0.95
"""Predictions whose error has a larger share of the plain mean's squared error are not used."""
_HALVES = 100


class Prediction(Struct, frozen=True):
    """A way to predict the value of each item, and what it gains."""

    places: dict[str, int]
    """The row of each item in `design`."""
    design: Floats | None
    """What the value is regressed on, items × columns; None if no way helps."""
    told: str
    """The way in words, with its gain."""
    gain: float = 1.0
    """The squared error for subjects that were left out, as a share of the plain mean's."""

    def mean(self, values: Mapping[str, float]) -> tuple[float, Floats] | None:
        """The estimated mean over all items, and the error of each played one; None if the plain mean must do."""
        if self.design is None:
            return None
        played = self.design[[self.places[name] for name in values]]
        if (np.abs(played).sum(axis=0) == 0).any():  # a stratum without an item
            return None
        y = np.array(list(values.values()))
        return _assisted(self.design, played, y)


def _assisted(design: Floats, played: Floats, values: Floats) -> tuple[float, Floats]:
    """The mean over all items, and the error of each played one times the weight of its value in the mean."""
    solved = np.linalg.pinv(played)
    weights = design.mean(axis=0) @ solved * values.size
    return float((weights * values).mean()), weights * (values - played @ (solved @ values))


def prediction(tables: Sequence[Mapping[str, float]]) -> Prediction | None:
    """The best way to predict a new subject from the values of others; None with too few of them."""
    names = list(dict.fromkeys(name for table in tables for name in table))
    if len(tables) < FEWEST_SUBJECTS or not names:
        return None
    values = np.array([[table.get(name, np.nan) for table in tables] for name in names])
    ways = {name: _left_out_error(values, place) for place, name in enumerate(_WAYS)}
    best = min(ways, key=lambda name: ways[name])
    told = f"{len(tables)} earlier runs"
    if not ways[best] < GAIN:
        return Prediction({}, None, f"no gain from {told}", ways[best])
    words = f"{best} on {told}, which leaves {ways[best]:.2f} of the variance for a subject that is left out"
    places = {name: place for place, name in enumerate(names)}
    return Prediction(places, _designs(values)[_WAYS.index(best)], words, ways[best])


_WAYS = ("regression", "strata")


def _designs(values: Floats) -> tuple[Floats, Floats]:
    """A constant and the mean over subjects; and one column for each stratum of items by that mean."""
    known = np.isfinite(values)
    counts = known.sum(axis=1)
    sums = np.where(known, values, 0.0).sum(axis=1)
    mean = np.where(counts > 0, sums / np.maximum(counts, 1), np.nanmean(values))
    ordered = np.sort(mean)
    rank = (np.searchsorted(ordered, mean, "left") + np.searchsorted(ordered, mean, "right") - 1) / 2
    stratum = np.unique((rank * STRATA / mean.size).astype(int), return_inverse=True)[1]  # equal means, one stratum
    strata = stratum[:, None] == np.arange(stratum.max() + 1)
    return np.column_stack([np.ones(mean.size), mean]), strata.astype(np.float64)


def _left_out_error(values: Floats, way: int) -> float:
    """The mean squared error of the way as a share of the plain mean's, for each subject from the others, on halves."""
    rng = np.random.default_rng(SEED)
    found = plain = 0.0
    for subject in range(values.shape[1]):
        whole = np.isfinite(values[:, subject])
        design, own = _designs(np.delete(values, subject, axis=1))[way][whole], values[whole, subject]
        for _ in range(_HALVES):
            half = rng.permutation(own.size)[: own.size // 2]
            found += (_assisted(design, design[half], own[half])[0] - own.mean()) ** 2
            plain += (own[half].mean() - own.mean()) ** 2
    return found / plain if plain else 1.0


def assisted_interval(
    values: Mapping[str, float],
    codes: Sequence[str],
    items: int,
    *,
    these: bool,
    predicted: Prediction | None = None,
    binary: bool | None = None,
    scale: tuple[float, float] | None = None,
) -> tuple[float, Interval]:
    """The mean of all `items` from the played ones, with its interval; without a prediction the plain mean.

    The bounds of the plain interval are moved to √(v/v₀) of their distance, v₀ the variance of the plain mean. With r
    the share of it that prediction errors have and n of N items played, v/v₀ is (1 − n/N) r for `these` items (Cochran
    1977), and n/N + (1 − n/N) r for items of this kind, since all N are a sample of those.
    """
    plain = np.array(list(values.values()))
    interval = clustered_mean_interval(plain, codes, binary=binary, scale=scale)
    mean, left, ratio = float(plain.mean()), max(0.0, 1 - plain.size / items), 1.0
    found = predicted.mean(values) if predicted else None
    if found is not None:
        numbers = np.unique(codes, return_inverse=True)[1]
        usual, count = mean_variance(plain, numbers, int(numbers.max()) + 1), plain.size
        used = 0 if predicted is None or predicted.design is None else predicted.design.shape[1]
        if usual > 0 and count > used:
            ratio = mean_variance(found[1], numbers, int(numbers.max()) + 1) / usual * (count - 1) / (count - used)
            # errors that are small by chance must not end a run
            mean, ratio = found[0], max(ratio, predicted.gain if predicted else 0.0)
    if interval.low is None or interval.high is None:
        return mean, interval
    factor = float(left * ratio if these else 1 - left + left * ratio) ** 0.5
    low, high = (float(mean + factor * (end - plain.mean())) for end in (interval.low, interval.high))
    if scale is not None or binary or (binary is None and np.isin(plain, (0.0, 1.0)).all()):
        bottom, top = scale or (0.0, 1.0)
        low, high = max(bottom, low), min(top, high)
    return mean, Interval(low, high, interval.level, interval.method, interval.clusters)
