"""The page of a study in `sociometer view`: its people with their scores, and the models that played the same items."""

import math
from statistics import fmean
from typing import Any

from msgspec import structs

from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Figure, Interval
from sociometer.core.words import grouped, listed, plural
from sociometer.engine.run_options import chosen_items
from sociometer.reporting.people import scores_in_words
from sociometer.results.candidates import run_labels
from sociometer.results.choice import resolver_of
from sociometer.results.comparison import compare
from sociometer.results.groups import study_run, takings
from sociometer.results.leaderboard import comparable, shared_intervals
from sociometer.results.participants import AFTER, BEFORE, results_of, row_of
from sociometer.results.runs import candidates
from sociometer.results.summaries import finding
from sociometer.results.verdicts import Comparison
from sociometer.statistics.charts import DensityPoint, Mark, density_chart
from sociometer.statistics.formatting import column_decimals, estimate, number
from sociometer.statistics.people import histogram
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun
from sociometer.web.browsing import ROWS, ViewedStore, word_for
from sociometer.web.rendering import Words


def read_people(viewed: ViewedStore, name: str, task: str, words: Words) -> dict[str, Any]:
    """Everybody in a study: the columns of `study show`, and the run with their answers."""
    with viewed.opened() as store:
        if not (found := takings(store, name)):
            raise unknown("study", name, takings(store))
        name, taking = next(iter(found.items()))  # of several instruments the first
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
        known["again"], parts = chosen_items(config, instrument.card), plural(instrument.card.cluster_of(task))
        known["parts"] = f"ten {parts}"
        digits = {key: column_decimals(people, key, card.unit) for key, card in measures.items()}
        return {**known, "people": people, "measures": [*measures.values()], "number": number, "digits": digits}


def read_results(viewed: ViewedStore, name: str, task: str) -> dict[str, Any]:
    """The people who count: their finding, scores and distribution, and each result with the verdict of `compare`."""
    with viewed.opened() as store:
        people = study_run(store, name, viewed.load)
        if people is None or (card := people.definition.card.primary_of(task)) is None:
            raise UsageError(f"there is no study {name} with a score on '{task}'.")
        (whole,) = candidates([people], task)
        if not (values := people.scores(task, card.name)):
            raise UsageError(f"nobody in study {name} has a score on '{task}' yet.")
        ends = -math.inf if card.low is None else card.low, math.inf if card.high is None else card.high
        counts, edges = histogram(values, *ends)
        mean = people.summary(task).measure(card.name)
        around = mean.interval or Interval(None, None)
        marks = [Mark(f"mean of {len(values)} people", mean.value or fmean(values), "", around.low, around.high)]
        whole = structs.replace(whole, walk=[*whole.episodes()].__iter__)  # read once for all comparisons
        every = resolver_of(store, viewed.load).every_result(people.instrument)
        results = [one for one in every if one.status is RunStatus.FINISHED and task in one.tasks][-ROWS:]
        labels = run_labels(results)
        models: list[tuple[StoredRun, str, str, Comparison, str]] = []
        left_out: list[tuple[str, str]] = []
        for run in reversed(results):
            label = labels[run.id]
            (found,) = compare([whole, *candidates([run], task)])
            known, rows, score = run.summary(task).find(card.name), found.primary_rows, number(None, card.unit)
            unread = known is not None and 2 * known.unreadable > known.items
            if rows:
                both = comparable((whole, *candidates([run], task)), card.name, what="compared")
                around, value = shared_intervals(both)[1], rows[0].paired.second
                score = estimate(value, card.unit, around)
                marks += [] if unread else [Mark(label, value, label, around.low, around.high)]
            if rows or unread:
                models.append((run, label, word_for(viewed, store, run), found, score))
            elif found.refused:
                left_out.append((found.refused, label))
        columns = [*map(DensityPoint, edges, [*counts, counts[-1]])]
        chart = density_chart(columns, marks, title=card.title, unit=card.unit, steps=True)
        figure, scores = Figure("scores", card.title, "", chart), scores_in_words(whole, card, values)
        told = {"finding": finding(people), "scores": scores, "models": models, "figure": figure}
        return told | {"left_out": {why: listed(names, 3) for why, names in grouped(left_out).items()}}
