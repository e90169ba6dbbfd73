"""Hand strength: the chance of beating two random cards once the board is complete, estimated by dealing it out."""

import numpy as np

from sociometer.instruments.egosocial.games.holdem.simulator import FloatArray, Table
from sociometer.instruments.egosocial.games.holdem.strength import IntArray, strengths

DEALS = 8
"""How often the missing cards are dealt for one estimate; means over many decisions need no more."""


def equities(table: Table, rows: IntArray, rng: np.random.Generator, deals: int = DEALS) -> FloatArray:
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
