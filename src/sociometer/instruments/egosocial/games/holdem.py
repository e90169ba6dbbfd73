"""Limit Texas hold'em for two players: rules, hands as arrays, trained opponents, the match and its score.

Blinds 1 and 2; a raise is 2 chips before and on the flop, 4 on the turn and river; four raises a street. The button
posts the small blind, acts first before the flop and last after it. Chips are unlimited. Folding is always allowed,
even where checking costs nothing, as in RLCard and in the paper's example.

The trained opponents are small networks, played by numpy alone. They see a `PokerTable`, which follows `State` move
for move (a test plays both side by side).
"""

import functools
import io
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.archives import read_members
from sociometer.core.conversation import Choice, Message, Reply, system, user
from sociometer.core.errors import DataError, UsageError
from sociometer.core.measure import Cell, Measure, Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.session import Session
from sociometer.core.source import Source
from sociometer.core.task import Item, RunView, Score
from sociometer.instruments.egosocial.games import IllegalMove, cards
from sociometer.instruments.egosocial.games.asking import Faults, Read, ask_move, one_move, refuse_other_opponents
from sociometer.instruments.egosocial.games.cards import Card
from sociometer.instruments.egosocial.games.numbers import reached
from sociometer.reading import answer_line, choice_reading, read_choice, read_json, render_options
from sociometer.statistics.measures import grouped_measures

IntArray = NDArray[np.int64]


def _top_of_straight(mask: int) -> int:
    """Return the rank that tops the best straight in a set of ranks, or -1."""
    for top in range(12, 3, -1):
        if (mask >> (top - 4)) & 0b11111 == 0b11111:
            return top
    return 3 if mask & 0b1000000001111 == 0b1000000001111 else -1


def _top_five(mask: int) -> int:
    """Return the five highest ranks of a set packed four bits each, highest first, zeros if there are fewer."""
    packed = 0
    found = [rank for rank in range(12, -1, -1) if mask >> rank & 1][:5]
    for rank in found:
        packed = packed << 4 | rank
    return packed << 4 * (5 - len(found))


@functools.cache
def _tables() -> tuple[IntArray, IntArray]:
    """Return, for each of the 8192 sets of ranks, the top of its straight and its five highest ranks."""
    every = range(8192)
    return np.array([_top_of_straight(mask) for mask in every]), np.array([_top_five(mask) for mask in every])


def _highest_bit(mask: IntArray) -> IntArray:
    """Return the index of each number's highest bit, -1 for zero."""
    return np.frexp(mask.astype(np.float64))[1].astype(np.int64) - 1


def strengths(cards: IntArray, present: NDArray[np.bool_] | None = None) -> IntArray:
    """Return the strength of each row of five to seven cards; `present` marks those that count."""
    straights, tops = _tables()
    rows = len(cards)
    bits = np.left_shift(1, cards >> 2)
    if present is not None:
        bits = np.where(present, bits, 0)
    suits = np.zeros((rows, 4), dtype=np.int64)
    once, twice, thrice, quad = (np.zeros(rows, dtype=np.int64) for _ in range(4))
    for column in range(cards.shape[1]):
        bit = bits[:, column]
        suits[np.arange(rows), cards[:, column] & 3] |= bit
        quad |= thrice & bit
        thrice |= twice & bit
        twice |= once & bit
        once |= bit
    best = _pair_strengths(once, twice, thrice, quad, straights, tops)
    counts = np.bitwise_count(suits)
    flushed = np.flatnonzero(counts.max(axis=1) >= 5)
    if len(flushed):
        masks = suits[flushed, counts[flushed].argmax(axis=1)]
        tops_of = straights[masks]
        flush = np.where(tops_of >= 0, 8 << 20 | np.maximum(tops_of, 0) << 16, 5 << 20 | tops[masks])
        best[flushed] = np.maximum(best[flushed], flush)
    return best


def _pair_strengths(
    once: IntArray, twice: IntArray, thrice: IntArray, quad: IntArray, straights: IntArray, tops: IntArray
) -> IntArray:
    """Return each row's strength with flushes left out."""
    best = tops[once]
    pair = _highest_bit(twice)
    high = np.maximum(pair, 0)
    rest = twice & ~np.left_shift(1, high)
    low = np.maximum(_highest_bit(rest), 0)
    others = once & ~np.left_shift(1, high)
    one = 1 << 20 | high << 16 | tops[others] >> 8 << 4
    two = 2 << 20 | high << 16 | low << 12 | np.maximum(_highest_bit(others & ~np.left_shift(1, low)), 0) << 8
    best = np.where(pair >= 0, np.where(rest > 0, two, one), best)
    three = np.maximum(_highest_bit(thrice), 0)
    kickers = tops[once & ~np.left_shift(1, three)] >> 12 << 8
    best = np.where(thrice > 0, 3 << 20 | three << 16 | kickers, best)
    straight = straights[once]
    best = np.where(straight >= 0, 4 << 20 | np.maximum(straight, 0) << 16, best)
    beside = twice & ~np.left_shift(1, three)
    full = 6 << 20 | three << 16 | np.maximum(_highest_bit(beside), 0) << 12
    best = np.where((thrice > 0) & (beside > 0), full, best)
    four = np.maximum(_highest_bit(quad), 0)
    kicker = np.maximum(_highest_bit(once & ~np.left_shift(1, four)), 0) << 12
    result: IntArray = np.where(quad > 0, 7 << 20 | four << 16 | kicker, best)
    return result


FOLD, CALL, RAISE = 0, 1, 2
STREETS = ("preflop", "flop", "turn", "river")
BOARD_SIZES = (0, 3, 4, 5)
RAISE_SIZES = (2, 2, 4, 4)
BLINDS = (1, 2)
MOST_RAISES = 4


class Deal(msgspec.Struct, frozen=True):
    """The nine cards of one hand and who holds the button."""

    hole: tuple[tuple[Card, Card], tuple[Card, Card]]
    board: tuple[Card, ...]
    button: int


class Move(msgspec.Struct, frozen=True):
    """One action that was taken, in words."""

    street: str
    player: int
    action: str


def new_deal(rng: random.Random, button: int) -> Deal:
    """Return a hand dealt from a shuffled deck."""
    nine = cards.deal(rng, 9)
    return Deal(((nine[0], nine[2]), (nine[1], nine[3])), nine[4:], button)


class State:
    """One hand in progress; only `apply` changes it."""

    __slots__ = ("acted", "actor", "deal", "folded", "invested", "moves", "raises", "street")

    def __init__(self, deal: Deal) -> None:
        self.deal = deal
        self.street = 0
        self.actor = deal.button
        self.invested = [BLINDS[1], BLINDS[1]]
        self.invested[deal.button] = BLINDS[0]
        self.raises = 0
        self.acted = 0
        self.folded = -1
        self.moves: list[Move] = []

    @property
    def over(self) -> bool:
        """Whether the hand has ended."""
        return self.folded >= 0 or self.street == len(STREETS)

    @property
    def board(self) -> tuple[Card, ...]:
        """The community cards that lie open."""
        return self.deal.board[: BOARD_SIZES[min(self.street, 3)]]

    @property
    def to_call(self) -> int:
        """The number of chips the player to act must add to call."""
        return self.invested[1 - self.actor] - self.invested[self.actor]

    def legal(self) -> tuple[str, ...]:
        """Return the words for the moves that are allowed now."""
        if self.over:
            return ()
        stay = "call" if self.to_call else "check"
        return (stay, "raise", "fold") if self.raises < MOST_RAISES else (stay, "fold")

    def apply(self, action: str) -> None:
        """Take one legal action for the player to act."""
        if action not in self.legal():
            raise IllegalMove(f"illegal move {action!r}; the legal moves are {', '.join(self.legal()) or 'none'}")
        player = self.actor
        self.moves.append(Move(STREETS[self.street], player, action))
        if action == "fold":
            self.folded = player
            return
        self.invested[player] = self.invested[1 - player]
        self.acted += 1
        if action == "raise":
            self.invested[player] += RAISE_SIZES[self.street]
            self.raises += 1
            self.acted = 1
        self.actor = 1 - player
        if self.acted == 2:
            self.street += 1
            self.actor = 1 - self.deal.button
            self.raises = self.acted = 0

    def payoffs(self) -> tuple[int, int]:
        """Return the chips each player won or lost; only once the hand is over."""
        if not self.over:
            raise IllegalMove(f"the hand is still on the {STREETS[self.street]}; payoffs exist once it is over")
        if self.folded >= 0:
            lost = self.invested[self.folded]
            return (-lost, lost) if self.folded == 0 else (lost, -lost)
        return showdown(self.deal.hole, self.deal.board, self.invested[0])


def showdown(hole: Sequence[tuple[Card, Card]], board: tuple[Card, ...], stake: int) -> tuple[int, int]:
    """Return the chips won and lost when both show their cards, each having put in `stake`."""
    first, second = strengths(np.array([held + board for held in hole])).tolist()
    sign = (first > second) - (first < second)
    return sign * stake, -sign * stake


FloatArray = NDArray[np.float64]
_SIZES = np.array(BOARD_SIZES)
_RAISES = np.array(RAISE_SIZES)


class PokerTable:
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
    def of(cls, deals: Sequence[Deal]) -> "PokerTable":
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


Features = NDArray[np.float32]
WIDTH = 71


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


STYLES = ("aggressive", "conservative")
SEEDS = (0, 1, 2)
WEIGHTS = Path(__file__).parent / "weights"
TRAINING_WEIGHTS = WEIGHTS / "training"
"""Opponents to train models against; the others are held out for the test."""
MOST_BYTES = 1 << 24
"""The maximum unpacked size of the arrays of a weight file, in bytes; the bundled ones take 40 kB."""
# A greedy player would be all too easy to read: after any two hands an observer who knows the nets would be certain.
TEMPERATURE_CHIPS = 0.5


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
        values[~may_raise, RAISE] = -np.inf
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
    return [layer.weight.shape for layer in layers] == wanted and widths[1:][-1:] == [RAISE + 1]


CODES = {"fold": FOLD, "call": CALL, "check": CALL, "raise": RAISE}
_SPOKEN = {"fold": "folds", "call": "calls", "check": "checks", "raise": "raises"}


class Observation(msgspec.Struct, frozen=True):
    """A hand in progress as the player to act sees it."""

    player: int
    button: int
    hole: tuple[Card, Card]
    board: tuple[Card, ...]
    invested: tuple[int, int]
    legal: tuple[str, ...]
    moves: tuple[Move, ...]


def observe(state: State) -> Observation:
    """Return what the player to act sees."""
    return Observation(
        player=state.actor,
        button=state.deal.button,
        hole=state.deal.hole[state.actor],
        board=state.board,
        invested=(state.invested[0], state.invested[1]),
        legal=state.legal(),
        moves=tuple(state.moves),
    )


def story(moves: tuple[Move, ...], street: int = 0) -> str:
    """Return the betting so far in words, street by street, up to the street that is being played."""
    parts: list[str] = []
    for index, name in enumerate(STREETS):
        here = [move for move in moves if move.street == name]
        if here or index <= street:
            parts.append(f"{name.capitalize()}.")
            parts += [f"Player {move.player} {_SPOKEN[move.action]}." for move in here]
    return " ".join(parts)


def table_of(seen: Observation) -> PokerTable:
    """Return the hand as a table of one row, the unseen cards filled in by stand-ins that no feature reads."""
    spare = [card for card in range(cards.DECK_SIZE) if card not in (*seen.hole, *seen.board)]
    other = (spare[0], spare[1])
    hole = (seen.hole, other) if seen.player == 0 else (other, seen.hole)
    board = (*seen.board, *spare[2 : 7 - len(seen.board)])
    table = PokerTable.of([Deal(hole, board, seen.button)])
    for move in seen.moves:
        table.step(np.array([0]), np.array([CODES[move.action]]))
    return table


SUBJECT, OPPONENT = 0, 1
ROLES = ("subject", "opponent")
ACTIONS = ("call", "raise", "fold", "check")
HANDS, OFFICIAL_HANDS = 2, 1
"""Hands of a match unless --hands says otherwise: enough for an observer who only counts raises, or the paper's one.
A match in which the style may change has twice as many."""
NEVER, MIDWAY, ANSWERING = "never", "midway", "answering"


class PlayedHand(msgspec.Struct, frozen=True):
    """One finished hand: the deal, every move, what player 0 won, and which moves (by position) were defaults."""

    deal: Deal
    moves: tuple[Move, ...]
    won: int
    defaulted: tuple[int, ...] = ()


class Match(Item, frozen=True, kw_only=True):
    """A number of hands against one opponent, with every card dealt in advance; the subject is player 0."""

    style: str
    training_seed: int
    deals: tuple[Deal, ...]
    weights: str = ""
    options: tuple[str, ...] = STYLES
    """The styles in the order in which they are offered."""
    official: bool = False
    """Whether it is asked as in the paper: one hand, and no explanation."""
    change: str = NEVER
    first: str = ""
    """The style in the first half of a match in which it may change."""

    def style_after(self, hands: Sequence[PlayedHand]) -> str:
        """The opponent's style in the hand that follows these; one that answers is bold with a timid subject."""
        half = len(self.deals) // 2
        if self.change == NEVER or (self.change == MIDWAY and len(hands) >= half):
            return self.style
        if len(hands) < half:
            return self.first
        actions = actions_of(hands[:half], SUBJECT)
        return STYLES[actions.count("raise") / max(1, len(actions)) >= MANY_RAISES]

    def asked(self, hands: Sequence[PlayedHand]) -> Sequence[PlayedHand]:
        """The hands about which the subject is asked: all, or the second half if the style may change."""
        return hands if self.change == NEVER else hands[len(self.deals) // 2 :]


class OpponentView(Struct, frozen=True):
    """The view of the trained opponent: its identity, and what it sees."""

    style: str
    training_seed: int
    seen: Observation
    weights: str = ""


class Naming(Struct, frozen=True):
    """The style that the subject named after a number of hands (None: unreadable)."""

    hands: int
    style: str | None
    faults: Faults


class MatchOutcome(Struct, frozen=True):
    """Everything that happened in a match."""

    hands: tuple[PlayedHand, ...]
    namings: tuple[Naming, ...]
    subject_faults: Faults
    opponent: str
    # how often the default was played for want of a readable move; 0 in outcomes stored before this was counted
    subject_defaults: int = 0


class _Action(Struct, frozen=True):
    action: str


def matches(source: Source) -> Iterator[Match]:
    """The matches of the settings, with equal numbers of each style in an unpredictable order."""
    given = source.settings["hands"]
    hands = (OFFICIAL_HANDS if source.official else HANDS) if given is None else source.settings.whole("hands")
    count, change = source.settings.whole("matches"), source.settings.text("change")
    if change != NEVER and given is None:
        hands = 2 * HANDS
    if change != NEVER and hands < 2:
        raise UsageError(f"--hands is {hands}; with --change {change} it must be 2 or more.")
    if change != NEVER and source.official:
        raise UsageError(f"--change {change} is not part of the paper's variant; leave out --official.")
    weights = source.settings.text("weights")
    seeds = seeds_in(Path(weights)) if weights else SEEDS
    for pair in range((count + 1) // 2):
        rng = random.Random(f"holdem styles {source.seed} {pair}")
        styles = rng.sample(STYLES, len(STYLES))
        for offset, style in enumerate(styles):
            index = 2 * pair + offset
            if index < count:
                # the subject has the button in the first hand, as in the paper's example, then it alternates
                deals = tuple(
                    new_deal(random.Random(f"holdem deal {source.seed} {index} {hand}"), button=hand % 2)
                    for hand in range(hands)
                )
                first = random.Random(f"holdem first style {source.seed} {index}").choice(STYLES)
                yield Match(
                    id=f"holdem-{source.seed}-{index:03d}" + ("" if change == NEVER else f"-{change}"),
                    style=style,
                    training_seed=seeds[pair % len(seeds)],
                    deals=deals,
                    weights=weights,
                    # both styles of a pair are offered in the same order, and the order changes with every pair
                    options=STYLES if source.official or pair % 2 == 0 else STYLES[::-1],
                    official=source.official,
                    change=change,
                    first="" if change == NEVER else first,
                )


async def play_match(item: Match, session: Session) -> MatchOutcome:
    """Play the hands one after another and ask for the opponent's style at the end."""
    refuse_other_opponents(session)
    hands: list[PlayedHand] = []
    faults: list[Faults] = []
    for number, deal in enumerate(item.deals, 1):
        hand, found = await _play_hand(item, deal, number, hands, session)
        hands.append(hand)
        faults += (fault for player, fault in found if player == SUBJECT)
    naming = await _ask_style(item, hands, session)
    return MatchOutcome(
        tuple(hands),
        (naming,),
        sum(faults, Faults()),
        session.identity_of("opponent"),
        subject_defaults=sum(fault.defaulted for fault in faults),
    )


async def _play_hand(
    item: Match, deal: Deal, number: int, before: list[PlayedHand], session: Session
) -> tuple[PlayedHand, list[tuple[int, Faults]]]:
    """Return the played hand and, for each decision, whose it was and how it was obtained."""
    state = State(deal)
    faults: list[tuple[int, Faults]] = []
    session.note(
        "deal", hand=number, button=f"player {deal.button}", yours=_cards(deal.hole[0]), opponents=_cards(deal.hole[1])
    )
    street = 0
    while not state.over:
        player = state.actor
        action, fault = await _ask_action(item, state, before, session)
        faults.append((player, fault))
        state.apply(action)
        session.note("move", player=player, action=action, chips=f"{state.invested[0]}, {state.invested[1]}")
        if state.street != street and not state.over:
            street = state.street
            session.note("board", cards=_cards(state.board))
    won = state.payoffs()[0]
    session.note("hand over", won=won, board=_cards(deal.board[: BOARD_SIZES[min(state.street, 3)]]))
    defaulted = tuple(place for place, (_, fault) in enumerate(faults) if fault.defaulted)
    return PlayedHand(deal, tuple(state.moves), won, defaulted), faults


def _cards(held: tuple[int, ...]) -> str:
    return " ".join(cards.names(held)) or "none"


async def _ask_action(item: Match, state: State, before: list[PlayedHand], session: Session) -> tuple[str, Faults]:
    seen = observe(state)
    # The oracle knows only how to name the style; for a move it has the one that never gives up a free card.
    stay = next(index for index, word in enumerate(seen.legal) if word in ("check", "call"))
    answer_format = Choice(seen.legal, labels=seen.legal, key=stay)
    action, faults = await ask_move(
        session,
        ROLES[seen.player],
        _action_messages(item, seen, before, session),
        answer_format,
        lambda reply: read_action(reply.text, seen.legal),
        legal=", ".join(seen.legal),
        default="check" if "check" in seen.legal else "fold",
        view=OpponentView(item.style_after(before), item.training_seed, seen, item.weights)
        if seen.player == OPPONENT
        else seen,
    )
    assert action is not None
    return action, faults


def _system_message(item: Match, player: int, session: Session) -> Message:
    if item.official:
        return system(session.prompts.render("games/holdem-system-official", seat=player, blinds="1, 2"))
    return system(session.prompts.render("games/holdem-system", seat=player, hands=len(item.deals)))


def _action_messages(item: Match, seen: Observation, before: list[PlayedHand], session: Session) -> list[Message]:
    street = BOARD_SIZES.index(len(seen.board))
    return [
        _system_message(item, seen.player, session),
        user(
            session.prompts.render(
                "games/holdem-action-official" if item.official else "games/holdem-action",
                **({} if item.official else {"button": seen.button}),
                earlier=earlier_hands(before, session) if before else "",
                hole=", ".join(cards.names(seen.hole)),
                board=", ".join(cards.names(seen.board)) or "none yet",
                chips=f"player 0: {seen.invested[0]}, player 1: {seen.invested[1]}",
                story=story(seen.moves, street),
                legal=", ".join(seen.legal),
            )
        ),
    ]


def earlier_hands(before: list[PlayedHand], session: Session) -> str:
    """Return the hands already played in words, without cards that were never shown."""
    told = [
        session.prompts.render(
            "games/holdem-earlier", number=number, story=story(hand.moves), result=f"player 0 {hand.won:+d}"
        )
        for number, hand in enumerate(before, 1)
    ]
    return "\n".join(told) + "\n\n"


def read_action(text: str, legal: tuple[str, ...]) -> Read[str]:
    """Return the action a reply names; one that the rules do not allow now is illegal, two or none are unreadable."""
    structured = read_json(text, _Action)
    stated = structured.value.action if structured.value is not None else text
    word = one_move(stated, ACTIONS)
    if not word and (place := read_choice(stated, ACTIONS, ACTIONS).index) is not None:
        word = ACTIONS[place]
    if not word:
        return Read(None, "illegal" if structured.value is not None and stated.strip() else "unreadable")
    return Read(word) if word in legal else Read(None, "illegal")


async def _ask_style(item: Match, hands: list[PlayedHand], session: Session) -> Naming:
    true = item.style_after(hands[:-1])
    answer_format = Choice(tuple(style.capitalize() for style in item.options), key=item.options.index(true))
    prompt = "holdem-style" if item.change == NEVER else "holdem-style-last"
    shown = [
        session.prompts.render(
            "games/holdem-shown",
            number=number,
            yours=", ".join(cards.names(hand.deal.hole[SUBJECT])),
            theirs=", ".join(cards.names(hand.deal.hole[OPPONENT])),
            board=", ".join(cards.names(open_board(hand))) or "none",
            story=story(hand.moves),
            result=f"{hand.won:+d}",
        )
        for number, hand in enumerate(hands, 1)
    ]
    messages = [
        _system_message(item, SUBJECT, session),
        user(
            session.prompts.render(
                "games/holdem-style-official" if item.official else f"games/{prompt}",
                **({} if item.change == NEVER else {"last": len(item.asked(hands))}),
                hands="\n\n".join(shown),
                options=render_options(answer_format),
                how=answer_line(session),
            )
        ),
    ]
    style, faults = await ask_move(
        session,
        "subject",
        messages,
        answer_format,
        lambda reply: read_style(reply, answer_format, item.options),
        legal="A, B",
        default=None,
    )
    session.note("style named", after=len(hands), named=style or "unreadable", true=true)
    return Naming(len(hands), style, faults)


def open_board(hand: PlayedHand) -> tuple[int, ...]:
    """Return the community cards that lay open when a hand ended."""
    last = hand.moves[-1].street if hand.moves else "preflop"
    return hand.deal.board[: BOARD_SIZES[STREETS.index(last)]]


def read_style(reply: Reply, answer_format: Choice, styles: tuple[str, ...]) -> Read[str]:
    """Return the style a reply names; `styles` are in the order in which they were offered."""
    place = choice_reading(reply, answer_format).value
    return Read(None, "unreadable") if place is None else Read(styles[place])


def posterior(hands: Sequence[PlayedHand], weights: Path = WEIGHTS) -> dict[str, float]:
    """Return the probability of each style of the opponent, given all its moves in these hands."""
    inputs, may_raise, actions = [], [], []
    for hand in hands:
        table = PokerTable.of([hand.deal])
        row = np.array([0])
        for move in hand.moves:
            if move.player == OPPONENT:
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


def actions_of(hands: Sequence[PlayedHand], player: int = OPPONENT) -> list[str]:
    """Return all actions of a player; none if every hand ended before its turn."""
    return [move.action for hand in hands for move in hand.moves if move.player == player]


def naive_guess(hands: Sequence[PlayedHand]) -> str | None:
    """Return the style by the share of raises alone; None if the opponent never acted."""
    actions = actions_of(hands)
    if not actions:
        return None
    return STYLES[0] if actions.count("raise") / len(actions) >= MANY_RAISES else STYLES[1]


def belief(item: Match, outcome: MatchOutcome) -> dict[str, float] | None:
    """Return the ideal observer's belief after the match; None if the user's own weights no longer exist."""
    folder = Path(item.weights) if item.weights else WEIGHTS
    try:
        return posterior(item.asked(outcome.hands), folder)
    except WeightError:
        return None


def score(item: Match, outcome: MatchOutcome) -> Score:
    """The style named at the end, the chips won, the habits shown, and the evidence there was.

    Where the opponent never acted there is nothing to name: such a match is counted apart, except in the paper's form.
    """
    final = outcome.namings[-1]
    moves = Counter(move.action for hand in outcome.hands for move in hand.moves if move.player == SUBJECT)
    decided = max(1, sum(moves.values()))
    unusable = outcome.subject_faults.count + sum(naming.faults.count for naming in outcome.namings)
    true, asked_about = item.style_after(outcome.hands[:-1]), item.asked(outcome.hands)
    informed = bool(actions_of(asked_about))
    values = {
        "chips": sum(hand.won for hand in outcome.hands) / len(outcome.hands),
        "raises": moves["raise"] / decided,
        "calls": moves["call"] / decided,
        "checks": moves["check"] / decided,
        "folds": moves["fold"] / decided,
        "faults": unusable / (decided + len(outcome.namings)),
        "no_information": float(not informed),
    }
    if informed or item.official:
        values["right"] = float(final.style == true)
        values["naive"] = float(naive_guess(asked_about) == true) if informed else 0.5
    chances = belief(item, outcome) if "right" in values else None
    if chances is not None:
        values |= {
            "ceiling": max(chances.values()),
            "evidence": chances[true],
            "as_ideal": float(final.style == best_guess(chances)),
        }
    nameless = sum(naming.style is None for naming in outcome.namings)
    asked = [*outcome.subject_faults.asked, *(one for naming in outcome.namings for one in naming.faults.asked)]
    unreadable = outcome.subject_defaults + nameless
    return Score(values=values, facets={"style": true}, unreadable=unreadable, replies=count_replies(asked))


_MEASURES = (
    ("right", "accuracy"),
    ("ceiling", "ceiling"),
    ("naive", "naive_observer"),
    ("no_information", "no_information"),
    ("evidence", "evidence"),
    ("as_ideal", "as_ideal_observer"),
    ("chips", "chips_per_hand"),
    ("raises", "raise_rate"),
    ("calls", "call_rate"),
    ("checks", "check_rate"),
    ("folds", "fold_rate"),
    ("faults", "faults_per_decision"),
)
_NO_SHARES = ("chips", "faults")


def summarise(run: RunView[Match, MatchOutcome]) -> Summary:
    """Accuracy, ceiling, chips and habits, overall and by style."""
    measures: list[Measure] = []
    for value, name in _MEASURES:
        binary = False if value in _NO_SHARES else None
        found = grouped_measures(run, value, name, by=["style"], binary=binary)
        measures += [one for one in found if one.items or name == "accuracy"]
    if any(one.name == "ceiling" for one in measures):
        measures.append(reached(run, 1 / len(STYLES)))
    episodes = [(item, outcome) for item, outcome, _ in run.scored()]
    notes = [
        "The ideal observer knows every trained policy and saw the same hands. The naive observer knows none: it calls "
        "an opponent aggressive if at least half of its decisions are raises."
    ]
    empty = [item.official for item, _, score in run.scored() if score.values.get("no_information")]
    if empty:
        counted = "are part of the accuracy, as in the paper" if all(empty) else "are left out of the accuracy"
        notes.append(f"In {len(empty)} matches the opponent never acted; they show nothing, and {counted}.")
    return Summary(
        measures=tuple(measures),
        tables=(_answers(episodes),),
        notes=tuple(notes),
    )


def _answers(episodes: Iterable[tuple[Match, MatchOutcome]]) -> Table:
    def named(naming: Naming) -> str:
        return naming.style or "unreadable"

    counts = Counter((item.style_after(outcome.hands[:-1]), named(outcome.namings[-1])) for item, outcome in episodes)
    columns = ("aggressive", "conservative", "unreadable")
    styles = sorted({style for style, _ in counts})
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (style, *(counts[style, column] for column in columns)) for style in styles
    )
    return Table("styles", "True style (rows) and named style", ("true", *columns), rows)
