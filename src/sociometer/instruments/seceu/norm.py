"""A human norm: standard scores, the people's pattern, and a subject's position among them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from sociometer.core.errors import DataError, hint
from sociometer.core.measure import Interval
from sociometer.core.sheets import read_table
from sociometer.statistics.charts import DensityPoint
from sociometer.statistics.distributions import normal_quantile
from sociometer.statistics.monotone_curve import MonotoneCurve
from sociometer.statistics.norms import ItemNorm, read_norm_file, unlike
from sociometer.statistics.people import place_interval, share_worse
from sociometer.statistics.reliability import standard_error_of_measurement

EQ_MEAN, EQ_DEVIATION = 100.0, 15.0
EXPERT, POOR = 115.0, 85.0
PUBLISHED_NORM = "Wang et al. (2023)"
PRINTED, SHUFFLED = "printed", "shuffled"
PUBLISHED = Path(__file__).parent / "published"

Pairs = tuple[tuple[float, float], ...]


class Norm(Struct, frozen=True):
    """The data of a sample of people: everything that scoring needs, and a description of the people."""

    name: str
    sample: str
    people: int
    mean: float
    deviation: float
    standards: dict[str, tuple[float, ...]]
    template: dict[str, float]
    score_below: Pairs
    """Pairs of a SECEU score and the percent of people who did worse than it."""
    similarity_below: Pairs
    """Pairs of a pattern similarity and the percent of people below it."""
    similarity_mean: float
    similarity_deviation: float
    alpha: float | None = None
    evenness: float | None = None
    """Mean evenness of individual people's allocations, if known."""
    deviations: dict[str, float] = {}
    """Standard deviation of people's distances on each scenario, if known; their means are the template."""
    order: str = ""
    """The order in which people saw the feelings: `printed`, `shuffled`, or unknown."""
    contents: dict[str, str] = {}
    """A digest of what people were asked in each story, if known."""

    @property
    def unreliable(self) -> str:
        """Return why the people's scores are only noise, so that nobody has an EQ among them; empty if they are not."""
        if self.alpha is None or self.alpha > 0:
            return ""
        return f"no EQ or percentile: the scores of the norm's people have no reliability (alpha {self.alpha:.2f})"

    def error_of_measurement(self, items: int) -> float | None:
        """Return the people's standard error of measurement in EQ points, more for a mean over fewer of the items."""
        deviation = EQ_DEVIATION * math.sqrt(len(self.standards) / items)
        return standard_error_of_measurement(deviation, self.alpha) if self.alpha and self.alpha > 0 else None

    @property
    def different_below(self) -> float:
        """Return the similarity below which the paper speaks of a qualitatively different mechanism."""
        return round(self.similarity_mean - self.similarity_deviation, 3)

    @property
    def items(self) -> dict[str, ItemNorm]:
        """Return people's distances on each scenario, if their deviations are known."""
        return {name: ItemNorm("", self.people, self.template[name], one) for name, one in self.deviations.items()}

    def eq(self, score: float) -> float:
        """Return the EQ of a SECEU score: 15 (M - score) / SD + 100."""
        return EQ_DEVIATION * (self.mean - score) / self.deviation + EQ_MEAN

    def eq_interval(self, eq: float, interval: Interval) -> Interval:
        """Return the interval of an EQ with the error of the norm's own people added to that of the items.

        The mean of so many people has the standard error 15/√people in EQ points, and their standard deviation the
        relative error 1/√(2 people).
        """
        if interval.low is None or interval.high is None or not self.people:
            return interval
        error = math.sqrt((EQ_DEVIATION**2 + (eq - EQ_MEAN) ** 2 / 2) / self.people)
        own = normal_quantile(0.5 + interval.level / 2) * error
        low, high = eq - math.hypot(eq - interval.low, own), eq + math.hypot(interval.high - eq, own)
        return msgspec.structs.replace(interval, low=low, high=high, method=f"{interval.method}, with the norm's error")

    def score_of(self, eq: float) -> float:
        """Return the SECEU score that has this EQ."""
        return self.mean - (eq - EQ_MEAN) * self.deviation / EQ_DEVIATION

    def percent_below(self, score: float) -> float:
        """Return the percent of people who did worse than this score."""
        return _percent(self.score_below, score, increasing=False, counted=self.counted)

    def percent_of_eq(self, eq: float) -> float:
        """Return the percent of people with a lower EQ."""
        return self.percent_below(self.score_of(eq))

    @property
    def counted(self) -> bool:
        """Return whether percentiles were counted from people, and not read off a few printed pairs."""
        return self.name != PUBLISHED_NORM

    def percent_error(self, percent: float) -> float:
        """Return the standard error of a percentile, in percent: that of a share among so many people.

        A share of nobody or everybody counts as half a person.
        """
        edge = 0.5 / self.people
        share = min(1 - edge, max(edge, percent / 100))
        return 100 * math.sqrt(share * (1 - share) / self.people)

    def share_interval(self, eq: float, score: float, around: Interval) -> Interval:
        """Return the interval of the share of people below an EQ, from a SECEU score and its interval over items."""
        at = self.score_of(eq)
        ends = around.scaled(1, at - score)
        return place_interval(lambda value: self.percent_below(value) / 100, self.people, at, ends)

    def percent_less_similar(self, similarity: float) -> float:
        """Return the percent of people whose pattern is less like the template than this."""
        return _percent(self.similarity_below, similarity, increasing=True, counted=self.counted)

    def beyond(self, *similarities: float) -> str:
        """Return a note if a similarity is at an end of the published curve, which has no percent beyond it."""
        (least, low), (most, high) = min(self.similarity_below), max(self.similarity_below)
        said = [f"begins at {low:g} %, which means {low:g} % or less"] * (min(similarities, default=most) <= least)
        said += [f"ends at {high:g} %, which means {high:g} % or more"] * (max(similarities, default=least) >= most)
        return "" if self.counted or not said else f"the published curve {' and '.join(said)}"


def through_curve(interval: Interval | None, curve: Callable[[float], float]) -> Interval | None:
    """Return the interval of a percentile: the ends of the value's interval, mapped through the curve."""
    if interval is None or interval.low is None or interval.high is None:
        return interval
    method = f"{interval.method} through the percentile curve"
    return Interval(curve(interval.low), curve(interval.high), interval.level, method, interval.clusters)


def band(eq: float) -> str:
    """Return the paper's word for an EQ: expert above 115, poor below 85, else normal."""
    return "expert" if eq > EXPERT else "poor" if eq < POOR else "normal"


def evenness(allocation: Sequence[float]) -> float | None:
    """Return the entropy of an allocation as a share of its maximum; None for an empty one."""
    total = math.fsum(allocation)
    if total <= 0:
        return None
    shares = [points / total for points in allocation if points > 0]
    return -math.fsum(share * math.log(share) for share in shares) / math.log(len(allocation)) + 0.0


def read_norm(path: Path) -> Norm:
    """Return the norm in a file that `study norms` wrote, unless it has the percentiles of an earlier version."""
    file, made_by = read_norm_file(path), hint("study norms STUDY --to FILE")
    try:
        own = None if file is None else next((task.own for task in file.tasks.values() if task.own), None)
        norm = msgspec.json.decode(path.read_bytes(), type=Norm) if file is None else msgspec.convert(own, Norm)
    except msgspec.DecodeError as error:
        raise DataError(f"not a norm of SECEU ({error}); make one: {made_by}", path) from None
    if norm.counted and any(percent >= 100 for _, percent in norm.score_below):  # where a person counts half, none is
        raise DataError(f"an earlier version counted the percentiles of this norm; make it again: {made_by}", path)
    return norm


def misfit(stored: Any, items: Iterable[Any], roles: Mapping[str, str]) -> str:
    """Return why the stored norm has no standard scores for these items; empty if it has."""
    norm = norm_of(stored)
    contents = {} if norm is None else norm.contents or dict.fromkeys(norm.standards, "")
    return "" if norm is None else unlike(contents, items, norm.name, lambda item: str(item.scenario))


def norm_of(stored: Any) -> Norm | None:
    """Return the norm that was stored with a run as a JSON value."""
    return None if stored is None else msgspec.convert(stored, Norm)


def published_norm(standards: Sequence[Sequence[float]], template: Sequence[float], ids: Sequence[str]) -> Norm:
    """Return the paper's norm: standards and template of the authors' file, percentiles of their tables."""
    people = published_people()
    return Norm(
        name=PUBLISHED_NORM,
        sample="541 students in China (339 women), aged 17 to 30, who read the Chinese items",
        people=round(people["people"]),
        mean=people["score_mean"],
        deviation=people["score_deviation"],
        standards={name: tuple(row) for name, row in zip(ids, standards, strict=True)},
        template=dict(zip(ids, template, strict=True)),
        score_below=(
            (people["score_lowest"], 100.0),
            *published_pairs("score", "percent"),
            (people["score_highest"], 0.0),
        ),
        similarity_below=published_pairs("similarity", "similarity_percent"),
        similarity_mean=people["similarity_mean"],
        similarity_deviation=people["similarity_deviation"],
        alpha=people["alpha"],
        order=PRINTED,
    )


@cache
def published_people() -> Mapping[str, float]:
    """Return what the paper prints about its sample."""
    return {row["name"]: float(row["value"]) for row in published_rows("people")}


@cache
def published_pairs(value: str, percent: str) -> Pairs:
    """Return the distinct pairs of a value and its percentile in Tables 1, S1 and S2."""
    rows = [row for table in ("table_1", "table_s1", "table_s2") for row in published_rows(table)]
    return tuple(sorted({(float(row[value]), float(row[percent])) for row in rows if row[value]}))


def published_rows(table: str) -> list[dict[str, str]]:
    """Return the rows of a published table."""
    return read_table(PUBLISHED / f"{table}.csv")


_curve = cache(MonotoneCurve)


def _percent(pairs: Iterable[Sequence[float]], value: float, *, increasing: bool, counted: bool) -> float:
    """The percent at a value, within its bounds: counted as on every norm of people, or on a curve through pairs."""
    known = sorted((at, percent) for at, percent in pairs)
    if counted:
        return 100 * share_worse([(at, percent / 100, 0.0) for at, percent in known], value)
    return min(100.0, max(0.0, float(_curve(*zip(*known, strict=True), increasing=increasing)(value))))


EQ_WINDOW, SIMILARITY_WINDOW = 6.0, 0.06
STEPS = 121


def eq_density(norm: dict[str, Any]) -> list[DensityPoint]:
    """Return the density of people's EQs, from a norm as a summary's series holds it."""
    below = partial(_percent, norm["score_below"], increasing=False, counted=norm["counted"])
    return _density(lambda eq: below(norm["mean"] - (eq - 100) * norm["deviation"] / 15), 30, 140, EQ_WINDOW)


def similarity_density(norm: dict[str, Any]) -> list[DensityPoint]:
    """Return the density of people's pattern similarities."""
    mean, spread = norm["similarity_mean"], 4 * norm["similarity_deviation"]
    pairs = (*norm["similarity_below"], (mean - spread, 0.0), (mean + spread, 100.0))
    below = partial(_percent, pairs, increasing=True, counted=norm["counted"])
    return _density(below, mean - spread, mean + spread, SIMILARITY_WINDOW)


def _density(below: Callable[[float], float], low: float, high: float, window: float) -> list[DensityPoint]:
    """The slope over a window on either side, because rounded percentiles make the bare derivative jagged."""
    return [
        DensityPoint(round(float(x), 4), max(0.0, (below(x + window) - below(x - window)) / (200 * window)))
        for x in np.linspace(low, high, STEPS)
    ]
