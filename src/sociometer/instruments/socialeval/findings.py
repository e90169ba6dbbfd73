"""The paper's findings as tables: goals by group, departures, prosocial preference, languages, utterances."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean, variance
from typing import Any

from sociometer.analysis.contrast import signed_rank
from sociometer.analysis.distributions import t_quantile
from sociometer.analysis.intervals import too_few
from sociometer.core.measure import Cell, Interval, Measure, Table
from sociometer.core.task import RunView
from sociometer.instruments.socialeval.abilities import canonical_all
from sociometer.instruments.socialeval.items import UNMAPPED, TreeItem
from sociometer.instruments.socialeval.play import Walk
from sociometer.instruments.socialeval.solution import departure, solve
from sociometer.instruments.socialeval.worldtree import CATEGORIES, ORIENTATIONS

PEOPLE_GAP = {"zh": 0.136, "en": 0.099}
"""Prosocial minus antisocial rate of the paper's people (average)."""
FEW_PAIRS = 6


def interval_text(interval: Interval | None) -> str:
    """An interval as text, or a note that there are too few trees for one."""
    if interval is None:
        return ""
    if interval.low is None or interval.high is None:
        return f"too few trees ({interval.clusters})"
    return f"{interval.low:.3f} to {interval.high:.3f}"


def find(measures: Iterable[Measure], name: str, **group: str) -> Measure | None:
    """The measure of that name and group."""
    return next((m for m in measures if m.name == name and m.group == group), None)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def goal_table(measures: Sequence[Measure]) -> Table:
    """Rates by category and orientation, with the exact random walk and the best possible."""
    groups: list[dict[str, str]] = [{}, {"language": "zh"}, {"language": "en"}]
    groups += [{"category": name} for name in CATEGORIES]
    groups += [{"category": name, "language": code} for name in CATEGORIES for code in ("zh", "en")]
    groups += [{"orientation": known.name} for known in ORIENTATIONS]
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        achieved = find(measures, "achieved", **group)
        if achieved is None or achieved.value is None:
            continue
        random, best = (find(measures, name, **group) for name in ("random", "best"))
        partly = find(measures, "partly", **group)
        rows.append(
            (
                ", ".join(group.values()) or "all",
                achieved.clusters,
                _rounded(achieved.value),
                interval_text(achieved.interval),
                _rounded(partly.value) if partly else None,
                _rounded(random.value) if random else None,
                _rounded(best.value) if best else None,
            )
        )
    columns = ("group", "trees", "goal achieved", "95 % interval", "partly", "random walk (exact)", "best possible")
    return Table("goals", "Goal achievement", columns, tuple(rows))


def taken(outcome: Walk) -> tuple[tuple[int, int], ...]:
    """The (node, choice) pairs of a walk up to the first random choice."""
    own = itertools.takewhile(lambda step: not step.drawn, outcome.steps)
    return tuple((step.node, step.picked) for step in own)


def departure_table(run: RunView[TreeItem, Walk]) -> Table:
    """The step at which walks left the best path, and the abilities that the better choice would have shown."""
    steps: Counter[int] = Counter()
    abilities: Counter[str] = Counter()
    kept = drawn = 0
    for item, outcome, _ in run.scored():
        left = departure(item.tree, solve(item.tree), taken(outcome))
        if left is None:
            drawn += outcome.drawn > 0
            kept += not outcome.drawn
            continue
        steps[left.step] += 1
        better = item.tree.by_id()[left.node].choices[left.better]
        abilities.update(canonical_all(better.abilities) or (UNMAPPED,))
    rows: list[tuple[Cell, ...]] = [("left at step", str(step), count) for step, count in sorted(steps.items())]
    rows.append(("kept to a best path", "", kept))
    if drawn:
        rows.append(("choice drawn by lot while still on a best path", "", drawn))
    rows += [("better choice would have shown", name, count) for name, count in abilities.most_common()]
    return Table("departures", "Where walks left the best path", ("what", "which", "walks"), tuple(rows))


def gap_measures(run: RunView[TreeItem, Walk]) -> list[Measure]:
    """Prosocial minus antisocial rate for each language, with a Welch interval over trees."""
    found = []
    for language in ("zh", "en"):
        rates = {name: _tree_rates(run, language, name) for name in ("prosocial", "antisocial")}
        first, second = rates["prosocial"], rates["antisocial"]
        if first and second:
            value = sum(first) / len(first) - sum(second) / len(second)
            interval = _welch(first, second)
            trees = len(first) + len(second)
            found.append(Measure("prosocial_gap", value, {"language": language}, interval, trees, trees))
    return found


def _tree_rates(run: RunView[TreeItem, Walk], language: str, category: str) -> list[float]:
    rates: dict[str, list[float]] = {}
    for item, _, score in run.scored():
        if item.tree.language == language and item.tree.category == category:
            rates.setdefault(item.id, []).append(score.values["achieved"])
    return [sum(values) / len(values) for values in rates.values()]


def _welch(first: list[float], second: list[float]) -> Interval:
    """Welch's interval of a difference of two means of independent trees; too few where either side has under ten."""
    if min(len(first), len(second)) < 10:
        return too_few(min(len(first), len(second)))
    one, two = variance(first) / len(first), variance(second) / len(second)
    # without variation the interval has no width, whatever its degrees of freedom
    freedom = (one + two) ** 2 / (one**2 / (len(first) - 1) + two**2 / (len(second) - 1)) if one + two else 1.0
    centre, half = fmean(first) - fmean(second), t_quantile(0.975, freedom) * (one + two) ** 0.5
    return Interval(centre - half, centre + half, 0.95, "Welch", min(len(first), len(second)))


def prosocial_table(measures: Sequence[Measure]) -> Table:
    """Prosocial preference: the gap compared with people's, and how often a prosocial choice gave up the goal."""
    rows: list[tuple[Cell, ...]] = []
    for language in ("zh", "en"):
        gap = find(measures, "prosocial_gap", language=language)
        if gap is not None and gap.value is not None:
            name = f"prosocial − antisocial rate, {language}"
            rows.append((name, _rounded(gap.value), interval_text(gap.interval), PEOPLE_GAP[language]))
    for group in ({}, *({"category": name} for name in CATEGORIES)):
        loss = find(measures, "prosocial_loss", **group)
        if loss is not None and loss.value is not None:
            name = f"prosocial choice that gave up the goal, {', '.join(group.values()) or 'all'}"
            rows.append((name, _rounded(loss.value), interval_text(loss.interval), None))
    return Table("prosocial", "Prosocial preference", ("what", "value", "95 % interval", "people"), tuple(rows))


def language_table(run: RunView[TreeItem, Walk]) -> Table:
    """Chinese compared with English over pairs of translated trees: Wilcoxon's signed-rank test and its effect size."""
    rates: dict[str, dict[str, list[float]]] = {}
    for item, _, score in run.scored():
        rates.setdefault(item.cluster, {}).setdefault(item.tree.language, []).append(score.values["achieved"])
    pairs = [
        (sum(sides["en"]) / len(sides["en"]), sum(sides["zh"]) / len(sides["zh"]))
        for sides in rates.values()
        if {"en", "zh"} <= sides.keys()
    ]
    columns = ("trees in both languages", "English", "Chinese", "trees that differ", "W", "p", "effect (rank-biserial)")
    title = "Chinese compared with English"
    if not pairs:
        return Table("languages", title, columns, (), note="no tree was played in both languages")
    english, chinese = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    means = (round(sum(english) / len(pairs), 4), round(sum(chinese) / len(pairs), 4))
    differ = sum(one != two for one, two in pairs)
    if differ < FEW_PAIRS:
        row: tuple[Cell, ...] = (len(pairs), *means, differ, None, None, None)
        return Table("languages", title, columns, (row,), note=f"too few trees differ for a test ({differ})")
    test = signed_rank(english, chinese)
    row = (len(pairs), *means, test.pairs, test.statistic, float(f"{test.p_value:.3g}"), round(test.effect, 3))
    return Table("languages", title, columns, (row,), note="Wilcoxon signed-rank over trees; positive: Chinese higher")


def tree_series(run: RunView[TreeItem, Walk]) -> list[dict[str, Any]]:
    """Every tree's rate with its exact random and best values."""
    found: dict[str, dict[str, Any]] = {}
    for item, _, score in run.scored():
        row = found.setdefault(
            item.id,
            {
                "tree": item.id,
                "language": item.tree.language,
                "orientation": item.tree.orientation,
                "category": item.tree.category,
                "random": score.values["random"],
                "best": score.values["best"],
                "walks": 0,
                "achieved": 0.0,
                "regret": 0.0,
            },
        )
        row["walks"] += 1
        row["achieved"] += score.values["achieved"]
        row["regret"] += score.values["regret"]
    for row in found.values():
        row["achieved"] /= row["walks"]
        row["regret"] /= row["walks"]
    return list(found.values())


def tree_table(run: RunView[TreeItem, Walk]) -> Table:
    """The series by tree, as a table."""
    names = ("tree", "walks", "achieved", "random", "best", "regret")
    rows = tuple(
        tuple(_rounded(row[name]) if isinstance(row[name], float) else row[name] for name in names)
        for row in tree_series(run)
    )
    columns = ("tree", "walks", "goal achieved", "random walk (exact)", "best possible", "mean regret in goal levels")
    return Table("trees", "Results by tree", columns, rows)


def utterance_table(measures: Sequence[Measure]) -> Table:
    """Whether multiple choice reflects free replies, compared with the paper's figures."""
    rows: list[tuple[Cell, ...]] = []
    for group in ({}, {"language": "zh"}, {"language": "en"}):
        near, agrees = find(measures, "similarity", **group), find(measures, "agreement", **group)
        guess = find(measures, "guessing", **group)
        if near is not None and agrees is not None and guess is not None:
            rows.append(
                (
                    group.get("language", "all"),
                    _rounded(near.value),
                    _rounded(agrees.value),
                    interval_text(agrees.interval),
                    _rounded(guess.value),
                )
            )
    columns = ("language", "similarity to the nearest candidate", "then picks it", "95 % interval", "by guessing")
    note = "the paper reports similarities up to 0.67 (zh) and the nearest candidate picked in more than 80 %"
    return Table("utterances", "Multiple choice compared with free replies", columns, tuple(rows), note=note)
