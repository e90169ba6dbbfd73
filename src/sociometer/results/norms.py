"""A norm from the people of a study: scores, percentiles, strata and items, in which nobody can be recognised."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from sociometer.core.card import MeasureCard
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import UsageError
from sociometer.core.measure import Table
from sociometer.core.task import AnyRun
from sociometer.results.groups import PeopleRun
from sociometer.statistics.intervals import Floats
from sociometer.statistics.item_values import item_values
from sociometer.statistics.norms import (
    FEWEST_PEOPLE,
    ItemNorm,
    NormFile,
    Stratum,
    TaskNorm,
    curve_of,
    decisive_settings,
    described,
)
from sociometer.statistics.reliability import cronbach_alpha

STRATA = ("sex", "age")
AGES = {"under 30": 30.0, "30 to 49": 50.0, "50 and over": math.inf}
PERCENTS = (5, 10, 25, 50, 75, 90, 95)
_FEWEST_ANSWERS = 2


def norm_of_study(run: PeopleRun, about: Sequence[Mapping[str, str]], language: str) -> NormFile:
    """The norm of the people of a study who count; `about` is what each of them said about themselves."""
    card = run.definition.card
    if len(about) < FEWEST_PEOPLE:
        raise UsageError(f"{len(about)} people count in study {run.id}; a norm needs at least {FEWEST_PEOPLE}.")
    groups = [_groups(described(one)) for one in about]
    tasks = {
        task: _task_norm(run, task, primary, groups)
        for task in run.tasks
        if (primary := card.primary_of(task)) is not None
    }
    if not tasks:
        raise UsageError(f"{', '.join(run.tasks)} of {card.name} has no score that is a mean over items, so no norm.")
    return NormFile(1, card.name, run.version, language, decisive_settings(card, run.settings), tasks)


def _groups(about: Mapping[str, str]) -> dict[str, str]:
    """The strata of a person: age in three bands, sex as it was said."""
    try:
        age = float(about.get("age", "nan"))
    except ValueError:
        age = math.nan
    band = next((name for name, end in AGES.items() if age < end), "")
    return {column: group for column, group in (("sex", about.get("sex", "")), ("age", band)) if group}


def _task_norm(run: PeopleRun, task: str, card: MeasureCard, groups: Sequence[Mapping[str, str]]) -> TaskNorm:
    definition = run.definition.task(task)
    view = definition.headline(run.view(task))
    sample = "; ".join([f"{len(groups)} people", *_sample(groups)])
    if definition.of_people is not None:
        values, own = definition.of_people(view, run.id, sample)
    else:
        known = item_values(view, card.value)
        values, own = {name: dict(zip(one.of, one.repeats, strict=True)) for name, one in known.items()}, None
    names = [name for name, answers in values.items() if len(answers) >= _FEWEST_ANSWERS]
    people = sorted({person for name in names for person in values[name]})
    table = np.array([[values[name].get(person, math.nan) for name in names] for person in people])
    if len(people) < FEWEST_PEOPLE:
        raise UsageError(f"{len(people)} people have a score on {task}; a norm needs at least {FEWEST_PEOPLE}.")
    means = np.nanmean(table, axis=0)
    # people may have taken different items: what counts is how far they are from the others on each
    scores = means.mean() + np.nanmean(table - means, axis=1)
    whole = table[~np.isnan(table).any(axis=1)]
    lower = card.better == "lower"
    contents, options = _contents(view), _options(view)
    items = {
        name: ItemNorm(
            contents[name], len(values[name]), round(float(mean), 6), float(np.nanstd(column, ddof=1)), options[name]
        )
        for name, mean, column in zip(names, means, table.T, strict=True)
    }
    members = [groups[person] for person in people]
    return TaskNorm(
        run.id, sample, card.name, len(people), float(scores.mean()), float(scores.std(ddof=1)),
        curve_of(scores, lower_is_better=lower), items, round(float((~np.isnan(table)).sum(axis=1).mean()), 1),
        cronbach_alpha(whole, minimum_subjects=FEWEST_PEOPLE).value if len(names) > 1 else None,
        tuple(_strata(members, scores, lower_is_better=lower)),
        {role: one.label for role, one in run.manifest.roles.items() if role != SUBJECT}, own=own,
    )  # fmt: skip


def _shown(groups: Sequence[Mapping[str, str]], column: str) -> dict[str, int]:
    """The groups of a column that are told, with their sizes: none that is small, nor one that subtraction gives."""
    counts = Counter(one[column] for one in groups if column in one)
    shown = {name: count for name, count in counts.most_common() if FEWEST_PEOPLE <= count < len(groups)}
    while shown and 0 < len(groups) - sum(shown.values()) < FEWEST_PEOPLE:
        shown.popitem()
    return shown


def _sample(groups: Sequence[Mapping[str, str]]) -> list[str]:
    told = {column: _shown(groups, column) for column in STRATA}
    return [
        f"{column}: {', '.join(f'{name} ({count})' for name, count in shown.items())}"
        for column, shown in told.items()
        if shown
    ]


def _strata(groups: Sequence[Mapping[str, str]], scores: Floats, *, lower_is_better: bool) -> list[Stratum]:
    found = []
    for column in STRATA:
        for name, count in _shown(groups, column).items():
            mine = scores[[one.get(column) == name for one in groups]]
            curve = curve_of(mine, lower_is_better=lower_is_better)
            found.append(Stratum(column, name, count, float(mine.mean()), float(mine.std(ddof=1)), curve))
    return found


def _contents(view: AnyRun) -> dict[str, str]:
    found: dict[str, str] = {}
    for episode in view.episodes():
        if episode.item.id not in found:
            found[episode.item.id] = episode.item.asked_digest().hex()
    return found


def _options(view: AnyRun) -> dict[str, dict[str, float]]:
    """For each item, the share of people who chose each option, or of the points that they gave it."""
    found: dict[str, Counter[str]] = {}
    for item, outcome, _ in view.scored():
        chosen = found.setdefault(item.id, Counter())
        if isinstance(picked := getattr(outcome, "picked", None), int):
            chosen[str(picked + 1)] += 1
        for place, points in enumerate(getattr(outcome, "points", ()), 1):
            chosen[str(place)] += points
    return {
        name: {option: round(count / sum(chosen.values()), 4) for option, count in sorted(chosen.items())}
        for name, chosen in found.items()
    }


def norm_tables(norm: TaskNorm, card: MeasureCard) -> tuple[Table, Table]:
    """The scores at some percentiles with the standard error of each, and the items, the hardest first."""
    scores, worse, errors = np.array(norm.curve).T
    order = np.argsort(worse)
    at = np.interp([percent / 100 for percent in PERCENTS], worse[order], scores[order])
    rows = tuple(
        (percent, float(score), round(100 * float(np.interp(score, scores, errors)), 1))
        for percent, score in zip(PERCENTS, at, strict=True)
    )
    title = f"Percentiles of {norm.people} people: {card.title}"
    columns = ("people below (%)", "score", "standard error (%)")
    percentiles = Table("percentiles", title, columns, rows, units={"score": card.unit})
    sign = -1.0 if card.better == "lower" else 1.0
    hardest = sorted(norm.items.items(), key=lambda one: sign * one[1].mean)
    listed = tuple((name, one.people, one.mean, one.deviation, _told(one)) for name, one in hardest)
    units = {"mean": card.unit, "SD": card.unit}
    return percentiles, Table("items", "Items", ("item", "people", "mean", "SD", "options"), listed, units=units)


def _told(item: ItemNorm) -> str:
    return ", ".join(f"{option}: {100 * share:.0f} %" for option, share in item.options.items())
