"""The chance of passing 21 that a clause states: an interval that must contain the exact chance."""

import re

import msgspec

SLACK = 0.10
"""The allowed error of a stated chance."""
OWN_BANDS = {"low": (0.0, 0.35), "moderate": (0.25, 0.65), "high": (0.50, 1.0)}
DEALER_BANDS = {"low": (0.0, 0.25), "moderate": (0.20, 0.40), "high": (0.33, 1.0)}
_LEAST = 0.001
UNSEEN = 49
"""The cards that a player with two cards has not seen."""


class Chance(msgspec.Struct, frozen=True):
    """The interval that a stated chance allows, and the words it was read from."""

    low: float
    high: float
    words: str

    def holds(self, exact: float) -> bool:
        """Whether the exact chance lies within."""
        return self.low - 1e-6 <= exact <= self.high + 1e-6

    def of_the_opposite(self) -> "Chance":
        """Return the same statement about the opposite event."""
        return Chance(1 - self.high, 1 - self.low, self.words)


_OVER_21 = (
    r"(?:bust\w*|break(?:s|ing)?(?: (?:me|him|them|it))?|broke|go(?:es|ing)?(?: [\w']+){0,2}? (?:over|"
    r"past|beyond|above)|"
    r"exceed\w*|pass(?:es|ing)? (?:21|the limit)|over 21|past 21|above 21|beyond 21|over the (?:limit|"
    r"top)|too (?:many|much|far|high)|be over\b(?! \d)|(?:be|am|i'm) (?:dead|done for|toast|gone)\b|"
    r"(?:put|take|push|carr[yi]|bring|send|tip)\w* (?:me|him|it|them|us|my \w+) (?:over|past|above|beyond)|"
    r"(?:finish|kill|sink|ruin|hurt)\w* (?:me|him|them)(?: off)?|lose (?:automatically|immediately|the game|at once))"
)
PASSING = re.compile(rf"\b{_OVER_21}", re.IGNORECASE)
_RISK = re.compile(r"\b(?:risk\w*|danger\w*)\b")
_SURVIVES = re.compile(
    r"(?:(?<!than )\bnot|\bnever|\bwithout(?: any| the)?(?: risk of| danger of| fear of)?|"
    rf"\bavoid\w*)\s+(?:\w+ ){{0,2}}?{_OVER_21}|\bsurviv\w*|\bget(?:s|ting)? away with|"
    r"\bgets? home|\bmade hand|\bmakes? (?:it|a hand)\b|\bsav(?:e|es|ing) me|\bstay\w* (?:under|"
    r"below|within|at or below|"
    r"alive|in)|\bbe (?:fine|okay|ok|safe)\b|\bis safe\b|\bhelps? me\b",
)
_HIT_IS = re.compile(
    r"\b(?:hit|hitting|drawing|taking another|another card|one more)\b[^.]{0,20}(?:\beven\b|coin|50[-/ ]50)"
)
_GOAL = re.compile(
    r"\b(?:try\w*|aim\w*|hop(?:e|ing)|goal|strategy|want\w*|object(?:ive)?|need to be|careful|"
    r"so as|in order|the idea|tak(?:e|ing) (?:a |any |the |more )?risks?|afford)\b"
)
_NO_EVENT = re.compile(r"\bwithout (?:\w+ )?(?:risk|danger|fear)|\bno (?:\w+ )?(?:risk|danger|chance)")
_PERCENT = r"(?P<percent>\d{1,3}(?:\.\d+)?)\s*(?:%|percent|per cent)"
_DECIMAL = r"(?P<decimal>(?<![\d.])0?\.\d{1,4}\b)"
_RATIO = (
    r"\b(?P<part>\d{1,2})\s*(?:cards? |times? |chances? |hands? |ranks? |draws? |hits? )?(?:/|in every|in|"
    r"out of(?: every)?|of(?: the)?(?: other)?|from)\s*(?:remaining )?"
    r"(?P<whole>\d{1,2})\b(?! ?(?:points|away|short))"
)
_ODDS = r"\b(?P<first>\d) (?:to|against) (?P<second>\d)\b"
_FRACTION = (
    r"(?:\b(?P<count>a|an|the|\d) |\b)(?P<piece>half|thirds?|quarters?|fourths?|fifths?|sixths?|eighths?|tenths?)\b"
)
_EVEN = r"(?P<even>\b(?:an? )?even (?:chance|odds|money)|\b50[-/ ]50\b|\bcoin[- ]?(?:flip|toss))"
_SPLIT = r"\b(?P<left>\d\d)[-/:](?P<right>\d\d)\b"
_EVERY = r"\bevery (?P<every>other|second|third|fourth|fifth)(?: time| hand| card| draw)?\b"
_CARDS = r"\b(?P<cards>\d{1,2}) (?:of the )?(?:unseen|remaining|other|hidden|missing) cards\b"
_NUMBER = re.compile("|".join((_PERCENT, _DECIMAL, _EVEN, _EVERY, _CARDS, _SPLIT, _RATIO, _ODDS, _FRACTION)))
_PIECES = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_OVER = re.compile(
    r"(?<!not )(?<!no )\b(?<!a bit )(?<!slightly )(?<!just )(?<!a little )(?:more than|over|"
    r"above|at least|greater than|better than|well over|upwards of|beyond)\s+(?:\w+ )?$"
)
_UNDER = re.compile(
    r"(?<!a bit )(?<!slightly )(?<!just )(?<!a little )\b(?:less than|under|below|at most|up to|"
    r"no more than|not more than|fewer than|well under)\s+(?:\w+ )?$"
)
_NOT_A_CHANCE = re.compile(r"^\s*(?:short|away|points|of the (?:best|strongest|worst))")

_WORDS: tuple[tuple[str, str], ...] = (
    ("low", r"\b(?:almost|practically|virtually|next to|hardly|barely) (?:no|zero|nil|any)\b"),
    ("none",

         r"\b(?:no|zero|0|nil|without(?: any)?|not (?:any|the (?:least|slightest)|"
         r"a)) (?:\w+ ){0,2}?(?:risk|chance|danger|way|possibility|fear|worry)|"
     r"risk[- ]?free|riskless|\bimpossible|free of (?:\w+ )?(?:risk|danger)|"
     r"\b(?:risk|chance|danger|probability|likelihood)\b[^.]{0,25}\b(?:zero|0|nil|none|non-?existent)\b(?![.%]?\d)|"
     rf"\b(?:can|could|would|will|do|does|did)\s+(?:not|never|no longer) (?:possibly |ever |yet |now |be )?{_OVER_21}|"
     rf"\b(?:never|not able to|unable to|no longer) {_OVER_21}|not at (?:immediate )?risk|not immediately at risk|"
     r"\b(?:nothing|none|no (?:single |one |\w+ )?card)\b(?: \w+){0,3}? (?:can|could|will|would|is able)\b|"
     r"(?<!not )\bsafe(?:ly)?\b(?! (?:distance|hand|number|enough))"),
    ("sure",

         r"(?<!not )(?<!un)(?<!almost )(?<!nearly )(?<!practically )(?<!virtually )\b(?:certain(?:ly|"
         r"ty)?|definite(?:ly)?|for sure|bound to|guaranteed|always|inevitabl[ey]|any (?:further |"
         r"additional |other |more )?card (?:will|would|beyond|busts)|every card|100 ?%)"),
    ("almost",

         r"\b(?:almost|nearly|practically|virtually|as good as) (?:certain|sure|surely|always|every|"
         r"any|guaranteed|inevitabl)|\bextremely (?:high|likely)|\bvery nearly"),
    ("likelier",

         r"more likely than not|more likely to (?:bust|break|go)|more often than not|(?<!un)\bmost likely|"
         r"\bprobabl[ey]\b|\bmost (?:of the )?(?:remaining |other )?cards|odds[- ]on|favou?rite to (?:bust|"
         r"break)"),
    ("notlow", r"not (?:at all )?(?:unlikely|low|small|negligible|slim|improbable)|\bno small\b"),
    ("low",

         r"\blow(?:er)?\b|\bsmall|\bslim|\btiny|\bminimal|\bunlikely|\blittle\b|\bslight|\brare(?:ly)?|"
         r"\bseldom|\bhardly|\bbarely|\bscarcely|\bremote\b|\bnegligible|\bimprobable|"
     r"not (?:very |particularly |too |that |so |all that |really )?(?:likely|high|great|big|large|much)"),
    ("moderate",
        r"\bmoderate|\bmedium|\bsome (?:risk|chance|danger)|\bfair(?:ly)? (?:\w+ )?(?:risk|chance)|"
        r"\bdecent|\breasonable|\bmiddling"),
    ("high",

         r"\bhigh(?!est)|\bsignificant|\bsubstantial|\bconsiderable|(?<!un)\blikely|\blarge|\bgreat|\bbig\b|"
         r"\bstrong(?:ly)? chance|\bserious|\bgood (?:chance|possibility|odds)|\b(?:chances?|"
         r"odds)\b[^.]{0,30}\b(?:is|are|look) (?:good|great|excellent)|\bhuge\b|\bheavy\b|\beasily\b|"
         r"\bnot safe"),
    ("some", r"\brisk\w*|\bdanger\w*|\bchance|\bpossib\w*|\bcould\b|\bmight\b|\bmay\b|\bcan\b"),
)  # fmt: skip
_PATTERNS = tuple((word, re.compile(pattern)) for word, pattern in _WORDS)


def stated_chance(clause: str, bands: dict[str, tuple[float, float]], *, risk_is_passing: bool) -> Chance | None:
    """Return the chance of passing 21 that a plain clause states; None if it states none.

    A chance of surviving is inverted. With `risk_is_passing` a bare "risk" means that of passing 21.
    """
    if _GOAL.search(clause):
        return None
    passing = PASSING.search(clause)
    survives = _SURVIVES.search(clause)
    hit = risk_is_passing and (_RISK.search(clause) or _HIT_IS.search(clause) or _ruinous(clause))
    if not passing and not survives and not hit:
        return None
    number = stated_number(clause)
    if number is not None:
        return number.of_the_opposite() if survives and not _NO_EVENT.search(clause) else number
    for word, pattern in _PATTERNS:
        found = pattern.search(clause)
        if not found:
            continue
        chance = _band(word, bands, found[0])
        # "a high chance of not busting" is turned round; "cannot bust" already says it of busting
        return chance.of_the_opposite() if survives and word not in ("none", "some") else chance
    return None


_RUINOUS = re.compile(r"\b(?:suicid\w*|fatal|madness|disast\w*|reckless|deadly|ruin\w*)\b")


def _ruinous(clause: str) -> bool:
    """Whether a clause calls one more card ruinous and gives a number for it."""
    return bool(_RUINOUS.search(clause)) and stated_number(clause) is not None


def _band(word: str, bands: dict[str, tuple[float, float]], words: str) -> Chance:
    fixed = {
        "none": (0.0, 0.0),
        "sure": (0.995, 1.0),
        "almost": (0.85, 1.0),
        "likelier": (0.5, 1.0),
        "notlow": (0.2, 1.0),
        "some": (_LEAST, 1.0),
    }
    low, high = fixed.get(word) or bands[word]
    return Chance(low, high, words)


def stated_number(clause: str) -> Chance | None:
    """Return the interval around a number that is a chance."""
    # a percentage is more exact than what stands beside it
    for found in sorted(_NUMBER.finditer(clause), key=lambda one: one["percent"] is None):
        if _NOT_A_CHANCE.match(clause[found.end() :]):
            continue
        value = _value(found)
        if value is None or not 0 <= value <= 1:
            continue
        before = clause[: found.start()]
        low = value - SLACK
        high = value + SLACK
        if _OVER.search(before):
            high = 1.0
        elif _UNDER.search(before):
            low = 0.0
        return Chance(max(0.0, low), min(1.0, high), found[0])
    return None


def _value(found: re.Match[str]) -> float | None:
    if found["percent"]:
        return float(found["percent"]) / 100
    if found["decimal"]:
        return float(found["decimal"])
    if found["every"]:
        return 1 / {"other": 2, "second": 2, "third": 3, "fourth": 4, "fifth": 5}[found["every"]]
    if found["cards"]:
        return int(found["cards"]) / UNSEEN
    if found["left"]:
        return int(found["left"]) / 100 if int(found["left"]) + int(found["right"]) == 100 else None
    if found["even"]:
        return 0.5
    if found["part"]:
        whole = int(found["whole"])
        return int(found["part"]) / whole if whole else None
    if found["first"]:
        return int(found["first"]) / (int(found["first"]) + int(found["second"]))
    piece = _PIECES[found["piece"].removesuffix("s") if found["piece"] != "half" else "half"]
    count = found["count"] or "1"
    return (int(count) if count.isdigit() else 1) / piece
