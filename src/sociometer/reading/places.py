"""Mentions of an option by its place: the third one, option two, the latter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sociometer.reading.marks import PLACE

__all__ = ["VERBS", "mark_places"]

VERBS = (
    "is|are|was|were|isn't|aren't|wasn't|would|wouldn't|could|couldn't|can|can't|cannot|may|might|must|should|shouldn't|"
    "will|won't|do|does|doesn't|did|has|had|and|or|nor|but|because|since|as|due|given|it|then|over|than|rather|instead|"
    "if|though|although|even|while|when|which|who|that|with|at|in|on|to|from|by|for|too|also|only|just|alone|itself|not|"
    "never|simply|clearly|actually|really|probably|actively|directly|still|best|seems|looks|sounds|fits|works|feels|"
    "misses|ignores|makes|gives|shows|says|leaves|keeps|means|treats|asks|goes|takes|comes|becomes|remains|wins|offers|"
    "requires|assumes|describes|explains|avoids|turns|puts|serves|addresses|yes|no|nope"
)
"""Words that follow a mention, but neither an article nor a number."""
_NOUNS = (
    "options?|choices?|answers?|letters?|numbers?|no\\.|comments?|repl(?:y|ies)|responses?|statements?|reactions?|"
    "alternatives?|items?|sentences?|candidates?|scenarios?|approach(?:es)?|strateg(?:y|ies)|rows?|remarks?|actions?|"
    "possibilit(?:y|ies)|interpretations?|explanations?|readings?|ones?|suggestions?|version|line|message|"
    "utterances?|ways?|moves?|paths?|plans?|routes?"
)
_HAN_NOUNS = "选项|選項|方案|留言|答案|做法|说法|說法|回答|回复|回覆|句子?|项|項|个|個|种|種|条|條|行|则|則|位"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERED = r"\d{1,2}(?:st|nd|rd|th)"
_COUNTED = (
    r"\b(?:(?:comment|reply|option|sentence|statement) (?:number|no\.)|"
    r"options?|choice|answer|alternative|number|no\.)"
)
_FORMER = re.compile(r"\bthe former\b|前者|前一(?:种|个|句|项|条)(?:说法|做法)?", re.IGNORECASE)
_LATTER = re.compile(r"\bthe latter\b|[后後]者|[后後]一(?:种|个|句|项|条)(?:说法|做法)?", re.IGNORECASE)
_HAN = "一二三四五六七八九十"


def mark_places(text: str, folded: Sequence[str], *, digits: bool) -> str:
    """Return the text with a mark for each mention by place; `digits` says that numbers are places, not labels."""
    count = len(folded)

    def place(at: int, match: re.Match[str]) -> str:
        return chr(PLACE + at) if 0 <= at < count else match[0]

    said = " ".join(folded)
    ordinals = "|".join(_ORDINALS[: min(count, 10)])
    free = "|".join(word for word in _ORDINALS[: min(count, 10)] if f" the {word} " not in f" {said} ") or "(?!)"
    text = re.sub(
        r"\bthe last two\b(?! \w+s\b)",
        lambda m: f"{place(count - 2, m)} and {place(count - 1, m)}",
        text,
        flags=re.I,
    )
    text = re.sub(
        rf"(?:\bthe |(?:^|(?<=[.:\n] )|(?<=\n)))({ordinals}|last|{_NUMBERED}) (?:{_NOUNS})\b(?!\s*:)|"
        rf"\bthe ({free}|last|{_NUMBERED})\b(?=\s*(?:[.,;:!?)]|$)|\s+(?:{VERBS}|one|[a-z]+(?<!s)s)\b)",
        lambda m: place(_ordinal(m[1] or m[2], count), m),
        text,
        flags=re.I,
    )
    text = re.sub(
        rf"[第头]\s*([{_HAN}]|\d{{1,2}})\s*(?:{_HAN_NOUNS})(?:选项|選項)?(?![月年天次])|(最[后後]一)(?:{_HAN_NOUNS})",
        lambda m: place(count - 1 if m[2] else _han(m[1]), m),
        text,
    )
    number = r"\d{1,2}" if digits else "(?!)"
    text = re.sub(
        rf"{_COUNTED}\s*#?({number}|{'|'.join(_COUNTS)})\b(?! of\b|[.,/%]\d)|选项\s*([{_HAN}]|{number})(?!个)",
        lambda m: place(_counted(m[1] or m[2]), m),
        text,
        flags=re.I,
    )
    if count == 2:
        text = _LATTER.sub(chr(PLACE + 1), _FORMER.sub(chr(PLACE), text))
    return text


def _ordinal(word: str, count: int) -> int:
    if word[0].isdigit():
        return int(word[:-2]) - 1
    return count - 1 if word.lower() == "last" else _ORDINALS.index(word.lower())


def _han(sign: str) -> int:
    return _HAN.index(sign) if sign in _HAN else int(sign) - 1


def _counted(word: str) -> int:
    return _COUNTS.index(word.lower()) if word.lower() in _COUNTS else _han(word)
