"""The people of a study on the page: the score of each, who they are, and where others would be among them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, median

from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.task import AnyRun
from sociometer.core.words import counted, grouped, listed
from sociometer.results.candidates import why_not_comparable
from sociometer.results.groups import COLUMNS, PeopleRun
from sociometer.results.reliability import task_reliability
from sociometer.statistics.formatting import bracketed_interval, estimate
from sociometer.statistics.item_values import ItemValue, item_values
from sociometer.statistics.people import PlaceAmongPeople, groups_of, place_among, told_groups
from sociometer.store.studies import Rule

_WHY = {
    "answered": "too few items answered",
    "the same answer": "nearly the same answer everywhere",
    "failed or skipped": "attention checks failed",
    "a median response time": "answers too fast",
}
"""Why people are excluded, in short words, by how the rule begins."""


class Crowd(Struct, frozen=True):
    """The people of a study on the primary measure of one task."""

    subject: str
    measure: str
    scores: tuple[float, ...]
    """The mean of each person over the items that they answered."""
    places: dict[str, str]
    """The place of each other subject among them in words, by run."""
    about: str
    """Who they are, who is left out and why, and how long they took."""
    reliability: str


def crowd_of(run: PeopleRun, people: AnyRun, runs: Sequence[AnyRun]) -> Crowd | None:
    """The people of a study on the task of a view, among all runs; None if the task has no mean over items."""
    card = people.card.primary_of(people.task)
    if card is None:
        return None
    table = item_values(people, card.value)
    each = grouped((who, value) for item in table.values() for who, value in zip(item.of, item.repeats, strict=True))
    others = (run for run in runs if run.task == people.task and not run.people)
    places = {other.run: told for other in others if (told := _place(people, table, other, card))}
    return Crowd(
        people.subject, card.name, tuple(map(fmean, each.values())), places, _about(run), _reliability(people, card)
    )


def _place(people: AnyRun, table: Mapping[str, ItemValue], other: AnyRun, card: MeasureCard) -> str:
    """How many of the people a subject is better than; empty if the two cannot be compared."""
    own = item_values(other, card.value)
    if card.better == "neither" or why_not_comparable(people, other, (table, own)) or not table.keys() & own.keys():
        return ""
    found = place_among(table, own, -1.0 if card.better == "lower" else 1.0)
    return f"better than {found.better_than:g} of {found.people} people: {_percent(found)}"


def _percent(found: PlaceAmongPeople) -> str:
    around = "" if found.interval.too_few else f" {bracketed_interval(found.interval, 'share')}"
    return f"{100 * found.share:.0f} %{around}".replace(" ", "\u00a0")


def _about(run: PeopleRun) -> str:
    """The sample in a few sentences."""
    taking = run.taking
    counting = [one for one in taking.participants if taking.run_of(one) in run.members]
    why = [str(taking.row(one, _kind)[COLUMNS.index("excluded")]) for one in taking.participants if one not in counting]
    kinds = Counter(kind for text in why for kind in text.split("; ") if kind)
    said = f"Study {taking.study.name}: {counted(len(counting), 'person', 'people')}"
    groups = told_groups([groups_of(one.about) for one in counting])
    if groups:
        said += f" ({', '.join(f'{column} {name}: {count}' for (column, name), count in groups.items())})"
    said += f"; excluded: {run.excluded}" if run.excluded else "; nobody is excluded"
    if run.excluded and kinds:
        said += f" ({', '.join(f'{kind}: {count}' for kind, count in kinds.most_common())})"
    if run.flagged:
        said += f"; flagged, because they may not have read the questions: {run.flagged}"
    took = [sum(timing.spent for timing in taking.timings.get(one.id, ())) for one in counting]
    if any(took):
        said += f". They took {_time(median(took))} in the median, from {_time(min(took))} to {_time(max(took))}"
    return f"{said}."


def _kind(rule: Rule) -> str:
    return next((words for start, words in _WHY.items() if rule.text.startswith(start)), str(rule).replace(";", ","))


def _time(seconds: float) -> str:
    return f"{seconds:.{int(seconds < 10)}f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _reliability(people: AnyRun, card: MeasureCard) -> str:
    """Cronbach's alpha of the people's scores, or why there is none."""
    found = task_reliability([people], card.name)
    alpha = next(iter(found.coefficients), None)
    if alpha is None or alpha.value is None:
        return f"Reliability is unknown: {alpha.note if alpha else listed(found.notes)}."
    value = estimate(alpha.value, "number", None if alpha.note else alpha.interval)
    return (
        f"Cronbach's alpha is {value} over {alpha.subjects} people and {alpha.items} items: how consistently the items"
        " order the people, at most 1."
    )
