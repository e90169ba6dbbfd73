"""Cards: names, parsing, dealing."""

import random

from sociometer.instruments.egosocial.games import cards
from tests.instruments.egosocial.games.notation import card


def test_every_card_has_its_own_name_and_is_read_back_from_it():
    names = cards.names(range(52))
    assert len(set(names)) == 52
    assert [card(name) for name in names] == list(range(52))


def test_dealing_never_gives_a_card_twice_or_one_that_is_gone():
    dealt = cards.deal(random.Random(1), 40, without=range(12))
    assert len(set(dealt)) == 40
    assert not set(dealt) & set(range(12))
