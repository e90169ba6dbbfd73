"""Claims read from free words: what counts as one, and what must not."""

import pytest

from sociometer.instruments.egosocial.games.blackjack.claim_reader import dealer_claims, own_claims


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
        ("Hard sixteen.", [(16,)]),
        ("I'm sitting on twenty-one.", [(21,)]),
        ("If I drew a 5 it would be 21, but my total is 16.", []),
        ("If the ace counts as 11, my total is 17.", [(17,)]),
        ("The dealer shows a 9 and I have 16.", [(16,)]),
        ("Eight and four is twelve.", [(12,)]),
        ("I'm 5 short of 21.", []),
        ("I have 2 aces.", []),
        ("I hold a 6 together with a king.", []),
    ],
)
def test_the_own_total(text, totals):
    assert read(own_claims(text), "total") == [(numbers, "") for numbers in totals]


@pytest.mark.parametrize(
    ("text", "totals"),
    [
        ("I have a soft 17, with the ace valued at 11.", [(17,)]),
        ("I have soft 17 since my ace counts as 11.", [(17,)]),
        ("My total is 17, a soft total because the ace can be counted as 1 or 11.", [(17,)]),
        ("My cards are worth 17 (ace = 11, 6 = 6).", [(17,)]),
        ("My hand is a soft 17 (an ace worth 11 plus 6).", [(17,)]),
        ("My ace is worth 11 and my six is worth 6, for a soft total of 17.", [(17,)]),
        ("Two aces: one counts 11, the other 1, so 12.", [(12,)]),
        ("My queen and king are worth 10 each, making a hard 20.", [(20,)]),
        ("My two face cards are each worth 10, giving me a hard total of 20.", [(20,)]),
        ("My cards are worth 20 in total (10 each).", [(20,)]),
        ("I have 20 with a queen and king, both worth 10.", [(20,)]),
        ("My hand is 10 and 6, which totals 16.", [(16,)]),
        ("My king counts 10 and my 6 counts 6, for a hard total of 16.", [(16,)]),
        ("The 5, 4 and 7 have a value of 5, 4 and 7, totaling 16.", [(16,)]),
        ("My king and six are worth 16.", [(16,)]),
        ("My ace counts 11 and my 6 counts 6.", []),
        ("My ace is worth 11.", []),
    ],
)
def test_the_value_of_a_single_card_is_no_total(text, totals):
    assert read(own_claims(text), "total") == [(numbers, "") for numbers in totals]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("A soft 17.", "soft"),
        ("It is a hard total.", "hard"),
        ("I count the ace as 11.", "soft"),
        ("There is no ace in my hand.", "hard"),
        ("This is not a soft hand.", "hard"),
        ("It is soft rather than hard.", "soft"),
        ("Since the ace can count as 1, I may hit.", "soft"),
        ("The ace must count 1 here.", "hard"),
        ("The ace can be 1 or 11, but here the total is hard.", "hard"),
        ("I have a soft 17. If I draw a ten it becomes a hard 17.", "soft"),
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
        ("There is a 38% chance I do not bust.", (0.62,), ""),
        ("I have a 22% chance of surviving another card.", (0.78,), ""),
        ("There is only a small chance of not busting.", (), "high"),
        ("More than half of the cards would bust me.", (0.5,), "over"),
        ("Two thirds of the cards bust me.", (2 / 3,), ""),
        ("My risk of busting is under 10%.", (0.1,), "under"),
        ("The bust risk is nil.", (), "none"),
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
        ("The dealer has a 65% chance of not busting.", "dealer bust risk", (0.35,)),
        ("I think the dealer busts with a probability of 0.21.", "dealer bust risk", (0.21,)),
        ("The dealer's jack is worth 11.", "open card", (11,)),
        ("The dealer's ace can be 1 or 11, so the dealer could hold 12 to 21.", "dealer may hold", (12, 21)),
        ("The dealer must hit soft 17.", "dealer stops at", (18,)),
        ("The dealer must draw below 17, and I expect 20.", "dealer stops at", (17,)),
        ("The rules: draw to 16, stand on 17.", "dealer stops at", (17,)),
        ("The dealer hits until 17.", "dealer stops at", (17,)),
    ],
)
def test_what_is_claimed_of_the_dealer(text, kind, numbers):
    assert [found for found, _ in read(dealer_claims(text), kind)] == [numbers]


@pytest.mark.parametrize(
    "text",
    [
        "Otherwise the dealer must draw.",
        "If the hidden card is a 5 the dealer must draw.",
        "Below 17 the dealer draws.",
        "With a ten under it the dealer will have to draw.",
    ],
)
def test_what_the_dealer_does_on_a_condition_is_no_claim_that_it_must_draw(text):
    assert read(dealer_claims(text), "dealer must draw") == []


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
