"""A norm from people's allocations: exclusions, standard scores, spread, reliability, percentiles."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median, stdev

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.errors import DataError, UsageError
from sociometer.core.lazy import lazy
from sociometer.core.sheets import read_sheet
from sociometer.core.task import PeopleValues, RunView
from sociometer.core.words import first_of
from sociometer.instruments.seceu.items import TOTAL, Scenario
from sociometer.instruments.seceu.norm import PRINTED, SHUFFLED, Norm, distance, evenness
from sociometer.instruments.seceu.play import Allocated
from sociometer.statistics.norms import described
from sociometer.statistics.reliability import Reliability, cronbach_alpha

stats = lazy("scipy.stats")

OPTIONS = 4
TOLERANCE = 0.5
_COLUMN = re.compile(r"(?P<scenario>.+)_(?P<place>[1-4])")


class Person(Struct, frozen=True):
    """One person's answers; a scenario that is unanswered or does not add up to ten points is absent."""

    name: str
    answers: dict[str, tuple[float, ...]]
    about: dict[str, str] = {}
    """What is known about the person, by column, such as sex, age or a language."""


def read_people(path: Path) -> tuple[tuple[str, ...], list[Person]]:
    """Return the scenarios of the file in order, and its people."""
    sheet = read_sheet(path, guarded=True)
    scenarios = _scenarios(sheet.columns, path)
    people: dict[str, Person] = {}
    for line, row in sheet.rows:
        person = _person(row, scenarios, path, line)
        if person.name in people:
            raise DataError(f"person '{person.name}' appears twice; a norm counts each person once", path, line)
        people[person.name] = person
    return scenarios, list(people.values())


def _scenarios(columns: Iterable[str], path: Path) -> tuple[str, ...]:
    places: dict[str, set[str]] = {}
    for column in columns:
        match = _COLUMN.fullmatch(column.strip())
        if match:
            places.setdefault(match["scenario"], set()).add(match["place"])
    short = [scenario for scenario, found in places.items() if len(found) != OPTIONS]
    if short or not places:
        wanted = "each story needs four columns such as ours-01_1 to ours-01_4"
        raise DataError(f"{wanted}; incomplete: {', '.join(short[:5]) or 'no story found'}", path, 1)
    return tuple(places)


def _person(row: Mapping[str, str], scenarios: Sequence[str], path: Path, line: int) -> Person:
    answers: dict[str, tuple[float, ...]] = {}
    for scenario in scenarios:
        cells = [row[f"{scenario}_{place}"].strip() for place in range(1, OPTIONS + 1)]
        if any(cells) and (points := _points(cells, scenario, path, line)) is not None:
            answers[scenario] = points
    asked = {"person", *(f"{scenario}_{place}" for scenario in scenarios for place in range(1, OPTIONS + 1))}
    about = described({name: cell for name, cell in row.items() if name and name not in asked})
    if "age" in about and not _numbers([about["age"]]):
        raise DataError(f"age '{about['age']}' is not a number; leave the cell empty if it is unknown", path, line)
    return Person(row.get("person", "").strip() or f"row {line}", answers, about)


def _points(cells: Sequence[str], scenario: str, path: Path, line: int) -> tuple[float, ...] | None:
    """The points scaled to ten if they nearly add up to it; None otherwise."""
    try:
        values = [float(cell) if cell else 0.0 for cell in cells]
    except ValueError:
        raise DataError(f"{scenario} contains {cells}; points must be numbers", path, line) from None
    held = math.fsum(values)
    if not all(math.isfinite(value) and value >= 0 for value in values) or abs(held - TOTAL) > TOLERANCE:
        return None
    return tuple(TOTAL * value / held for value in values)


def of_people(view: RunView[Scenario, Allocated], name: str, sample: str) -> PeopleValues:
    """Return each person's distance from the mean of the others on each story, and the norm of them all."""
    answers: dict[int, dict[str, tuple[float, ...]]] = {}
    items = {}
    for episode in view.episodes():
        items[episode.item.scenario] = episode.item
        if episode.outcome is not None and any(episode.outcome.points):
            answers.setdefault(episode.repeat, {})[episode.item.scenario] = episode.outcome.points
    people = [Person(str(person), points) for person, points in answers.items()]
    order = SHUFFLED if view.settings.flag("shuffle") else PRINTED
    made = build_norm(people, tuple(items), name=name, sample=sample, most_missing=1.0, columns=(), order=order)
    kept = [person for person in people if person.name in made.scores]
    points = _table(kept, tuple(items))
    distances = _distances(points, np.nanmean(points, axis=0), own=False)
    values = {
        item.id: {int(one.name): float(far) for one, far in zip(kept, column, strict=True) if not math.isnan(far)}
        for item, column in zip(items.values(), distances.T, strict=True)
    }
    contents = {scenario: item.asked_digest().hex() for scenario, item in items.items()}
    return values, msgspec.to_builtins(msgspec.structs.replace(made.norm, contents=contents))


Floats = NDArray[np.float64]
MOST_LEVELS = 12
"""A column with more different values is no group (a name, a time)."""


class GroupMean(Struct, frozen=True):
    """The people of one group: their mean score and its standard error."""

    group: str
    people: int
    mean: float
    error: float


class GroupDifference(Struct, frozen=True):
    """The groups of one column; `note` says why they were not compared."""

    column: str
    groups: tuple[GroupMean, ...]
    test: str = ""
    p_value: float | None = None
    note: str = ""


class SampleLine(Struct, frozen=True):
    """The description of the sample by one column."""

    column: str
    text: str
    unknown: int


def sample_lines(people: Sequence[Person], columns: Sequence[str]) -> list[SampleLine]:
    """The sample, column by column: counts, or mean, SD and range of numbers."""
    found = []
    for column in columns:
        values = [value for person in people if (value := person.about.get(column, ""))]
        numbers = _numbers(values)
        if numbers and len(set(numbers)) > 2:
            spread = f", SD {stdev(numbers):.1f}" if len(numbers) > 1 else ""
            text = f"{min(numbers):g} to {max(numbers):g}, mean {fmean(numbers):.1f}{spread}"
        else:
            counts = Counter(values).most_common()
            text = first_of([f"{count} {value}" for value, count in counts], MOST_LEVELS)
        found.append(SampleLine(column, text, len(people) - len(values)))
    return found


def sample_text(people: int, lines: Sequence[SampleLine]) -> str:
    """The sample in one line."""
    told = [f"{line.column} {line.text}{f' ({line.unknown} unknown)' if line.unknown else ''}" for line in lines]
    return "; ".join([f"{people} people", *told])


def group_difference(column: str, people: Sequence[Person], scores: Floats) -> GroupDifference:
    """The mean score of each group of a column, and a test of their difference."""
    labels = _labels([person.about.get(column, "") for person in people])
    names = sorted({label for label in labels if label})
    if len(names) > MOST_LEVELS or len(names) < 2:
        why = "has a single value" if len(names) < 2 else f"has {len(names)} different values"
        return GroupDifference(column, (), note=f"'{column}' {why}: not compared.")
    groups = [scores[[label == name for label in labels]] for name in names]
    test, p_value = _test(groups)
    return GroupDifference(column, tuple(map(_mean, names, groups)), test, p_value)


def _labels(values: Sequence[str]) -> list[str]:
    """The group of each person; many different numbers are split at their median."""
    known = [value for value in values if value]
    numbers = _numbers(known)
    if not numbers or len(set(numbers)) <= MOST_LEVELS // 2:
        return list(values)
    middle = median(numbers)
    if middle == max(numbers):  # more than half have the highest value
        middle = max(number for number in numbers if number < middle)
    return [
        "" if not value else f"up to {middle:g}" if float(value) <= middle else f"over {middle:g}" for value in values
    ]


def _numbers(values: Sequence[str]) -> list[float]:
    """The values as numbers; none if one of them is not a finite number."""
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return []
    return numbers if all(map(math.isfinite, numbers)) else []


def _mean(group: str, scores: Floats) -> GroupMean:
    error = float(scores.std(ddof=1)) / scores.size**0.5 if scores.size > 1 else 0.0
    return GroupMean(group, int(scores.size), float(scores.mean()), error)


def _test(groups: Sequence[Floats]) -> tuple[str, float | None]:
    """Student's t test of two groups, as the paper tests the sexes, or an analysis of variance of more."""
    if any(group.size < 2 for group in groups) or all(float(np.ptp(group)) == 0 for group in groups):
        return "", None

    free = sum(group.size for group in groups) - len(groups)
    if len(groups) == 2:
        t = stats.ttest_ind(*groups)
        return f"t({free}) = {float(t.statistic):.2f}", float(t.pvalue)
    f = stats.f_oneway(*groups)
    return f"F({len(groups) - 1}, {free}) = {float(f.statistic):.2f}", float(f.pvalue)


FEWEST_PEOPLE = 10
FEWEST_SCENARIOS = 3
"""With fewer people, patterns cannot be compared."""
SAME_ANSWER = 0.95
NAMED = 10
PERCENTILES = tuple(step / 10 for step in range(1001))


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
    own: bool = False,
) -> Norming:
    """Return the norm of these people; experts are scored on it but do not count towards it.

    `columns` are the groups to compare, by default every column that the data has. With `own`, people's distances are
    from the mean of everybody, themselves included, as in the paper.
    """
    unknown = sorted(set(experts) - {person.name for person in people})
    if unknown:
        raise UsageError(f"no person '{unknown[0]}' among the responses; --expert takes names of the column 'person'.")
    apart = [person for person in people if person.name in experts]
    silent = [person.name for person in apart if not any(scenario in person.answers for scenario in scenarios)]
    if silent:
        raise UsageError(f"expert '{silent[0]}' answered none of the stories; leave the name out of --expert.")
    excluded = exclusions([person for person in people if person.name not in experts], scenarios, most_missing)
    out = {entry.person for entry in excluded} | set(experts)
    kept = [person for person in people if person.name not in out]
    if len(scenarios) < FEWEST_SCENARIOS:
        raise UsageError(f"a norm needs at least {FEWEST_SCENARIOS} stories; the responses have {len(scenarios)}.")
    if len(kept) < FEWEST_PEOPLE:
        raise UsageError(_too_few(len(kept), excluded))
    points = _table(kept, scenarios)
    standards = np.nanmean(points, axis=0)
    distances = _distances(points, standards, own)
    known = list(dict.fromkeys(name for person in kept for name in person.about))
    unknown_columns = [name for name in columns or () if name not in known]
    if unknown_columns:
        raise UsageError(
            f"unknown column '{unknown_columns[0]}' for --group; columns about people: {', '.join(known)}."
        )
    lines = sample_lines(kept, known)
    norm = _norm(kept, scenarios, standards, distances, name, sample or sample_text(len(kept), lines), order)
    scores = np.nanmean(distances, axis=1)
    return Norming(
        norm=norm,
        scores=dict(zip((person.name for person in kept), scores.tolist(), strict=True)),
        similarities=dict(zip((person.name for person in kept), _similarities(distances).tolist(), strict=True)),
        excluded=tuple(excluded),
        spreads=tuple(_spreads(scenarios, standards, distances)),
        reliability=_reliability(distances),
        experts=tuple(_experts(apart, norm)),
        groups=tuple(group_difference(name, kept, scores) for name in (known if columns is None else columns)),
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


def _distances(points: Floats, standards: Floats, own: bool) -> Floats:
    """Each person's distance from the mean of all the others, or of everybody.

    Measured from a mean that includes themselves, people of a small sample would be nearer than anyone new: with ten
    people, a new person of the same kind would have an EQ of 90.
    """
    counts = (~np.isnan(points[:, :, 0])).sum(axis=0)
    others = 1.0 if own else counts / (counts - 1)
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
