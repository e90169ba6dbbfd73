"""Batches hold every sequence once and no more tokens than allowed."""

from hypothesis import given
from hypothesis import strategies as st

from sociometer.models.inside import batches


@given(st.lists(st.integers(1, 500), max_size=60), st.integers(1, 2000))
def test_every_sequence_is_in_one_batch_and_a_batch_is_bounded(lengths, most):
    parts = list(batches(lengths, most))
    assert sorted(place for part in parts for place in part) == list(range(len(lengths)))
    for part in parts:
        assert len(part) == 1 or max(lengths[place] for place in part) * len(part) <= most
