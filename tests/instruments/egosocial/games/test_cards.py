"""Cards: names, parsing, dealing."""

import random

import pytest

from sociometer.instruments.egosocial.games import cards


def test_every_card_has_its_own_name_and_is_read_back_from_it():
    names = cards.names(range(52))
    assert len(set(names)) == 52
    assert [cards.parse(name) for name in names] == list(range(52))


@pytest.mark.parametrize(("text", "name"), [("HK", "HK"), ("kh", "HK"), ("S10", "ST"), (" da ", "DA")])
def test_a_card_is_read_in_either_order_and_case(text, name):
    assert cards.name(cards.parse(text)) == name


@pytest.mark.parametrize("text", ["", "X9", "H1", "HKS", "hearts"])
def test_what_names_no_card_is_refused_with_the_allowed_letters(text):
    with pytest.raises(cards.CardError, match="write a suit"):
        cards.parse(text)


def test_dealing_never_gives_a_card_twice_or_one_that_is_gone():
    dealt = cards.deal(random.Random(1), 40, without=range(12))
    assert len(set(dealt)) == 40
    assert not set(dealt) & set(range(12))
