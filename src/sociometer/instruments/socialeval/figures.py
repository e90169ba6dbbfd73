"""Stored summaries -> figures and tables, as the paper shows them, compared with the paper's models and people."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from sociometer.core.language import language_of
from sociometer.core.measure import Figure, Table
from sociometer.core.task import AnyRun
from sociometer.instruments._tables import Figures
from sociometer.instruments.socialeval.abilities import ABILITIES, DIMENSIONS, canonical_all
from sociometer.instruments.socialeval.inside import inside_figures, stored_views
from sociometer.instruments.socialeval.items import AbilityQuestion, Crossroads, TreeItem
from sociometer.instruments.socialeval.play import Utterance, Walk
from sociometer.instruments.socialeval.published.reproduce import table as published
from sociometer.instruments.socialeval.scoring import PEOPLE_GAP
from sociometer.instruments.socialeval.worldtree import (
    CATEGORIES,
    GOAL_FULL,
    GOAL_NOT,
    GOAL_PARTLY,
    PAPER_LANGUAGES,
    Tree,
    languages_of,
    solve,
)
from sociometer.reading import ChoiceAnswer
from sociometer.statistics import charts
from sociometer.statistics.chart_parts import ReferenceLine
from sociometer.statistics.correlation import few_families, pearson
from sociometer.statistics.model_kinds import family_from_name

# In a name such as 8x7b the experts share some of their parameters: it does not tell how many there are.
_ALONE = r"(?<![\d.])(?<!\d[x×])"
_BILLIONS = re.compile(_ALONE + r"(\d+(?:\.\d+)?)\s*b(?![a-z0-9])", re.IGNORECASE)
_MILLIONS = re.compile(_ALONE + r"(\d{2,4})\s*m(?![a-z0-9])", re.IGNORECASE)
_LEVELS = (("achieved", "goal achieved"), ("partly", "partly"), ("missed", "not achieved"), ("open", "no goal flag"))

_ENDINGS = {GOAL_FULL: "goal achieved", GOAL_PARTLY: "partly achieved", GOAL_NOT: "not achieved"}

FIGURES = Figures(Path(__file__).with_name("figures.toml"))


def figures(runs: Sequence[AnyRun]) -> Sequence[Figure]:
    """All figures, by task."""
    by_task = {
        name: [run for run in runs if run.task == name] for name in ("goals", "abilities", "utterances", "inside")
    }
    found: list[Figure] = []
    if by_task["goals"]:
        found += _goals(by_task["goals"])
    if by_task["abilities"]:
        found += _abilities(by_task["abilities"])
    found += _together(by_task["utterances"])
    if by_task["inside"]:
        found += inside_figures(stored_views(by_task["inside"]))
    return found


def _together(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """The summaries' tables, each once with all subjects in it."""
    for name in dict.fromkeys(table.name for run in runs for table in run.summary.tables):
        same = [(run.subject, table) for run in runs for table in run.summary.tables if table.name == name]
        first = same[0][1]
        rows = tuple((subject, *row) for subject, table in same for row in table.rows)
        notes = dict.fromkeys(f"{subject}: {table.note}" for subject, table in same if table.note)
        whole = Table(name, first.title, ("subject", *first.columns), rows, "; ".join(notes))
        yield Figure(name, first.title, whole.note, table=whole)


def _goals(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    dots = charts.dots_of(
        (name, run.summary.find("achieved", category=name), run.subject) for run in runs for name in CATEGORIES
    )
    chart = charts.interval_chart(dots, title="goal achieved", domain=(0, 1), references=_lines(runs[0]))
    yield FIGURES("goals-by-category", chart=chart)
    portions = [
        charts.Portion(run.subject, words, measure.value)
        for run in runs
        for name, words in _LEVELS
        if (measure := run.summary.find(name)) is not None and measure.value is not None
    ]
    yield FIGURES("goal-levels", chart=charts.stacked_bars(portions, title="share of walks"))
    yield from _gaps(runs)
    yield from _scale(runs)
    yield from _together(runs)


def _gaps(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Prosocial preference, as a difference of rates and of shares of what is attainable."""
    exact = "prosocial_gap_random"
    codes = languages_of(measure.group for run in runs for measure in run.summary.measures)
    names = {code: language_of(code).english for code in codes}
    lines = [ReferenceLine(f"people, {names[language]}", value) for language, value in PEOPLE_GAP.items()]
    lines += [
        ReferenceLine(f"random walk, {words}", measure.value)
        for language, words in names.items()
        if (measure := runs[0].summary.find(exact, language=language)) is not None and measure.value is not None
    ]
    shares = "difference of shares, in points; a random walk and the best policy have 0"
    drawn = (
        ("prosocial-gap", "difference of rates, in points", lines),
        ("prosocial-gap-attainable", shares, [ReferenceLine("random walk, best policy", 0.0)]),
    )
    for name, axis, lines in drawn:
        measure_name = name.replace("-", "_")
        dots = charts.dots_of(
            (words, run.summary.find(measure_name, language=language), run.subject)
            for run in runs
            for language, words in names.items()
        )
        if dots and name == "prosocial-gap":
            dots += [
                charts.Dot(
                    names[language], gap, group=f"{row['model']} (paper)", note="as printed, without an interval"
                )
                for row in published("goals")
                if not row["model"].startswith("Human") and row["prosocial_zh"]
                for language in PAPER_LANGUAGES
                for gap in [(float(row[f"prosocial_{language}"]) - float(row[f"antisocial_{language}"])) / 100]
            ]
        if dots:
            yield FIGURES(name, chart=charts.interval_chart(dots, title=axis, unit="share-points", references=lines))


def _lines(run: AnyRun) -> list[ReferenceLine]:
    """The exact random and best values of the played trees."""
    names = (("random", "random walk"), ("best", "best possible"))
    found = ((run.summary.find(name), words) for name, words in names)
    return [ReferenceLine(words, measure.value) for measure, words in found if measure and measure.value is not None]


def _scale(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    """Goal achievement against the number of parameters, if it is known for at least three subjects."""
    points = []
    for run in runs:
        size, measure = parameters(run), run.summary.find("achieved")
        if size and size > 0 and measure is not None and measure.value is not None:
            points.append(charts.ScatterPoint(run.subject, size, measure.value))
    if len(points) < 3 or len({point.x for point in points}) < 2 or len({point.y for point in points}) < 2:
        return
    orders = [math.log10(point.x) for point in points]
    names = [point.label for point in points]
    r = pearson(orders, [point.y for point in points], names, [*map(family_from_name, names)])
    bounds = few_families(r.interval) or f"95 % {r.interval.low:.2f} to {r.interval.high:.2f}"
    chart = charts.scatter_chart(
        points, x_title="billions of parameters", y_title="goal achieved", y_unit="share", log_x=True
    )
    yield FIGURES("scale", chart=chart, r=r.r, bounds=bounds, models=r.n)


def parameters(run: AnyRun) -> float | None:
    """Billions of parameters: the setting, or the number before a "b" (or an "m") in the subject's name."""
    given = run.settings.get("parameters")
    if isinstance(given, int | float) and not isinstance(given, bool):
        return float(given)
    if billions := _BILLIONS.search(run.subject):
        return float(billions[1])
    millions = _MILLIONS.search(run.subject)
    return float(millions[1]) / 1000 if millions else None


def _abilities(runs: Sequence[AnyRun]) -> Iterator[Figure]:
    dots = charts.dots_of(
        (name, run.summary.find("accuracy", dimension=name), run.subject) for run in runs for name in DIMENSIONS
    )
    chance = [ReferenceLine("guessing", 0.25)]
    chart = charts.interval_chart(dots, title="accuracy", domain=(0, 1), references=chance)
    yield FIGURES("abilities-by-dimension", chart=chart)
    cells = [
        charts.HeatCell(ability, run.subject, measure.value, note=f"{measure.items} questions")
        for ability in ABILITIES
        for run in runs
        if (measure := run.summary.find("accuracy", ability=ability)) is not None
    ]
    yield FIGURES("abilities", chart=charts.heat_map(cells, title="accuracy", unit="share", domain=(0, 1)))
    yield from _together(runs)


def beside(item: Any, outcome: Any) -> Figure | None:
    """The figure shown next to a transcript: the tree with the walk, or the options with the picked one."""
    if isinstance(item, TreeItem) and isinstance(outcome, Walk):
        taken = {(step.node, step.picked) for step in outcome.steps}
        return Figure("tree", "The walk", table=_walk(item.tree, taken))
    if isinstance(item, AbilityQuestion) and isinstance(outcome, ChoiceAnswer):
        votes = Counter(vote.picked for vote in outcome.votes)
        rows = (
            (outcome.letters(i), text, i == outcome.picked, i == 0, votes[i]) for i, text in enumerate(item.options)
        )
        table = Table("options", "Options", ("letter", "utterance", "picked", "right", "votes"), tuple(sorted(rows)))
        return Figure("options", ", ".join(item.abilities), table=table)
    if isinstance(item, Crossroads) and isinstance(outcome, Utterance):
        near = tuple(
            (text, round(similarity, 3), i == outcome.vote.picked)
            for i, (text, similarity) in enumerate(zip(item.candidates, outcome.similarities, strict=True))
        )
        table = Table("candidates", "Candidates", ("utterance", "similarity", "picked"), near, outcome.said)
        return Figure("candidates", "Free reply and candidates", table=table)
    return None


def _walk(tree: Tree, taken: Collection[tuple[int, int]]) -> Table:
    """Every choice of a tree and where it leads; `taken` has the (node, choice) pairs of the walk."""
    nodes, solution = tree.by_id(), solve(tree)
    rows = []
    for number, best in solution.best_choices.items():
        for place, choice in enumerate(nodes[number].choices):
            then = nodes.get(choice.target)
            ending = f": {_ENDINGS.get(then.goal, 'no goal flag')}" if then and then.is_end else ""
            ability = ", ".join(canonical_all(choice.abilities) or choice.abilities)
            keeps = place in best and solution.best_at[number] == GOAL_FULL
            rows.append((number, choice.text, ability, f"{choice.target}{ending}", keeps, (number, place) in taken))
    columns = ("episode", "choice", "ability", "leads to", "keeps the goal", "taken")
    note = f"{tree.protagonist.name}: {tree.protagonist.goal} A random walk reaches this in {solution.random:.1%}."
    return Table("tree", tree.id, columns, tuple(rows), note=note)
