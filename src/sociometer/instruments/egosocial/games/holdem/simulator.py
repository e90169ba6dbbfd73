"""Many hands of limit hold'em at once, as arrays: for training opponents and for measuring their characters.

It follows `rules.State` move for move (a test plays both side by side) and is many times faster, because every step
moves all hands that are still open.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from sociometer.instruments.egosocial.games.holdem.rules import (
    BLINDS,
    BOARD_SIZES,
    CALL,
    FOLD,
    MOST_RAISES,
    RAISE,
    RAISE_SIZES,
    Deal,
    IntArray,
    strengths,
)

FloatArray = NDArray[np.float64]
_SIZES = np.array(BOARD_SIZES)
_RAISES = np.array(RAISE_SIZES)


class Policy(Protocol):
    """Anything that gives each open hand a probability for fold, call or check, and raise."""

    def __call__(self, table: "Table", rows: IntArray) -> FloatArray: ...


class Table:
    """A batch of hands, one row each; `step` applies one action to each of the given rows."""

    def __init__(self, hole: IntArray, board: IntArray, button: IntArray) -> None:
        count = len(button)
        every = np.arange(count)
        self.hole, self.board, self.button = hole, board, button
        self.street = np.zeros(count, dtype=np.int64)
        self.actor = button.copy()
        self.invested = np.full((count, 2), BLINDS[1])
        self.invested[every, button] = BLINDS[0]
        self.raised = np.zeros((count, 2, 4), dtype=np.int64)
        self.called = np.zeros((count, 2, 4), dtype=np.int64)
        self.raises = np.zeros(count, dtype=np.int64)
        self.acted = np.zeros(count, dtype=np.int64)
        self.folded = np.full(count, -1)

    @classmethod
    def shuffled(cls, rng: np.random.Generator, count: int) -> "Table":
        """Return freshly dealt hands with the button alternating between the players."""
        nine = _nine_cards(rng, count)
        hole = np.stack([nine[:, 0:2], nine[:, 2:4]], axis=1)
        return cls(hole, nine[:, 4:9], np.arange(count) & 1)

    @classmethod
    def of(cls, deals: Sequence[Deal]) -> "Table":
        """Return a batch of the given deals."""
        return cls(
            np.array([deal.hole for deal in deals], dtype=np.int64),
            np.array([deal.board for deal in deals], dtype=np.int64),
            np.array([deal.button for deal in deals], dtype=np.int64),
        )

    def open_rows(self) -> IntArray:
        """Return the rows whose hand is not over."""
        return np.flatnonzero((self.folded < 0) & (self.street < 4))

    def to_call(self, rows: IntArray) -> IntArray:
        """Return how many chips the player to act lacks in each row."""
        actor = self.actor[rows]
        lacking: IntArray = self.invested[rows, 1 - actor] - self.invested[rows, actor]
        return lacking

    def may_raise(self, rows: IntArray) -> NDArray[np.bool_]:
        """Return whether a raise is still allowed in each row."""
        return self.raises[rows] < MOST_RAISES

    def board_size(self, rows: IntArray) -> IntArray:
        """Return how many community cards lie open in each row."""
        size: IntArray = _SIZES[np.minimum(self.street[rows], 3)]
        return size

    def step(self, rows: IntArray, actions: IntArray) -> None:
        """Apply one action (fold, call or check, raise) to each of the rows."""
        player, street = self.actor[rows], self.street[rows]
        stays = actions != FOLD
        self.folded[rows[~stays]] = player[~stays]
        rows, player, street, actions = rows[stays], player[stays], street[stays], actions[stays]
        rival = 1 - player
        raising = actions == RAISE
        owed = self.invested[rows, rival]
        self.called[rows, player, street] += (actions == CALL) & (owed > self.invested[rows, player])
        self.raised[rows, player, street] += raising
        self.invested[rows, player] = owed + np.where(raising, _RAISES[street], 0)
        self.raises[rows] += raising
        acted = np.where(raising, 1, self.acted[rows] + 1)
        closed = acted == 2
        self.acted[rows] = np.where(closed, 0, acted)
        self.actor[rows] = np.where(closed, 1 - self.button[rows], rival)
        done = rows[closed]
        self.street[done] += 1
        self.raises[done] = 0

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


def random_policy(table: Table, rows: IntArray) -> FloatArray:
    """Give every legal action the same probability."""
    can = table.may_raise(rows)
    chance = np.where(can, 1 / 3, 1 / 2)
    return np.stack([chance, chance, np.where(can, 1 / 3, 0.0)], axis=1)


def always_raise(table: Table, rows: IntArray) -> FloatArray:
    """Raise wherever the rules allow it, otherwise call."""
    can = table.may_raise(rows).astype(np.float64)
    return np.stack([np.zeros(len(rows)), 1 - can, can], axis=1)


def always_call(table: Table, rows: IntArray) -> FloatArray:
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


Watch = Callable[[Table, IntArray, IntArray], None]


def choose(chances: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return one action per row, drawn with the given probabilities."""
    draw = rng.random(len(chances))
    actions: IntArray = (draw >= chances[:, 0]).astype(np.int64) + (draw >= chances[:, 0] + chances[:, 1])
    return np.where(chances[np.arange(len(actions)), actions] > 0, actions, CALL)


def play_out(table: Table, policies: Sequence[Policy], rng: np.random.Generator, watch: Watch | None = None) -> None:
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
    table = Table.shuffled(rng, hands)
    counts = np.zeros((2, 4), dtype=np.int64)
    raised = np.zeros((2, 2), dtype=np.int64)

    def watch(table: Table, rows: IntArray, actions: IntArray) -> None:
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
