"""The measured habits of the trained opponents over many hands, against four kinds of rivals."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from sociometer.core.measure import Table as Rows
from sociometer.instruments.egosocial.games.holdem.net import STYLES, WEIGHTS, equities, load, seeds_in
from sociometer.instruments.egosocial.games.holdem.rules import (
    CALL,
    FOLD,
    RAISE,
    IntArray,
)
from sociometer.instruments.egosocial.games.holdem.simulator import RIVALS, Policy, Table, Tally, tally

HANDS = 4_000
HOW = (
    "Each opponent plays against the random player, one that always raises, one that always calls, and the other style "
    "trained with the same seed; the button alternates."
)


class Character(msgspec.Struct, frozen=True):
    """One opponent's habits against one rival, and the mean strength of its cards by action (NaN: never taken)."""

    style: str
    seed: int
    against: str
    tally: Tally
    raised_with: float
    called_with: float
    folded_with: float


def characters(hands: int = HANDS, seed: int = 1, folder: Path = WEIGHTS) -> Iterator[Character]:
    """Measure every opponent of a folder against each kind of rival."""
    for training_seed in seeds_in(folder):
        for place, style in enumerate(STYLES):
            other = STYLES[1 - place]
            rivals = RIVALS | {other: load(other, training_seed, folder)}
            for against, rival in rivals.items():
                yield _character(
                    style, training_seed, against, [load(style, training_seed, folder), rival], hands, seed
                )


def _character(style: str, seed: int, against: str, both: list[Policy], hands: int, deal: int) -> Character:
    rng = np.random.default_rng(deal)
    sums, counts = np.zeros(3), np.zeros(3)

    def weigh(table: Table, rows: IntArray, actions: IntArray) -> None:
        mine = table.actor[rows] == 0
        if mine.any():
            strength = equities(table, rows[mine], rng)
            np.add.at(sums, actions[mine], strength)
            np.add.at(counts, actions[mine], 1)

    habits, _ = tally(both, hands, deal, weigh)
    means = [float(total / count) if count else float("nan") for total, count in zip(sums, counts, strict=True)]
    return Character(style, seed, against, habits, means[RAISE], means[CALL], means[FOLD])


def table(measured: Iterator[Character]) -> Rows:
    """Return the characters as a table."""
    order = {against: place for place, against in enumerate(RIVALS)}
    rows = tuple(
        (
            one.style,
            one.seed,
            one.against,
            one.tally.hands,
            round(one.tally.raise_rate, 3),
            round(one.tally.aggression, 2),
            round(one.tally.fold_to_raise, 3),
            _rounded(one.raised_with),
            _rounded(one.called_with),
            _rounded(one.folded_with),
            round(one.tally.hands_folded, 3),
            round(one.tally.chips_per_hand, 2),
            round(1.96 * one.tally.standard_error, 2),
        )
        for one in sorted(measured, key=lambda one: (one.style, order.get(one.against, len(order)), one.seed))
    )
    return Rows(
        "characters",
        "Play of the trained opponents",
        (
            "style",
            "seed",
            "against",
            "hands",
            "raise",
            "aggression",
            "fold to raise",
            "raises with",
            "calls with",
            "folds with",
            "hands folded",
            "chips a hand",
            "±95 %",
        ),
        rows,
        note="raise is a share of the player's decisions; aggression is raises for each call; fold to raise is the "
        "share of folds after a raise on the same street; raises, calls (or checks) and folds with: the mean chance of "
        "beating two random cards at that action",
    )


def _rounded(number: float) -> float | None:
    return None if np.isnan(number) else round(number, 3)
