"""Reads from a player's own words what it claims about its hand and the dealer's.

Each claim keeps the words it was read from, so that a person can check both the reading and the verdict.
"""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

Kind = Literal[
    "total",
    "softness",
    "bust risk",
    "open card",
    "dealer may hold",
    "dealer must draw",
    "dealer stops at",
    "dealer bust risk",
]


LONGEST_QUOTE = 160


class Claim(msgspec.Struct, frozen=True):
    """One claim: its kind, what it says (numbers, or one word), and the words it was read from."""

    kind: Kind
    numbers: tuple[float, ...]
    word: str
    quote: str


_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_NUMBER = r"(\d{1,2})(?![\d.]*%|\.\d|\d)"
_NOT_A_TOTAL = (
    r"(?:exceed\w*|over|above|past|below|under|than|to|reach\w*|up to|beyond|until|of|at most|at least|limit|by)\s*$"
)
_TOTAL = re.compile(
    r"(?:total\w*|sum\w*|worth|value[ds]?|add\w* up|count\w*|score|equal\w*|points|hand (?:is|of)|"
    r"(?:i|i'm|you) (?:have|hold|am at|at|got)|\bat|\bhard|\bsoft|=|makes?|gives? me)"
    r"(?:\s+(?:is|are|of|to|at|a|an|as|my|hand|now|currently|either|exactly|just|hard|soft|points|value|total|"
    r"cards|two))*\s*[:=]?\s*\(?" + _NUMBER + r"(?:\s*(?:or|/)\s*" + _NUMBER + r")?",
    re.IGNORECASE,
)
_POINTS = re.compile(_NUMBER + r"\s*(?:points?\b|in total|total\b)", re.IGNORECASE)
_CARD_AFTER = re.compile(r"\s*(?:of (?:hearts|spades|clubs|diamonds)|cards?\b|and (?:an?|my)\b|\+|% )", re.IGNORECASE)
_SOFT = re.compile(r"\bsoft\b|\bace\b[^.]*\b(?:as|is|at|counts?|worth|counted)\b[^.]*\b(?:11|eleven)\b", re.IGNORECASE)
_HARD = re.compile(
    r"\bhard\b|\bno aces?\b|without (?:an )?ace|not (?:a )?soft|"
    r"\bace\b[^.]*\b(?:as|counts?|worth)\b[^.]*\b(?:1|one)\b(?![^.]*\b11\b)",
    re.IGNORECASE,
)
_BUST = re.compile(r"bust|go(?:ing|es)? over|exceed\w* 21|over 21|past 21|pass(?:ing|es)? 21|above 21", re.IGNORECASE)
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*(?:%|percent|per cent)", re.IGNORECASE)
_FRACTION = re.compile(r"\b(\d{1,2})\s*(?:/|of|out of|in)\s*(?:the )?(?:remaining )?(\d{1,2})\b", re.IGNORECASE)
_BANDS: tuple[tuple[str, str], ...] = (
    (
        "none",
        r"\bno (?:\w+ )?(?:risk|chance|danger|way|possibility)|can(?:no|')t (?:possibly )?(?:bust|go over|exceed|pass)|"
        r"impossible|zero (?:risk|chance)|without (?:any )?(?:risk|busting)|never (?:bust|go over)|will not bust|"
        r"won't bust|risk[- ]free|safe\b",
    ),
    (
        "moderate",
        r"moderate|medium|some (?:risk|chance)|fair(?:ly)? (?:\w+ )?(?:risk|chance)|about (?:even|half)|"
        r"even chance|coin|roughly half",
    ),
    ("low", r"\blow\b|small|slim|minimal|unlikely|little|slight|not (?:very )?(?:likely|high)|rarely"),
    (
        "high",
        r"\bhigh|significant|substantial|considerable|likely|large|great|big|strong(?:ly)?|serious|"
        r"very risky|probabl[ey]|most cards",
    ),
)
_RANKS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_RANKS |= {"jack": 10, "queen": 10, "king": 10, "ace": 11}
_RANK = r"(ace|king|queen|jack|ten|nine|eight|seven|six|five|four|three|two|10|[2-9])"
_OPEN = re.compile(
    r"(?:show\w*|open card|up[- ]?card|face[- ]?up(?: card)?|visible card|upcard|revealed card)[^.;,\d]{0,25}?\b"
    + _RANK
    + r"\b(?!\s*(?:to|-)\s*\d)",
    re.IGNORECASE,
)
_HOLD = re.compile(
    r"\b(?:may|might|could|can|possibl\w+|likely|probably|perhaps|would|hidden|range\w*|anything|"
    r"anywhere|between|hold\w*|end\w*)\b",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\b(\d{1,2})\s*(?:to|-|–|and|or|through)\s*(\d{1,2})\b", re.IGNORECASE)
_DEALER_TOTAL = re.compile(
    r"(?:total\w*|ha(?:s|ve|ving)|hold\w*|reach\w*|end\w*|mak(?:e|es|ing)|sum\w*|hand|giv\w+|get\w*|of|a)\s+"
    r"(?:\w+ ){0,3}?" + _NUMBER,
    re.IGNORECASE,
)
_MUST = re.compile(
    r"must|ha(?:s|ve) to|required|forced|needs? to|will(?: have to)?|obliged|rules?|always|should", re.IGNORECASE
)
_DRAWS = re.compile(r"\b(?:hit|hits|draw|draws|drawing|take|takes|taking|hitting)\b", re.IGNORECASE)
_STANDS = re.compile(r"\b(?:stand|stands|stop|stops|stay|stays|standing)\b", re.IGNORECASE)
_UNTIL = re.compile(
    r"(?P<how>until|to|reach\w*|below|under|less than|fewer than|before|at least|or more|on|at|with|all|any)?"
    r"\s*(?:it |they |he |she |has |have |reach\w* |is |a |total |of |at |least |every |any |all |hard |soft )*"
    r"(?P<number>1[5-9]|2[01])"
    r"(?P<after>\s*(?:or (?:less|lower|below|under|fewer)|and (?:below|under)))?",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def own_claims(text: str) -> list[Claim]:
    """Return what a self-belief claims: the total, soft or hard, and the risk of passing 21."""
    found: list[Claim] = []
    for sentence in sentences(text[:4000]):
        found += _totals(sentence)
        if not re.search(r"dealer", sentence, re.IGNORECASE):
            found += _softness(sentence)
            found += _risk(sentence, "bust risk")
    return _once(found)


def dealer_claims(text: str) -> list[Claim]:
    """Return what an external belief claims: the open card, what the dealer may hold, must do, and may pass 21 with."""
    found: list[Claim] = []
    for sentence in sentences(text[:4000]):
        rules = list(_dealer_rule(sentence))
        found += rules
        found += _open_card(sentence)
        if _BUST.search(sentence) and not re.search(r"\b(?:i|my|me)\b", sentence, re.IGNORECASE):
            found += _risk(sentence, "dealer bust risk")
        elif not rules:
            found += _holdings(sentence)
    return _once(found)


def _once(found: list[Claim]) -> list[Claim]:
    """Return the claims without repetitions, each with the beginning of the sentence it was first made in."""
    kept: dict[tuple[str, tuple[float, ...], str], Claim] = {}
    for claim in found:
        quote = claim.quote if len(claim.quote) <= LONGEST_QUOTE else claim.quote[: LONGEST_QUOTE - 1] + "…"
        kept.setdefault((claim.kind, claim.numbers, claim.word), Claim(claim.kind, claim.numbers, claim.word, quote))
    return list(kept.values())


def _totals(sentence: str) -> Iterator[Claim]:
    if re.search(r"\bif\b|\bwould\b|\bdealer\b|\bnext card\b", sentence, re.IGNORECASE):
        sentence = re.split(r"\bif\b|\bwould\b|\bdealer\b|\bnext card\b", sentence, maxsplit=1, flags=re.IGNORECASE)[0]
    matches = list(_TOTAL.finditer(sentence)) + list(_POINTS.finditer(sentence))
    for match in matches:
        before = sentence[: match.start(1)]
        if re.search(_NOT_A_TOTAL, before, re.IGNORECASE) and not re.search(
            r"(?:total|sum|value|add|count|equal)\w*(?:\s+\w+){0,2}\s+(?:of|to)\s*$", before, re.IGNORECASE
        ):
            continue
        if _CARD_AFTER.match(sentence[match.end() :]):
            continue
        numbers = tuple(float(group) for group in match.groups() if group)
        yield Claim("total", numbers, "", sentence)


def _softness(sentence: str) -> Iterator[Claim]:
    hard, soft = _HARD.search(sentence), _SOFT.search(sentence)
    if re.search(r"not (?:a )?soft|no(?:t| longer)? soft", sentence, re.IGNORECASE):
        yield Claim("softness", (), "hard", sentence)
    elif bool(hard) != bool(soft):
        yield Claim("softness", (), "hard" if hard else "soft", sentence)


def _risk(sentence: str, kind: Kind) -> Iterator[Claim]:
    if not _BUST.search(sentence) and not re.search(r"\brisk\b", sentence, re.IGNORECASE):
        return
    percent = _PERCENT.search(sentence)
    fraction = _FRACTION.search(sentence)
    if percent:
        yield Claim(kind, (float(percent[1]) / 100,), "", sentence)
    elif fraction and int(fraction[2]) > 0 and int(fraction[1]) <= int(fraction[2]):
        yield Claim(kind, (int(fraction[1]) / int(fraction[2]),), "", sentence)
    else:
        for word, pattern in _BANDS:
            if re.search(pattern, sentence, re.IGNORECASE):
                yield Claim(kind, (), word, sentence)
                return


def _open_card(sentence: str) -> Iterator[Claim]:
    match = _OPEN.search(sentence)
    if match and not re.search(r"hidden|face[- ]?down|hole", match[0], re.IGNORECASE):
        word = match[1].lower()
        yield Claim("open card", (float(_RANKS.get(word) or int(word)),), "", sentence)


def _holdings(sentence: str) -> Iterator[Claim]:
    if not _HOLD.search(sentence):
        return
    span = _RANGE.search(sentence)
    if span and int(span[1]) <= int(span[2]):
        yield Claim("dealer may hold", (float(span[1]), float(span[2])), "range", sentence)
        return
    numbers = tuple(float(match[1]) for match in _DEALER_TOTAL.finditer(sentence) if int(match[1]) > 11)
    if numbers:
        yield Claim("dealer may hold", numbers, "totals", sentence)


def _dealer_rule(sentence: str) -> Iterator[Claim]:
    draws, stands = _DRAWS.search(sentence), _STANDS.search(sentence)
    if not (draws or stands) or not _MUST.search(sentence) or re.search(r"\bI\b|\bmy\b", sentence):
        return
    limits = []
    starts = [found.start() for found in (draws, stands) if found]
    for match in _UNTIL.finditer(sentence, min(starts)):
        inclusive = bool(match["after"])
        on_draw = draws and (
            not stands or match.start() < stands.start() or stands.start() < draws.start() < match.start()
        )
        at_draw = on_draw and (match["how"] or "").lower() in ("on", "at", "with", "any", "all")
        limits.append(float(match["number"]) + (1 if inclusive or at_draw else 0))
    if limits:
        yield Claim("dealer stops at", tuple(limits), "", sentence)
    elif draws and not re.search(r"\bif\b|depend|unless|may|might|could", sentence, re.IGNORECASE):
        yield Claim("dealer must draw", (), "", sentence)
