"""The measured habits of the trained opponents over many hands, against a random player and against each other."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from sociometer.core.measure import Table as Rows
from sociometer.instruments.egosocial.games.holdem.net import STYLES, WEIGHTS, load, seeds_in
from sociometer.instruments.egosocial.games.holdem.simulator import Tally, random_policy, tally

HANDS = 10_000
HOW = (
    "Each opponent plays against the random player and against the other style trained with the same seed; "
    "the button alternates."
)


class Character(msgspec.Struct, frozen=True):
    """One opponent's habits against one rival."""

    style: str
    seed: int
    against: str
    tally: Tally


def characters(hands: int = HANDS, seed: int = 1, folder: Path = WEIGHTS) -> Iterator[Character]:
    """Measure every opponent of a folder against the random player and the other style of the same training seed."""
    for training_seed in seeds_in(folder):
        nets = [load(style, training_seed, folder) for style in STYLES]
        both = tally(nets, hands, seed)
        for place, style in enumerate(STYLES):
            mine, _ = tally([nets[place], random_policy], hands, seed)
            yield Character(style, training_seed, "random", mine)
            yield Character(style, training_seed, STYLES[1 - place], both[place])


def table(measured: Iterator[Character]) -> Rows:
    """Return the characters as a table."""
    rows = tuple(
        (
            one.style,
            one.seed,
            one.against,
            one.tally.hands,
            round(one.tally.raise_rate, 3),
            round(one.tally.call_rate, 3),
            round(one.tally.check_rate, 3),
            round(one.tally.fold_rate, 3),
            round(one.tally.hands_folded, 3),
            round(one.tally.chips_per_hand, 2),
            round(1.96 * one.tally.standard_error, 2),
        )
        for one in sorted(measured, key=lambda one: (one.style, one.against != "random", one.seed))
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
            "call",
            "check",
            "fold",
            "hands folded",
            "chips a hand",
            "±95 %",
        ),
        rows,
        note="raise, call, check and fold are shares of the player's decisions; hands folded is a share of hands",
    )
