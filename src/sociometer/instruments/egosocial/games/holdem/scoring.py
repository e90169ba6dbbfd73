"""The score of a match, beside an ideal observer who knows every trained opponent and a naive one who counts raises."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import fmean

import numpy as np

from sociometer.core.measure import Cell, Measure, Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.task import RunView, Score
from sociometer.instruments.egosocial.games.game import NOTES, TABLES, card_measures
from sociometer.instruments.egosocial.games.holdem import match, net
from sociometer.instruments.egosocial.games.holdem.rules import CODES
from sociometer.statistics.measures import Observation, mean_measure


def posterior(hands: Sequence[match.PlayedHand], weights: Path = net.WEIGHTS) -> dict[str, float]:
    """Return the probability of each style of the opponent, given all its moves in these hands."""
    inputs, may_raise, actions = [], [], []
    for hand in hands:
        table = net.PokerTable.of([hand.deal])
        row = np.array([0])
        for move in hand.moves:
            if move.player == match.OTHER_SEAT:
                inputs.append(net.features(table, row)[0])
                may_raise.append(bool(table.may_raise(row)[0]))
                actions.append(CODES[move.action])
            table.step(row, np.array([CODES[move.action]]))
    if not actions:
        return {style: 1 / len(net.STYLES) for style in net.STYLES}
    seen, can, done = np.array(inputs), np.array(may_raise), np.array(actions)
    logs = {
        style: [
            float(np.log(net.load(style, seed, weights).chances(seen, can)[np.arange(len(done)), done] + 1e-12).sum())
            for seed in net.seeds_in(weights)
        ]
        for style in net.STYLES
    }
    highest = max(max(values) for values in logs.values())
    shares = {style: sum(math.exp(value - highest) for value in values) for style, values in logs.items()}
    total = sum(shares.values())
    # rounded, so that a stored number does not depend on the processor that computed it
    return {style: round(share / total, 4) for style, share in shares.items()}


def best_guess(chances: dict[str, float]) -> str:
    """Return the likelier style; the first by name if both are equally likely."""
    return max(sorted(chances), key=lambda style: chances[style])


def naive_guess(hands: Sequence[match.PlayedHand]) -> str | None:
    """Return the style by the share of raises alone; None if the opponent never acted."""
    actions = match.actions_of(hands)
    if not actions:
        return None
    return net.STYLES[0] if actions.count("raise") / len(actions) >= match.MANY_RAISES else net.STYLES[1]


def score(item: match.Match, outcome: match.MatchOutcome) -> Score:
    """The style named at the end, the chips won, and the evidence there was.

    Where the opponent never acted there is nothing to name: such a match is counted apart, except in the paper's form.
    """
    final = outcome.namings[-1]
    decided = max(1, len(match.actions_of(outcome.hands, match.OWN_SEAT)))
    unusable = outcome.subject_faults.count + sum(naming.faults.count for naming in outcome.namings)
    informed = bool(match.actions_of(outcome.hands))
    values = {
        "chips": sum(hand.won for hand in outcome.hands) / len(outcome.hands),
        "faults": unusable / (decided + len(outcome.namings)),
        "no_information": float(not informed),
    }
    if informed or item.official:
        values["right"] = float(final.style == item.style)
        values["naive"] = float(naive_guess(outcome.hands) == item.style) if informed else 0.5
    with suppress(net.WeightError):  # the user's own weights no longer exist
        if "right" in values:
            chances = posterior(outcome.hands, Path(item.weights) if item.weights else net.WEIGHTS)
            ideal = float(final.style == best_guess(chances))
            values |= {"ceiling": max(chances.values()), "evidence": chances[item.style], "as_ideal": ideal}
    nameless = sum(naming.style is None for naming in outcome.namings)
    asked = [*outcome.subject_faults.asked, *(one for naming in outcome.namings for one in naming.faults.asked)]
    unreadable = outcome.subject_defaults + nameless
    return Score(values=values, facets={"style": item.style}, unreadable=unreadable, replies=count_replies(asked))


def summarise(run: RunView[match.Match, match.MatchOutcome]) -> Summary:
    """Accuracy, ceiling and chips, overall and by style."""
    measures: list[Measure] = []
    for card, found in card_measures(run, "holdem", "style"):
        measures += [one for one in found if one.items or card.name == "accuracy"]
    if any(one.name == "ceiling" for one in measures):
        measures.append(_reached(run))
    episodes = [(item, outcome) for item, outcome, _ in run.scored()]
    notes = [NOTES["observers"]]
    empty = [item.official for item, _, score in run.scored() if score.values.get("no_information")]
    if empty:
        counted = "are part of the accuracy, as in the paper" if all(empty) else "are left out of the accuracy"
        notes.append(NOTES["never-acted"].format(matches=len(empty), counted=counted))
    return Summary(measures=tuple(measures), tables=(_answers(episodes),), notes=tuple(notes))


def _reached(run: RunView[match.Match, match.MatchOutcome]) -> Measure:
    """Right answers beyond guessing, as a share of those that the ideal observer expects beyond it in the same matches.

    The interval is that of a ratio of two means: each match counts by how far it is from the ratio (delta method).
    """
    floor = 1 / len(net.STYLES)
    rows = []
    for item, _, score in run.scored():
        values = score.values
        if "ceiling" in values:
            rows.append((item, values["right"] - floor, values["ceiling"] - floor))
    reachable = fmean(row[2] for row in rows) if rows else 0.0
    if reachable <= 0:
        return Measure("reached", None, note="nothing could be reached beyond the floor")
    share = fmean(row[1] for row in rows) / reachable
    members = [
        Observation(item.id, item.cluster or item.id, share + (got - share * most) / reachable, {})
        for item, got, most in rows
    ]
    return mean_measure("reached", members, binary=False)


def _answers(episodes: Iterable[tuple[match.Match, match.MatchOutcome]]) -> Table:
    counts = Counter((item.style, outcome.namings[-1].style or "unreadable") for item, outcome in episodes)
    rows: list[tuple[Cell, ...]] = [
        (style, *(counts[style, answer] for answer in (*net.STYLES, "unreadable")))
        for style in sorted({style for style, _ in counts})
    ]
    return TABLES("styles", rows)
