"""Corrections of points that a reply has already given: in the same line, or in words behind the whole list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sociometer.reading.naming import MARK, marked_index
from sociometer.reading.numbers import NUMBER, amount

__all__ = ["corrected_lines", "says_change", "says_swap", "swapped", "with_changes"]

_STRUCK = re.compile(r"~~[^~\n]{1,40}~~")
_ASSIGNED = (
    r"(?:\b(?:actually|mak(?:e|ing) (?:it|that|this)|or rather|rather(?! than)|chang\w{1,3} (?:it |that |this )?to"
    r"|should(?:'ve| have)?(?: really| rather)? be(?:en)?|correct(?:ion|ed)(?: to)?|i mean|i meant|"
    r"(?:lower|rais|reduc|revis|bump|cut|adjust)\w{0,4} (?:it |that |this )?(?:down |up )?to)\b|"
    r"\b(?:no(?=\s?[,:;.\-–—])|(?:wait|hmm|sorry|oops)(?=\s?[,.\-–—]))|"
    r"应该?(?:改)?[为是]|应当[为是]|改[为成到]|更正为?|修正为?|调整?[为到成]|[降减][为到成]|[升加][为到成]|不对|不(?=[,，])|错了)"
)
_LINKED = r"[\s,:;.\-–—…!(\"']{0,6}(?:(?:it's|it|that's|a|to|be|is|just|only|rather|给|打|是|为)\s*){0,3}"
_IN_LINE = re.compile(
    rf"(?P<head>{MARK}[\s:=|(\[\-–—→]{{0,8}}){NUMBER}(?P<between>[^\n\ue100-\ue1ff]{{0,80}}?)(?<!\n){_ASSIGNED}{_LINKED}"
    rf"(?P<new>{NUMBER})(?!\s*[,、/;]\s*[\d.])",
    re.IGNORECASE,
)
_SWAP = re.compile(r"\b(?:swap|switch|exchang|revers|trad)(?:e|ed|ing|ping|ped)?\b|互换|对调|交换|调换", re.IGNORECASE)
_SWAP_NAMES = re.compile(rf"({MARK})[^.。\n\ue100-\ue1ff]{{0,20}}({MARK})")
_SWAP_PLACES = re.compile(
    r"\b(?:the )?(?P<end>first|top|last|bottom) two\b|(?P<han>[前后])(?:面)?(?:两|二)", re.IGNORECASE
)

_CHANGE = re.compile(
    rf"{MARK}[^.\n]{{0,20}}\b(?:becomes?|is now|goes? (?:down|up)|drops?|rises?|should be)\b"
    rf"|\b(?:mak(?:e|es|ing)(?= (?:it|that|this|(?:the )?{MARK})\b)"
    rf"|reduc(?:e|ing)|lower(?:ing)?|rais(?:e|ing)|increas(?:e|ing)|bump(?:ing)?|drop(?:ping)?|cut(?:ting)?"
    rf"|chang(?:e|ing)|mov(?:e|ing)|shift(?:ing)?|tak(?:e|ing)|adjust(?:ing)?|set(?:ting)?)\b[^.;\n]{{0,40}}"
    rf"(?:\d|\b(?:one|two|a point)\b)|\b(?:subtract|add|deduct)(?:ing)?\b[^.\n]{{0,20}}(?:\d|\b(?:one|two|a point)\b)|"
    rf"{MARK}[^。\n]{{0,6}}(?:应?改[为成]|[变降升调][为到成]|应[为是]|[减加扣少多][去掉少给上]?)\s*[\d一两二三]|"
    rf"[从把将]{MARK}[^。\n]{{0,10}}[\d一两二三]",
    re.IGNORECASE,
)
_UNCHANGED = re.compile(
    r"(?:n't|\bnot|\bnever|\bno need to|\bwithout)\s+(?:\w{1,10}\s)?"
    r"(?:chang|adjust|mov|rais|lower|reduc|tak|add|subtract|swap|switch)\w{0,5}[^.\n]{0,80}|[不没]\w{0,3}[改调换][^。\n]{0,40}",
    re.IGNORECASE,
)
_TO = (
    r"(?:points?\s*|from\s*\d{1,3}\s*)?(?:becomes?|is now|(?:goes |drops |rises )?(?:down |up )?to|at|should be|a"
    r"|的?(?:分数)?应?改[为成到]|[变降升调减加][为到成]|应[为是])?"
)
_NEW = re.compile(rf"(?P<name>{MARK})\s*{_TO}\s*(?P<number>{NUMBER})(?!\s*points? (?:to|from)\b)", re.IGNORECASE)
_MADE = re.compile(
    rf"\b(?:mak(?:es|ing)|bring(?:s|ing)|leav(?:es|ing)|put(?:s|ting)) (?:it|that|this)(?: down| up)?"
    rf"(?: to| at| with)?\s*(?P<number>{NUMBER})",
    re.IGNORECASE,
)
_SOME = rf"(?P<some>{NUMBER}|it|that|a|an extra)(?:\s*(?:points?|分|more|away|off|extra)){{0,3}}"
_LESS = re.compile(
    rf"\b(?:tak|subtract|remov|deduct|drop|cut|shav|knock|trim)(?:e|ed|ing|es)?\s+{_SOME}\s*(?:from|off|of|for)"
    rf"\s+(?:the )?(?P<name>{MARK})|从(?P<name2>{MARK})[里中那]?(?:扣|减|拿|挪|去|移)[掉去走出]?\s*(?P<some2>{NUMBER})|"
    rf"(?P<name3>{MARK})(?:减|扣|少|降低?)[去掉少给]?\s*(?P<some3>{NUMBER})",
    re.IGNORECASE,
)
_MORE = re.compile(
    rf"\badd(?:ing)?\s+{_SOME}\s*(?:to|for|on)\s+(?:the )?(?P<name>{MARK})|"
    rf"(?P<name2>{MARK})(?:加|多|增加?|补)[上加给]?\s*(?P<some2>{NUMBER})",
    re.IGNORECASE,
)
_BY = re.compile(
    rf"\b(?:(?P<down>lower|reduc|decreas|drop|cut)|rais|increas|bump|boost)(?:e|ing|ping|ting)?\s+(?:the )?"
    rf"(?P<name>{MARK})\s*(?:up |down )?by\s*(?P<some>{NUMBER})",
    re.IGNORECASE,
)
_MOVED = re.compile(
    rf"\b(?:mov|shift|transfer|tak|giv)(?:e|ing|ring)?\s+{_SOME}\s*from\s+(?:the )?(?P<name>{MARK})\s*"
    rf"(?:and (?:give|add|put) (?:it|them) |over )?(?:to|on|into)\s+(?:the )?(?P<other>{MARK})|"
    rf"[从把将](?P<name2>{MARK})[里中的那]?(?:[扣减拿挪去移分匀][掉去走出]?)?\s*(?P<some2>{NUMBER})\s*分?[挪移转让加分]?[给到]"
    rf"\s*(?P<other2>{MARK})",
    re.IGNORECASE,
)


def corrected_lines(marked: str, total: float) -> str:
    """Return the text with 'Surprised: 3' for 'Surprised: 2... actually 3' and for a number that is struck out."""

    def new(match: re.Match[str]) -> str:
        return match["head"] + match["new"] if abs(amount(match["new"]).points(total)) <= total else match[0]

    marked = _STRUCK.sub("", marked)
    for _ in range(3):
        marked = _IN_LINE.sub(new, marked)
    return marked


def says_change(tail: str) -> bool:
    """Return whether the text behind a list changes the points of an option."""
    tail = _UNCHANGED.sub(";", tail)
    return _CHANGE.search(tail) is not None and re.search(MARK, tail) is not None


def says_swap(tail: str) -> bool:
    """Return whether the text behind a list swaps the points of options."""
    return _SWAP.search(_UNCHANGED.sub(";", tail)) is not None


def swapped(tail: str, points: Sequence[float], order: Sequence[int]) -> tuple[float, ...] | None:
    """Return the points after a swap; `order` has the options as the reply lists them. None where it is unclear."""
    names = {frozenset(map(marked_index, match.groups())) for match in _SWAP_NAMES.finditer(tail)}
    places = {
        (match["end"] or match["han"]).casefold() in ("first", "top", "前") for match in _SWAP_PLACES.finditer(tail)
    }
    if len(names) + len(places) != 1 or re.search(r"\d", tail):
        return None
    pair = sorted(names.pop()) if names else list(order[:2] if places.pop() else order[-2:])
    if len(pair) != 2:
        return None
    changed = list(points)
    changed[pair[0]], changed[pair[1]] = points[pair[1]], points[pair[0]]
    return tuple(changed)


def with_changes(tail: str, points: Sequence[float], total: float) -> tuple[float, ...]:
    """Return the points after the changes that the text names: 'becomes 2', 'take one from', 'move 1 from to'."""
    changed = list(points)
    rest = tail
    for pattern in (_MOVED, _LESS, _MORE, _BY):
        for match in pattern.finditer(rest):
            for place, more in _steps(match):
                changed[place] += more
        rest = pattern.sub("; ", rest)
    for match in _NEW.finditer(rest):
        changed[marked_index(match["name"])] = amount(match["number"]).points(total)
    for match in _MADE.finditer(tail):
        before = re.findall(MARK, tail[: match.start()])
        if before:
            changed[marked_index(before[-1])] = amount(match["number"]).points(total)
    return tuple(changed)


def _steps(match: re.Match[str]) -> Iterator[tuple[int, float]]:
    """Which option a relative change adds how much to."""
    held = match.groupdict()
    name = held.get("name") or held.get("name2") or held.get("name3") or ""
    some = held.get("some") or held.get("some2") or held.get("some3") or ""
    much = amount(some).value if re.fullmatch(NUMBER, some, re.IGNORECASE) else 1.0
    less = match.re in (_MOVED, _LESS) or bool(held.get("down"))
    yield marked_index(name), -much if less else much
    other = held.get("other") or held.get("other2")
    if other:
        yield marked_index(other), much
