"""Means over people who answered the same items: both are samples, so an interval covers both."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, stdev
from typing import Annotated

import numpy as np
from msgspec import Meta, Struct, structs
from numpy.typing import NDArray

from sociometer.core.measure import CLUSTER_BOOTSTRAP, NO_VARIATION, Interval
from sociometer.core.words import grouped
from sociometer.statistics.distributions import normal_quantile, t_below, t_quantile
from sociometer.statistics.intervals import MINIMUM_CLUSTERS, cluster_codes, clustered_mean_interval, too_few, wilson
from sociometer.statistics.item_values import ItemValue
from sociometer.statistics.paired import PairedDifference

MOST_COLUMNS = 25
Share = Annotated[float, Meta(ge=0, le=1)]
Curve = tuple[tuple[float, Share, Share], ...]
"""A score, the share of people with a worse score (ties count half), and the standard error of this share."""


class PeopleMean(Struct, frozen=True):
    """The mean over items of the mean over the people who answered each, with an interval over both.

    `added` is the part of the variance that other people would add; the rest is what other items would add.
    `alone` is the variance over people on the same items, which the whole is never less than.
    """

    value: float
    interval: Interval
    added: float
    people: int
    alone: float


def mean_over_people(
    table: Mapping[str, ItemValue], items: Iterable[str] | None = None, *, share: bool = False, level: float = 0.95
) -> PeopleMean:
    """The mean of people on these items (default: all), and its interval.

    Two-way cluster-robust variance: V(items) + V(people) − V(answers), where V sums the squared sums of the weighted
    deviations of each cluster of items, of each person, and of each answer; at least V(people). Shares have Wilson's
    interval on the effective number of answers. Reference: Cameron, A. C., Gelbach, J. B., and Miller, D. L. (2011).
    Robust inference with multiway clustering. J. Business and Economic Statistics 29.
    """
    names = list(table if items is None else items)
    rows = _answers(table, names)
    values = np.array([value for _, _, value in rows], dtype=np.float64)
    weights = np.array([1 / len(table[name].of) for name, _, _ in rows], dtype=np.float64) / len(names)
    mean = float(weights @ values) if np.ptp(values) else float(values[0])  # of equal values, without rounding
    moved = weights * (values - mean)
    of_items, clusters = cluster_codes([table[name].cluster for name, _, _ in rows], values.size)
    of_people, people = cluster_codes([who for _, who, _ in rows], values.size)
    by_items, by_people = (
        count / (count - 1) * float(np.square(np.bincount(codes, weights=moved)).sum()) if count > 1 else math.nan
        for codes, count in ((of_items, clusters), (of_people, people))
    )
    added = max(0.0, by_people - float(np.square(moved).sum()))
    few = _too_few(clusters, people, level)
    both = max(by_items + added, by_people)
    around = few if few.clusters < MINIMUM_CLUSTERS else _interval(mean, both, few.clusters, share, level)
    return PeopleMean(mean, around, added, people, by_people)


def interval_beside(table: Mapping[str, ItemValue], usual: Mapping[str, float], *, people: bool = False) -> Interval:
    """The interval of the mean of these items around people's `usual` values of them, which are fixed.

    A bootstrap over items, whatever the scale: hard items are hard for both, so it draws the differences from `usual`.
    """
    fixed = {name: usual.get(name.partition("@")[0], 0.0) for name in table}
    if people:
        gap = {name: tuple(value - fixed[name] for value in one.repeats) for name, one in table.items()}
        around = mean_over_people({name: structs.replace(table[name], repeats=gap[name]) for name in gap}).interval
    else:
        gaps = [one.value - fixed[name] for name, one in table.items()]
        around = clustered_mean_interval(gaps, [one.cluster for one in table.values()], binary=False)
    if usual and around.method.startswith(CLUSTER_BOOTSTRAP):
        around = structs.replace(around, method=f"{around.method} of differences from people's distances")
    return around.scaled(1.0, fmean(fixed.values()))


def _too_few(clusters: int, people: int, level: float) -> Interval:
    """The interval without bounds for too few of what there are fewer of: clusters of items, or people."""
    return too_few(min(clusters, people), level, people=people < clusters)


def _interval(mean: float, variance: float, fewest: int, share: bool, level: float) -> Interval:
    if variance == 0 and not (share and mean in (0, 1)):
        return Interval(mean, mean, level, NO_VARIATION, fewest)
    half = t_quantile(0.5 + level / 2, fewest - 1) * math.sqrt(variance)
    if not share:
        return Interval(mean - half, mean + half, level, "t over people and items", fewest)
    # Korn and Graubard's correction, because the variance is itself an estimate from few people or items.
    quantile = 0.5 + level / 2
    worth = mean * (1 - mean) / variance if variance else fewest  # as for one run whose answers are all alike
    size = (normal_quantile(quantile) / t_quantile(quantile, fewest - 1)) ** 2 * worth
    low, high = wilson(mean, max(1.0, size), level)
    return Interval(low, high, level, "Wilson over people and items", fewest)


def with_people(found: PairedDifference, sides: Iterable[PeopleMean], level: float) -> PairedDifference:
    """A paired difference over items in which one side or both are people: other people would differ as well."""
    means = list(sides)
    few = _too_few(found.clusters, min(one.people for one in means), level)
    fewest = few.clusters
    if fewest < 2:
        return structs.replace(found, interval=few, p_value=1.0, clusters=fewest, mcnemar=None, binary=False)
    both = found.standard_error**2 + sum(one.added for one in means)
    error = math.sqrt(max(both, sum(one.alone for one in means)))
    half = t_quantile(0.5 + level / 2, fewest - 1) * error
    low, high = found.difference - half, found.difference + half
    interval = Interval(low, high, level, "t over people and items", fewest)
    return structs.replace(
        found, interval=few if fewest < MINIMUM_CLUSTERS else interval,
        p_value=2 * t_below(-abs(found.difference) / error, fewest - 1) if error else float(found.difference == 0),
        standard_error=error, clusters=fewest, freedom=fewest - 1.0, binary=False, mcnemar=None,
    )  # fmt: skip


class PlaceAmongPeople(Struct, frozen=True):
    """How many people somebody is better than, each on the items that this person answered; ties count half."""

    better_than: float  # How many people; a tie counts half.
    people: int  # The number of people.
    share: float  # The share of people: 0.62 is better than 62 %.
    interval: Interval  # The interval of the share.
    deviations: float | None
    """How far above the people's mean, in standard deviations of their scores; None if these are all the same."""


def place_among(people: Mapping[str, ItemValue], subject: Mapping[str, ItemValue], sign: float) -> PlaceAmongPeople:
    """The place of a subject among people; `sign` is −1 if less is better. Other people and other items would move it.

    What other items would do is read off the gaps between the subject and the people's mean on each item, and off the
    percentile curve, as for a norm of the same people.
    """
    shared = [name for name in subject if name in people]
    ahead = ((who, subject[name].value - value) for name, who, value in _answers(people, shared))
    leads = [*map(fmean, grouped(ahead).values())]
    better_than = sum(0.5 if abs(lead) < 1e-9 else sign * lead > 0 for lead in leads)
    count, gaps = len(leads), [subject[name].value - people[name].value for name in shared]
    around = clustered_mean_interval(gaps, [people[name].cluster for name in shared], binary=False)
    curve, ends = curve_of(-np.array(leads), lower_is_better=sign < 0), around.scaled(1, -math.fsum(gaps) / len(gaps))
    bounds = place_interval(
        lambda by: share_worse(curve, by, lower_is_better=sign < 0) if by else better_than / count, count, 0.0, ends
    )
    spread = stdev(leads) if count > 1 else 0.0
    bounds = bounds if count >= MINIMUM_CLUSTERS else too_few(count, people=True)
    away = fmean(leads) / spread if spread else None
    return PlaceAmongPeople(better_than, count, better_than / count, bounds, away)


def scores_of(table: Mapping[str, ItemValue]) -> tuple[float, ...]:
    """The score of each person: the mean over the items that they answered."""
    return tuple(map(fmean, grouped((who, value) for _, who, value in _answers(table, table)).values()))


def histogram(scores: Sequence[float], low: float = -math.inf, high: float = math.inf) -> tuple[list[int], list[float]]:
    """The people in each column and the edges of the columns; few, equally spaced scores are the centres of theirs."""
    values, bins = np.unique(np.round(scores, 9)), np.histogram_bin_edges(scores, bins="auto")
    gap = np.diff(values).min(initial=math.inf)
    for step in (gap / 3, gap / 2, gap):
        places = (values - values[0]) / step
        if 0 < places[-1] < MOST_COLUMNS and np.abs(places - places.round()).max() < 1e-4:
            bins = values[0] + step * (np.arange(places[-1].round() + 2) - 0.5)
    bins = bins.clip(low, high)
    return np.histogram(scores, bins)[0].tolist(), bins.tolist()


def _answers(table: Mapping[str, ItemValue], items: Iterable[str]) -> list[tuple[str, int, float]]:
    """Every answer to these items: the item, the person and the value."""
    return [(key, who, value) for key in items for who, value in zip(table[key].of, table[key].repeats, strict=True)]


def cohens_d(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The second mean minus the first over the pooled standard deviation; None if scores do not vary (Cohen 1988)."""
    squares = [(value - fmean(scores)) ** 2 for scores in (first, second) for value in scores]
    pooled = math.sqrt(math.fsum(squares) / max(1, len(squares) - 2))
    return (fmean(second) - fmean(first)) / pooled if pooled else None


def curve_of(scores: NDArray[np.float64], *, lower_is_better: bool) -> Curve:
    """The share of people with a worse score than each score that occurs; a tie counts half."""
    values, counts = np.unique(np.round(scores, 9), return_counts=True)
    below = (np.cumsum(counts) - counts / 2) / scores.size
    worse = 1 - below if lower_is_better else below
    errors = np.sqrt(worse * (1 - worse) / scores.size)
    return tuple(zip(values.tolist(), np.round(worse, 6).tolist(), np.round(errors, 6).tolist(), strict=True))


def share_worse(curve: Sequence[tuple[float, float, float]], score: float, *, lower_is_better: bool = False) -> float:
    """The share of people with a worse score, on a line between scores of the curve; one score shows no direction."""
    scores, worse, _ = zip(*curve, strict=True)
    ends = (1.0, 0.0) if worse[-1] < worse[0] or (lower_is_better and len(scores) == 1) else (0.0, 1.0)
    return float(np.interp(score, scores, worse, *ends))


def place_interval(worse: Callable[[float], float], people: int, score: float, around: Interval) -> Interval:
    """The interval of a share of people, which `worse` gives for a score: with the error of the score and the people's.

    The limits of both are recovered and added in squares: the ends of the score's interval over items (`around`) on
    the curve, and Wilson's interval of a share of so many people. Reference: Zou, G. Y., and Donner, A. (2008).
    Construction of confidence limits about effect measures: a general approach. Statistics in Medicine 27.
    """
    if around.low is None or around.high is None:
        return around
    share, ends = worse(score), sorted((worse(around.low), worse(around.high)))
    low, high = wilson(share, people, around.level)
    below = share - math.hypot(max(0.0, share - ends[0]), share - low)
    above = share + math.hypot(max(0.0, ends[1] - share), high - share)
    method = "score over items and Wilson over people"
    return Interval(max(0.0, below), min(1.0, above), around.level, method, around.clusters)


FEWEST_PEOPLE = 10
"""The smallest number of people about whom a norm says anything, so that nobody can be recognised."""
_COLUMNS = {"gender": "sex", "性别": "sex", "年龄": "age"}
_SEXES = {"f": "female", "woman": "female", "m": "male", "man": "male", "女": "female", "男": "male"}
_AGES = {"under 30": 30.0, "30 to 49": 50.0, "50 and over": math.inf}


def groups_of(about: Mapping[str, str]) -> dict[str, str]:
    """The groups of a person that a norm knows: sex, and age in three bands."""
    said = {name.strip().lower(): text.strip().lower() for name, text in about.items() if text.strip()}
    known = {_COLUMNS.get(name, name): text for name, text in said.items()}
    try:
        age = float(known.get("age", "nan"))
    except ValueError:
        age = math.nan
    band = next((name for name, end in _AGES.items() if age < end), "")
    sex = known.get("sex", "")
    return {column: group for column, group in (("sex", _SEXES.get(sex, sex)), ("age", band)) if group}


def told_groups(groups: Sequence[Mapping[str, str]]) -> dict[tuple[str, str], int]:
    """The groups that a norm tells, with their sizes: none that is small, or small when the others are subtracted."""
    found: dict[tuple[str, str], int] = {}
    for column in ("sex", "age"):
        counts = Counter(one[column] for one in groups if column in one)
        shown = {name: count for name, count in counts.most_common() if FEWEST_PEOPLE <= count < len(groups)}
        while shown and 0 < len(groups) - sum(shown.values()) < FEWEST_PEOPLE:
            shown.popitem()
        found |= {(column, name): count for name, count in shown.items()}
    return found


def sample_text(groups: Sequence[Mapping[str, str]], flagged: int, excluded: int) -> str:
    """The people in a line, with how many may not have read the questions, and how many others are left out."""
    told = [f"{column} {name} ({count})" for (column, name), count in told_groups(groups).items()]
    return "; ".join([f"{len(groups)} people, {flagged} flagged, {excluded} excluded", *told])
