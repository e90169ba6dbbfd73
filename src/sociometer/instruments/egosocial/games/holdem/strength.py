"""The strength of hands of five to seven cards, many at once."""

import functools

import numpy as np
from numpy.typing import NDArray

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
