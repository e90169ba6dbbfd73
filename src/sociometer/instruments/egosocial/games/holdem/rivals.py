"""The fixed rivals of the learners, so that every training seed has the same rivals and converges alike."""

import numpy as np
from numpy.typing import NDArray

from sociometer.instruments.egosocial.games.holdem.simulator import FloatArray, Table
from sociometer.instruments.egosocial.games.holdem.strength import IntArray, strengths

# Chances of fold (where there is a bet to meet), call or check, and raise, for weak, middling and strong cards.
_HABITS = np.array([[0.60, 0.35, 0.05], [0.08, 0.77, 0.15], [0.0, 0.30, 0.70]])


def sensible_policy(table: Table, rows: IntArray) -> FloatArray:
    """Bet strong cards, call with middling ones and mostly fold weak ones, always with the same probabilities."""
    chances = _HABITS[_quality(table, rows)].copy()
    free = table.to_call(rows) == 0
    chances[free, 1] += chances[free, 0]
    chances[free, 0] = 0
    capped = ~table.may_raise(rows)
    chances[capped, 1] += chances[capped, 2]
    chances[capped, 2] = 0
    return chances


def _quality(table: Table, rows: IntArray) -> IntArray:
    """Return 0 for weak, 1 for middling and 2 for strong cards of the player to act."""
    hole = table.hole[rows, table.actor[rows]]
    board = table.board[rows]
    shown = np.arange(5) < table.board_size(rows)[:, None]
    own: NDArray[np.bool_] = np.ones((len(rows), 2), dtype=bool)
    made = strengths(np.concatenate([hole, board], axis=1), np.concatenate([own, shown], axis=1)) >> 20
    alone = strengths(board, shown) >> 20
    ranks = hole >> 2
    pair = ranks[:, 0] == ranks[:, 1]
    high = ranks.sum(axis=1)
    before_flop = np.where((pair & (high >= 12)) | (high >= 21), 2, np.where(pair | (high >= 15), 1, 0))
    gained = made - alone
    after_flop = np.where((gained >= 2) | ((made >= 3) & (gained > 0)), 2, np.where((gained > 0) | (high >= 20), 1, 0))
    quality: IntArray = np.where(table.street[rows] == 0, before_flop, after_flop)
    return quality
