"""Lists whose labels spell the options otherwise: each label is matched with an option, all of them at once."""

from __future__ import annotations

import re
from functools import partial
from itertools import permutations

from sociometer.reading.feeling_words import FAMILIES, SYNONYMS, is_known_feeling
from sociometer.reading.naming import Names, option_mark, stem_of

__all__ = ["learned_names"]

_BULLET = r"[ \t\-•>#\"'\[|{(]{0,8}(?:\(?\d{1,2}[.):、][ \t]?)?[ \t\"'\[|{]{0,4}"
_LABEL = r"(?P<label>[A-Za-z\u4e00-\u9fff][^\n\d:=|,;、/(){}\"\[\]。.→]{0,40}?)"
_TO_NUMBER = (
    r"[\"'\] \t]{0,4}(?:\((?P<gloss>[^()\n\d]{1,40})\))?[ \t]{0,4}(?:[:=|→]|[\-–—]{1,3}>?|[ \t]|(?<=[\u4e00-\u9fff)]))"
    r"[ \t|\"'(]{0,6}(?=[\d.+]|(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b"
    r"|[零一二两三四五六七八九十](?:[分点]|\s*(?:[\n,;、/]|$)))"
)
_AT_LINE = re.compile(rf"^{_BULLET}{_LABEL}{_TO_NUMBER}", re.MULTILINE | re.IGNORECASE)
_ANYWHERE = re.compile(rf"(?:^|[\n,;、/|{{。.]|\band\b){_BULLET}{_LABEL}{_TO_NUMBER}", re.IGNORECASE)
_NO_NAME = re.compile(
    r"(?:(?:the|my|grand|total|sum|story|item|points?|scores?|emotions?|feelings?|answer|step|option|final|remaining|rest"
    r"|others?|allocation)\s*){1,5}|.*(?:总[分计和共]|合计|共计|答案|得分|分数|情绪|选项|步骤|剩余|其余|其他).*",
    re.IGNORECASE,
)
_SMALL = """
a an the of for with to by at in on and or very quite rather somewhat feeling feels felt being is be slightly bit
little deeply not just only then about another leaving gets get got followed most least
"""
_SMALL_WORDS = frozenset(_SMALL.split())
_MOST_OPTIONS = 6


def learned_names(text: str, names: Names) -> dict[str, int]:
    """Return the option that each label of the reply's list names, where every option is named by one label."""
    if not 2 <= names.count <= _MOST_OPTIONS:
        return {}
    for pattern in (_AT_LINE, _ANYWHERE):
        found: dict[str, str] = {}
        for match in pattern.finditer(text):
            label = match["label"].strip().casefold()
            if not _NO_NAME.fullmatch(label) and len(label.split()) <= 4 and (_words(label) or not label.isascii()):
                found.setdefault(label, f"{label} ({match['gloss'].casefold()})" if match["gloss"] else label)
        if len(found) == names.count:
            return _matched(found, names, text)
    return {}


def _matched(labels: dict[str, str], names: Names, text: str) -> dict[str, int]:
    """The labels that are not plain names themselves, each with its option; nothing where two ways are possible."""
    sure = _plainly_named(labels, names)
    open_labels = [label for label in labels if label not in sure]
    open_options = [at for at in range(names.count) if at not in sure.values()]
    if not open_labels:
        return {}
    ways = [dict(zip(open_labels, order, strict=True)) for order in permutations(open_options)]
    akin = {(label, at) for label in open_labels for at in open_options if _related(label, names.options[at])}
    strange = [[pair for pair in way.items() if pair not in akin] for way in ways]
    for most in (0, 1):  # one label in quite other words can only be the option that is left
        found = [way for way, pairs in zip(ways, strange, strict=True) if len(pairs) <= most]
        if found:
            left = [pair for way, pairs in zip(ways, strange, strict=True) if way == found[0] for pair in pairs]
            marked = names.mark(text) if left else ""
            doubtful = [at for label, at in left if option_mark(at) in marked or _unlike(label, names.options[at])]
            clear = len(found) == 1 and not doubtful
            return found[0] if clear else {}
    return {}


def _plainly_named(labels: dict[str, str], names: Names) -> dict[str, int]:
    """The labels that name one option, which no other label names better."""
    sure = {label: names.options.index(label) for label in labels if label in names.options}
    once = {label: names.only(full) for label, full in labels.items() if label not in sure}
    for label, at in once.items():
        if at is not None and at not in sure.values() and list(once.values()).count(at) == 1:
            sure[label] = at
    return sure


def _related(label: str, option: str) -> bool:
    """Whether the label may be another form of the option: shortened, inflected, a synonym or a translation."""
    if label.isascii() and option.isascii() and not any(label in group and option in group for group in SYNONYMS):
        pairs = [(left, right) for left in _words(label) for right in _words(option)]
        return any(_akin(left, right) for left, right in pairs)
    if any(label in group and option in group for group in SYNONYMS):
        return True
    if label.isascii() or option.isascii():
        return False
    return _within(label, option) or _within(option, label) or any(map(partial(_both_hold, label, option), SYNONYMS))


def _both_hold(label: str, option: str, group: frozenset[str]) -> bool:
    """Whether two Chinese texts contain synonyms: 替她开心 and 替她高兴."""
    return any(word in label for word in group) and any(word in option for word in group)


def _akin(left: str, right: str) -> bool:
    if stem_of(left) == stem_of(right) or any(left in group and right in group for group in (*FAMILIES, *SYNONYMS)):
        return True
    same = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    return same >= 5 and 2 * same >= max(len(left), len(right))


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z]+", text) if word not in _SMALL_WORDS]


def _within(short: str, long: str) -> bool:
    """Whether the longer text has all characters of the shorter one."""
    return len(short) > 1 and set(short) <= set(long)


def _unlike(label: str, option: str) -> bool:
    """Whether both are known words for feelings, and so for different ones."""
    return label.isascii() == option.isascii() and is_known_feeling(label) and is_known_feeling(option)
