"""A reply without the numbers that are not points of its answer: sums, times and ages, remarks on other answers."""

from __future__ import annotations

import re
from collections.abc import Collection

from sociometer.reading.naming import MARK, option_mark

__all__ = [
    "gives_rest_nothing",
    "is_hypothetical",
    "without_arithmetic",
    "without_remarks",
    "without_totals",
    "without_units",
]

_BLANKS = re.compile(r"\s{3,}")
_ONE = r"\d{1,6}(?:\.\d{1,6})?"
_SUM_OF_NAMES = re.compile(rf"{MARK}(?:\s*\+\s*{MARK}){{1,20}}\s*={{1,3}}\s*{_ONE}")
_ARITHMETIC = re.compile(
    rf"(?<![\w.%]){_ONE}(?:\s*[×x*·\-−–+/÷]\s*{_ONE}){{1,20}}\s*=\s*(?P<result>{_ONE})(?!\s*[×*+]|\d)"
)
_CHANGED = re.compile(rf"(?P<name>{MARK}\s*[:=(]?\s*){_ONE}\s*(?:→|->|=>)\s*(?P<new>{_ONE})(?![\d.]|\s*[/,、:|]\s*\d)")
_ALLOWED_SUM = re.compile(rf"{_ONE}(?:\s*\+\s*{_ONE}){{1,20}}\s*=\s*{_ONE}")
_TOTAL = re.compile(
    rf"(?:\b(?:grand )?total(?: points?)?|\bsum|\bremaining(?=\s*(?:points?)?\s*[=:])|\bleft over(?=\s*[=:])"
    rf"|总[计共和分]|合计|共计|剩余(?=\s*[=:为是])|一共)\s*(?:is|of|=|:|为|是|points?)*"
    rf"\s*(?:{_ONE}(?:\s*\+\s*{_ONE}){{0,20}}\s*=\s*)?{_ONE}(?:\s*(?:points?|分))?",
    re.IGNORECASE,
)
_OF_ALL = re.compile(r"\s+(?:out )?of (?:the|all|my|your|those|a total of)\s+\d{1,3}(?:\s+points)?\b", re.IGNORECASE)
_REST = re.compile(
    rf"\(\s*{_ONE}\s*(?:points?\s*)?(?:left|remaining|remain|to go)[^()\n]{{0,20}}\)|"
    rf"剩(?:下|余)的?\s*{_ONE}\s*分(?=由|平|均)"
)
_NO_POINTS = re.compile(
    r"(?:一|1|半)分(?:也|都)(?:没有?|不给|不得)|不给分|不得分|没有分|不加分|不分配|gets? no points?|no points"
    r"|not a single point|not at all",
    re.IGNORECASE,
)
_NOT_ANY = re.compile(rf"\bnot (?:give|assign|allocate|award)(?: to)? ({MARK}) any(?: points?)?", re.IGNORECASE)
_NUMERAL = rf"(?:{_ONE}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten))"
_UNITS = (
    r"(?:-|\s)?(?:hours?|minutes?|mins?|seconds?|days?|weeks?|months?|years?|yrs?|am|pm|a\.m|p\.m|o'clock|times|people|"
    r"persons?|others?|friends?|pages?|km|miles?|metres?|meters?|euros?|dollars?|per cent of the time|missed|letters?|"
    r"emails?|calls?|texts?|voicemails?|lines?|bars?|moves?|emotions|feelings|options|categories|reasons|kids"
    r"|children)\b"
    r"|(?:个)?(?:小时|分钟|秒|天|岁|次|号|日|月|年|人|个人|名|点钟|元|块钱|公里|米|遍|封|条|排|页|种|位|步|周|句"
    r"|项|类|张)"
)
_UNIT_NUMBER = re.compile(rf"(?<![A-Za-z0-9.:])(?:第)?{_NUMERAL}(?:{_UNITS})(?!\s*分(?!钟))", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?<!\d)\d{1,2}:\d{2}(?:\s*[ap]\.?m)?(?![\d:])|(?<=[晚夜午晨上下])\d{1,2}点(?!\s*分)", re.IGNORECASE
)
_LABELLED_NUMBER = re.compile(
    rf"\b(?:aged?|age of|top|bar|page|move|mate in|step|room|chapter|question|scene|grade|day|year|level|number"
    rf"|no\.?|am|is now)"
    rf"\s+(?:of\s+)?{_ONE}(?!\s*(?:points?|pts?))\b",
    re.IGNORECASE,
)
_SCALE = re.compile(
    rf"\b(?:on|using) a (?:scale|range) (?:of|from) {_ONE}\s*(?:to|-|–)\s*{_ONE}|\bfrom {_ONE} to {_ONE}\b|"
    rf"{_ONE}\s*[-–~到至]\s*{_ONE}\s*(?:分制|的?范围|scale)|按\s*{_ONE}\s*[-–~到至]\s*{_ONE}\s*分",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"\b(?:had (?:the|she|he|they|it|i)\b.{0,80}\b(?:would|might|could)|would have (?:said|been|given|put)|i'd have|"
    r"(?:another|other|some|different) (?:readers?|people|person|raters?|annotators?)|someone else|one (?:could|might)|"
    r"others? (?:might|could|would|may)|(?:might|may) also|could also|if (?:she|he|it|they|the|you|we|this|that)\b|"
    r"alternatively|(?:an )?alternative (?:is|would|could)|before the|for comparison|for example|e\.g|"
    r"nearly (?:gave|said|put)|almost (?:gave|said|put)|considered|(?:was|am|were) tempted|thought about"
    r"|instead of|rather than|my second choice|not the)|"
    r"如果(?![是让要由]我)|假如|要是|倘若|换(?:个|成|作|做)|若(?:是|他|她)|也可能|可能是|别人|其他人|有人(?:会|可能)|例如|比如"
    r"|也可以|而不是|换一个",
    re.IGNORECASE,
)
_NOT_THIS = re.compile(
    rf"[,(]?\s*(?:\b(?:not|instead of|rather than)\s+(?:an?\s+)?|而不是\s*|不是\s*){_ONE}(?![.\d])"
    r"(?:\s*(?:points?|分))?\)?",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"^\W{0,4}(?:note|n\.b|nb|p\.?s|remark|caveat|disclaimer|注意?|说明|备注|另外|附注)\s*[:：.]", re.IGNORECASE
)
_NOTHING = r"(?:zero|0|none|nothing|nil|no points?|not|don't|doesn't|aren't|isn't|absent)"
_OTHERS = r"(?:rest|others|remaining|other (?:two|one|three|emotions?|options?|feelings?))"
_REST_NOTHING = re.compile(
    rf"\b{_OTHERS}\b[^.\n]{{0,30}}\b{_NOTHING}\b|\b{_NOTHING}\b[^.\n]{{0,40}}\b{_OTHERS}\b|"
    rf"\b(?:only|solely|exclusively|entirely)\b[^.\n\d]{{0,30}}{MARK}|"
    rf"\b(?:split|share[sd]?|divided?)\b[^.\n]{{0,30}}\bbetween\b[^.\n]{{0,20}}{MARK}|"
    r"(?:其余|其[他它]|剩下|剩余|余下|另外?[两三二]|别的)[^。\n]{0,20}(?:[0零〇]|没有?|无|不)|"
    rf"(?:只有?|仅)[^。\n\d]{{0,10}}{MARK}",
    re.IGNORECASE,
)
_ABSENT = (
    r"[^.。\n\d]{0,60}(?:[-–—/×✗](?=\s|[),;]|$)"
    r"|\b(?:no|not|none|nothing|nil|n/a|don't|doesn't|isn't|aren't|absent)\b|没|无|不|未)"
)
_NO = r"(?:\b(?:no|not|nor|without|don't|doesn't|can't|isn't)\b|没有?|[无不]|看不[出到])[^.。\n\d]{0,40}"
_SENTENCE = re.compile(r"(?<=[^\d\s][.!?])\s+|(?<=\d[.!?])\s+(?=[A-Z\"'(])|(?<=[。!?])|\n+")


def without_blanks(text: str) -> str:
    """Return the text with runs of white space made short, so that no rule searches through a long one."""
    return _BLANKS.sub(_short_blank, text)


def _short_blank(match: re.Match[str]) -> str:
    lines = match[0].count("\n")
    return "\n" * min(lines, 2) if lines else "\t" if "\t" in match[0] else "  "


def without_arithmetic(marked: str) -> str:
    """Return the text with '10 x 0.3 = 3' as '3' and without 'a + b + c = 10'; a list like '4+3+1+2=10' stays."""
    marked = _CHANGED.sub(r"\g<name>\g<new>", without_blanks(_SUM_OF_NAMES.sub(" ", marked)))
    return _ARITHMETIC.sub(lambda match: match[0] if _ALLOWED_SUM.fullmatch(match[0]) else match["result"], marked)


def without_totals(marked: str) -> str:
    """Return the text without its sums and remainders."""
    return without_blanks(_TOTAL.sub(" ", marked))


def without_units(marked: str) -> str:
    """Return the text without numbers that count hours, years, people and the like."""
    for pattern in (_OF_ALL, _SCALE, _CLOCK, _UNIT_NUMBER, _LABELLED_NUMBER, _REST):
        marked = without_blanks(pattern.sub(" ", marked))
    return _NO_POINTS.sub(" 0 ", _NOT_ANY.sub(r"\1 0", marked))


def gives_rest_nothing(marked: str, named: Collection[int], n: int) -> bool:
    """Return whether options without a number got nothing: the reply says so, or gives the whole total to one."""
    if len(named) == 1 or len(named) == n or _REST_NOTHING.search(marked):
        return True
    rest = (option_mark(place) for place in range(n) if place not in named)
    return all(re.search(rf"{mark}{_ABSENT}|{_NO}{mark}", marked, re.IGNORECASE) for mark in rest)


def without_remarks(marked: str) -> str:
    """Return the text without sentences and brackets that tell of other answers than the writer's own."""
    marked = re.sub(
        r"\([^()]{0,400}\)",
        lambda match: " " if _is_remark(match[0][1:-1]) and re.search(r"\d", match[0]) else match[0],
        without_blanks(_NOT_THIS.sub(" ", marked)),
    )
    kept, at = [], 0
    for match in [*_SENTENCE.finditer(marked), None]:
        end = len(marked) if match is None else match.end()
        sentence = marked[at:end]
        if not (_is_remark(sentence) and re.search(r"\d", sentence)):
            kept.append(sentence)
        at = end
    return without_blanks("".join(kept))


def _is_remark(sentence: str) -> bool:
    return bool(_NOTE.search(sentence)) or is_hypothetical(sentence)


def is_hypothetical(sentence: str) -> bool:
    """Return whether the sentence tells what others would say or what would be so otherwise."""
    return bool(_HYPOTHETICAL.search(sentence[:2_000]))
