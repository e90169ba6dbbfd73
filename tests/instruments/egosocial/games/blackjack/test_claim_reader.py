# ruff: noqa: E501
"""Claims read from free words and checked against the deal: what counts as one, and what must not."""

import time

import pytest
from tests.instruments.egosocial.games.notation import card

from sociometer.instruments.egosocial.games.blackjack.claim_reader import dealer_claims, own_claims
from sociometer.instruments.egosocial.games.blackjack.grading import grade
from sociometer.instruments.egosocial.games.blackjack.rules import facts_of

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
        "I'm sitting at 15 with an 8 and a 7, which is an awkward hand. Hitting carries roughly a 54% risk of busting, while standing leaves me behind a likely 19.",
        True,
    ),
    (
        "H8 S7",
        "C9",
        "dealer",
        "The dealer is showing a 9, so they most likely have 19. They would only have to draw if the hidden card is 7 or lower.",
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
    (
        "HT S4",
        "C8",
        "own",
        "I currently hold 14 points, which is not a strong hand. There's roughly a 46% probability of busting if I hit, since any card from 8 upwards would take me over 21.",
        True,
    ),
    ("HT S4", "C8", "own", "My hand totals 14. I could safely draw any card up to 7.", True),
    ("HT S4", "C8", "own", "My hand totals 14. I could safely draw any card up to 8.", False),
    ("HT S4", "C8", "own", "14 points; the risk of going bust is around 30 percent.", False),
    ("HT S4", "C8", "own", "With a 10 and a 4 I have 14 in total. That leaves me 7 short of 21.", True),
    (
        "HT S4",
        "C8",
        "own",
        "With a 10 and a 4 I have 14 in total. Considering the dealer's 8, I should probably hit as they might have 18.",
        True,
    ),
    ("HT S4", "C8", "own", "Fourteen, or twenty-four if things go badly with a ten.", True),
    ("HT S4", "C8", "own", "Fourteen. An 8, 9, ten or picture card ends it for me.", True),
    ("HT S4", "C8", "own", "Fourteen. A seven would already break me.", False),
    ("HT S4", "C8", "own", "It's a stiff: 14, no ace to soften it.", True),
    ("HT S4", "C8", "own", "It's a stiff: 14, and a soft one.", False),
    ("HT S4", "C8", "own", "I am far from 21 with my 14, so there is little risk in hitting.", False),
    ("HT S4", "C8", "own", "Not 15 but 14.", True),
    ("HT S4", "C8", "own", "14, and it's close to fifty-fifty whether I bust.", True),
    (
        "HA S8",
        "C8",
        "own",
        "I have an Ace and an 8 which makes 19 or 9. It is a strong hand and I can't bust by hitting once.",
        True,
    ),
    ("HA S8", "C8", "own", "My total is 19 since the ace is counted as 11.", True),
    ("HA S8", "C8", "own", "My total is 9 since the ace is counted as 1.", False),
    ("HA S8", "C8", "own", "Nineteen with a safety net: the ace can drop to one.", True),
    ("HA S8", "C8", "own", "Nineteen, hard as rock.", False),
    ("HA S8 C7", "C8", "own", "I have 16; the ace counts as 1 now because 26 would be too many.", True),
    ("HA S8 C7", "C8", "own", "I have 16 and since I hold an ace I can't bust.", False),
    ("H5 S4", "C8", "own", "Nine. Whatever I draw, I stay below 21.", True),
    ("H5 S4", "C8", "own", "Nine. I can get 19 with a ten or 20 with an ace.", True),
    ("H5 S4", "C8", "own", "Nine. I can get 21 with a face card.", False),
    (
        "H5 S4",
        "C8",
        "dealer",
        "The dealer's visible card is an 8. There's a chance the dealer has 18 if the hidden card is a 10.",
        True,
    ),
    (
        "H5 S4",
        "C8",
        "dealer",
        "The dealer's visible card is an 8. There's a chance the dealer has 18 if the hidden card is a 9.",
        False,
    ),
    ("H5 S4", "C8", "dealer", "An 8 is showing, the dealer isn't allowed to draw on 17 or above.", True),
    ("H5 S4", "C8", "dealer", "An 8 is showing, the dealer isn't allowed to draw on 16.", False),
    ("H5 S4", "C8", "dealer", "An 8 is showing. The dealer stands with 17 or more and otherwise takes cards.", True),
    ("H5 S4", "C8", "dealer", "An 8 is showing. The dealer keeps drawing until he has 18.", False),
    ("H5 S4", "C8", "dealer", "He's got an eight up; roughly four to one against a bust.", True),
    ("H5 S4", "C8", "dealer", "The dealer's total is somewhere between 10 and 19 right now.", True),
    ("H5 S4", "C8", "dealer", "The dealer's total is somewhere between 9 and 18 right now.", False),
    ("H5 S4", "C8", "dealer", "The dealer must have 18.", False),
    ("H5 S4", "C8", "dealer", "The dealer cannot have 20 yet with an 8 up.", True),
    ("H5 S4", "C8", "dealer", "The dealer cannot have 18 yet with an 8 up.", False),
    (
        "H5 S4",
        "C5",
        "dealer",
        "The dealer shows a 5, a bust card: he fails more often than with any other card but the six.",
        True,
    ),
    (
        "H5 S4",
        "C5",
        "dealer",
        "The dealer shows a 5 and is going to need at least one more card, no matter what's face down.",
        True,
    ),
    ("H5 S4", "C5", "dealer", "The dealer shows a 5 and may well stand pat.", False),
    ("H5 S4", "C5", "dealer", "A five up means the dealer loses by busting about two times in five.", True),
    ("H5 S4", "C5", "dealer", "A five up means the dealer survives about two times in five.", False),
    ("H5 S4", "C5", "dealer", "The dealer has 5 points showing and will have 15 if the hole card is a queen.", True),
    ("H5 S4", "CK", "dealer", "King up, so ten points; every hidden card from 7 on lets the dealer stand.", True),
    ("H5 S4", "CK", "dealer", "King up. With a six below, the dealer holds 16 and must hit again.", True),
    ("H5 S4", "CK", "dealer", "King up. With a six below, the dealer holds 16 and may stand.", False),
    ("H5 S4", "CK", "dealer", "King up. It's quite unlikely that the dealer busts.", True),
    ("H5 S4", "CK", "dealer", "King up. A bust is not unlikely at all, I'd say 50 percent.", False),
    (
        "H5 S4",
        "CA",
        "dealer",
        "The dealer has an ace showing, which is dangerous; there's a 31% chance of a natural 21.",
        True,
    ),
    ("H5 S4", "CA", "dealer", "The dealer has an ace showing; that's worth 10 points.", False),
    (
        "HQ S7",
        "CT",
        "own",
        "I've got 17 with a queen and a seven. It's a risky spot, as only an ace, 2, 3 or 4 would help.",
        True,
    ),
    (
        "HQ S7",
        "CT",
        "own",
        "I've got 17 with a queen and a seven. It's a risky spot, as only an ace, 2, 3, 4 or 5 would help me.",
        False,
    ),
    (
        "HQ S7",
        "CT",
        "own",
        "The sum of my cards is seventeen, meaning that roughly 70% of the deck would push me beyond 21.",
        True,
    ),
    ("HQ S7", "CT", "own", "Queen-seven. Seventeen. Hitting is suicide nine times out of ten.", False),
    ("HQ S7", "CT", "own", "Queen-seven. Seventeen. Two draws out of three would be too many.", True),
    ("HQ S7", "CT", "own", "17 is what I have; 4 is the highest card I can take.", True),
    ("HQ S7", "CT", "own", "17 is what I have; 5 is the highest card I can take.", False),
    ("HQ S7", "CT", "own", "My seven and queen: 7 + 10 = 17. No ace involved.", True),
    ("HQ S7", "CT", "own", "My seven and queen: 7 + 12 = 19.", False),
    ("HQ S7", "CT", "own", "A made hand of 17; there is about a 1 in 3 chance of improving without breaking.", True),
    ("HQ S7", "CT", "own", "I would rather not hit my 17.", True),
    ("HQ S7", "CT", "own", "I don't have 16, I have 17.", True),
    ("HQ S7", "CT", "own", "17, so a hit probably breaks me.", True),
    ("HQ S7", "CT", "own", "17, so a hit probably does not break me.", False),
    ("H2 S3", "CT", "own", "5 in all, hard, bust-proof for the next card.", True),
    ("H2 S3", "CT", "own", "Tiny hand: five. Even a ten only brings me to fifteen.", True),
    ("H2 S3", "CT", "own", "Tiny hand: five. A ten brings me to sixteen.", False),
    ("H2 S3", "CT", "own", "With just 5 points I have nothing to fear from one more card.", True),
    ("H2 S3", "CT", "own", "With just 5 points there is a real danger of busting.", False),
    ("HA S5 C5", "CT", "own", "Ace, five, five: 21, and still soft.", True),
    ("HA S5 C5", "CT", "own", "Ace, five, five: 11 or 21. I'll take the 21.", True),
    ("HA S5 C5", "CT", "own", "Ace, five, five: a hard 21.", False),
    ("HA S5 C5", "CT", "own", "21, ace as 11. Another card would bust me for sure.", False),
    (
        "H9 S9",
        "C2",
        "dealer",
        "Two up. The dealer needs several cards and breaks in a bit more than a third of all hands.",
        True,
    ),
    (
        "H9 S9",
        "C2",
        "dealer",
        "Two up. The dealer needs several cards and breaks in more than half of all hands.",
        False,
    ),
    ("H9 S9", "C2", "dealer", "Two up; at best he has 13 now.", True),
    ("H9 S9", "C2", "dealer", "Two up; at best he has 12 now.", False),
    (
        "H9 S9",
        "C7",
        "dealer",
        "The seven suggests 17 if a ten is underneath, in which case the dealer has to stop.",
        True,
    ),
    (
        "H9 S9",
        "C7",
        "dealer",
        "The seven suggests 17 if a ten is underneath, in which case the dealer has to draw again.",
        False,
    ),
    ("H9 S9", "C7", "dealer", "I see a seven; the dealer would need an ace to have 18 straight away.", True),
    ("H9 S9", "C7", "dealer", "I see a seven; the dealer would need an ace to have 19 straight away.", False),
    ("H9 S9", "C7", "dealer", "The dealer's seven gives a bust chance of 1 in 4 or so.", True),
    ("H9 S9", "C7", "dealer", "The dealer's seven gives a bust chance of 1 in 2 or so.", False),
    (
        "H9 S9",
        "C7",
        "dealer",
        "The dealer's card is 7, and 10s are the most common, so 17 is the likeliest total.",
        True,
    ),
    ("H9 S9", "CQ", "dealer", "The dealer's queen counts ten; a total of 20 is the single most likely result.", True),
    ("H9 S9", "CQ", "dealer", "The dealer's queen counts ten; a total of 19 is the single most likely result.", False),
    (
        "H9 S9",
        "CQ",
        "dealer",
        "I think the dealer is sitting on 20 but I can't be certain. The queen is all I see.",
        True,
    ),
    (
        "H9 S9",
        "CQ",
        "dealer",
        "The dealer, showing a queen, will stand on any 17 or better, and will go bust only around 20 percent of the time.",
        True,
    ),
    ("H9 S9", "CQ", "dealer", "The dealer, showing a queen, will hit everything up to and including 17.", False),
    ("H9 S9", "CQ", "dealer", "The dealer, showing a queen, will hit everything up to and including 16.", True),
    ("H9 S9", "CQ", "dealer", "Queen up. There's no way the dealer can bust.", False),
    ("H9 S9", "CQ", "dealer", "Dealers hit until 17.", False),
    ("H9 S9", "CQ", "dealer", "She's showing a queen and probably has to draw.", False),
    ("H9 S9", "C6", "dealer", "She's showing a six and probably has to draw.", True),
    ("H8 S3", "C9", "own", "Eleven, ten away from twenty-one, and no single card spoils it.", True),
    ("H8 S3", "C9", "own", "Eleven, nine away from twenty-one.", False),
    ("H8 S3", "C9", "own", "An eight and a three. Ten more would be the jackpot.", False),
    ("H8 S3", "C9", "own", "8 and 3, so 11; a king makes it 21.", True),
    ("H8 S3", "C9", "own", "8 and 3, so 11; a king makes it 22.", False),
    ("H8 S3", "C9", "own", "The dealer's nine worries me more than my 11, which can't be hurt.", True),
    ("HK S3", "C9", "own", "Thirteen. Eight or less and I'm fine, which is about 60 percent of what is left.", True),
    ("HK S3", "C9", "own", "Thirteen. Nine or less and I'm fine.", False),
    ("HK S3", "C9", "own", "Thirteen, with the odds three to two in favour of surviving a hit.", True),
    ("HK S3", "C9", "own", "Thirteen, with the odds three to two in favour of busting.", False),
    ("HK S3", "C9", "own", "13 hard. 18 of the 49 unseen cards are trouble.", True),
    ("HK S3", "C9", "own", "13 hard. 30 of the 49 unseen cards would bust me.", False),
    ("HK S3", "C9", "own", "It's hardly a safe 13: four cards in ten send me over.", True),
    ("HK S3", "C9", "own", "13, and more often than not I'd survive one more.", True),
    ("HK S3", "C9", "own", "13, and more often than not I'd be over with one more.", False),
    ("HK S3", "C9", "own", "Total = 13 (K=10, 3=3)", True),
    ("HK S3", "C9", "own", "Total = 13 (K=11, 3=2)", False),
    ("HA S2", "C9", "own", "three or thirteen, take your pick", True),
    ("HA S2", "C9", "own", "thirteen, with an ace that's flexible, so no bust on the next card", True),
    ("HA S2", "C9", "own", "a plain hard thirteen", False),
    ("HA S2 CK", "C9", "own", "The ace is no longer eleven: 13, hard.", True),
    ("HA S2 CK", "C9", "own", "3 or 13 with that ace", False),
    ("HA S2 CK", "C9", "own", "13; my ace is stuck at one, so there's a bit under 40% chance of breaking.", True),
    ("H9 S7", "C4", "dealer", "There's a four staring at me; the house has to pull at least one more card.", True),
    (
        "H9 S7",
        "C4",
        "dealer",
        "There's a four staring at me; with a face card that would be fourteen, and fourteen must be hit.",
        True,
    ),
    (
        "H9 S7",
        "C4",
        "dealer",
        "There's a four staring at me; with a face card that would be fourteen, and fourteen is enough to stand.",
        False,
    ),
    ("H9 S7", "C4", "dealer", "The dealer's four: 60-40 that he makes a hand.", True),
    ("H9 S7", "C4", "dealer", "The dealer's four: 60-40 that he busts.", False),
    ("H9 S7", "C4", "dealer", "The four isn't worth more than 4, and he can't have reached 17 yet.", True),
    ("H9 S7", "C4", "dealer", "With a 4 up the dealer rarely busts.", False),
    ("H9 S7", "C4", "dealer", "With a 4 up the dealer busts rather often.", True),
    ("H9 S7", "C4", "dealer", "He will have anything between 6 and 15 at the moment.", True),
    ("H9 S7", "C4", "dealer", "He will have anything between 6 and 18 at the moment.", False),
    ("H9 S7", "CJ", "dealer", "Jack. Not less than 12, not more than 21.", True),
    ("H9 S7", "CJ", "dealer", "Jack. If he's got a seven or more under it he stands pat.", True),
    ("H9 S7", "CJ", "dealer", "Jack. If he's got a six under it he stands pat.", False),
    ("H9 S7", "CJ", "dealer", "My risk is over 60 percent, the dealer's with that jack only a third of it.", True),
    ("H9 S7", "CJ", "dealer", "My risk of busting is 62%; the dealer's is 21%.", True),
    ("H9 S7", "CJ", "dealer", "My risk of busting is 21%; the dealer's is 62%.", False),
    ("H9 S7", "CJ", "dealer", "The dealer never draws on a hard 17, nor on a soft one, and a jack is up.", True),
    ("H9 S7", "CJ", "dealer", "The dealer draws on a soft 17, and a jack is up.", False),
    (
        "H9 S7",
        "CA",
        "dealer",
        "An ace, hence 11 for the time being, and almost no danger of busting for the dealer.",
        True,
    ),
    ("H9 S7", "CA", "dealer", "An ace, hence 11 for the time being, and a one in two chance of busting.", False),
    ("H9 S7", "C5", "dealer", "Good for me: a five. Dealers break with it more than forty percent of the time.", True),
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
