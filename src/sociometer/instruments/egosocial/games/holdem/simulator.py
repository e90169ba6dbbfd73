"""Hands of limit hold'em as arrays, as the trained opponents see them.

It follows `rules.State` move for move (a test plays both side by side).
"""

from collections.abc import Sequence

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
)

FloatArray = NDArray[np.float64]
_SIZES = np.array(BOARD_SIZES)
_RAISES = np.array(RAISE_SIZES)


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
    def of(cls, deals: Sequence[Deal]) -> "Table":
        """Return a batch of the given deals."""
        return cls(
            np.array([deal.hole for deal in deals], dtype=np.int64),
            np.array([deal.board for deal in deals], dtype=np.int64),
            np.array([deal.button for deal in deals], dtype=np.int64),
        )

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
