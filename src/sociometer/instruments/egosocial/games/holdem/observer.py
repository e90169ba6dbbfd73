"""Two observers of the same hands: an ideal one that knows every trained policy, and a naive one that knows none.

The ideal observer computes how likely each style is; its answer is the ceiling for anybody who saw those hands with
the opponent's cards shown. The prior is even over styles, and even over training seeds within a style. The naive
observer only counts: a player that raises at least every second time is aggressive.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from sociometer.instruments.egosocial.games.holdem.match import CODES
from sociometer.instruments.egosocial.games.holdem.net import STYLES, WEIGHTS, features, load, seeds_in
from sociometer.instruments.egosocial.games.holdem.rules import Deal, Move
from sociometer.instruments.egosocial.games.holdem.simulator import Table


class PlayedHand(msgspec.Struct, frozen=True):
    """One finished hand: the deal, every move, what player 0 won, and which moves (by position) were defaults."""

    deal: Deal
    moves: tuple[Move, ...]
    won: int
    defaulted: tuple[int, ...] = ()


def posterior(hands: Sequence[PlayedHand], weights: Path = WEIGHTS, seat: int = 1) -> dict[str, float]:
    """Return the probability of each style for the player in a seat, given all its moves in these hands."""
    inputs, may_raise, actions = [], [], []
    for hand in hands:
        table = Table.of([hand.deal])
        row = np.array([0])
        for move in hand.moves:
            if move.player == seat:
                inputs.append(features(table, row)[0])
                may_raise.append(bool(table.may_raise(row)[0]))
                actions.append(CODES[move.action])
            table.step(row, np.array([CODES[move.action]]))
    if not actions:
        return {style: 1 / len(STYLES) for style in STYLES}
    seen, can, done = np.array(inputs), np.array(may_raise), np.array(actions)
    logs = {
        style: [
            float(np.log(load(style, seed, weights).chances(seen, can)[np.arange(len(done)), done] + 1e-12).sum())
            for seed in seeds_in(weights)
        ]
        for style in STYLES
    }
    highest = max(max(values) for values in logs.values())
    shares = {style: sum(math.exp(value - highest) for value in values) for style, values in logs.items()}
    total = sum(shares.values())
    # rounded, so that a stored number does not depend on the processor that computed it
    return {style: round(share / total, 4) for style, share in shares.items()}


def best_guess(chances: dict[str, float]) -> str:
    """Return the likelier style; the first by name if both are equally likely."""
    return max(sorted(chances), key=lambda style: chances[style])


MANY_RAISES = 0.5
"""The share of raises among its decisions from which the naive observer calls a player aggressive."""


def actions_of(hands: Sequence[PlayedHand], seat: int = 1) -> list[str]:
    """Return all actions of the player in a seat; none if every hand ended before its turn."""
    return [move.action for hand in hands for move in hand.moves if move.player == seat]


def naive_guess(hands: Sequence[PlayedHand], seat: int = 1) -> str | None:
    """Return the style by the share of raises alone; None if the player never acted."""
    actions = actions_of(hands, seat)
    if not actions:
        return None
    return STYLES[0] if actions.count("raise") / len(actions) >= MANY_RAISES else STYLES[1]
