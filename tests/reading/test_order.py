"""Option orders are seeded, balanced and undone."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.reading import arrange, balanced, shuffled, undo


@given(n=st.integers(1, 26), seed=st.integers())
def test_an_order_is_undone(n: int, seed: int) -> None:
    order = shuffled(n, random.Random(seed))
    values = tuple(range(100, 100 + n))
    assert undo(arrange(values, order), order) == values


def test_the_same_seed_gives_the_same_order() -> None:
    assert shuffled(8, random.Random(1)) == shuffled(8, random.Random(1))


@given(n=st.integers(2, 8), rounds=st.integers(1, 3), seed=st.integers())
def test_full_rounds_of_votes_show_every_option_at_every_place_equally_often(n: int, rounds: int, seed: int) -> None:
    orders = balanced(n, n * rounds, random.Random(seed))
    for place in range(n):
        assert set(Counter(order[place] for order in orders).values()) == {rounds}


@given(n=st.integers(2, 8), votes=st.integers(1, 12), seed=st.integers())
def test_no_option_stands_at_a_place_much_more_often_than_another(n: int, votes: int, seed: int) -> None:
    orders = balanced(n, votes, random.Random(seed))
    assert len(orders) == votes
    for place in range(n):
        counts = Counter(order[place] for order in orders)
        assert max(counts.values()) - min(counts[option] for option in range(n)) <= 1


def test_a_list_that_is_no_order_is_refused() -> None:
    with pytest.raises(ValueError, match="no order of 3 values"):
        undo((1, 2, 3), (0, 0, 1))
