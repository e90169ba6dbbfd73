"""A norm from people's allocations: exclusions, standard scores, spread, reliability, percentiles."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.errors import UsageError
from sociometer.instruments.seceu.groups import (
    GroupDifference,
    SampleLine,
    group_columns,
    group_difference,
    sample_lines,
    sample_text,
)
from sociometer.instruments.seceu.items import TOTAL
from sociometer.instruments.seceu.norm import Norm, distance, evenness
from sociometer.instruments.seceu.responses import Person
from sociometer.statistics.reliability import Reliability, cronbach_alpha

FEWEST_PEOPLE = 10
FEWEST_SCENARIOS = 3
"""With fewer people, patterns cannot be compared."""
SAME_ANSWER = 0.95
NAMED = 10
PERCENTILES = tuple(step / 10 for step in range(1001))
MOST_ALLOCATIONS = 300
"""How many different allocations of a scenario a norm keeps; with more, they are rounded to whole points."""

Floats = NDArray[np.float64]


class Excluded(Struct, frozen=True):
    """Someone excluded from a norm, and the reason."""

    person: str
    reason: str


class ItemSpread(Struct, frozen=True):
    """People's distances on one scenario; `concern` names a floor or ceiling effect."""

    scenario: str
    mean: float
    deviation: float
    concern: str = ""


class SexDifference(Struct, frozen=True):
    """Student's t test of women's against men's scores."""

    females: int
    males: int
    female_mean: float
    male_mean: float
    t: float
    p_value: float


class Expert(Struct, frozen=True):
    """An expert's position on the norm, from which the expert is excluded."""

    name: str
    score: float
    percent_below: float


class Norming(Struct, frozen=True):
    """A norm with everything to check before using it."""

    norm: Norm
    scores: dict[str, float]
    similarities: dict[str, float]
    excluded: tuple[Excluded, ...]
    spreads: tuple[ItemSpread, ...]
    reliability: Reliability
    sex: SexDifference | None
    experts: tuple[Expert, ...]
    groups: tuple[GroupDifference, ...] = ()
    people: tuple[SampleLine, ...] = ()
    """Who the people are, by column."""


def exclusions(people: Sequence[Person], scenarios: Sequence[str], most_missing: float) -> list[Excluded]:
    """Return the people to exclude: too many gaps, or the same four numbers almost everywhere."""
    found: list[Excluded] = []
    for person in people:
        gaps = len(scenarios) - len(person.answers)
        if gaps > most_missing * len(scenarios):
            found.append(Excluded(person.name, f"{gaps} of {len(scenarios)} stories without points that add up to ten"))
            continue
        same = max((list(person.answers.values()).count(points) for points in person.answers.values()), default=0)
        if len(person.answers) > 1 and same >= SAME_ANSWER * len(person.answers):
            found.append(Excluded(person.name, f"the same four numbers in {same} of {len(person.answers)} stories"))
    return found


def build_norm(
    people: Sequence[Person],
    scenarios: Sequence[str],
    *,
    name: str,
    sample: str,
    experts: Sequence[str] = (),
    most_missing: float = 0.1,
    columns: Sequence[str] | None = None,
    order: str = "",
) -> Norming:
    """Return the norm of these people; experts are scored on it but do not count towards it.

    `columns` are the groups to compare, by default every column that the data has.
    """
    unknown = sorted(set(experts) - {person.name for person in people})
    if unknown:
        raise UsageError(f"no person '{unknown[0]}' among the responses; --experts takes names of the column 'person'.")
    apart = [person for person in people if person.name in experts]
    silent = [person.name for person in apart if not any(scenario in person.answers for scenario in scenarios)]
    if silent:
        raise UsageError(f"expert '{silent[0]}' answered none of the stories; leave the name out of --experts.")
    excluded = exclusions([person for person in people if person.name not in experts], scenarios, most_missing)
    out = {entry.person for entry in excluded} | set(experts)
    kept = [person for person in people if person.name not in out]
    if len(scenarios) < FEWEST_SCENARIOS:
        raise UsageError(f"a norm needs at least {FEWEST_SCENARIOS} stories; the responses have {len(scenarios)}.")
    if len(kept) < FEWEST_PEOPLE:
        raise UsageError(_too_few(len(kept), excluded))
    points = _table(kept, scenarios)
    standards = np.nanmean(points, axis=0)
    distances = _distances(points, standards)
    known = list(dict.fromkeys(name for person in kept for name in group_columns(person)))
    unknown_columns = [name for name in columns or () if name not in known]
    if unknown_columns:
        raise UsageError(
            f"unknown column '{unknown_columns[0]}' for --group; columns about people: {', '.join(known)}."
        )
    lines = sample_lines(kept, known)
    norm = _norm(kept, scenarios, standards, points, distances, name, sample or sample_text(len(kept), lines), order)
    return Norming(
        norm=norm,
        scores=dict(zip((person.name for person in kept), np.nanmean(distances, axis=1).tolist(), strict=True)),
        similarities=dict(zip((person.name for person in kept), _similarities(distances).tolist(), strict=True)),
        excluded=tuple(excluded),
        spreads=tuple(_spreads(scenarios, standards, distances)),
        reliability=_reliability(distances),
        sex=_sex_difference(kept, distances),
        experts=tuple(_experts(apart, norm)),
        groups=tuple(
            group_difference(name, kept, scenarios, points, distances)
            for name in (known if columns is None else columns)
        ),
        people=tuple(lines),
    )


def _too_few(kept: int, excluded: Sequence[Excluded]) -> str:
    said = f"{kept} of {kept + len(excluded)} people remain (without experts); a norm needs at least {FEWEST_PEOPLE}."
    if not excluded:
        return said
    named = "; ".join(f"{entry.person}, {entry.reason}" for entry in excluded[:NAMED])
    more = f"; and {len(excluded) - NAMED} more" if len(excluded) > NAMED else ""
    return f"{said} Excluded: {named}{more}."


def _norm(
    kept: Sequence[Person],
    scenarios: Sequence[str],
    standards: Floats,
    points: Floats,
    distances: Floats,
    name: str,
    sample: str,
    order: str,
) -> Norm:
    scores = np.nanmean(distances, axis=1)
    similarities = _similarities(distances)
    known = similarities[~np.isnan(similarities)]
    evens = [even for person in kept for answer in person.answers.values() if (even := evenness(answer)) is not None]
    return Norm(
        name=name,
        sample=sample,
        people=len(kept),
        mean=float(scores.mean()),
        deviation=float(scores.std(ddof=1)),
        standards={scenario: tuple(row.tolist()) for scenario, row in zip(scenarios, standards, strict=True)},
        template=dict(zip(scenarios, np.nanmean(distances, axis=0).tolist(), strict=True)),
        score_below=_percentiles(-scores, sign=-1.0),
        similarity_below=_percentiles(known),
        similarity_mean=float(known.mean()),
        similarity_deviation=float(known.std(ddof=1)),
        alpha=_reliability(distances).value,
        evenness=float(np.mean(evens)),
        allocations={scenario: counted_allocations(points[:, at]) for at, scenario in enumerate(scenarios)},
        order=order,
        deviations=dict(zip(scenarios, np.nanstd(distances, axis=0, ddof=1).tolist(), strict=True)),
    )


def _table(kept: Sequence[Person], scenarios: Sequence[str]) -> Floats:
    """People × scenarios × options; NaN where a scenario was left out."""
    gap = (float("nan"),) * 4
    table = np.array([[person.answers.get(scenario, gap) for scenario in scenarios] for person in kept])
    counts = (~np.isnan(table[:, :, 0])).sum(axis=0)
    empty = [scenario for scenario, count in zip(scenarios, counts, strict=True) if count < 2]
    if empty:
        raise UsageError(f"fewer than two people answered story '{empty[0]}'; leave its columns out of the responses.")
    return table


def _distances(points: Floats, standards: Floats) -> Floats:
    """Each person's distance from the mean of all the others.

    Measured from a mean that includes themselves, people of a small sample would be nearer than anyone new: with ten
    people, a new person of the same kind would have an EQ of 90.
    """
    counts = (~np.isnan(points[:, :, 0])).sum(axis=0)
    others = counts / (counts - 1)
    return np.asarray(np.sqrt(np.square(points - standards).sum(axis=2)) * others, dtype=np.float64)


def _similarities(distances: Floats) -> Floats:
    """Each person's correlation with the template of all the others, as in the paper."""
    people = distances.shape[0]
    total, counts = np.nansum(distances, axis=0), (~np.isnan(distances)).sum(axis=0)
    found: Floats = np.full(people, np.nan)
    for at, own in enumerate(distances):
        seen = ~np.isnan(own)
        rest = counts - seen
        use = seen & (rest > 0)
        template = (total - np.nan_to_num(own))[use] / rest[use]
        if use.sum() > 2 and np.ptp(own[use]) > 0 and np.ptp(template) > 0:
            found[at] = np.corrcoef(own[use], template)[0, 1]
    return found


def _spreads(scenarios: Sequence[str], standards: Floats, distances: Floats) -> list[ItemSpread]:
    """Ceiling: one SD better than the mean would pass the standard itself; floor: one SD worse, the worst answer."""
    spreads = []
    for scenario, standard, column in zip(scenarios, standards, distances.T, strict=True):
        mean, deviation = float(np.nanmean(column)), float(np.nanstd(column, ddof=1))
        worst = max(distance(corner, standard.tolist()) for corner in (TOTAL * np.eye(standard.size)).tolist())
        concern = "ceiling" if mean - deviation <= 0 else "floor" if mean + deviation >= worst else ""
        spreads.append(ItemSpread(scenario, mean, deviation, concern))
    return spreads


def _reliability(distances: Floats) -> Reliability:
    """Alpha over the people without gaps."""
    return cronbach_alpha(distances[~np.isnan(distances).any(axis=1)], minimum_subjects=FEWEST_PEOPLE)


def _sex_difference(kept: Sequence[Person], distances: Floats) -> SexDifference | None:
    scores = np.nanmean(distances, axis=1)
    females = scores[[person.sex == "female" for person in kept]]
    males = scores[[person.sex == "male" for person in kept]]
    if females.size < 2 or males.size < 2:
        return None
    from scipy import stats  # here, since it takes longer to import than a short command takes

    test = stats.ttest_ind(males, females)
    return SexDifference(
        females.size, males.size, float(females.mean()), float(males.mean()), float(test.statistic), float(test.pvalue)
    )


def _experts(experts: Sequence[Person], norm: Norm) -> list[Expert]:
    """Every expert, and all of them averaged, as in the paper's validity check."""
    placed = [_place(person.name, person.answers, norm) for person in experts]
    if len(experts) > 1:
        shared = [scenario for scenario in norm.standards if all(scenario in person.answers for person in experts)]
        mean = {
            scenario: tuple(np.mean([person.answers[scenario] for person in experts], axis=0).tolist())
            for scenario in shared
        }
        if shared:
            placed.append(_place("all experts averaged", mean, norm))
    return placed


def _place(name: str, answers: dict[str, tuple[float, ...]], norm: Norm) -> Expert:
    known = [scenario for scenario in answers if scenario in norm.standards]
    gaps = [distance(answers[scenario], norm.standards[scenario]) - norm.template[scenario] for scenario in known]
    score = norm.mean + float(np.mean(gaps))
    return Expert(name, score, norm.percent_below(score))


def _percentiles(values: Floats, sign: float = 1.0) -> tuple[tuple[float, float], ...]:
    """Pairs of a value and the percent of people below it, at every tenth of a percent."""
    edges = np.quantile(values, [percent / 100 for percent in PERCENTILES])
    return tuple((round(float(sign * edge), 6), percent) for edge, percent in zip(edges, PERCENTILES, strict=True))


def counted_allocations(points: Floats) -> tuple[tuple[float, ...], ...]:
    """Return the different allocations of a scenario in sorted order, each with the number of people who gave it."""
    given = np.round(points[~np.isnan(points).any(axis=1)], 2)
    found, counts = np.unique(given, axis=0, return_counts=True)
    if len(found) > MOST_ALLOCATIONS:
        found, counts = np.unique(_whole(given), axis=0, return_counts=True)
    return tuple((*map(float, row), float(count)) for row, count in zip(found.tolist(), counts.tolist(), strict=True))


def _whole(points: Floats) -> Floats:
    """Allocations in whole points with the same sum: the largest remainders are rounded up."""
    down = np.floor(points)
    missing = np.rint(points.sum(axis=1) - down.sum(axis=1)).astype(int)
    order = np.argsort(down - points, axis=1, kind="stable")
    for row, places in enumerate(order):
        down[row, places[: missing[row]]] += 1
    return np.asarray(down)
