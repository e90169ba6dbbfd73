"""The trained opponents: small networks, played by numpy alone.

They see a `PokerTable`, which follows `HoldemState` move for move (a test plays both side by side).
"""

import functools
import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sociometer.core.archives import read_members
from sociometer.core.errors import DataError, UsageError
from sociometer.instruments.egosocial.games import cards
from sociometer.instruments.egosocial.games.holdem import rules
from sociometer.instruments.egosocial.games.holdem.strength import IntArray, strengths

FloatArray = NDArray[np.float64]
_SIZES = np.array(rules.BOARD_SIZES)
_RAISES = np.array(rules.RAISE_SIZES)
Features = NDArray[np.float32]
WIDTH = 71
STYLES = ("aggressive", "conservative")
SEEDS = (0, 1, 2)
WEIGHTS = Path(__file__).parents[1] / "weights"
MOST_BYTES = 1 << 24
"""The maximum unpacked size of the arrays of a weight file, in bytes; the bundled ones take 40 kB."""
# A greedy player would be all too easy to read: after any two hands an observer who knows the nets would be certain.
TEMPERATURE_CHIPS = 0.5


class PokerTable:
    """A batch of hands, one row each; `step` applies one action to each of the given rows."""

    def __init__(self, hole: IntArray, board: IntArray, button: IntArray) -> None:
        count = len(button)
        every = np.arange(count)
        self.hole, self.board, self.button = hole, board, button
        self.street = np.zeros(count, dtype=np.int64)
        self.actor = button.copy()
        self.invested = np.full((count, 2), rules.BLINDS[1])
        self.invested[every, button] = rules.BLINDS[0]
        self.raised = np.zeros((count, 2, 4), dtype=np.int64)
        self.called = np.zeros((count, 2, 4), dtype=np.int64)
        self.raises = np.zeros(count, dtype=np.int64)
        self.acted = np.zeros(count, dtype=np.int64)
        self.folded = np.full(count, -1)

    @classmethod
    def of(cls, deals: Sequence[rules.HoldemDeal]) -> "PokerTable":
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
        return self.raises[rows] < rules.MOST_RAISES

    def board_size(self, rows: IntArray) -> IntArray:
        """Return how many community cards lie open in each row."""
        size: IntArray = _SIZES[np.minimum(self.street[rows], 3)]
        return size

    def step(self, rows: IntArray, actions: IntArray) -> None:
        """Apply one action (fold, call or check, raise) to each of the rows."""
        player, street = self.actor[rows], self.street[rows]
        stays = actions != rules.FOLD
        self.folded[rows[~stays]] = player[~stays]
        rows, player, street, actions = rows[stays], player[stays], street[stays], actions[stays]
        rival = 1 - player
        raising = actions == rules.RAISE
        owed = self.invested[rows, rival]
        self.called[rows, player, street] += (actions == rules.CALL) & (owed > self.invested[rows, player])
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


@functools.cache
def _window_counts() -> IntArray:
    """Return, for each set of ranks, the most ranks that lie within one straight."""
    windows = [0b11111 << low for low in range(9)] + [0b1000000001111]
    return np.array([max((mask & window).bit_count() for window in windows) for mask in range(8192)])


def features(table: PokerTable, rows: IntArray) -> Features:
    """Return one row of numbers for each hand, as the player to act sees it."""
    actor = table.actor[rows]
    hole = table.hole[rows, actor]
    board = table.board[rows]
    open_board = np.arange(5) < table.board_size(rows)[:, None]
    parts = [
        _card_part(hole, board, open_board),
        _made_part(hole, board, open_board),
        _betting_part(table, rows, actor),
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


def _betting_part(table: PokerTable, rows: IntArray, actor: IntArray) -> NDArray[np.float64]:
    """Return the street, both players' raises and calls street by street, position, price and pot."""
    rival = 1 - actor
    street = table.street[rows][:, None] == np.arange(4)
    price = [
        table.button[rows] == actor,
        table.to_call(rows) / 4,
        table.invested[rows].sum(axis=1) / 48,
        table.raises[rows] / 4,
        table.may_raise(rows),
    ]
    return np.concatenate(
        [
            street,
            table.raised[rows, actor] / 4,
            table.raised[rows, rival] / 4,
            table.called[rows, rival],
            np.stack(price, axis=1),
        ],
        axis=1,
    )


class WeightError(UsageError):
    """A weight file that is missing or does not fit the network."""


class Layer(msgspec.Struct, frozen=True):
    """The weights and bias of one layer."""

    weight: Features
    bias: Features


class Net(msgspec.Struct, frozen=True):
    """A policy over fold, call or check, and raise: a softmax over the chips each action is expected to win."""

    layers: tuple[Layer, ...]
    temperature: float = TEMPERATURE_CHIPS

    def values(self, inputs: Features) -> Features:
        """Return the expected (shaped) chips of each action for each row of features."""
        hidden = inputs
        for layer in self.layers[:-1]:
            hidden = np.maximum(hidden @ layer.weight.T + layer.bias, 0)
        last = self.layers[-1]
        result: Features = hidden @ last.weight.T + last.bias
        return result

    def chances(self, inputs: Features, may_raise: NDArray[np.bool_]) -> FloatArray:
        """Return the probability of each action for each row of features; a raise that is not allowed gets none."""
        values = self.values(inputs).astype(np.float64)
        values[~may_raise, rules.RAISE] = -np.inf
        weights = np.exp((values - values.max(axis=1, keepdims=True)) / self.temperature)
        chances: FloatArray = weights / weights.sum(axis=1, keepdims=True)
        return chances

    def __call__(self, table: PokerTable, rows: IntArray) -> FloatArray:
        """Return the probability of each action in each row of a table."""
        return self.chances(features(table, rows), table.may_raise(rows))


def weight_file(style: str, seed: int, folder: Path = WEIGHTS) -> Path:
    """Return the path of the weights of a style and a training seed."""
    if style not in STYLES:
        raise WeightError(f"unknown style {style!r}; the styles are {', '.join(STYLES)}")
    return folder / f"{style}-{seed}.npz"


@functools.cache
def seeds_in(folder: Path) -> tuple[int, ...]:
    """Return the training seeds for which a folder has every style."""
    found = [
        {int(path.stem.rpartition("-")[2]) for path in folder.glob(f"{style}-*.npz") if path.stem[-1:].isdigit()}
        for style in STYLES
    ]
    shared = sorted(set.intersection(*found))
    if not shared:
        raise WeightError(f"{folder} has no seed with both styles; train {' and '.join(STYLES)} with the same seed")
    return tuple(shared)


@functools.cache
def load(style: str, seed: int = 0, folder: Path = WEIGHTS) -> Net:
    """Return the trained opponent of a style and seed."""
    path = weight_file(style, seed, folder)
    if not path.is_file():
        raise WeightError(f"no weights at {path}; seeds {', '.join(map(str, SEEDS))} are bundled")
    try:
        arrays = read_arrays(path, MOST_BYTES)
        if strange := [name for name, array in arrays.items() if array.dtype.kind != "f"]:
            raise DataError(f"'{strange[0]}' contains no numbers", path)
        layers = tuple(
            Layer(arrays[f"weight{index}"].astype(np.float32), arrays[f"bias{index}"].astype(np.float32))
            for index in range(len(arrays) // 2)
        )
    except DataError as error:
        raise WeightError(f"{error}; train it again") from None
    except (KeyError, ValueError) as error:
        raise WeightError(f"{path} is not a weight file ({error}); train it again") from None
    if not _fit(layers):
        raise WeightError(f"{path} does not fit this version: it must take {WIDTH} numbers per hand; train it again")
    return Net(layers)


def read_arrays(path: Path, most_bytes: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz file by name; a DataError names a file that is damaged or too large."""
    arrays: dict[str, NDArray[Any]] = {}
    for name, content in read_members(path, most_bytes).items():
        try:
            arrays[name.removesuffix(".npy")] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
        except (ValueError, MemoryError, EOFError, OverflowError) as error:
            raise DataError(f"'{name}' is not a readable array ({error})", path) from None
    return arrays


def _fit(layers: tuple[Layer, ...]) -> bool:
    """Whether each layer takes what the one before gives, from the features to one number for each action."""
    widths = [WIDTH, *(layer.bias.shape[0] if layer.bias.ndim == 1 else -1 for layer in layers)]
    wanted = [(after, before) for before, after in pairwise(widths)]
    return [layer.weight.shape for layer in layers] == wanted and widths[1:][-1:] == [rules.RAISE + 1]


def table_of(seen: rules.SeenHand) -> PokerTable:
    """Return the hand as a table of one row, the unseen cards filled in by stand-ins that no feature reads."""
    spare = [card for card in range(cards.DECK_SIZE) if card not in (*seen.hole, *seen.board)]
    other = (spare[0], spare[1])
    hole = (seen.hole, other) if seen.player == 0 else (other, seen.hole)
    board = (*seen.board, *spare[2 : 7 - len(seen.board)])
    table = PokerTable.of([rules.HoldemDeal(hole, board, seen.button)])
    for move in seen.moves:
        table.step(np.array([0]), np.array([rules.CODES[move.action]]))
    return table
