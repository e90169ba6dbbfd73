"""How much of a prompt is taken from an earlier one; a chunk is four tokens here."""

import pytest

from sociometer.models.local import PrefixSlots, Reuse

LONG = list(range(100, 120))


@pytest.fixture
def slots():
    kept = PrefixSlots(2, 4)
    kept.keep(0, LONG)
    return kept


def test_only_whole_chunks_are_reused(slots):
    assert slots.find([*LONG[:11], 1, 2, 3]) == Reuse(0, 8, exact=False)


def test_a_prompt_that_differs_at_the_end_of_a_chunk_needs_no_shortening(slots):
    assert slots.find([*LONG[:8], 1, 2, 3]) == Reuse(0, 8, exact=True)


def test_the_last_token_of_a_prompt_is_always_computed(slots):
    assert slots.find(LONG) == Reuse(0, 16, exact=False)
    assert slots.find(LONG[:8]) == Reuse(0, 4, exact=False)
    assert slots.find([*LONG, 7, 8]) == Reuse(0, 20, exact=False), "what follows in the slot is a reply"


def test_less_than_a_chunk_is_not_reused(slots):
    assert slots.find(LONG[:4]).tokens == 0
    assert slots.find([]).tokens == 0


def test_a_prompt_of_its_own_takes_the_slot_that_was_not_used_for_longest(slots):
    assert slots.find([1, 2, 3, 4, 5, 6]) == Reuse(1, 0, exact=True)
    slots.keep(1, [1, 2, 3, 4, 5, 6])
    assert slots.find([9] * 9).slot == 0
    slots.keep(0, LONG)
    assert slots.find([9] * 9).slot == 1
    assert slots.find(LONG).slot == 0, "the longest shared beginning counts first"


def test_a_slot_whose_content_is_unknown_is_not_reused(slots):
    slots.keep(0, ())
    assert slots.find(LONG).tokens == 0
