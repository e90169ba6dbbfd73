"""Outcome -> score -> summary for goals, abilities and utterances; pure, and the tree is the unit of every interval."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from sociometer.core.measure import Measure, Summary, Table
from sociometer.core.task import RunView, Score
from sociometer.instruments._blind.control import blind_score, control, seen
from sociometer.instruments.socialeval import findings
from sociometer.instruments.socialeval.abilities import ABILITIES, DIMENSIONS, dimension_of
from sociometer.instruments.socialeval.items import AbilityQuestion, Crossroads, TreeItem
from sociometer.instruments.socialeval.play import Utterance, Walk
from sociometer.instruments.socialeval.solution import departure, regret, solve
from sociometer.instruments.socialeval.worldtree import GOAL_FULL, GOAL_NOT, GOAL_OPEN, GOAL_PARTLY, Choice
from sociometer.reading import ChoiceAnswer, Vote, forecasts, vote_counts
from sociometer.statistics.formatting import p_phrase
from sociometer.statistics.measures import Observations, grouped_measures, position_bias

GROUPS: tuple[str | tuple[str, ...], ...] = (
    "language",
    "category",
    "orientation",
    ("category", "language"),
    ("orientation", "language"),
)
PLAIN: tuple[str | tuple[str, ...], ...] = ("language", "category")
FEW_TREES = 10


def score_walk(item: TreeItem, outcome: Walk) -> Score:
    """The goal level of the walk, its regret, where it left the best path, and prosocial choices that cost the goal.

    A walk with a random choice counts as missed: a goal that was reached by luck is not the subject's.
    """
    solution = solve(item.tree)
    unreadable = sum(vote.picked is None for step in outcome.steps for vote in step.votes)
    level = GOAL_NOT if outcome.drawn else outcome.level
    left = departure(item.tree, solution, findings.taken(outcome))
    values = {
        "achieved": float(level == GOAL_FULL),
        "partly": float(level == GOAL_PARTLY),
        "missed": float(level == GOAL_NOT),
        "open": float(level == GOAL_OPEN),
        "random": solution.random,
        "best": solution.best_full,
        "regret": regret(solution, level),
        "left": float(left is not None or outcome.drawn > 0),
        "steps": float(len(outcome.steps)),
    }
    if left is not None:
        values["left_step"] = float(left.step)
    lost, chances = prosocial_losses(item, outcome)
    if chances:
        values["prosocial_loss"] = lost / chances
    facets = {"language": item.tree.language, "category": item.tree.category, "orientation": item.tree.orientation}
    replies = vote_counts(vote for step in outcome.steps for vote in step.votes)
    return Score(values=values, facets=facets, unreadable=unreadable, replies=replies)


def prosocial_losses(item: TreeItem, outcome: Walk) -> tuple[int, int]:
    """How often a choice that favours others was taken although it gave up the goal; and how often one was available.

    It is available at a node from which the best level can still be reached and where a choice whose
    stance favours others (altruism 1) gives it up.
    """
    solution = solve(item.tree)
    nodes = item.tree.by_id()
    lost = chances = 0
    for step in outcome.steps:
        node = nodes[step.node]
        tempting = [
            index
            for index, choice in enumerate(node.choices)
            if favours_others(choice) and solution.best_at.get(choice.target, GOAL_OPEN) < solution.best_at[node.id]
        ]
        if tempting and not step.drawn and solution.best_at[node.id] == GOAL_FULL:
            chances += 1
            lost += step.picked in tempting
    return lost, chances


def favours_others(choice: Choice) -> bool:
    """Whether the choice's stance, as its author marked it, favours others."""
    return choice.stance is not None and choice.stance[1] > 0


def summarise_walks(run: RunView[TreeItem, Walk]) -> Summary:
    """Rates by goal level with the exact random and best values, and the findings as tables."""
    measures: list[Measure] = list(grouped_measures(run, "achieved", by=GROUPS))
    for name in ("partly", "missed", "open", "regret", "left"):
        by, binary = (GROUPS if name == "partly" else PLAIN), (False if name == "regret" else None)
        measures += _without_errors(grouped_measures(run, name, by=by, binary=binary))
    for name in ("random", "best"):
        measures += _exact(run, name, [measure for measure in measures if measure.name == "achieved"])
    measures += _without_errors(grouped_measures(run, "prosocial_loss", by=PLAIN))
    measures += findings.gap_measures(run)
    tables = (
        findings.goal_table(measures),
        findings.departure_table(run),
        findings.prosocial_table(measures),
        findings.language_table(run),
        findings.tree_table(run),
    )
    return Summary(tuple(measures), tables, tuple(_walk_notes(run)))


def _without_errors(measures: Iterable[Measure]) -> Iterator[Measure]:
    """Derived measures without the count of failures, which the main one shows."""
    for m in measures:
        yield Measure(m.name, m.value, m.group, m.interval, m.items, m.clusters, note=m.note)


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
    given = Score(
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
        forecasts=forecasts(outcome.votes[0].chances, 0),
    )
    return blind_score(item, given, outcome.picked) if item.blind else given


def summarise_answers(run: RunView[AbilityQuestion, ChoiceAnswer]) -> Summary:
    """Accuracy overall, by language, by the five dimensions and the 32 abilities, and position bias."""
    without, controls = control(run, "dimension", tuple(DIMENSIONS))
    run = seen(run)
    accuracy = grouped_measures(run, "correct", "accuracy", by=["language", "category"])
    measures = [accuracy[0], *without, *accuracy[1:]]
    by_ability, by_dimension = _ability_rows(run)
    for dimension in (*DIMENSIONS, *sorted(by_dimension.keys() - DIMENSIONS.keys())):
        for language in ("", "en", "zh"):
            rows = by_dimension.get(dimension)
            group = {"dimension": dimension} | ({"language": language} if language else {})
            places = rows.levels(["language"]).get((language,)) if rows and language else None
            if rows and (places is not None or not language):
                measures.append(rows.measure("accuracy", group, places=places))
    measures += (
        by_ability[ability].measure("accuracy", {"ability": ability})
        for ability in (*ABILITIES, *sorted(by_ability.keys() - set(ABILITIES)))
        if ability in by_ability
    )
    measures += _without_errors(grouped_measures(run, "single", "accuracy of one order"))
    bias, note = _bias(vote for _, outcome, _ in run.scored() for vote in outcome.votes)
    notes = [note] if note else []
    untested = [name for name in ABILITIES if name not in by_ability]
    if untested:
        notes.append(f"No question for {len(untested)} of the 32 abilities: {', '.join(untested)}.")
    return Summary(tuple(measures), (*controls, bias), tuple(notes))


def _ability_rows(
    run: RunView[AbilityQuestion, ChoiceAnswer],
) -> tuple[dict[str, Observations], dict[str, Observations]]:
    """Rows by ability and by dimension; a question that names several abilities counts for each."""
    by_ability: dict[str, Observations] = {}
    by_dimension: dict[str, Observations] = {}
    for item, _, score in run.scored():
        row = (item.id, item.cluster or item.id, score.values["correct"], score.facets, score.unreadable)
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
    columns = ("position", "picked", "right option there", "expected if even")
    title = "Position bias: positions of the picked options"
    if not picks:
        return Table("position", title, columns, ()), "No answer could be read."
    bias = position_bias(picks, keys, options)
    rows = tuple(
        (chr(65 + place), bias.picked[place], bias.keyed[place], round(bias.expected[place], 1))
        for place in range(len(bias.picked))
    )
    share = bias.picked[bias.most] / len(picks)
    note = ""
    if bias.p_value < 0.001 and share > 0.5:
        note = f"Position bias: {share:.0%} of the answers are {chr(65 + bias.most)}, wherever the right one is."
    return Table("position", title, columns, rows, note=f"χ² test of even picks: {p_phrase(bias.p_value)}"), note


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
        *_without_errors(grouped_measures(run, "similarity", by=["language"])),
        *_without_errors(grouped_measures(run, "chance", "guessing", by=["language"])),
    ]
    embedders = sorted({outcome.embedder for _, outcome, _ in run.scored() if outcome.embedder})
    notes = [f"Similarities from {', '.join(embedders)}: similarities from different embedders are not comparable."]
    return Summary(tuple(measures), (findings.utterance_table(measures),), tuple(notes if embedders else ()))
