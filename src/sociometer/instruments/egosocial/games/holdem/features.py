"""The features that a trained opponent sees: its own cards, the board and the betting, and nothing else."""

import functools

import numpy as np
from numpy.typing import NDArray

from sociometer.instruments.egosocial.games.holdem.simulator import Table
from sociometer.instruments.egosocial.games.holdem.strength import IntArray, strengths

Features = NDArray[np.float32]
WIDTH = 71


@functools.cache
def _window_counts() -> IntArray:
    """Return, for each set of ranks, the most ranks that lie within one straight."""
    windows = [0b11111 << low for low in range(9)] + [0b1000000001111]
    return np.array([max((mask & window).bit_count() for window in windows) for mask in range(8192)])


def features(table: Table, rows: IntArray) -> Features:
    """Return one row of numbers for each hand, from the seat of the player to act."""
    seat = table.actor[rows]
    hole = table.hole[rows, seat]
    board = table.board[rows]
    open_board = np.arange(5) < table.board_size(rows)[:, None]
    parts = [
        _card_part(hole, board, open_board),
        _made_part(hole, board, open_board),
        _betting_part(table, rows, seat),
    ]
    return np.concatenate(parts, axis=1).astype(np.float32)


def _card_part(hole: IntArray, board: IntArray, open_board: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return ranks held, ranks on the board, suitedness, and how near a flush and a straight are."""
    every = np.arange(len(hole))
    held = np.zeros((len(hole), 13))
    for column in (0, 1):
        held[every, hole[:, column] >> 2] += 1
    shown = np.zeros((len(hole), 13))
    for column in range(5):
        shown[every, board[:, column] >> 2] += open_board[:, column]
    same_suit = [
        ((hole & 3) == (hole[:, [column]] & 3)).sum(axis=1)
        + (((board & 3) == (hole[:, [column]] & 3)) & open_board).sum(axis=1)
        for column in (0, 1)
    ]
    powers = 1 << np.arange(13)
    everything = ((held + shown) > 0) @ powers
    windows = _window_counts()
    extra = [
        (hole[:, 0] & 3) == (hole[:, 1] & 3),
        np.maximum(*same_suit) / 5,
        windows[everything] / 5,
        windows[(shown > 0) @ powers] / 5,
    ]
    return np.concatenate([held, shown, np.stack(extra, axis=1)], axis=1)


def _made_part(hole: IntArray, board: IntArray, open_board: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the category made with and without the player's own cards, and its two leading ranks."""
    own = np.ones((len(hole), 2), dtype=bool)
    full = strengths(np.concatenate([hole, board], axis=1), np.concatenate([own, open_board], axis=1))
    alone = strengths(board, open_board)
    return np.concatenate(
        [
            (full >> 20)[:, None] == np.arange(9),
            (alone >> 20)[:, None] == np.arange(9),
            (full >> 16 & 15)[:, None] / 12,
            (full >> 12 & 15)[:, None] / 12,
        ],
        axis=1,
    )


def _betting_part(table: Table, rows: IntArray, seat: IntArray) -> NDArray[np.float64]:
    """Return the street, both players' raises and calls street by street, position, price and pot."""
    rival = 1 - seat
    street = table.street[rows][:, None] == np.arange(4)
    price = [
        table.button[rows] == seat,
        table.to_call(rows) / 4,
        table.invested[rows].sum(axis=1) / 48,
        table.raises[rows] / 4,
        table.may_raise(rows),
    ]
    return np.concatenate(
        [
            street,
            table.raised[rows, seat] / 4,
            table.raised[rows, rival] / 4,
            table.called[rows, rival],
            np.stack(price, axis=1),
        ],
        axis=1,
    )
