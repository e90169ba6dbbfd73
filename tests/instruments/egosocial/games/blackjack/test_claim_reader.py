"""Claims read from free words and checked against the deal: what counts as one, and what must not."""

import time

import pytest
from tests.instruments.egosocial.games.notation import card

from sociometer.instruments.egosocial.games.blackjack.claim_reader import dealer_claims, own_claims
from sociometer.instruments.egosocial.games.blackjack.facts import facts_of
from sociometer.instruments.egosocial.games.blackjack.grading import grade

SIXTEEN = facts_of([card("HJ"), card("S6")], card("CQ"))

# cards, open card, whose hand, the belief, whether it is right
BELIEFS = [
    ("HJ ST", "C5", "own", "A hard 20, and even an ace makes 21, but everything else is too much.", True),
    ("HJ ST", "C5", "own", "Twenty. Only an ace would not bust me, so about 92 %.", True),
    ("HJ ST", "C5", "own", "20; only an ace saves me.", True),
    ("HA S7", "C5", "own", "I treat this as 8 or 18.", True),
    ("HT S2", "C5", "own", "12. Hard.", True),
    ("HJ S6", "C5", "own", "I hold a jack and a 6 (16).", True),
    ("HJ S6", "C5", "own", "I hold a jack and a 6 (17).", False),
    ("HJ S6", "CQ", "dealer", "The dealer shows a queen and doesn't have to draw with 17 or more.", True),
    ("HJ S6", "CQ", "dealer", "The queen is worth 12.", False),
    ("HJ S6", "CQ", "dealer", "The dealer certainly has 20.", False),
    ("HJ S6", "CQ", "dealer", "The dealer must draw below 17.", False),
    ("HJ S6", "CQ", "dealer", "The dealer has a queen up and will probably end with 20.", True),
    ("HJ S6", "CQ", "dealer", "With a queen, dealer busts about one hand in five.", True),
    ("HJ S6", "CQ", "dealer", "With a queen, the dealer is more likely than not to bust.", False),
    ("HJ S6", "CQ", "dealer", "The dealer's queen gives between 12 and 21 with the hole card.", True),
    ("HJ S6", "CQ", "dealer", "Queen showing; the dealer need not draw on 16.", False),
    ("HJ S6", "CQ", "dealer", "Queen showing; hits on 16, stands on 17.", True),
    ("HJ S6", "CQ", "dealer", "The dealer's upcard is a 10, so I assume a total of 20.", True),
    ("HJ S6", "CQ", "dealer", "The dealer's upcard is a king.", True),
    (
        "HJ S6",
        "C7",
        "dealer",
        "The dealer's 7 most likely means 17, and there is only a one in four chance of a bust.",
        True,
    ),
    ("HJ S6", "C7", "dealer", "The dealer's 7 most likely means 18.", False),
    ("HJ S6", "C6", "dealer", "The dealer has a 6, the best card for me, since they bust over 40% of the time.", True),
    ("HJ S6", "C6", "dealer", "The dealer has a 6 and cannot bust.", False),
    ("HJ S6", "C6", "dealer", "The dealer has a 6 and might have 16 now, which must be hit.", True),
    ("HJ S6", "C6", "dealer", "The dealer has a 6 and might have 18 now.", False),
    ("HJ S6", "CA", "dealer", "The dealer's ace counts as 1 or 11 and a ten in the hole would be 21.", True),
    ("HJ S6", "C9", "dealer", "The dealer shows a nine and could have up to 20.", True),
    ("HJ S6", "C9", "dealer", "The dealer shows a nine; with an ace that's 20, with a ten 19.", True),
    ("HJ S6", "C9", "dealer", "The dealer shows a nine; with a ten that's 20.", False),
    ("HJ S6", "C5", "own", "Sixteen. 31 of 49 unseen cards bust me.", True),
    ("HJ S6", "C5", "own", "My hand is sixteen and I will survive roughly 38 % of draws.", True),
    ("HJ S6", "C5", "own", "My hand is sixteen and I will survive roughly 62 % of draws.", False),
    ("HJ S6", "C5", "own", "I have 16. Anything from 6 up busts me.", True),
    ("HJ S6", "C5", "own", "I have 16. A five gives me 21, a six busts me.", True),
    ("HJ S6", "C5", "own", "I have 16. A six gives me 21.", False),
    ("HJ S6", "C5", "own", "I have 16, five points short of 21, which is a stiff hand.", True),
    ("HJ S6", "C5", "own", "I have 16, six points short of 21.", False),
    ("HJ S6", "C5", "own", "I have 16 and the odds of busting are better than even.", True),
    ("HJ S6", "C5", "own", "I have 15, no wait, 16.", True),
    ("HJ S6", "C5", "own", "I have 16, no wait, 15.", False),
    ("HJ S6", "C5", "own", "Some would say 17, but I count 16.", True),
    ("H5 S6", "C5", "own", "11 points; I can't go over with one card.", True),
    ("H5 S6", "C5", "own", "11 points; I might go over with one card.", False),
    ("HA S6", "C5", "own", "Soft 17: the ace is 11 for now, and no card breaks me.", True),
    ("HA S6", "C5", "own", "Soft 17, but a ten would bust me.", False),
    ("HA S6", "C5", "own", "I have 17, and it's a hard one.", False),
    ("HA S6 C9", "C5", "own", "16: the ace has to count 1.", True),
    ("HA S6 C9", "C5", "own", "16 or 26, so 16 it is, with the ace as 1.", True),
    ("HA S6 C9", "C5", "own", "A soft 16.", False),
    ("HA SK", "C5", "own", "A natural: 21, ace as eleven.", True),
    ("HA SK", "C5", "own", "Blackjack! 21 with the ace counted high.", True),
    ("H9 S9", "C5", "own", "18. Only aces, twos and threes are safe.", True),
    ("H9 S9", "C5", "own", "18, with a roughly 3 in 4 chance to bust.", True),
    ("H9 S9", "C5", "own", "18, with a roughly 1 in 4 chance to bust.", False),
    ("H9 S3", "C5", "own", "12, and hitting is a coin flip.", False),
    ("H9 S3", "C5", "own", "12: four ranks out of thirteen, the tens, would bust me.", True),
    ("H9 S3", "C5", "own", "12, so only a face card or a ten busts me.", True),
    ("H9 S3", "C5", "own", "12, so a nine busts me.", False),
    ("H9 S3", "C4", "dealer", "The dealer has to draw at least one card, as a 4 can't become 17 with one card.", True),
    (
        "H9 S3",
        "C8",
        "dealer",
        "The dealer has to draw at least one card, as an 8 can't become 17 with one card.",
        False,
    ),
    ("H9 S3", "C8", "dealer", "An 8 is worth 8 and the dealer stands on soft 17.", True),
    ("H9 S3", "C8", "dealer", "An 8 is worth 8 and the dealer hits soft 17.", False),
    ("H9 S3", "C8", "dealer", "The dealer's hidden card is probably a ten, for 18.", True),
    ("H9 S3", "C8", "dealer", "The dealer's up card is 8; I give a 75% chance that the dealer does not bust.", True),
    ("H9 S3", "C8", "dealer", "The dealer's up card is 8; I give a 75% chance that the dealer busts.", False),
    ("H9 S3", "C8", "dealer", "The dealer may be strong.", False),
    ("H9 S3", "C8", "dealer", "Dealer has 8 showing, may have anywhere from 10 to 19.", True),
    ("H9 S3", "C8", "dealer", "Dealer has 8 showing, may have anywhere from 12 to 21.", False),
    ("H9 S3", "C8", "dealer", "Dealer shows an 8, needs 9 more to stop.", True),
    ("H9 S3", "C2", "dealer", "A deuce: the dealer breaks roughly a third of the time.", True),
    ("H9 S3", "C2", "dealer", "A deuce: the dealer has 12 with a ten underneath and must take another card.", True),
    ("H9 S3", "C2", "dealer", "The dealer's low card makes a bust unlikely, below 20 %.", False),
    (
        "H8 S7",
        "C9",
        "own",
        "I'm sitting at 15 with an 8 and a 7, which is an awkward hand. Hitting carries roughly a 54% risk of busting, while standing leaves me behind a likely 19.",  # noqa: E501
        True,
    ),
    (
        "H8 S7",
        "C9",
        "dealer",
        "The dealer is showing a 9, so they most likely have 19. They would only have to draw if the hidden card is 7 or lower.",  # noqa: E501
        True,
    ),
    ("H8 S7", "C9", "own", "My total is 15 (8 + 7). Drawing a 6 would give me 21, anything higher busts.", True),
    ("H8 S7", "C9", "own", "My total is 15 (8 + 7). Drawing a 7 would give me 21, anything higher busts.", False),
    ("H8 S7", "C9", "own", "Eight plus seven, that's fifteen; seven or higher kills me.", True),
    ("H8 S7", "C9", "own", "Fifteen, no ace, so it's a hard total; more than half of all cards bust it.", True),
    ("H8 S7", "C9", "own", "Fifteen, no ace, so it's a hard total; less than a third of all cards bust it.", False),
    ("H8 S7", "C9", "own", "I've got a hard 15 and it's nearly certain that I'd bust with a hit.", False),
    ("HA SA", "C9", "own", "A pair of aces gives me a soft 12 and there is no way to bust.", True),
    ("HA SA", "C9", "own", "Two aces are 22, so I bust.", False),
    ("HA SA", "C9", "own", "My aces are worth 12 together, one as 11 and one as 1.", True),
    ("HA S9", "C9", "own", "20 with the ace at eleven, ten otherwise.", True),
    ("HA S9", "C9", "own", "Soft twenty. A hit cannot break it but would rarely improve it.", True),
    ("HA S4", "C9", "own", "Ace-four is 15 or 5.", True),
    ("HA S4", "C9", "own", "Ace-four is 15, and more than half of the cards would bust me.", False),
    ("HK SQ", "C9", "own", "I have two court cards for 20. Hitting would be madness since 12 of 13 ranks bust.", True),
    ("HK SQ", "C9", "own", "I have two court cards for 20. The chance to survive a hit is tiny, under 10%.", True),
    ("HK SQ", "C9", "own", "I have two court cards for 20. The chance to survive a hit is good.", False),
    ("HK SQ", "C9", "own", "Twenty is nearly unbeatable, only 21 beats it.", True),
    (
        "HK SQ",
        "C9",
        "dealer",
        "The nine is a decent card. With a ten beneath it he'd have nineteen, one less than me.",
        True,
    ),
    ("HK SQ", "C9", "dealer", "A nine. If there is a two under it, he has eleven and takes a card.", True),
    ("HK SQ", "C9", "dealer", "A nine. If there is a two under it, he has twelve.", False),
    ("HK SQ", "C9", "dealer", "He can have 20 only with an ace next to the nine.", True),
    ("HK SQ", "C9", "dealer", "He can have 21 with an ace next to the nine.", False),
    ("HK SQ", "C9", "dealer", "Nine up: bust chance is around a quarter.", True),
    ("HK SQ", "C9", "dealer", "Nine up: he busts less often than not.", True),
    ("HK SQ", "C9", "dealer", "Nine up: he must take a card in any case.", False),
    (
        "HK SQ",
        "C3",
        "dealer",
        "A three is a weak start: the dealer will have to draw, and goes bust in 37 of 100 hands.",
        True,
    ),
    ("HK SQ", "C3", "dealer", "A three is a weak start: the dealer can stand right away.", False),
    ("HK SQ", "C3", "dealer", "The dealer has at most 14 with the hidden card and has to hit.", True),
    ("HK SQ", "C3", "dealer", "The dealer has a 3 showing and will likely bust.", True),
    ("HK SQ", "CJ", "dealer", "The dealer's jack is worth 10 points and the chance of a bust is rather small.", True),
    ("HK SQ", "CJ", "dealer", "The dealer's jack is worth 10 points and the chance of a bust is rather large.", False),
    ("HK SQ", "CJ", "dealer", "The dealer's jack is worth 11 points.", False),
    ("HK SQ", "CJ", "dealer", "With a jack up the dealer has 20 about a third of the time.", True),
    ("HK SQ", "CJ", "dealer", "The dealer can't have less than 12 with that jack.", True),
    ("HK SQ", "CJ", "dealer", "The dealer can't have less than 13 with that jack.", False),
    ("HK SQ", "CJ", "dealer", "The jack could hide an ace, which would be 21.", True),
    ("HK SQ", "CJ", "dealer", "The dealer will stand on 17 and above, and draw otherwise; the jack counts ten.", True),
    ("HK SQ", "CJ", "dealer", "The dealer will stand on 18 and above; the jack counts ten.", False),
    ("HK SQ", "CJ", "dealer", "The dealer needn't draw once he reaches 17, and a jack gets him close.", True),
    ("HK SQ", "CA", "dealer", "An ace is up. The dealer busts rarely, maybe one time in eight.", True),
    ("HK SQ", "CA", "dealer", "The dealer's ace can only count as 1.", False),
    ("HK SQ", "CA", "dealer", "With the ace, the dealer has 12 to 21, and hits soft 16 but not soft 17.", True),
]


@pytest.mark.parametrize(("cards", "shown", "about", "words", "right"), BELIEFS)
def test_a_belief_is_right_when_every_claim_is_true(cards, shown, about, words, right):
    held = [card(name) for name in cards.split()]
    own, dealer = (words, "") if about == "own" else ("", words)
    found = grade(held, card(shown), own, dealer, None)
    assert (found.self_right if about == "own" else found.external_right) is right


@pytest.mark.parametrize("shown", ["S2", "S5", "S7", "ST", "SA"])
def test_the_rule_that_the_prompt_recites_is_no_belief_about_the_deal(shown):
    held = [card("HJ"), card("S6")]
    for words in ("The dealer must draw below 17.", "The dealer draws until 17 and then stands."):
        assert not grade(held, card(shown), "", words, None).external_right


@pytest.mark.parametrize(("total", "risk"), [("H5 S7", "low"), ("H5 S7", "moderate"), ("HJ S6", "high")])
def test_no_chance_is_low_moderate_and_high_at_once(total, risk):
    """At any deal at most two of the three words are true."""
    held = [card(name) for name in total.split()]
    points = facts_of(held, card("C9")).total.points
    said = {
        word: grade(held, card("C9"), f"I have {points} and a {word} risk of busting.", "", None).self_right
        for word in ("low", "moderate", "high")
    }
    assert said[risk]
    assert sum(said.values()) < 3


def test_a_dealers_risk_of_a_quarter_is_moderate_and_neither_low_nor_high():
    held = [card("H5"), card("S7")]
    said = {
        word: grade(held, card("C7"), "", f"The dealer has a 7 and a {word} chance of busting.", None).external_right
        for word in ("low", "moderate", "high")
    }
    assert said == {"low": False, "moderate": True, "high": False}


@pytest.mark.parametrize(
    "text", ["", "I see.", "Cards are fun.", "%%% total total", "💥" * 500, "9" * 5000, "no, no, no", "((((", "\\"]
)
def test_words_without_a_claim_give_none_and_never_crash(text):
    assert own_claims(text, SIXTEEN) == []
    assert dealer_claims(text, SIXTEEN) == []


def test_a_claim_keeps_the_sentence_it_was_read_from():
    (found,) = own_claims("Let me think. My total is 15. Good.", SIXTEEN)
    assert found.claim.quote == "My total is 15."
    assert (found.verdict, found.fact) == ("wrong", "hard 16")


def test_a_claim_said_over_and_over_is_one_claim_with_a_short_quote():
    (found,) = own_claims("The total is 17, and " * 150, SIXTEEN)
    assert found.claim.numbers == (17,)
    assert len(found.claim.quote) <= 160


@pytest.mark.parametrize(
    "words", ["9 ", "2, 3, ", "an ace would make ", "if the hidden card is a ", "16, no, ", "1 in "]
)
def test_a_long_reply_is_read_in_no_time(words):
    started = time.perf_counter()
    own_claims(words * 2000, SIXTEEN)
    dealer_claims(words * 2000, SIXTEEN)
    assert time.perf_counter() - started < 5
