"""Reads from a player's own words what it claims about its hand and the dealer's, and checks it against the facts.

Each claim keeps the words it was read from, so that a person can check both the reading and the verdict.
"""

import re

from sociometer.instruments.egosocial.games.blackjack.chance_words import (
    DEALER_BANDS,
    OWN_BANDS,
    Chance,
    stated_chance,
    stated_number,
)
from sociometer.instruments.egosocial.games.blackjack.claim import Graded, distinct, graded
from sociometer.instruments.egosocial.games.blackjack.dealer_words import (
    acts_on_a_hidden_card,
    bust_with_a_hidden_card,
    duties,
    follows_from,
    holdings,
    is_of_the_dealer,
    is_reported,
    must_draw,
    open_card,
)
from sociometer.instruments.egosocial.games.blackjack.own_words import BY_THE_ACE, busting_cards, softness, totals
from sociometer.instruments.egosocial.games.blackjack.rules import Facts
from sociometer.instruments.egosocial.games.blackjack.wording import clauses, plain, sentences

LONGEST_READ = 4000
_STANDING = re.compile(r"\b(?:stand\w*|stay\w*|position|luck|win\w*|beat\w*)\b")
_DEALER = re.compile(r"\bdealer\b")


def own_claims(text: str, facts: Facts) -> list[Graded]:
    """Return what a self-belief claims: the total, soft or hard, what busts, and the risk of passing 21."""
    found: list[Graded] = []
    for sentence in sentences(text[:LONGEST_READ]):
        words = plain(sentence)
        found += softness(words, sentence, facts)
        supposed = False
        for clause in clauses(words):
            supposed = supposed or bool(_SUPPOSED.search(clause))
            if is_reported(clause):
                continue
            if _DEALER.search(clause) and not re.search(r"\bi (?:have|hold)\b", clause):
                # of a clause about the dealer only what it says of the own hand counts
                mine = re.search(r"\bmy (?:own |total of |hand of )?\d.*", clause)
                found += totals(mine[0], words, sentence, facts) if mine else []
                continue
            found += totals(clause, words, sentence, facts)
            found += busting_cards(clause, sentence, facts)
            if not supposed or _CHANCE_WORD.search(clause):
                found += _own_risk(clause, sentence, facts)
    named = any(one.claim.kind == "softness" and not one.claim.word.startswith(BY_THE_ACE) for one in found)
    return distinct([one for one in found if not (named and one.claim.word.startswith(BY_THE_ACE))])


_SUPPOSED = re.compile(r"\bif (?:i (?:get|draw|receive|pull)|it(?:'s| is)|the (?:next )?card|another)|\bunless\b")
_CHANCE_WORD = re.compile(r"\b(?:risk\w*|chance\w*|probab\w*|likel\w*|odds|danger\w*|certain\w*)\b|%")
_SOME_CARD = re.compile(
    r"\b(?:if|unless|anything|any card (?:over|above|beyond|of|\d)|a card (?:that is|of|which is)|"
    r"not even|especially if)\b|"
    r"(?<!hold )(?<!have )(?<!with )\b(?:an?y?|even an?|only an?) (?:ace|king|queen|jack|tencard|\d{1,2})\b"
)


def _own_risk(clause: str, sentence: str, facts: Facts) -> list[Graded]:
    """Return the risk that a clause states over all cards; a statement about certain cards is not such a risk."""
    if _SOME_CARD.search(clause) and not re.search(r"\b(?:risk|chance|probab\w*|likel\w*|%|if i)\b", clause):
        return []
    chance = stated_chance(clause, OWN_BANDS, risk_is_passing=not _STANDING.search(clause))
    if chance is None:
        return []
    exact, numbers = facts.exact.bust_risk, (chance.low, chance.high)
    return [graded("bust risk", chance.holds(exact), f"{exact:.1%}", sentence, numbers=numbers, word=chance.words)]


def dealer_claims(text: str, facts: Facts) -> list[Graded]:
    """Return what an external belief claims: the open card, what the dealer may hold, must do, and its risk."""
    found: list[Graded] = []
    total = 0
    for sentence in sentences(text[:LONGEST_READ]):
        words = plain(sentence)
        context, own_chance = "", None
        total = total if re.search(r"\b(?:again|still)\b", words) else 0
        for clause in clauses(words):
            mine, context = context, f"{context}{clause} , "
            if not is_of_the_dealer(clause):
                own_chance = stated_chance(clause, OWN_BANDS, risk_is_passing=True)
                continue
            if is_reported(clause):
                continue
            total = 0 if re.search(r"\b(?:if|otherwise|unless)\b", clause) else total
            new = _of_the_dealer(clause, sentence, facts, mine)
            if total:
                new += follows_from(total, clause, sentence)
            if own_chance is not None and re.search(r"\b(?:same|equal(?:ly)?|likewise|as (?:high|likely))\b", clause):
                new += _dealer_risk(own_chance, sentence, facts)
            held = [
                int(one.claim.numbers[0]) for one in new if one.claim.kind == "dealer may hold" and not one.claim.word
            ]
            total = held[-1] if held and held[-1] > 11 else total
            found += new
    return distinct(found)


def _of_the_dealer(clause: str, sentence: str, facts: Facts, context: str) -> list[Graded]:
    found, places = duties(clause, sentence, facts)
    if not found:
        found += must_draw(clause, sentence, facts, context)
    found += open_card(clause, sentence, facts)
    found += acts_on_a_hidden_card(clause, sentence, facts)
    found += holdings(clause, sentence, facts, places, context)
    supposed = bust_with_a_hidden_card(clause, sentence, facts)
    if supposed is not None or re.search(r"\bwith (?:2|the two|just two|only two|his two|two) cards\b", clause):
        return found + (supposed or [])
    chance = stated_chance(clause, DEALER_BANDS, risk_is_passing=False)
    if chance is None and _THE_DEALERS.search(clause):
        chance = stated_number(clause)
    return found + _dealer_risk(chance, sentence, facts)


_THE_DEALERS = re.compile(
    r"\b(?:the dealer's|his|theirs)(?: own)?(?: risk| chance| figure)? (?:is|stands at|comes to|"
    r"only|about|around)\b"
)


def _dealer_risk(chance: Chance | None, sentence: str, facts: Facts) -> list[Graded]:
    if chance is None:
        return []
    exact, numbers = facts.exact.dealer_busts, (chance.low, chance.high)
    fact = f"{exact:.1%}"
    return [graded("dealer bust risk", chance.holds(exact), fact, sentence, numbers=numbers, word=chance.words)]
