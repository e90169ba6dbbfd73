"""Claims read from free words: what counts as one, and what must not."""

import pytest

from sociometer.instruments.egosocial.games.blackjack.claims import dealer_claims, own_claims


def read(found, kind):
    return [(claim.numbers, claim.word) for claim in found if claim.kind == kind]


@pytest.mark.parametrize(
    ("text", "totals"),
    [
        ("My cards are a 7 and an 8, so my total is 15.", [(15,)]),
        ("I have a hard 16.", [(16,)]),
        ("The sum of my cards is 14.", [(14,)]),
        ("My hand adds up to 12.", [(12,)]),
        ("My hand totals 18 and the dealer has 10.", [(18,)]),
        ("I have a total of 15, 6 short of 21.", [(15,)]),
        ("My total is 20, which is close to 21.", [(20,)]),
        ("My hand is worth 7 or 17.", [(7, 17)]),
        ("If I drew a 5, I would have 21.", []),
        ("I might go over 21.", []),
        ("The dealer has a total of 20.", []),
        ("I hold a 7 of hearts and a 9 of clubs.", []),
    ],
)
def test_the_own_total(text, totals):
    assert read(own_claims(text), "total") == [(numbers, "") for numbers in totals]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("A soft 17.", "soft"),
        ("It is a hard total.", "hard"),
        ("I count the ace as 11.", "soft"),
        ("There is no ace in my hand.", "hard"),
        ("This is not a soft hand.", "hard"),
    ],
)
def test_soft_and_hard(text, word):
    assert read(own_claims(text), "softness") == [((), word)]


@pytest.mark.parametrize(
    ("text", "numbers", "word"),
    [
        ("About 62% of the cards would bust me.", (0.62,), ""),
        ("I bust with 8 of 13 cards.", (8 / 13,), ""),
        ("The risk of busting is high.", (), "high"),
        ("There is a low chance of going over 21.", (), "low"),
        ("I cannot bust with one more card.", (), "none"),
        ("There is no risk of busting.", (), "none"),
        ("The risk is moderate.", (), "moderate"),
        ("I am unlikely to bust.", (), "low"),
    ],
)
def test_the_risk_of_busting(text, numbers, word):
    assert read(own_claims(text), "bust risk") == [(numbers, word)]


@pytest.mark.parametrize(
    ("text", "kind", "numbers"),
    [
        ("The dealer shows a 10.", "open card", (10,)),
        ("The dealer's face-up card is an ace.", "open card", (11,)),
        ("The dealer's open card is worth 6.", "open card", (6,)),
        ("The dealer must hit until 17.", "dealer stops at", (17,)),
        ("The dealer must hit on 16 or less and stand on 17 or more.", "dealer stops at", (17, 17)),
        ("The dealer has to stand on all 17s.", "dealer stops at", (17,)),
        ("The dealer must hit on 17.", "dealer stops at", (18,)),
        ("The dealer has to draw at least one more card.", "dealer must draw", ()),
        ("The dealer could have 20.", "dealer may hold", (20,)),
        ("The dealer's total may be anywhere between 12 and 21.", "dealer may hold", (12, 21)),
        ("The dealer busts about 42% of the time.", "dealer bust risk", (0.42,)),
    ],
)
def test_what_is_claimed_of_the_dealer(text, kind, numbers):
    assert [found for found, _ in read(dealer_claims(text), kind)] == [numbers]


@pytest.mark.parametrize(
    "text", ["", "I see.", "Cards are fun.", "21 21 21", "%%% total total", "💥" * 500, "9" * 5000]
)
def test_words_without_a_claim_give_none_and_never_crash(text):
    assert own_claims(text) == []
    assert dealer_claims(text) == []


def test_a_claim_keeps_the_sentence_it_was_read_from():
    (claim,) = own_claims("Let me think. My total is 15. Good.")
    assert claim.quote == "My total is 15."


def test_a_claim_said_over_and_over_is_one_claim_with_a_short_quote():
    (claim,) = own_claims("The total is 21, and " * 150)
    assert claim.numbers == (21,)
    assert len(claim.quote) <= 160
