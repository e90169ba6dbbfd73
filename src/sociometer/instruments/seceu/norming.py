"""A norm from people's allocations: exclusions, standard scores, spread, reliability, percentiles."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.errors import UsageError
from sociometer.core.task import PeopleValues, RunView
from sociometer.core.words import counted
from sociometer.instruments.seceu.items import Scenario
from sociometer.instruments.seceu.norm import PRINTED, SHUFFLED, Norm, Pairs, evenness
from sociometer.instruments.seceu.play import Allocated
from sociometer.statistics.people import FEWEST_PEOPLE, curve_of
from sociometer.statistics.reliability import cronbach_alpha

Floats = NDArray[np.float64]
FEWEST_SCENARIOS = 3
"""With fewer, patterns cannot be compared."""
SAME_ANSWER = 0.95


class Person(Struct, frozen=True):
    """One person's answers; a scenario that is unanswered is absent."""

    name: str
    answers: dict[str, tuple[float, ...]]


class Norming(Struct, frozen=True):
    """A norm, the people who count in it, and the distance of each from the mean of the others on each scenario."""

    norm: Norm
    people: tuple[Person, ...]
    distances: Floats


def of_people(view: RunView[Scenario, Allocated], name: str) -> PeopleValues:
    """Return each person's distance from the mean of the others on each story, and the norm of them all."""
    answers: dict[int, dict[str, tuple[float, ...]]] = {}
    items = {}
    for episode in view.episodes():
        items[episode.item.scenario] = episode.item
        if episode.outcome is not None and any(episode.outcome.points):
            answers.setdefault(episode.repeat, {})[episode.item.scenario] = episode.outcome.points
    people = [Person(str(person), points) for person, points in answers.items()]
    order = SHUFFLED if view.settings.flag("shuffle") else PRINTED
    made = build_norm(people, tuple(items), name=name, sample="", order=order)
    who = [int(person.name) for person in made.people]
    values = {
        item.id: {person: float(far) for person, far in zip(who, column, strict=True) if not math.isnan(far)}
        for item, column in zip(items.values(), made.distances.T, strict=True)
    }
    contents = {scenario: item.asked_digest().hex() for scenario, item in items.items()}
    return values, msgspec.to_builtins(msgspec.structs.replace(made.norm, contents=contents))


def build_norm(
    people: Sequence[Person], scenarios: Sequence[str], *, name: str, sample: str, order: str = ""
) -> Norming:
    """Return the norm of these people, without those who gave the same four numbers almost everywhere."""
    kept = [person for person in people if not _same_throughout(person)]
    if len(scenarios) < FEWEST_SCENARIOS:
        raise UsageError(f"a norm needs at least {FEWEST_SCENARIOS} stories; the responses have {len(scenarios)}.")
    left_out = counted(len(people) - len(kept), "person", "people")
    why = f"{left_out} left out for the same four numbers in at least {100 * SAME_ANSWER:.0f} % of the stories"
    if len(kept) < FEWEST_PEOPLE:
        remain = f"{len(kept)} of {len(people)} people remain; a norm needs at least {FEWEST_PEOPLE}"
        raise UsageError(f"{remain}; {why}.")
    points = _table(kept, scenarios)
    standards = np.nanmean(points, axis=0)
    distances = _distances(points, standards)
    scores, template = np.nanmean(distances, axis=1), np.nanmean(distances, axis=0)
    similarities = _similarities(distances)
    known = similarities[~np.isnan(similarities)]
    whole = distances[~np.isnan(distances).any(axis=1)]
    evens = [even for person in kept for answer in person.answers.values() if (even := evenness(answer)) is not None]
    norm = Norm(
        name=name,
        sample=f"{sample}; {why}" if len(kept) < len(people) else sample,
        people=len(kept),
        mean=float(scores.mean()),
        deviation=float(scores.std(ddof=1)),
        standards={scenario: tuple(row.tolist()) for scenario, row in zip(scenarios, standards, strict=True)},
        template=dict(zip(scenarios, template.tolist(), strict=True)),
        score_below=_percents(template.mean() + np.nanmean(distances - template, axis=1), lower_is_better=True),
        similarity_below=_percents(known, lower_is_better=False),
        similarity_mean=float(known.mean()),
        similarity_deviation=float(known.std(ddof=1)),
        alpha=cronbach_alpha(whole).value,
        evenness=float(np.mean(evens)),
        order=order,
        deviations=dict(zip(scenarios, np.nanstd(distances, axis=0, ddof=1).tolist(), strict=True)),
    )
    return Norming(norm, tuple(kept), distances)


def _same_throughout(person: Person) -> bool:
    given = list(person.answers.values())
    return len(given) > 1 and max(map(given.count, given)) >= SAME_ANSWER * len(given)


def _table(kept: Sequence[Person], scenarios: Sequence[str]) -> Floats:
    """People × scenarios × options; NaN where a scenario was left out."""
    gap = (float("nan"),) * 4
    table = np.array([[person.answers.get(scenario, gap) for scenario in scenarios] for person in kept])
    counts = (~np.isnan(table[:, :, 0])).sum(axis=0)
    empty = [scenario for scenario, count in zip(scenarios, counts, strict=True) if count < 2]
    if empty:
        raise UsageError(f"fewer than two people answered story '{empty[0]}'; a norm needs the answers of two.")
    return table


def _distances(points: Floats, standards: Floats) -> Floats:
    """Each person's distance from the mean of all the others.

    Measured from a mean that includes themselves, people of a small sample would be nearer than anyone new: with ten
    people, a new person of the same kind would have an EQ of 90.
    """
    counts = (~np.isnan(points[:, :, 0])).sum(axis=0)
    far = np.sqrt(np.square(points - standards).sum(axis=2))
    return np.asarray(far * counts / (counts - 1), dtype=np.float64)


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


def _percents(values: Floats, *, lower_is_better: bool) -> Pairs:
    """Pairs of a value that occurs and the percent of people who did worse, on the curve that every norm has."""
    return tuple((value, 100 * worse) for value, worse, _ in curve_of(values, lower_is_better=lower_is_better))
