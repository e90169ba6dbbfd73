"""The page of a study in `sociometer view`: its people with their scores, and the models that played the same items."""

import math
from statistics import fmean
from typing import Any

import numpy as np

from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Figure, Interval, Measure
from sociometer.reporting.people import scores_in_words
from sociometer.results.comparison import compare
from sociometer.results.groups import runs_of_people, study_run, takings
from sociometer.results.participants import AFTER, BEFORE, results_of, row_of
from sociometer.results.runs import candidates
from sociometer.results.summaries import finding
from sociometer.statistics.charts import DensityPoint, Mark, density_chart
from sociometer.statistics.formatting import number
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.runs import RunSearch
from sociometer.web.browsing import ROWS, ViewedStore
from sociometer.web.rendering import Words


def read_people(viewed: ViewedStore, name: str, task: str, words: Words) -> dict[str, Any]:
    """Everybody in a study: the columns of `study show`, and the run with their answers."""
    with viewed.opened() as store:
        if (taking := takings(store, name).get(name)) is None:
            raise unknown("study", name, takings(store))
        config, people = taking.study.parts[name], list[dict[str, Any]]()
        instrument = viewed.load(config.instrument)
        tasks = config.tasks or instrument.card.default_tasks(official=config.official)
        task = instrument.task(task or tasks[0]).name
        runs = {one.id: record.id for one in taking.participants if (record := taking.record(one))}
        results = {who: results_of(viewed.run(store, run), task) for who, run in runs.items()}
        measures = {key: result.card for each in results.values() for key, result in each.items()}
        columns = (*BEFORE, *measures, *AFTER)
        for one in taking.participants:
            mine = [results.get(one.id, {}).get(key) for key in measures]
            row = row_of(taking, one, mine, lambda rule: words(rule.text, **rule.values))
            more = {"page": runs.get(one.id), "about": row[len(columns) :]}
            people.append({**dict(zip(columns, row, strict=False)), **more})
        known = {"name": name, "card": instrument.card, "task": task, "tasks": tasks, "taken": taking.study}
        return {**known, "people": people, "measures": [*measures.values()], "number": number}


def read_results(viewed: ViewedStore, name: str, task: str) -> dict[str, Any]:
    """The people who count: their finding, scores and distribution, and each model with the verdict of `compare`."""
    with viewed.opened() as store:
        people = study_run(store, name, viewed.load)
        if people is None or (card := people.definition.card.primary_of(task)) is None:
            raise UsageError(f"there is no study {name} with a score on '{task}'.")
        (whole,) = candidates([people], task)
        if not (values := people.scores(task, card.name)):
            raise UsageError(f"nobody in study {name} has a score on '{task}' yet.")
        counts, edges = np.histogram(values, bins="auto")
        mean = people.summary(task).measure(card.name)
        marks = [_mark(f"mean of {len(values)} people", mean.value or fmean(values), mean)]
        models: dict[str, tuple[RunRecord, str, tuple[str, ...], str]] = {}
        others = RunSearch(instrument=people.instrument, without=tuple(runs_of_people(store)), limit=ROWS)
        for record in store.runs.found(others):
            tasks = record.manifest.config.tasks if record.status is RunStatus.FINISHED else ()
            if task in tasks and record.subject not in ("", *models):
                played = viewed.run(store, record.id)
                (found,) = compare([whole, *candidates([played], task, by_name=True)])
                for row in found.primary_rows[:1]:
                    score = row.paired.second
                    models[record.subject] = record, found.sentence, found.notes, number(score, card.unit)
                    marks.append(_mark(record.subject, score, played.summary(task).find(card.name), record.subject))
        columns = [*map(DensityPoint, edges.tolist(), [*counts.tolist(), int(counts[-1])])]
        chart = density_chart(columns, marks, title=card.title, unit=card.unit, steps=True)
        figure, scores = Figure("scores", card.title, "", chart), scores_in_words(whole, card, values)
        told = {"finding": finding(people), "scores": scores, "models": models.values(), "figure": figure}
        return told | {"tallest": int(max(counts))}


def _mark(label: str, value: float, known: Measure | None, subject: str = "") -> Mark:
    """A value with the interval of the run's own measure, if this has the same value: it has no other items."""
    same = known is not None and known.value is not None and math.isclose(known.value, value)
    found = (known.interval if known and same else None) or Interval(None, None)
    return Mark(label, value, subject, found.low, found.high)
