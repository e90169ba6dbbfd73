"""Many hands of limit hold'em at once, and the habits of the trained opponents: python -m tools.holdem_characters

Every step moves all hands that are still open, which makes it many times faster than `HoldemState`.
"""

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import click
import msgspec
import numpy as np

from sociometer.instruments.egosocial.games.holdem.net import STYLES, WEIGHTS, FloatArray, PokerTable, load, seeds_in
from sociometer.instruments.egosocial.games.holdem.rules import CALL, FOLD, RAISE
from sociometer.instruments.egosocial.games.holdem.strength import IntArray, strengths


class Policy(Protocol):
    """Anything that gives each open hand a probability for fold, call or check, and raise."""

    def __call__(self, table: "PokerTable", rows: IntArray) -> FloatArray: ...


class Hands(PokerTable):
    """A batch of freshly dealt hands that can be played out and settled."""

    @classmethod
    def shuffled(cls, rng: np.random.Generator, count: int) -> "Hands":
        """Return freshly dealt hands with the button alternating between the players."""
        nine = _nine_cards(rng, count)
        hole = np.stack([nine[:, 0:2], nine[:, 2:4]], axis=1)
        return cls(hole, nine[:, 4:9], np.arange(count) & 1)

    def open_rows(self) -> IntArray:
        """Return the rows whose hand is not over."""
        return np.flatnonzero((self.folded < 0) & (self.street < 4))

    def payoffs(self) -> IntArray:
        """Return the chips that player 0 won or lost in each row; player 1's are the opposite."""
        lost = self.invested[np.arange(len(self.folded)), np.maximum(self.folded, 0)]
        result: IntArray = np.where(self.folded == 0, -lost, lost)
        shown = np.flatnonzero(self.folded < 0)
        if len(shown):
            both = [
                strengths(np.concatenate([self.hole[shown, player], self.board[shown]], axis=1)) for player in (0, 1)
            ]
            result[shown] = np.sign(both[0] - both[1]) * self.invested[shown, 0]
        return result


def _nine_cards(rng: np.random.Generator, count: int) -> IntArray:
    """Return nine different cards per row, every order equally likely."""
    nine = rng.integers(0, 52, (count, 9))
    again = np.arange(count)
    while len(again):
        held = np.sort(nine[again], axis=1)
        again = again[(held[:, 1:] == held[:, :-1]).any(axis=1)]
        nine[again] = rng.integers(0, 52, (len(again), 9))
    return nine


def random_policy(table: PokerTable, rows: IntArray) -> FloatArray:
    """Give every legal action the same probability."""
    can = table.may_raise(rows)
    chance = np.where(can, 1 / 3, 1 / 2)
    return np.stack([chance, chance, np.where(can, 1 / 3, 0.0)], axis=1)


def always_raise(table: PokerTable, rows: IntArray) -> FloatArray:
    """Raise wherever the rules allow it, otherwise call."""
    can = table.may_raise(rows).astype(np.float64)
    return np.stack([np.zeros(len(rows)), 1 - can, can], axis=1)


def always_call(table: PokerTable, rows: IntArray) -> FloatArray:
    """Call or check always."""
    return np.tile([0.0, 1.0, 0.0], (len(rows), 1))


class Tally(msgspec.Struct, frozen=True):
    """How often one player took each action over many hands, and what it won."""

    hands: int
    chips_per_hand: float
    standard_error: float
    raise_rate: float
    call_rate: float
    check_rate: float
    fold_rate: float
    hands_folded: float
    fold_to_raise: float
    """The share of folds where the other has raised on this street; 0 if that never happened."""

    @property
    def aggression(self) -> float:
        """The aggression factor: raises for each call."""
        return self.raise_rate / self.call_rate if self.call_rate else float("inf")


Watch = Callable[[PokerTable, IntArray, IntArray], None]


def choose(chances: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return one action per row, drawn with the given probabilities."""
    draw = rng.random(len(chances))
    actions: IntArray = (draw >= chances[:, 0]).astype(np.int64) + (draw >= chances[:, 0] + chances[:, 1])
    return np.where(chances[np.arange(len(actions)), actions] > 0, actions, CALL)


def play_out(table: Hands, policies: Sequence[Policy], rng: np.random.Generator, watch: Watch | None = None) -> None:
    """Play every hand of the table to its end with one policy per player."""
    while len(rows := table.open_rows()):
        actors = table.actor[rows]
        for player in (0, 1):
            mine = rows[actors == player]
            if not len(mine):
                continue
            actions = choose(policies[player](table, mine), rng)
            if watch:
                watch(table, mine, actions)
            table.step(mine, actions)


def tally(policies: Sequence[Policy], hands: int, seed: int, also: Watch | None = None) -> tuple[Tally, Tally]:
    """Return both players' habits over so many fresh hands; `also` is called for every move."""
    rng = np.random.default_rng(seed)
    table = Hands.shuffled(rng, hands)
    counts = np.zeros((2, 4), dtype=np.int64)
    raised = np.zeros((2, 2), dtype=np.int64)

    def watch(table: PokerTable, rows: IntArray, actions: IntArray) -> None:
        actor = table.actor[rows]
        kinds = np.where((actions == CALL) & (table.to_call(rows) == 0), 3, actions)
        np.add.at(counts, (actor, kinds), 1)
        facing = (table.raised[rows, 1 - actor, table.street[rows]] > 0) & (table.to_call(rows) > 0)
        np.add.at(raised, (actor[facing], (actions[facing] == FOLD).astype(np.int64)), 1)
        if also is not None:
            also(table, rows, actions)

    play_out(table, policies, rng, watch)
    won = table.payoffs()
    error = float(won.std(ddof=1) / np.sqrt(hands))
    tallies = []
    for player, sign in ((0, 1), (1, -1)):
        fold, call, up, check = (counts[player] / counts[player].sum()).tolist()
        folded = float((table.folded == player).mean())
        gave_up = float(raised[player, 1] / max(1, raised[player].sum()))
        tallies.append(Tally(hands, sign * float(won.mean()), error, up, call, check, fold, folded, gave_up))
    return tallies[0], tallies[1]


RIVALS: dict[str, Policy] = {"random": random_policy, "always raise": always_raise, "always call": always_call}


DEALS = 8
"""How often the missing cards are dealt for one estimate; means over many decisions need no more."""


def equities(table: PokerTable, rows: IntArray, rng: np.random.Generator, deals: int = DEALS) -> FloatArray:
    """Return for each row the strength of the cards of the player to act, a draw counting half."""
    hole = table.hole[rows, table.actor[rows]]
    shown = np.arange(5) < table.board_size(rows)[:, None]
    board = np.where(shown, table.board[rows], -1)
    every = np.arange(len(rows))
    won: FloatArray = np.zeros(len(rows))
    for _ in range(deals):
        order = rng.random((len(rows), 52))
        order[every[:, None], hole] = 2.0
        for column in range(5):
            known = board[:, column] >= 0
            order[every[known], board[known, column]] = 2.0
        # In the order of their random keys: a partition would leave them in an order that depends on the processor.
        drawn = np.argsort(order, axis=1)[:, :7]
        full = np.where(board >= 0, board, drawn[:, 2:])
        mine = strengths(np.concatenate([hole, full], axis=1))
        theirs = strengths(np.concatenate([drawn[:, :2], full], axis=1))
        won += (mine > theirs) + 0.5 * (mine == theirs)
    return won / deals


HANDS = 4_000
HOW = (
    "Each opponent plays against the random player, one that always raises, one that always calls, and the other style "
    "trained with the same seed; the button alternates. Aggression: raises for each call. Fold to raise: the share of "
    "folds after a raise on the same street. Raises, calls (or checks) and folds with: the mean chance of beating two "
    "random cards at that action."
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

    def weigh(table: PokerTable, rows: IntArray, actions: IntArray) -> None:
        mine = table.actor[rows] == 0
        if mine.any():
            strength = equities(table, rows[mine], rng)
            np.add.at(sums, actions[mine], strength)
            np.add.at(counts, actions[mine], 1)

    habits, _ = tally(both, hands, deal, weigh)
    means = [float(total / count) if count else float("nan") for total, count in zip(sums, counts, strict=True)]
    return Character(style, seed, against, habits, means[RAISE], means[CALL], means[FOLD])


COLUMNS = (
    "style", "seed", "against", "hands", "raise", "aggression", "fold to raise", "raises with", "calls with",
    "folds with", "hands folded", "chips a hand", "±95 %",
)  # fmt: skip


def rows(measured: Iterator[Character]) -> Iterator[tuple[str | int | float | None, ...]]:
    """Return the characters as rows of a table, by style and rival."""
    order = {against: place for place, against in enumerate(RIVALS)}
    for one in sorted(measured, key=lambda one: (one.style, order.get(one.against, len(order)), one.seed)):
        strength = (
            None if np.isnan(mean) else round(mean, 3) for mean in (one.raised_with, one.called_with, one.folded_with)
        )
        yield (
            one.style, one.seed, one.against, one.tally.hands, round(one.tally.raise_rate, 3),
            round(one.tally.aggression, 2), round(one.tally.fold_to_raise, 3), *strength,
            round(one.tally.hands_folded, 3), round(one.tally.chips_per_hand, 2),
            round(1.96 * one.tally.standard_error, 2),
        )  # fmt: skip


@click.command(help=HOW)
@click.option("--over", default=HANDS, type=click.IntRange(100), show_default=True, help="Hands against each rival.")
@click.option("--weights", default=WEIGHTS, type=click.Path(path_type=Path), help="Folder of opponents.")
def main(over: int, weights: Path) -> None:
    """Write the table of characters as CSV."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS)
    out.writerows(rows(characters(over, folder=weights)))


if __name__ == "__main__":
    main()
