"""What a sentence says of the risk of passing 21: a number, a comparison with one, or a word."""

import re
from collections.abc import Iterator

from sociometer.instruments.egosocial.games.blackjack.claim import Claim, Kind

_PASSING = r"(?:bust\w*|go(?:ing|es)? (?:over|past)|exceed\w*|pass(?:ing|es)?(?: 21)?)"
BUST = re.compile(
    r"bust|go(?:ing|es)? over|go(?:ing)? past|exceed\w* 21|over 21|past 21|pass(?:ing|es)? 21|above 21|surviv", re.I
)
_RISK = re.compile(r"\brisk|\bdanger", re.IGNORECASE)
_SURVIVES = re.compile(
    rf"(?:\bnot|n't|\bnever|\bwithout|\bavoid\w*|\bno)\s+(?:\w+\s+)?{_PASSING}|\bsurviv|\bsafe\b|"
    r"\bstay\w* (?:under|below|within|at or below)",
    re.IGNORECASE,
)
_CHANCE_OF_SURVIVING = re.compile(
    rf"\b(?:chance|probability|likelihood|odds)\s+(?:\w+\s+){{0,4}}?(?:not\s+{_PASSING}|surviv|avoid|stay)",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*(?:%|percent|per cent)", re.IGNORECASE)
_DECIMAL = re.compile(r"(?<![\d.])0?\.\d{1,4}\b(?!\s*%)")
_FRACTION = re.compile(
    r"\b(\d{1,2})\s*(?:/|of|out of|in)\s*(?:the )?(?:remaining )?(\d{1,2})\b(?!\s*(?:points|total))", re.IGNORECASE
)
_WORD_FRACTION = re.compile(
    r"\b(?:(?P<count>one|two|three|four|a)[ -](?:(?:times? )?(?:out of |in )(?P<odds>two|three|four|five|six|ten)|"
    r"(?P<part>half|thirds?|quarters?|fourths?|fifths?))|half)\b",
    re.IGNORECASE,
)
_PARTS = {"half": 2, "two": 2, "third": 3, "three": 3, "quarter": 4, "fourth": 4, "four": 4, "fifth": 5, "five": 5}
_PARTS |= {"six": 6, "ten": 10}
_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4}
_OVER = re.compile(r"\b(?:more than|over|above|at least|greater than|exceeding|well over)\s+(?:\w+ )?$", re.IGNORECASE)
_UNDER = re.compile(r"\b(?:less than|under|below|at most|up to|no more than|fewer than)\s+(?:\w+ )?$", re.IGNORECASE)
_BANDS: tuple[tuple[str, str], ...] = (
    (
        "none",
        r"\b(?:no|zero) (?:\w+ )?(?:risk|chance|danger|way|possibility)|risk[- ]free|impossible|without (?:any )?risk|"
        r"(?:risk|chance|danger|probability)\b[^.]{0,25}\b(?:zero|nil|none|non-?existent)\b|"
        rf"(?:\bcan|could|would|will|do|does|did)(?:not|n't| not| never| no longer) (?:possibly |ever )?{_PASSING}|"
        rf"\b(?:won't|can't|never|without|not able to|unable to) {_PASSING}|"
        rf"\b(?:nothing|no (?:\w+ )?cards?) (?:can|could|will|would)\b|(?<!not )(?<!n't )\bsafe\b",
    ),
    (
        "moderate",
        r"moderate|medium|some (?:risk|chance)|fair(?:ly)? (?:\w+ )?(?:risk|chance)|about even|even chance|coin",
    ),
    (
        "low",
        r"\blow\b|small|slim|minimal|unlikely|little|slight|rarely|seldom|"
        r"not (?:very |particularly |too |that )?(?:likely|high|great)",
    ),
    (
        "high",
        r"\bhigh|significant|substantial|considerable|likely|large|great|big|strong(?:ly)?|serious|"
        r"risky|probabl[ey]|most cards|surely|certain|definite|bound to|always|not safe",
    ),
)
_REVERSED = {"low": "high", "high": "low", "over": "under", "under": "over"}


def chances(sentence: str, kind: Kind) -> Iterator[Claim]:
    """Read the risk that a sentence states; a chance of not passing 21 is turned round."""
    if not BUST.search(sentence) and not _RISK.search(sentence):
        return
    stated = _stated_number(sentence)
    if stated is not None:
        number, how = stated
        if _SURVIVES.search(sentence):
            number, how = round(1 - number, 9), _REVERSED.get(how, how)
        yield Claim(kind, (number,), how, sentence)
        return
    for word, pattern in _BANDS:
        if re.search(pattern, sentence, re.IGNORECASE):
            turned = _CHANCE_OF_SURVIVING.search(sentence)
            yield Claim(kind, (), _REVERSED.get(word, word) if turned else word, sentence)
            return


def _stated_number(sentence: str) -> tuple[float, str] | None:
    """Return a stated chance, and whether it was said to be over or under that."""
    percent, fraction = _PERCENT.search(sentence), _FRACTION.search(sentence)
    decimal, worded = _DECIMAL.search(sentence), _WORD_FRACTION.search(sentence)
    if percent:
        number, place = float(percent[1]) / 100, percent.start()
    elif decimal:
        number, place = float(decimal[0]), decimal.start()
    elif fraction and int(fraction[2]) > 0 and int(fraction[1]) <= int(fraction[2]):
        number, place = int(fraction[1]) / int(fraction[2]), fraction.start()
    elif worded:
        part = _PARTS[(worded["part"] or worded["odds"] or "half").lower().removesuffix("s")]
        number, place = min(1.0, _COUNTS[(worded["count"] or "one").lower()] / part), worded.start()
    else:
        return None
    before = sentence[:place]
    return number, "over" if _OVER.search(before) else "under" if _UNDER.search(before) else ""
