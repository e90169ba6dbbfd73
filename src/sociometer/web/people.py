"""The page of a study in `sociometer view`: its people with their scores, and the models that played the same items."""

from collections.abc import Iterator, Sequence
from statistics import NormalDist, fmean, stdev
from typing import Any

import numpy as np
from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard
from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Figure
from sociometer.results.comparison import compare
from sociometer.results.groups import COLUMNS, Taking, runs_of_people, study_run, takings
from sociometer.results.reliability import reliability_sentence, task_reliability
from sociometer.results.runs import candidates
from sociometer.results.summaries import finding
from sociometer.results.verdicts import Comparison
from sociometer.statistics.charts import DensityPoint, Mark, density_chart
from sociometer.statistics.formatting import number
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun
from sociometer.store.studies import Participant
from sociometer.web.browsing import ROWS, ViewedStore
from sociometer.web.rendering import Words

_POINTS = 120
"""Points of the curve of a distribution."""


class StudyPeople(Struct, frozen=True):
    """Everybody who joined a study, or the part of it with one instrument."""

    name: str
    card: Card
    task: str
    tasks: tuple[str, ...]
    measures: list[MeasureCard]
    """What the list shows of each person: the primary measure, and those on a norm, such as an EQ."""
    people: list[dict[str, Any]]
    """The columns of `study show`; `page`, the run with the answers; `scores`, by measure; `about`, by question."""
    questions: tuple[str, ...]


class StudyResults(Struct, frozen=True):
    """What is computed from the people who count."""

    finding: str
    """The line with which `show STUDY` begins."""
    alpha: str
    models: list[tuple[RunRecord, Comparison, str]]
    """Each with the verdict of `compare STUDY RUN`, and its score on the same items."""
    figure: Figure


def read_people(viewed: ViewedStore, name: str, task: str, words: Words) -> StudyPeople:
    """The people of a study; `task` names one of its tasks, or is empty for the first."""
    with viewed.opened() as store:
        taking = takings(store, name).get(name)
        records = {one.id: taking.record(one) for one in taking.participants} if taking else {}
        first = next(filter(None, records.values()), None)
        if taking is None or first is None:
            raise unknown("study with people", name, [part for part, one in takings(store).items() if one.participants])
        card, tasks = viewed.instrument_of(first).card, first.manifest.config.tasks
        if task and task not in tasks:
            raise unknown(f"task of {name}", task, tasks)
        task = task or tasks[0]
        shown = [one for one in card.measures_of(task) if one.primary or one.on_norm]
        people = [_person(viewed, taking, one, records[one.id], task, shown, words) for one in taking.participants]
        known = [one for one in shown if any(person["scores"].get(one.name) for person in people)]
        return StudyPeople(name, card, task, tasks, known, people, taking.study.questions)


def _person(
    viewed: ViewedStore, taking: Taking, one: Participant, record: RunRecord | None, task: str,
    shown: Sequence[MeasureCard], words: Words,
) -> dict[str, Any]:  # fmt: skip
    row = taking.row(one, lambda rule: words(rule.text, **rule.values))
    person: dict[str, Any] = dict(zip(COLUMNS, row, strict=False))
    person |= {"page": record.id if record else "", "scores": {}, "about": row[len(COLUMNS) :]}
    if record is not None and person["items"]:
        summary = StoredRun(taking.store, record, viewed.instrument_of(record)).summary(task)
        found = ((card, summary.measure(card.name)) for card in shown)
        person["scores"] = {
            card.name: number(one.value, card.unit) for card, one in found if one is not None and one.value is not None
        }
    return person


def read_results(viewed: ViewedStore, name: str, task: str) -> StudyResults:
    """Alpha, the distribution of scores, and the models on the same items; an error if nobody counts."""
    with viewed.opened() as store:
        people = study_run(store, name, viewed.load)
        if people is None:
            raise unknown("study", name, takings(store))
        (whole,) = candidates([people], task)
        episodes = list(whole.episodes())
        whole = structs.replace(whole, walk=episodes.__iter__)
        try:
            alpha = reliability_sentence(task_reliability([whole]))
        except UsageError as error:
            alpha = str(error)
        card = people.definition.card.primary_of(task)
        if card is None:
            raise UsageError(f"the task {task} has no primary measure.")
        each = [StoredRun(store, store.runs.get(run), people.definition).summary(task) for run in people.members]
        values = [found.value for one in each if (found := one.measure(card.name)) and found.value is not None]
        mean = whole.summary.measure(card.name)
        marks = [Mark(f"mean of {len(values)} people", mean.value)] if mean and mean.value is not None else []
        models = []
        for run in _models(viewed, store, people.instrument, task):
            (found_one,) = compare([whole, *candidates([run], task)])
            if rows := found_one.primary_rows:
                models.append((run.record, found_one, number(rows[0].paired.second, card.unit)))
                marks.append(Mark(found_one.second, rows[0].paired.second, found_one.second))
        chart = density_chart(_density(values, card), marks, title=card.title, unit=card.unit)
        return StudyResults(finding(people), alpha, models, Figure("scores", card.title, "", chart))


def _models(viewed: ViewedStore, store: Store, instrument: str, task: str) -> Iterator[StoredRun]:
    """The newest runs of an instrument that have a task and have ended, one of each subject."""
    seen = set[str]()
    for record in store.runs.found(RunSearch(instrument=instrument, without=tuple(runs_of_people(store)), limit=ROWS)):
        ended = record.status is RunStatus.FINISHED and task in record.manifest.config.tasks
        if ended and record.subject and record.subject not in seen:
            seen.add(record.subject)
            yield viewed.run(store, record.id)


def _density(values: Sequence[float], card: MeasureCard) -> list[DensityPoint]:
    """The distribution of values on the scale of their measure, smoothed by a normal kernel with Silverman's width."""
    spread = stdev(values) if len(values) > 1 else 0.0
    if not spread:
        return []
    kernel = NormalDist(0.0, 1.06 * spread * len(values) ** -0.2)
    low, high = card.scale or (-np.inf, np.inf)
    reach = 3 * kernel.stdev
    along = np.linspace(max(low, min(values) - reach), min(high, max(values) + reach), _POINTS)
    return [DensityPoint(float(x), fmean(kernel.pdf(float(x) - value) for value in values)) for x in along]
