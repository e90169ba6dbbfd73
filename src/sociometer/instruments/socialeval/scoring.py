"""Outcome -> score -> summary, and the paper's findings as tables; pure. The tree is the unit of every interval."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterable, Iterator
from math import nan
from pathlib import Path
from statistics import fmean, variance

from msgspec import structs

from sociometer.core.measure import Cell, Interval, Measure, Summary, Table
from sociometer.core.task import RunView, Score
from sociometer.core.words import grouped
from sociometer.instruments._tables import Tables
from sociometer.instruments.socialeval import worldtree
from sociometer.instruments.socialeval.abilities import ABILITIES, DIMENSIONS, dimension_of
from sociometer.instruments.socialeval.items import AbilityQuestion, Crossroads, TreeItem
from sociometer.instruments.socialeval.play import Utterance, Walk
from sociometer.reading import ChoiceAnswer, Vote, vote_counts
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.formatting import CHANCE, estimate, p_phrase
from sociometer.statistics.intervals import clustered_mean_interval, too_few
from sociometer.statistics.measures import Observations, grouped_measures, position_bias
from sociometer.statistics.paired import signed_rank

GROUPS: tuple[str | tuple[str, ...], ...] = (
    "language",
    "category",
    "orientation",
    ("category", "language"),
    ("orientation", "language"),
)
PLAIN: tuple[str | tuple[str, ...], ...] = ("language", "category")
FEW_TREES = 10
TABLES = Tables(Path(__file__).with_name("tables.toml"))


def score_walk(item: TreeItem, outcome: Walk) -> Score:
    """The goal level of the walk, its regret, where it left the best path, and prosocial choices that cost the goal.

    A walk with a random choice counts as missed: a goal that was reached by luck is not the subject's.
    """
    solution = worldtree.solve(item.tree)
    unreadable = sum(vote.picked is None for step in outcome.steps for vote in step.votes)
    level = worldtree.GOAL_NOT if outcome.drawn else outcome.level
    own = itertools.takewhile(lambda step: not step.drawn, outcome.steps)  # up to the first random choice
    left = worldtree.departure(item.tree, solution, tuple((step.node, step.picked) for step in own))
    values = {
        "achieved": float(level == worldtree.GOAL_FULL),
        "partly": float(level == worldtree.GOAL_PARTLY),
        "missed": float(level == worldtree.GOAL_NOT),
        "open": float(level == worldtree.GOAL_OPEN),
        "random": solution.random,
        "best": float(solution.best == worldtree.GOAL_FULL),
        "regret": worldtree.regret(solution, level),
        "left": float(left is not None or outcome.drawn > 0),
        "steps": float(len(outcome.steps)),
    }
    if left is not None:
        values["left_step"] = float(left)
    lost, chances = prosocial_losses(item, outcome)
    if chances:
        values["prosocial_loss"] = lost / chances
    replies = vote_counts(vote for step in outcome.steps for vote in step.votes)
    return Score(values=values, facets=item.facets, unreadable=unreadable, replies=replies)


def prosocial_losses(item: TreeItem, outcome: Walk) -> tuple[int, int]:
    """How often a choice that favours others was taken although it gave up the goal; and how often one was available.

    It is available at a node from which the best level can still be reached and where a choice whose
    stance favours others (altruism 1) gives it up.
    """
    solution = worldtree.solve(item.tree)
    nodes = item.tree.by_id()
    lost = chances = 0
    for step in outcome.steps:
        node = nodes[step.node]
        best = solution.best_at
        tempting = [
            index
            for index, choice in enumerate(node.choices)
            if (choice.stance or (0, 0))[1] > 0 and best.get(choice.target, worldtree.GOAL_OPEN) < best[node.id]
        ]
        if tempting and not step.drawn and best[node.id] == worldtree.GOAL_FULL:
            chances += 1
            lost += step.picked in tempting
    return lost, chances


def summarise_walks(run: RunView[TreeItem, Walk]) -> Summary:
    """Rates by goal level with the exact random and best values, and the findings as tables."""
    measures: list[Measure] = list(grouped_measures(run, "achieved", by=GROUPS))
    for name in ("partly", "missed", "open", "regret", "left"):
        by, binary = (GROUPS if name == "partly" else PLAIN), (False if name == "regret" else None)
        measures += _once(grouped_measures(run, name, by=by, binary=binary))
    for name in ("random", "best"):
        measures += _exact(run, name, [measure for measure in measures if measure.name == "achieved"])
    measures += _once(grouped_measures(run, "prosocial_loss", by=PLAIN))
    measures += gap_measures(run)
    tables = (
        goal_table(Summary(tuple(measures))),
        prosocial_table(Summary(tuple(measures))),
        language_table(run),
        tree_table(run),
    )
    exact = next((measure.value for measure in measures if measure.name == "random" and not measure.group), None)
    return Summary(tuple(measures), tables, tuple(_walk_notes(run)), {CHANCE: {"achieved": exact}})


def _once(measures: Iterable[Measure]) -> Iterator[Measure]:
    """Derived measures without the count of unreadable replies, which the main one shows."""
    for m in measures:
        yield structs.replace(m, unreadable=0)


def _exact(run: RunView[TreeItem, Walk], name: str, like: Iterable[Measure]) -> Iterator[Measure]:
    """The mean of a tree's exact value in the same groups as other measures; it is exact, so it has no interval."""
    trees = {item.id: score for item, _, score in run.scored()}
    for measure in like:
        group = measure.group
        members = [s.values[name] for s in trees.values() if all(s.facets[key] == group[key] for key in group)]
        if members:
            note = "exact, by solving the trees"
            yield Measure(name, sum(members) / len(members), group, items=len(members), note=note)


def _walk_notes(run: RunView[TreeItem, Walk]) -> Iterator[str]:
    walks = [(item, outcome, score) for item, outcome, score in run.scored()]
    trees = {item.cluster for item, _, _ in walks}
    if trees and len(trees) < FEW_TREES:
        count = "1 tree is" if len(trees) == 1 else f"{len(trees)} trees are"
        yield f"{count} too few for an interval (ten are needed); the rates describe these trees only."
    drawn = sum(outcome.drawn > 0 for _, outcome, _ in walks)
    if drawn:
        lots = "had an unreadable choice, which was replaced by a random one; they count as missed."
        yield f"{drawn} of {len(walks)} walks {lots}"
    unflagged = sum(score.values["open"] for _, _, score in walks)
    if unflagged:
        walked = f"{int(unflagged)} of {len(walks)} walks"
        yield f"{walked} stopped where the file gives no goal level; they count as not achieved."


def score_answer(item: AbilityQuestion, outcome: ChoiceAnswer) -> Score:
    """Right if the majority of the orders picked the right utterance; `single` is the share of orders that did."""
    single = sum(vote.picked == 0 for vote in outcome.votes) / len(outcome.votes)
    first = item.abilities[0]
    return Score(
        values={"correct": float(outcome.picked == 0), "single": single, "chance": 1 / len(item.options)},
        facets={
            "language": item.language,
            "category": item.category,
            "orientation": item.orientation,
            "ability": first,
            "dimension": dimension_of(first) if first in ABILITIES else first,
        },
        unreadable=outcome.unreadable,
        replies=vote_counts(outcome.votes),
    )


def summarise_answers(run: RunView[AbilityQuestion, ChoiceAnswer]) -> Summary:
    """Accuracy overall, by language, by the five dimensions and the 32 abilities, and position bias."""
    accuracy = grouped_measures(run, "correct", "accuracy", by=["language", "category"])
    measures = list(accuracy)
    by_ability, by_dimension = _ability_rows(run)
    for dimension in (*DIMENSIONS, *sorted(by_dimension.keys() - DIMENSIONS.keys())):
        if rows := by_dimension.get(dimension):
            of_all, parts = {"dimension": dimension}, rows.levels(["language"]).items()
            measures.append(rows.measure("accuracy", of_all))
            measures += (rows.measure("accuracy", of_all | {"language": one}, places=at) for (one,), at in parts)
    measures += (
        by_ability[ability].measure("accuracy", {"ability": ability})
        for ability in (*ABILITIES, *sorted(by_ability.keys() - set(ABILITIES)))
        if ability in by_ability
    )
    measures += _once(grouped_measures(run, "single", "accuracy of one order"))
    bias, note = _bias(vote for _, outcome, _ in run.scored() for vote in outcome.votes)
    notes = [note] if note else []
    untested = [name for name in ABILITIES if name not in by_ability]
    if untested:
        notes.append(f"No question for {len(untested)} of the 32 abilities: {', '.join(untested)}.")
    return Summary(tuple(measures), (bias,), tuple(notes))


def _ability_rows(
    run: RunView[AbilityQuestion, ChoiceAnswer],
) -> tuple[dict[str, Observations], dict[str, Observations]]:
    """Rows by ability and by dimension; a question that names several abilities counts for each."""
    by_ability: dict[str, Observations] = {}
    by_dimension: dict[str, Observations] = {}
    for episode in run.episodes():
        item, score = episode.item, episode.score
        row = (item.id, item.cluster or item.id, nan, {"language": item.language}, 0)
        if score is not None:
            row = (item.id, item.cluster or item.id, score.values["correct"], score.facets, score.unreadable)
        elif episode.failure is None:
            continue
        for ability in item.abilities:
            by_ability.setdefault(ability, Observations()).add(*row)
        for dimension in {dimension_of(name) if name in ABILITIES else name for name in item.abilities}:
            by_dimension.setdefault(dimension, Observations()).add(*row)
    return by_ability, by_dimension


def _bias(votes: Iterable[Vote]) -> tuple[Table, str]:
    """Picks and keys by position, with the test of even choice; and a note if picks follow position."""
    picks, keys, options = array("b"), array("b"), array("b")
    for vote in votes:
        if vote.position is not None:
            picks.append(vote.position)
            keys.append(vote.order.index(0))
            options.append(len(vote.order))
    if not picks:
        return TABLES("position", (), test=""), "No answer could be read."
    bias = position_bias(picks, keys, options)
    rows = (
        (chr(65 + place), bias.picked[place], bias.keyed[place], round(bias.expected[place], 1))
        for place in range(len(bias.picked))
    )
    return TABLES("position", rows, test=f"χ² test of even picks: {p_phrase(bias.p_value)}"), bias.warning


def score_utterance(item: Crossroads, outcome: Utterance) -> Score:
    """The similarity of the nearest candidate to the free reply, and whether the subject picked that candidate."""
    nearest = max(range(len(outcome.similarities)), key=lambda i: outcome.similarities[i])
    return Score(
        values={
            "similarity": outcome.similarities[nearest],
            "agrees": float(outcome.vote.picked == nearest),
            "chance": 1 / len(item.candidates),
        },
        facets={"language": item.language, "orientation": item.orientation},
        unreadable=int(outcome.vote.picked is None),
        replies=vote_counts([outcome.vote]),
    )


def summarise_utterances(run: RunView[Crossroads, Utterance]) -> Summary:
    """Whether multiple choice reflects the subject's free replies."""
    measures = [
        *grouped_measures(run, "agrees", "agreement", by=["language"]),
        *_once(grouped_measures(run, "similarity", by=["language"])),
        *_once(grouped_measures(run, "chance", "guessing", by=["language"])),
    ]
    embedders = sorted({outcome.embedder for _, outcome, _ in run.scored() if outcome.embedder})
    notes = [f"Similarities from {', '.join(embedders)}: similarities from different embedders are not comparable."]
    return Summary(tuple(measures), (utterance_table(Summary(tuple(measures))),), tuple(notes if embedders else ()))


PEOPLE_GAP = {"zh": 0.136, "en": 0.099}
"""Prosocial minus antisocial rate of the paper's people (average)."""
FEW_PAIRS = 6


def goal_table(found: Summary) -> Table:
    """Rates by category and orientation, with the exact random walk and the best possible."""
    languages = worldtree.languages_of(measure.group for measure in found.measures)
    groups: list[dict[str, str]] = [{}, *({"language": code} for code in languages)]
    groups += [{"category": name} for name in worldtree.CATEGORIES]
    groups += [{"category": name, "language": code} for name in worldtree.CATEGORIES for code in languages]
    groups += [{"orientation": known.name} for known in worldtree.ORIENTATIONS]
    rows: list[tuple[Cell, ...]] = []
    for group in groups:
        achieved = found.find("achieved", **group)
        if achieved is None or achieved.value is None:
            continue
        partly, *exact = (found.find(name, **group) for name in ("partly", "random", "best"))
        shown = (estimate(one.value, "share", one.interval) if one else None for one in (achieved, partly))
        values = (None if one is None else one.value for one in exact)
        rows.append((", ".join(group.values()) or "all", achieved.clusters, *shown, *values))
    return TABLES("goals", rows)


def gap_measures(run: RunView[TreeItem, Walk]) -> Iterator[Measure]:
    """Prosocial minus antisocial rate for each language, with a Welch interval over trees.

    Next to it, the gap of the random walk on the same trees (exact), and the gap of the shares of what is
    attainable: in each category, (rate - random walk) / (best policy - random walk), which is 0 for a random walk
    and 1 for the best policy. Trees differ in how hard they are, so the plain gap of a random walk is not zero.
    """
    for language in worldtree.languages_of(score.facets for _, _, score in run.scored()):
        sides = [_tree_rates(run, language, name) for name in ("prosocial", "antisocial")]
        if not all(sides):
            continue
        first, second = ([tree["achieved"] for tree in side] for side in sides)
        group, trees = {"language": language}, len(first) + len(second)
        yield Measure("prosocial_gap", fmean(first) - fmean(second), group, _welch(first, second), trees, trees)
        lots = [fmean(tree["random"] for tree in side) for side in sides]
        best = [fmean(tree["best"] for tree in side) for side in sides]
        note = "exact, by solving the trees"
        yield Measure("prosocial_gap_random", lots[0] - lots[1], group, items=trees, note=note)
        yield Measure("prosocial_gap_best", best[0] - best[1], group, items=trees, note=note)
        if all(top > lot for top, lot in zip(best, lots, strict=True)):
            first, second = (
                [(tree["achieved"] - tree["random"]) / (top - lot) for tree in side]
                for side, top, lot in zip(sides, best, lots, strict=True)
            )
            value = fmean(first) - fmean(second)
            yield Measure("prosocial_gap_attainable", value, group, _welch(first, second), trees, trees)


def _tree_rates(run: RunView[TreeItem, Walk], language: str, category: str) -> list[dict[str, float]]:
    """How often a subject reached the goal of each tree, and the tree's exact values."""
    rates = grouped(
        (item.id, score.values)
        for item, _, score in run.scored()
        if item.tree.language == language and item.tree.category == category
    )
    return [{**walks[0], "achieved": fmean(walk["achieved"] for walk in walks)} for walks in rates.values()]


def _welch(first: list[float], second: list[float]) -> Interval:
    """Welch's interval of a difference of two means of independent trees; too few if either side has fewer than ten."""
    if min(len(first), len(second)) < 10:
        return too_few(min(len(first), len(second)))
    one, two = variance(first) / len(first), variance(second) / len(second)
    # without variation the interval has no width, whatever its degrees of freedom
    freedom = (one + two) ** 2 / (one**2 / (len(first) - 1) + two**2 / (len(second) - 1)) if one + two else 1.0
    centre, half = fmean(first) - fmean(second), t_quantile(0.975, freedom) * (one + two) ** 0.5
    return Interval(centre - half, centre + half, 0.95, "Welch", min(len(first), len(second)))


def prosocial_table(found: Summary) -> Table:
    """Prosocial preference, next to the random walk's and people's; how often a prosocial choice gave up the goal."""
    rows: list[tuple[Cell, ...]] = []
    for language in worldtree.languages_of(measure.group for measure in found.measures):
        gap, lot, best, share = (
            found.find(f"prosocial_gap{name}", language=language) for name in ("", "_random", "_best", "_attainable")
        )
        if gap is not None and lot is not None and best is not None:
            name, own = f"prosocial − antisocial rate, {language}", estimate(gap.value, "share-points", gap.interval)
            rows.append((name, own, lot.value, best.value, PEOPLE_GAP.get(language)))
        if share is not None:
            name = f"the same as shares of what is attainable, {language}"
            rows.append((name, estimate(share.value, "share-points", share.interval), 0.0, 0.0, None))
    for group in ({}, *({"category": name} for name in worldtree.CATEGORIES)):
        loss = found.find("prosocial_loss", **group)
        if loss is not None and loss.value is not None:
            name = f"prosocial choice that gave up the goal, {', '.join(group.values()) or 'all'}"
            rows.append((name, estimate(loss.value, "share", loss.interval), None, None, None))
    note = "attainable: (rate − random walk) / (best policy − random walk) in each category" if rows else ""
    return TABLES("prosocial", rows, note=note)


def language_table(run: RunView[TreeItem, Walk]) -> Table:
    """Chinese compared with English over pairs of translated trees: Wilcoxon's signed-rank test and its effect size."""
    rates: dict[str, dict[str, list[float]]] = {}
    for item, _, score in run.scored():
        rates.setdefault(item.cluster, {}).setdefault(item.tree.language, []).append(score.values["achieved"])
    pairs = [(fmean(sides["en"]), fmean(sides["zh"])) for sides in rates.values() if {"en", "zh"} <= sides.keys()]
    if not pairs:
        return TABLES("languages", (), note="no tree was played in both languages")
    english, chinese = zip(*pairs, strict=True)
    means = [estimate(fmean(side), "share", clustered_mean_interval(side)) for side in (english, chinese)]
    differ = sum(one != two for one, two in pairs)
    if differ < FEW_PAIRS:
        few: tuple[Cell, ...] = (len(pairs), *means, differ, None, None, None)
        return TABLES("languages", [few], note=f"too few trees differ for a test ({differ})")
    test = signed_rank(english, chinese)
    tested = (test.pairs, test.statistic, float(f"{test.p_value:.3g}"), round(test.effect, 3))
    return TABLES(
        "languages", [(len(pairs), *means, *tested)], note="Wilcoxon signed-rank over trees; positive: Chinese higher"
    )


def tree_table(run: RunView[TreeItem, Walk]) -> Table:
    """Every tree's rate with its exact random and best values."""
    walks = grouped((item.id, score.values) for item, _, score in run.scored())
    names = ("achieved", "random", "best", "regret")
    rows: Iterator[tuple[Cell, ...]] = (
        (tree, len(found), *(fmean(values[name] for values in found) for name in names))
        for tree, found in walks.items()
    )
    return TABLES("trees", rows)


def utterance_table(found: Summary) -> Table:
    """Whether multiple choice reflects free replies, compared with the paper's figures."""
    rows: list[tuple[Cell, ...]] = []
    for group in ({}, *({"language": code} for code in worldtree.languages_of(one.group for one in found.measures))):
        near, agrees = found.find("similarity", **group), found.find("agreement", **group)
        guess = found.find("guessing", **group)
        if near is not None and agrees is not None and guess is not None:
            shown = (estimate(near.value, "number", near.interval), estimate(agrees.value, "share", agrees.interval))
            rows.append((group.get("language", "all"), *shown, guess.value))
    return TABLES("utterances", rows)
