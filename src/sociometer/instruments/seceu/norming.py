"""A norm from people's allocations: exclusions, standard scores, spread, reliability, percentiles."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.errors import DataError, UsageError
from sociometer.core.lazy import lazy
from sociometer.core.sheets import read_sheet
from sociometer.core.task import PeopleValues, RunView
from sociometer.instruments.seceu.items import TOTAL, Scenario
from sociometer.instruments.seceu.norm import PRINTED, SHUFFLED, Norm, distance, evenness
from sociometer.instruments.seceu.play import Allocated
from sociometer.statistics.people import described, groups_of, sample_text
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
    if "age" in about and not _is_number(about["age"]):
        raise DataError(f"age '{about['age']}' is not a number; leave the cell empty if it is unknown", path, line)
    return Person(row.get("person", "").strip() or f"row {line}", answers, about)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


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
    made = build_norm(people, tuple(items), name=name, sample=sample, most_missing=1.0, order=order)
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


class Norming(Struct, frozen=True):
    """A norm with everything to check before using it."""

    norm: Norm
    scores: dict[str, float]
    similarities: dict[str, float]
    excluded: tuple[Excluded, ...]
    reliability: Reliability


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
    most_missing: float = 0.1,
    order: str = "",
    own: bool = False,
) -> Norming:
    """Return the norm of these people.

    With `own`, people's distances are from the mean of everybody, themselves included, as in the paper.
    """
    excluded = exclusions(people, scenarios, most_missing)
    out = {entry.person for entry in excluded}
    kept = [person for person in people if person.name not in out]
    if len(scenarios) < FEWEST_SCENARIOS:
        raise UsageError(f"a norm needs at least {FEWEST_SCENARIOS} stories; the responses have {len(scenarios)}.")
    if len(kept) < FEWEST_PEOPLE:
        raise UsageError(_too_few(len(kept), excluded))
    points = _table(kept, scenarios)
    standards = np.nanmean(points, axis=0)
    distances = _distances(points, standards, own)
    said = sample or sample_text([groups_of(person.about) for person in kept])
    return Norming(
        norm=_norm(kept, scenarios, standards, distances, name, said, order),
        scores=dict(zip((person.name for person in kept), np.nanmean(distances, axis=1).tolist(), strict=True)),
        similarities=dict(zip((person.name for person in kept), _similarities(distances).tolist(), strict=True)),
        excluded=tuple(excluded),
        reliability=_reliability(distances),
    )


def _too_few(kept: int, excluded: Sequence[Excluded]) -> str:
    said = f"{kept} of {kept + len(excluded)} people remain; a norm needs at least {FEWEST_PEOPLE}."
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


def concern(norm: Norm, scenario: str) -> str:
    """Ceiling: one SD better than the mean would pass the standard itself; floor: one SD worse, the worst answer."""
    mean, deviation, standard = norm.template[scenario], norm.deviations[scenario], norm.standards[scenario]
    worst = max(distance(corner, standard) for corner in (TOTAL * np.eye(len(standard))).tolist())
    return "ceiling" if mean - deviation <= 0 else "floor" if mean + deviation >= worst else ""


def _reliability(distances: Floats) -> Reliability:
    """Alpha over the people without gaps."""
    return cronbach_alpha(distances[~np.isnan(distances).any(axis=1)], minimum_subjects=FEWEST_PEOPLE)


def _percentiles(values: Floats, sign: float = 1.0) -> tuple[tuple[float, float], ...]:
    """Pairs of a value and the percent of people below it, at every tenth of a percent."""
    edges = np.quantile(values, [percent / 100 for percent in PERCENTILES])
    return tuple((round(float(sign * edge), 6), percent) for edge, percent in zip(edges, PERCENTILES, strict=True))
