"""The page of a study in `sociometer view`: its people with their scores, and the models that played the same items."""

import math
from statistics import fmean, median
from typing import Any

import numpy as np

from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Figure, Interval, Measure
from sociometer.results.comparison import compare
from sociometer.results.groups import runs_of_people, study_run, takings
from sociometer.results.reliability import reliability_sentence, task_reliability
from sociometer.results.runs import candidates
from sociometer.results.summaries import finding
from sociometer.statistics.charts import DensityPoint, Mark, density_chart
from sociometer.statistics.formatting import number
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.runs import RunSearch
from sociometer.web.browsing import ROWS, ViewedStore
from sociometer.web.rendering import Words


def read_people(viewed: ViewedStore, name: str, task: str, words: Words) -> dict[str, Any]:
    """Everybody in a study: the columns of `study show`, the run with their answers, and their scores."""
    with viewed.opened() as store:
        taking = takings(store, name).get(name)
        runs = {one.id: taking.record(one) for one in taking.participants} if taking else {}
        first = next(filter(None, runs.values()), None)
        if taking is None or first is None:
            raise unknown("study with people", name, takings(store))
        run, people = viewed.run(store, first.id), list[dict[str, Any]]()
        card, task = run.definition.card, run.task(task or run.tasks[0]).name
        shown = [one for one in card.measures_of(task) if one.primary or one.on_norm]
        for one in taking.participants:
            record, (facts, decision) = runs[one.id], taking.decision(one)
            summary = viewed.run(store, record.id).summary(task) if record else None
            found = ((known, summary.find(known.name)) for known in shown if summary)
            scores = {known.name: number(score.value, known.unit) for known, score in found if score}
            rules = {"flagged": [*decision.flags.values()], "excluded": decision.excluded}
            why = {kind: "; ".join(words(rule.text, **rule.values) for rule in each) for kind, each in rules.items()}
            took = f"{median(facts.seconds):.1f}" if facts.seconds else ""
            said = {"page": record.id if record else "", "facts": facts, "took": took, "scores": scores, **why}
            about = [one.about.get(question, "") for question in taking.study.questions]
            people.append({"id": one.id, "about": about, **said})
        known = {"name": name, "card": card, "task": task, "tasks": run.tasks, "taken": taking.study}
        having = [one for one in shown if any(one.name in person["scores"] for person in people)]
        return {**known, "people": people, "measures": having}


def read_results(viewed: ViewedStore, name: str, task: str) -> dict[str, Any]:
    """The people who count: their finding, alpha and distribution, and each model with the verdict of `compare`."""
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
        alpha, figure = reliability_sentence(task_reliability([whole])), Figure("scores", card.title, "", chart)
        told = {"finding": finding(people), "alpha": alpha, "models": models.values(), "figure": figure}
        return told | {"tallest": int(max(counts))}


def _mark(label: str, value: float, known: Measure | None, subject: str = "") -> Mark:
    """A value with the interval of the run's own measure, if this has the same value: it has no other items."""
    same = known is not None and known.value is not None and math.isclose(known.value, value)
    found = (known.interval if known and same else None) or Interval(None, None)
    return Mark(label, value, subject, found.low, found.high)
