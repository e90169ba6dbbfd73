"""Correlations on two levels that must not be mixed: over models, and over dialogues within a scenario. Pure."""

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np
from msgspec import Struct

from sociometer.core.measure import Interval
from sociometer.statistics.correlation import fisher_interval, pearson
from sociometer.statistics.intervals import Floats

MODELS, WITHIN = "over models", "over dialogues within scenarios"
_NOTHING_LEFT = 1e-9


class Level(Struct, frozen=True):
    """Pearson's r on one level, None if it cannot be computed, and the number of points that it could rest on."""

    points: int
    r: float | None = None
    interval: Interval = Interval(None, None)


def correlate(series: Sequence[Mapping[str, object]], first: str, second: str) -> dict[str, Level]:
    """Pearson over the models' means, and over dialogues after subtracting each scenario's and each model's mean.

    Differences between whole models belong to the first level. On the second, every mean costs a degree of freedom: N
    dialogues of S scenarios and M models tell as much as N - S - M + 2 points of one sample do, and the interval is
    theirs. A scenario that only one model played does not count there.
    """
    points = [entry for entry in series if first in entry and second in entry]
    models: dict[str, list[int]] = {}
    scenarios: dict[str, list[int]] = {}
    for place, entry in enumerate(points):
        models.setdefault(str(entry["subject"]), []).append(place)
        scenarios.setdefault(str(entry["scenario"]), []).append(place)
    both = np.array([(entry[first], entry[second]) for entry in points], dtype=np.float64).reshape(-1, 2)
    over = Level(len(models))
    means = np.array([both[places].mean(axis=0) for places in models.values()]).reshape(-1, 2)
    if len(models) > 2 and np.ptp(means, axis=0).min() > 0:
        found = pearson(means[:, 0], means[:, 1], list(models))
        over = Level(len(models), found.r, found.interval)
    groups = [places for places in scenarios.values() if len({str(points[at]["subject"]) for at in places}) > 1]
    kept = [place for places in groups for place in places]
    members = [*groups, *(mine for places in models.values() if (mine := [at for at in places if at in set(kept)]))]
    return {MODELS: over, WITHIN: _within(both, kept, members, len(kept) - len(members) + 2)}


def _within(both: Floats, kept: list[int], members: list[list[int]], free: int) -> Level:
    """Pearson's r of what is left of both numbers without the means of the groups (residuals of all together)."""
    if free < 3:
        return Level(len(kept))
    design = np.array([[float(place in group) for group in members] for place in kept])
    values = both[kept]
    one, two = (values - design @ np.linalg.lstsq(design, values, rcond=None)[0]).T
    spread = sqrt(float(one @ one) * float(two @ two))
    if spread < _NOTHING_LEFT:
        return Level(len(kept))
    r = max(-1.0, min(1.0, float(one @ two) / spread))
    return Level(len(kept), r, fisher_interval(r, free))
