"""What a sentence says of the dealer: the open card, what it may hold, and what the rules make it do."""

import re
from collections.abc import Iterator

from sociometer.instruments.egosocial.games.blackjack.claim import CARD_POINTS, RANK, Claim
from sociometer.instruments.egosocial.games.blackjack.rules import DEALER_STANDS_ON

_OPEN = re.compile(
    r"(?:show\w*+|open card|up[- ]?card|face[- ]?up(?: card)?|visible card|upcard|revealed card)[^.;,\d]{0,25}?\b"
    rf"({RANK})\b(?!\s*(?:to|-)\s*\d)",
    re.IGNORECASE,
)
_WORTH = re.compile(
    rf"\bdealer's (?:(?:open|visible|face-up|up|current)\s+)?(?:card,? )?(?:an? |the )?{RANK}(?: of \w+)?"
    rf"(?: (?:is|has|now|a|currently|still))* (?:worth|counts?|value|valued)(?: (?:of|at|as|only|just))* "
    rf"({RANK}|11|eleven|1|one)\b",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"hidden|face[- ]?down|hole", re.IGNORECASE)
_HOLD = re.compile(
    r"\b(?:may|might|could|can|possibl\w+|likely|probably|perhaps|would|hidden|range\w*|anything|"
    r"anywhere|between|hold\w*|end\w*)\b",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\b(\d{1,2})\s*(?:to|-|–|and|or|through)\s*(\d{1,2})\b", re.IGNORECASE)
_ACE_EITHER_WAY = {1, 11}
_DEALER_TOTAL = re.compile(
    r"(?:total\w*|ha(?:s|ve|ving)|hold\w*|reach\w*|end\w*|mak(?:e|es|ing)|sum\w*|hand|giv\w+|get\w*|of|a)\s+"
    r"(?:\w+ ){0,3}?(\d{1,2})(?![\d.]*%|\.\d|\d)",
    re.IGNORECASE,
)
_MUST = re.compile(
    r"must|ha(?:s|ve) to|required|forced|needs? to|will(?: have to)?|obliged|rules?|always|should|"
    r"compulsory|mandatory",
    re.IGNORECASE,
)
_DOES = re.compile(r"\b(?:hits|draws|stands|stops|takes|keeps)\b", re.IGNORECASE)
_DRAWS = re.compile(r"\b(?:hit|hits|draw|draws|drawing|take|takes|taking|hitting)\b", re.IGNORECASE)
_STANDS = re.compile(r"\b(?:stand|stands|stop|stops|stay|stays|standing)\b", re.IGNORECASE)
_UNTIL = re.compile(
    r"(?P<how>\b(?:until|to|reach\w*|below|under|less than|fewer than|before|at least|on|at|with|all|any|from|once|"
    r"when)\b)?"
    r"\s*+(?:\b(?:it|they|he|she|has|have|reach\w*|is|a|total|of|at|least|every|any|all|anything|from|hard|soft)\s++)*+"
    r"(?P<number>1[2-9]|2[01])(?:s|\b)"
    r"(?P<after>\s*(?:or (?:less|lower|below|under|fewer)|and (?:below|under|lower|less)))?",
    re.IGNORECASE,
)
_DRAWN_ON = ("on", "at", "with", "any", "all", "when", "from")
_LEAST_LIMIT = 15
_DRAWN_TO_SIXTEEN = re.compile(rf"\b(?:draw|hit)\w* (?:up )?to {DEALER_STANDS_ON - 1}\b", re.IGNORECASE)
_ON_CONDITION = re.compile(
    r"\b(?:if|unless|otherwise|else|when|whenever|once|in that case|then|depend\w*|may|might|could|below|under|"
    rf"with an? {RANK})\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\bi(?:'d| would)? (?:think|believe|expect|guess|say|put|estimate|assume|suppose|reckon)\b", re.IGNORECASE
)
_OWN = re.compile(r"\b(?:i|my|me)\b", re.IGNORECASE)
_DEALER = re.compile(r"\bdealer|\bthey\b", re.IGNORECASE)


def is_of_the_dealer(sentence: str) -> bool:
    """Whether a sentence of an external belief speaks of the dealer, not of the player alone."""
    return bool(_DEALER.search(sentence)) or not _OWN.search(_OPINION.sub(" ", sentence))


def open_card(sentence: str) -> Iterator[Claim]:
    """Read which card lies open, and what it is said to be worth."""
    for pattern in (_OPEN, _WORTH):
        match = pattern.search(sentence)
        if match and not _HIDDEN.search(match[0]):
            word = match[1].lower()
            points = {"eleven": 11, "one": 1}.get(word) or CARD_POINTS.get(word) or int(word)
            yield Claim("open card", (float(points),), "", sentence)


def holdings(sentence: str) -> Iterator[Claim]:
    """Read what the dealer may hold: a range, or totals."""
    if not _HOLD.search(sentence):
        return
    for span in _RANGE.finditer(sentence):
        low, high = int(span[1]), int(span[2])
        if low <= high and {low, high} != _ACE_EITHER_WAY:
            yield Claim("dealer may hold", (float(low), float(high)), "range", sentence)
            return
    numbers = tuple(float(match[1]) for match in _DEALER_TOTAL.finditer(sentence) if int(match[1]) > 11)
    if numbers:
        yield Claim("dealer may hold", numbers, "totals", sentence)


def duties(sentence: str) -> Iterator[Claim]:
    """Read where the dealer stops by the rules, or that it must draw whatever it holds."""
    draws, stands = _DRAWS.search(sentence), _STANDS.search(sentence)
    must = _MUST.search(sentence)
    if not (draws or stands) or not (must or _DOES.search(sentence)) or not is_of_the_dealer(sentence):
        return
    drawn_to: list[float] = []
    stood_on: list[float] = []
    starts = [found.start() for found in (draws, stands) if found]
    for match in _UNTIL.finditer(sentence, min(starts)):
        on_draw = draws and (
            not stands or match.start() < stands.start() or stands.start() < draws.start() < match.start()
        )
        how, number = (match["how"] or "").lower(), float(match["number"])
        straight_after = any(found and 0 <= match.start() - found.end() <= 1 for found in (draws, stands))
        if not how and not straight_after:
            continue
        drawn_on = on_draw and (how in _DRAWN_ON or not how)
        # "must draw on 12" is true and says nothing of where the drawing ends
        if not drawn_on or number >= _LEAST_LIMIT:
            (drawn_to if on_draw else stood_on).append(number + (1 if match["after"] or drawn_on else 0))
    # "draw to 16, stand on 17" draws on 16 too
    if DEALER_STANDS_ON in stood_on and _DRAWN_TO_SIXTEEN.search(sentence):
        drawn_to = []
    limits = drawn_to + stood_on
    if limits:
        yield Claim("dealer stops at", tuple(limits), "", sentence)
    elif draws and must and not _ON_CONDITION.search(sentence):
        yield Claim("dealer must draw", (), "", sentence)
