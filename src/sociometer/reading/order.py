"""Seeded option orders that can be undone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def unshuffled(n: int) -> tuple[int, ...]:
    """Return the order in which n places show the options as they are."""
    return tuple(range(n))


def shuffled(n: int, rng: random.Random) -> tuple[int, ...]:
    """Return a random order of n places: entry i is the original index shown at place i."""
    order = list(range(n))
    rng.shuffle(order)
    return tuple(order)


def balanced(n: int, votes: int, rng: random.Random) -> tuple[tuple[int, ...], ...]:
    """Return one order for each vote, in which every option is at every place as equally often as possible."""
    orders: list[tuple[int, ...]] = []
    while len(orders) < votes:
        base = shuffled(n, rng)
        turns = shuffled(n, rng)
        orders.extend(tuple(base[(place + turn) % n] for place in range(n)) for turn in turns)
    return tuple(orders[:votes])


def arrange(values: Sequence[T], order: Sequence[int]) -> tuple[T, ...]:
    """Return the values as shown in this order."""
    _check(values, order)
    return tuple(values[index] for index in order)


def undo(values: Sequence[T], order: Sequence[int]) -> tuple[T, ...]:
    """Return values that were read in the shown order, back in the original one."""
    _check(values, order)
    back: dict[int, T] = dict(zip(order, values, strict=True))
    return tuple(back[index] for index in range(len(order)))


def _check(values: Sequence[object], order: Sequence[int]) -> None:
    if sorted(order) != list(range(len(values))):
        raise ValueError(
            f"order {tuple(order)} is no order of {len(values)} values; use one made by shuffled({len(values)}, rng)"
        )
