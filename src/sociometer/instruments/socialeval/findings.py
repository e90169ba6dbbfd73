"""The paper's findings as tables: goals by group, departures, prosocial preference, languages, utterances."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean, variance

from msgspec import Struct

from sociometer.core.measure import Cell, Interval, Measure, Table
from sociometer.core.task import RunView
from sociometer.instruments.socialeval.abilities import canonical_all
from sociometer.instruments.socialeval.items import UNMAPPED, TreeItem
from sociometer.instruments.socialeval.play import Walk
from sociometer.instruments.socialeval.solution import departure, solve
from sociometer.instruments.socialeval.worldtree import CATEGORIES, ORIENTATIONS
from sociometer.statistics.contrast import signed_rank
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.intervals import too_few

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
                achieved.value,
                interval_text(achieved.interval),
                partly.value if partly else None,
                random.value if random else None,
                best.value if best else None,
            )
        )
    columns = ("group", "trees", "goal achieved", "95 % interval", "partly", "random walk (exact)", "best possible")
    return Table("goals", "Goal achievement", columns, tuple(rows))


def taken(outcome: Walk) -> tuple[tuple[int, int], ...]:
    """The (node, choice) pairs of a walk up to the first random choice."""
    own = itertools.takewhile(lambda step: not step.drawn, outcome.steps)
    return tuple((step.node, step.picked) for step in own)


def departure_table(run: RunView[TreeItem, Walk]) -> Table:
    """The step at which walks left the best path, and the abilities of the better choice."""
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
        rows.append(("random choice while still on a best path", "", drawn))
    rows += [("ability of the better choice", name, count) for name, count in abilities.most_common()]
    return Table("departures", "Where walks left the best path", ("what", "which", "walks"), tuple(rows))


def gap_measures(run: RunView[TreeItem, Walk]) -> Iterator[Measure]:
    """Prosocial minus antisocial rate for each language, with a Welch interval over trees.

    Next to it, the gap of the random walk on the same trees (exact), and the gap of the shares of what is
    attainable: in each category, (rate - random walk) / (best policy - random walk), which is 0 for a random walk
    and 1 for the best policy. Trees differ in how hard they are, so the plain gap of a random walk is not zero.
    """
    for language in ("zh", "en"):
        sides = [_tree_rates(run, language, name) for name in ("prosocial", "antisocial")]
        if not all(sides):
            continue
        first, second = ([tree.achieved for tree in side] for side in sides)
        group, trees = {"language": language}, len(first) + len(second)
        yield Measure("prosocial_gap", fmean(first) - fmean(second), group, _welch(first, second), trees, trees)
        lots = [fmean(tree.random for tree in side) for side in sides]
        best = [fmean(tree.best for tree in side) for side in sides]
        note = "exact, by solving the trees"
        yield Measure("prosocial_gap_random", lots[0] - lots[1], group, items=trees, note=note)
        yield Measure("prosocial_gap_best", best[0] - best[1], group, items=trees, note=note)
        if all(top > lot for top, lot in zip(best, lots, strict=True)):
            first, second = (
                [(tree.achieved - tree.random) / (top - lot) for tree in side]
                for side, top, lot in zip(sides, best, lots, strict=True)
            )
            value = fmean(first) - fmean(second)
            yield Measure("prosocial_gap_attainable", value, group, _welch(first, second), trees, trees)


class _TreeRate(Struct, frozen=True):
    """How often a subject reached the goal of one tree, and the tree's exact values."""

    achieved: float
    random: float
    best: float


def _tree_rates(run: RunView[TreeItem, Walk], language: str, category: str) -> list[_TreeRate]:
    rates: dict[str, list[dict[str, float]]] = {}
    for item, _, score in run.scored():
        if item.tree.language == language and item.tree.category == category:
            rates.setdefault(item.id, []).append(score.values)
    return [
        _TreeRate(fmean(walk["achieved"] for walk in walks), walks[0]["random"], walks[0]["best"])
        for walks in rates.values()
    ]


def _welch(first: list[float], second: list[float]) -> Interval:
    """Welch's interval of a difference of two means of independent trees; too few if either side has fewer than ten."""
    if min(len(first), len(second)) < 10:
        return too_few(min(len(first), len(second)))
    one, two = variance(first) / len(first), variance(second) / len(second)
    # without variation the interval has no width, whatever its degrees of freedom
    freedom = (one + two) ** 2 / (one**2 / (len(first) - 1) + two**2 / (len(second) - 1)) if one + two else 1.0
    centre, half = fmean(first) - fmean(second), t_quantile(0.975, freedom) * (one + two) ** 0.5
    return Interval(centre - half, centre + half, 0.95, "Welch", min(len(first), len(second)))


def prosocial_table(measures: Sequence[Measure]) -> Table:
    """Prosocial preference, next to the random walk's and people's; how often a prosocial choice gave up the goal."""
    rows: list[tuple[Cell, ...]] = []
    for language in ("zh", "en"):
        gap, lot, best, share = (
            find(measures, f"prosocial_gap{name}", language=language)
            for name in ("", "_random", "_best", "_attainable")
        )
        if gap is not None and lot is not None and best is not None:
            name = f"prosocial − antisocial rate, {language}"
            own = (gap.value, interval_text(gap.interval))
            rows.append((name, *own, lot.value, best.value, PEOPLE_GAP[language]))
        if share is not None:
            name = f"the same as shares of what is attainable, {language}"
            rows.append((name, share.value, interval_text(share.interval), 0.0, 0.0, None))
    for group in ({}, *({"category": name} for name in CATEGORIES)):
        loss = find(measures, "prosocial_loss", **group)
        if loss is not None and loss.value is not None:
            name = f"prosocial choice that gave up the goal, {', '.join(group.values()) or 'all'}"
            rows.append((name, loss.value, interval_text(loss.interval), None, None, None))
    columns = ("what", "value", "95 % interval", "random walk (exact)", "best policy (exact)", "people")
    note = "attainable: (rate − random walk) / (best policy − random walk) in each category" if rows else ""
    return Table("prosocial", "Prosocial preference", columns, tuple(rows), note=note)


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
    means = (fmean(english), fmean(chinese))
    differ = sum(one != two for one, two in pairs)
    if differ < FEW_PAIRS:
        row: tuple[Cell, ...] = (len(pairs), *means, differ, None, None, None)
        return Table("languages", title, columns, (row,), note=f"too few trees differ for a test ({differ})")
    test = signed_rank(english, chinese)
    row = (len(pairs), *means, test.pairs, test.statistic, float(f"{test.p_value:.3g}"), round(test.effect, 3))
    return Table("languages", title, columns, (row,), note="Wilcoxon signed-rank over trees; positive: Chinese higher")


def tree_table(run: RunView[TreeItem, Walk]) -> Table:
    """Every tree's rate with its exact random and best values."""
    walks: dict[str, list[dict[str, float]]] = {}
    for item, _, score in run.scored():
        walks.setdefault(item.id, []).append(score.values)
    names = ("achieved", "random", "best", "regret")
    rows = tuple(
        (tree, len(found), *(fmean(values[name] for values in found) for name in names))
        for tree, found in walks.items()
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
                    near.value,
                    agrees.value,
                    interval_text(agrees.interval),
                    guess.value,
                )
            )
    columns = ("language", "similarity to the nearest candidate", "then picks it", "95 % interval", "by guessing")
    note = "the paper reports similarities up to 0.67 (zh) and the nearest candidate picked in more than 80 %"
    return Table("utterances", "Multiple choice compared with free replies", columns, tuple(rows), note=note)
