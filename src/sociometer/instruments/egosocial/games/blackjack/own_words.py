"""What a sentence says of the player's own hand: its total, and whether that is soft or hard."""

import re
from collections.abc import Iterator

from sociometer.instruments.egosocial.games.blackjack.claim import RANK, Claim, in_digits

_NUMBER = re.compile(r"(?<![\d.])(\d{1,2})(?![\d%]|\.\d)(?:\s*(?:or|/)\s*(\d{1,2})(?![\d%]|\.\d))?")
_FILLING = (
    r"(?:\s+(?:is|are|was|of|to|at|a|an|as|my|the|hand|now|currently|either|exactly|just|only|up|hard|soft|points|"
    r"value|total|cards|two|me))*[\s:=(]*$"
)
_FACE = rf"(?:{RANK}s?|\d{{1,2}})"
_CARD = rf"(?:{_FACE}|(?:face|court|picture)[- ]cards?|card|one|other|each|both|first|second)"
_SUIT = r"(?: of (?:hearts|spades|clubs|diamonds))?"
# What follows these is the total of a hand.
_TOTAL_BEFORE = re.compile(
    r"\b(?:total\w*|sum\w*|add\w*(?: up)?|com(?:e|es|ing)(?: out)?|score|hard|soft)" + _FILLING, re.IGNORECASE
)
# And so it is after these, unless cards are being listed.
_HAND_BEFORE = re.compile(
    r"\b(?:hand (?:is|of)|i (?:have|hold|am|got)|i'm(?: at| on| holding)?|i've(?: got)?|holding|sitting on|make|makes|"
    r"making|give|gives|giving|(?:which|that|this|it)(?: is|'s)|so|hence|thus|together|altogether|for)" + _FILLING,
    re.IGNORECASE,
)
# After these stands a value: of the hand, or of one card.
_VALUE_BEFORE = re.compile(r"(?:\b(?:worth|value[ds]?|count\w*|equal\w*|points|at|is|are)|[=:])" + _FILLING, re.I)
_PLAIN_VERB = re.compile(r"\b(?:is|are)\b|:", re.IGNORECASE)
_CARDS_ADDED = re.compile(
    rf"\b(?:pair of {RANK}s?|{_FACE}{_SUIT}\)?(?:\s*(?:,|and|plus|\+|&)\s*(?:an? |my |the |and )?{_FACE}{_SUIT})+)\)?"
    r"(?:\s+(?:is|are|together))*\s*$",
    re.IGNORECASE,
)
_ONE_CARD = re.compile(
    rf"\b{_CARD}{_SUIT}(?:\s+(?:can|could|may|might|must|is|are|has|have|to|be|being|been|still|also|only|now|then|"
    r"here|each|both|either|which|that|will|currently|always|simply|a))*\s*$",
    re.IGNORECASE,
)
_HIGHEST_CARD = 11
_THRESHOLD_BEFORE = re.compile(
    r"\b(?:exceed\w*|over|above|past|below|under|than|to|reach\w*|beyond|until|of|most|least|limit|by|any|another|"
    r"(?:go|going|aim\w*|hop\w*|need\w*|try\w*) for)\s*$",
    re.IGNORECASE,
)
_TOTAL_OF = re.compile(r"\b(?:total|sum|value|add|count|equal|com)\w*(?:\s+\w+){0,2}\s+(?:of|to)\s*$", re.IGNORECASE)
_NO_TOTAL_AFTER = re.compile(
    r"\s*(?:points? )?(?:(?:each|apiece|cards?|ranks?|out of|percent|per cent|chances?)\b|[%+&]|-?value\b|plus\b|"
    r"(?:below|under|above|over|short|away|from|less|more|better)\b|or (?:more|higher|less|lower|above|below|fewer)\b|"
    rf"(?:of|in|/) ?(?:the |remaining )*\d|of (?:hearts|spades|clubs|diamonds|the)\b|{RANK}s\b)",
    re.IGNORECASE,
)
_LIST_AFTER = re.compile(rf"\s*(?:and|,) (?:an? |my |the )?{RANK}\b(?!\s*(?:of \d|short|away|%))", re.IGNORECASE)
_AFTER_A_TOTAL = re.compile(r"\s*(?:points?\b|in (?:total|all)\b|total\b|altogether\b|,?\s*\(?(?:hard|soft)\b)", re.I)
_ARTICLE_BEFORE = re.compile(r"\b(?:an?|my|the|and|plus)\s*$|[+,]\s*$", re.IGNORECASE)
_REACH = 80
# What might be, and what is the dealer's, up to the player's own again.
_NOT_NOW = re.compile(
    r"\bif\b(?!\s+(?:(?:i|we|you|one)\s+(?:count|treat|use|take|value)\s+)?(?:the|my)\s+ace\b).*|\bwould\b[^,;]*|"
    r"\bnext card\b.*|\bdealer\b.*?(?=\b(?:i|my|i'm|i've)\b|$)",
    re.IGNORECASE | re.DOTALL,
)


def of_own_hand_now(sentence: str) -> str:
    """Return the part of a sentence that speaks of the player's hand as it is, its numbers as digits."""
    return _NOT_NOW.sub(" ; ", in_digits(sentence))


def totals(sentence: str) -> Iterator[Claim]:
    """Read the totals claimed for the hand; the value of a single card is none."""
    words = of_own_hand_now(sentence)
    for match in _NUMBER.finditer(words):
        numbers = tuple(float(group) for group in match.groups() if group)
        if _is_total(numbers, words[max(0, match.start() - _REACH) : match.start()], words[match.end() :][:_REACH]):
            yield Claim("total", numbers, "", sentence)


def _is_total(numbers: tuple[float, ...], before: str, after: str) -> bool:
    """Whether a number is said of the whole hand, by the words on either side of it."""
    if _NO_TOTAL_AFTER.match(after) or (_THRESHOLD_BEFORE.search(before) and not _TOTAL_OF.search(before)):
        return False
    if _TOTAL_BEFORE.search(before):
        return True
    could_be_a_card = max(numbers) <= _HIGHEST_CARD
    if _HAND_BEFORE.search(before):
        return not _LIST_AFTER.match(after) and not (could_be_a_card and _ARTICLE_BEFORE.search(before))
    value = _VALUE_BEFORE.search(before)
    if value and _adds_up_cards(before[: value.start()]):
        return not _LIST_AFTER.match(after)
    if could_be_a_card and _ONE_CARD.search((before[: value.start()] if value else before).rstrip("( ")):
        return False
    if value and not _PLAIN_VERB.match(value[0]):
        return not _LIST_AFTER.match(after)
    return bool(_AFTER_A_TOTAL.match(after)) and not _ARTICLE_BEFORE.search(before)


def _adds_up_cards(subject: str) -> bool:
    """Whether the words end with cards added up, none of which is the value of another."""
    added = _CARDS_ADDED.search(subject)
    return added is not None and not _VALUE_BEFORE.search(subject[: added.start()])


_NAMED_KIND = re.compile(
    r"(?P<other>\b(?:not|no longer|never|isn't|rather than|instead of)\s+(?:an?\s+|really\s+|yet\s+|even\s+)*)?"
    r"\b(?P<kind>hard|soft)\b(?!\s+to\b)",
    re.IGNORECASE,
)
_NO_ACE = re.compile(r"\b(?:no|without (?:an |any )?|any) ?aces?\b", re.IGNORECASE)
_ACE_ELEVEN = re.compile(r"\bace\b[^.]*\b(?:11|eleven)\b|\b(?:11|eleven)\b[^.]{0,20}\bace\b", re.IGNORECASE)
_ACE_MAY_BE_ONE = re.compile(
    r"\bace\b[^.]{0,20}\b(?:can|could|may|might|would|able to)\b(?! only)[^.]{0,30}\b(?:1|one)\b", re.IGNORECASE
)
_ACE_ONE = re.compile(r"\bace\b[^.]*\b(?:as|is|counts?|counted|worth|count)\b[^.]{0,20}\b(?:1|one)\b", re.IGNORECASE)


def softness(sentence: str) -> Iterator[Claim]:
    """Read whether the hand is called soft or hard, in so many words or by what its ace counts."""
    words = of_own_hand_now(sentence)
    opposite = {"hard": "soft", "soft": "hard"}
    kinds = {
        opposite[match["kind"].lower()] if match["other"] else match["kind"].lower()
        for match in _NAMED_KIND.finditer(words)
    }
    if not kinds:
        kinds = _by_the_ace(words)
    if len(kinds) == 1:
        yield Claim("softness", (), kinds.pop(), sentence)


def _by_the_ace(words: str) -> set[str]:
    if _NO_ACE.search(words):
        return {"hard"}
    if _ACE_ELEVEN.search(words) or _ACE_MAY_BE_ONE.search(words):
        return {"soft"}
    return {"hard"} if _ACE_ONE.search(words) else set()
