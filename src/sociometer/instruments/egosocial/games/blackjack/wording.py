"""A belief in plain tokens: lower case, numbers as digits, cards by one name each, split into sentences and clauses."""

import re

_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_VALUES = {word: value for value, word in enumerate(_UNITS)} | _TENS | {"deuce": 2, "trey": 3}
_COMPOUND = re.compile(rf"\b({'|'.join(_TENS)})[- ]({'|'.join(_UNITS[1:10])})\b")
_PLURAL = re.compile(r"\b(two|three|four|five|six|seven|eight|nine|ten|deuce|trey)e?s\b")
_WORD = re.compile(rf"\b({'|'.join(sorted((word for word in _VALUES if word != 'one'), key=len, reverse=True))})\b")
_ONE = re.compile(r"\bone(?=[- ](?:in|out of|time|chance|third|quarter|fifth|half|sixth|tenth)\b)|(?<=counts )one\b|"


                          r"(?<=count )one\b|(?<=as )one\b|(?<= at )one\b|(?<= a )one(?= here|[.,;)]|$)|"
                          r"(?<=is )one(?=[.,;)]|$)|(?<= to )one(?=[.,;)]|"
                      r"$)")  # fmt: skip
_SUIT = re.compile(r"\s+of (?:hearts?|spades?|clubs?|diamonds?)\b|\b(?:hearts?|spades?|clubs?|diamonds?)\s+(?=\w)")
_LETTER = re.compile(r"(?<=[\s(+,{-])([kqj])(?=[\s)+,.=}-]|$)|^([kqj])(?=[\s)+,.=-])")
_LETTERS = {"k": "king", "q": "queen", "j": "jack"}
_ACE_LETTER = re.compile(r"(?<=[(+,-])\s*a(?=[\s)+,.=-]|$)|\ba(?= ?[=+]| is 1\b|-\d| is 11\b)")
_TEN_CARD = re.compile(
    r"\b(?:face|court|picture|paint|high-value)[- ]?cards?\b|\b10[- ]value[ds]?(?:[- ]?cards?)?\b|"
    r"\b10[- ](?:points?[- ])?cards?\b|\b(?:faces|pictures|paint)\b(?! ?-?(?:up|down|card))|"
    r"\ba face\b(?! ?-?(?:up|down|card))"
)
_NOT = re.compile(
    r"\bca(n)'?t\b|\b(could|would|should|is|are|was|does|do|did|has|have|need|must|wo|ai)n'?t\b|\bcannot\b"
)
_BLACKJACK = re.compile(
    r"\b(has|have|having|holds?|got|with|makes?|is|"
    r"also has)(?: an?)?(?: natural)? blackjack\b(?: ?\(21\))?(?! (?:hand|rule|player|dealer|"
    r"game|table))"
)
# "16, no, 17": what was taken back is not said
_CORRECTED = re.compile(
    r"\b\d{1,2}\b(?=[,.:; -]{1,3}(?:(?:no|wait|sorry|oops|i mean|make that|correction|or rather|"
    r"rather|er|hang on|that is wrong)\b[ ,]*)+(?:it is |it's |that's |an? |my |actually |not )*\d)"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+| - | – |—")
_CLAUSE = re.compile(
    r"(?<!card)(?<!anything)(?<!everything)(?<!nothing)(?<!all)(?<!every),? (?:but|however|"
    r"although|though|whereas|yet)\b|"
    r";|:(?=\s(?!about|around|roughly|~|\d))|, (?=(?:so|and|which|because|since|as|if|in which|"
    r"there|it|i(?!'d (?:say|guess|put)| would (?:say|guess)| guess| think| estimate| reckon)|"
    r"the|my|he|they|with|after|then|hence|thus|therefore|not|while|or at)\b)|"
    r"\b(?:because|since|so that|therefore)\b| and (?=(?:i|there|it|the|my|he|they|any|no|nothing|"
    r"if|that|those|one|will|"
    r"bust|must|would|has|17|the rule|under)\b)"
)


MOST_NUMBERS = 30
"""How many numbers of a clause are looked at."""
REACH = 120
"""How many characters before and after a number are looked at."""


def plain(text: str) -> str:
    """Return a text in plain tokens."""
    words = text.replace("’", "'").replace("“", '"').replace("”", '"').lower()
    words = _NOT.sub(lambda found: f"{_stem(found[2])} not", words)
    words = re.sub(r"\bprolly\b", "probably", words)
    words = re.sub(r"\bblackjack for (the dealer|him|them)\b", r"\1 has 21", words)
    words = _BLACKJACK.sub(lambda found: f"{found[1]} 21", words)
    words = _SUIT.sub(" ", words)
    words = _LETTER.sub(lambda found: _LETTERS[found[1] or found[2]], words)
    words = _ACE_LETTER.sub(" ace", words)
    words = _COMPOUND.sub(lambda found: str(_TENS[found[1]] + _VALUES[found[2]]), words)
    words = _PLURAL.sub(lambda found: f"{_VALUES[found[1]]}s", words)
    words = re.sub(r"\bsixes\b", "6s", words)
    words = _WORD.sub(lambda found: str(_VALUES[found[1]]), words)
    words = _ONE.sub("1", words)
    words = re.sub(r"\baces\b", "ace cards", words)
    words = _CORRECTED.sub("", words)
    return re.sub(r"[ \t]+", " ", _TEN_CARD.sub("tencard", words)).strip()


def _stem(word: str | None) -> str:
    return {"wo": "will", "ai": "is", None: "can"}.get(word, word or "can")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def clauses(sentence: str) -> list[str]:
    """Return the clauses of a plain sentence, cut at conjunctions and at commas before a new beginning."""
    return [part.strip(" ,") for part in _CLAUSE.split(sentence) if part and part.strip(" ,")]


CARD = r"(?:ace|king|queen|jack|tencard|10|[2-9])"
_POINTS = {"ace": 1, "king": 10, "queen": 10, "jack": 10, "tencard": 10}


def card_points(word: str) -> int:
    """Return the points of a card's plain name, an ace as 1."""
    return _POINTS.get(word) or int(word)
