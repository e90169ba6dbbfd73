"""Verdicts given option by option: ticks and crosses, ratings, rankings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sociometer.reading.marks import index_of

__all__ = ["read_boxes", "read_list", "read_ranking", "read_ticks"]

_NAMED = "[\ue100-\ue15f]"
_LINE = re.compile(rf"^[ \t>#|•·🔹*-]*(?P<box>\[[ xX✓✔]?\])?[ \t|*-]*(?P<mark>{_NAMED})(?P<rest>.*)$", re.MULTILINE)
_YES = re.compile(
    r"✅|✔|☑|🟢|👍|√|^\W*(?:(?:yes|true|correct|right|best)\b|(?:是|对|對|正确|正確|符合)(?!\w)|"
    r"(?:good|perfect|ideal|fits|suitable|appropriate|合适|恰当|最佳)\W*$)",
    re.IGNORECASE,
)
_NO = re.compile(r"❌|✖|✗|✘|×|🔴|👎|^\W*(?:(?:no|not|false|incorrect|wrong)\b|否|错|錯|不)", re.IGNORECASE)
_TICK = re.compile(r"[✅✔☑🟢👍√]")
_UNSURE = re.compile(r"⚠|❓|🟡|\?")
_INLINE_RATING = re.compile(
    rf"({_NAMED})[^\ue100-\ue15f\d\n]{{0,24}}?(\d{{1,3}}(?:\.\d+)?)\s*(?:/\s*\d{{1,3}}|%|points?\b|分|\|?[ \t]*$|"
    rf"(?=[,;]|\.(?!\d)))",
    re.MULTILINE,
)
_INLINE_TICK = re.compile(rf"({_NAMED})[^\ue100-\ue15f\n✅✔☑√👍❌✖✗✘×👎]{{0,80}}([✅✔☑√👍❌✖✗✘×👎])")
_INLINE_WORD = re.compile(
    rf"({_NAMED})[?:=.( -]{{0,3}}(?:(yes|true|right|correct|good|best|是|对|對)|(?:no|nope|false|wrong|incorrect|"
    rf"bad|meh|too \w+|"
    r"否|错|錯|不对|不行))(?![\w'])",
    re.IGNORECASE,
)
_ARROWS = re.compile(rf"{_NAMED}(?:\s*(?:>|→|->|≥)\s*{_NAMED})+")
_RANKED_LINE = re.compile(rf"^[ \t>-]*(\d{{1,2}}|[🥇🥈🥉])[.)、:]?\s*(?:方案)?({_NAMED})", re.MULTILINE)
_UPWARDS = re.compile(
    r"(?:least|worst|lowest|weakest)[\w -]{0,24}(?:to|→|->|>)\s*(?:the )?(?:most|best|highest|strongest)|"
    r"从(?:低到高|差到好|最不|最差)|從(?:低到高|差到好|最不|最差)",
    re.IGNORECASE,
)
_DOWNWARDS = re.compile(
    r"(?:most|best|highest|strongest)[\w ]{0,24}(?:to|→|->|>)\s*(?:the )?(?:least|worst|lowest|weakest)|"
    r"从(?:高到低|好到差|最)|從(?:高到低|好到差|最)|rank|排序|排名|🥇",
    re.IGNORECASE,
)


def read_boxes(text: str, count: int) -> int | None:
    """Return the only option with a filled box, where all or all but one have a box in front."""
    boxes = {index_of(line["mark"]): line["box"].strip("[] ") != "" for line in _LINE.finditer(text) if line["box"]}
    ticked = [index for index, filled in boxes.items() if filled]
    return ticked[0] if len(ticked) == 1 and len(boxes) >= max(2, count - 1) else None


def read_list(text: str, count: int) -> int | None:
    """Return the one option with a good verdict, or the best rating, in a list or table with a line for each."""
    lines: dict[int, re.Match[str]] = {}
    for line in _LINE.finditer(text):
        index = index_of(line["mark"])
        if index not in lines:
            lines[index] = line
        elif _verdict(line) is not _verdict(lines[index]) and _verdict(line) is not None:
            return _best_rated(text, count)
    if len(lines) < count:
        return _best_rated(text, count)
    verdicts = {index: _verdict(line) for index, line in lines.items()}
    good = [index for index, verdict in verdicts.items() if verdict is True]
    bad = [index for index, verdict in verdicts.items() if verdict is False]
    if len(bad) == count - 1 and count > 2:
        return (set(range(count)) - set(bad)).pop()
    if len(good) == 1 and (2 * len(bad) >= count or (not bad and _TICK.search(lines[good[0]]["rest"]))):
        return good[0]
    return _best_rated(text, count)


def _verdict(line: re.Match[str]) -> bool | None:
    """Whether the line accepts its option; None where it does not say."""
    if line["box"]:
        return line["box"].strip("[] ") != ""
    rest = line["rest"].lstrip(" \t.:)?|-–—,")
    cells = [cell for cell in rest.split("|") if _YES.search(cell) or _NO.search(cell)]
    if cells and "|" in rest:
        return all(_YES.search(cell) for cell in cells)
    yes, no = _YES.search(rest), _NO.search(rest)
    if _UNSURE.search(rest) and not (yes or no):
        return None
    if yes and no:
        return None if yes.start() == no.start() else yes.start() < no.start()
    return True if yes else False if no else None


def read_ticks(text: str, count: int) -> int | None:
    """Return the one ticked option where every option has a tick or a cross."""
    marks = {index_of(match[1]): match[2] in "✅✔☑√👍" for match in _INLINE_TICK.finditer(text)}
    if len(marks) < count:
        marks = {index_of(match[1]): match[2] is not None for match in _INLINE_WORD.finditer(text)}
        count = max(3, count - 1) if count > 2 else count
    ticked = [index for index, good in marks.items() if good]
    return ticked[0] if len(marks) >= count and len(ticked) == 1 else None


def _best_rated(text: str, count: int) -> int | None:
    rated: dict[int, float] = {}
    for match in _INLINE_RATING.finditer(text):
        index = index_of(match[1])
        if index in rated:
            return None
        rated[index] = float(match[2])
    if len(rated) < count:
        return None
    best = max(rated.values())
    found = [index for index, value in rated.items() if value == best]
    return found[0] if len(found) == 1 else None


def read_ranking(text: str, count: int) -> int | None:
    """Return the top of a ranking of all options that nothing behind it contradicts."""
    numbered = list(_RANKED_LINE.finditer(text))
    if [_place(match[1]) for match in numbered] == list(range(1, count + 1)):
        order, start, end = [index_of(match[2]) for match in numbered], numbered[0].end(1), numbered[-1].end()
    else:
        arrows = list(_ARROWS.finditer(text))
        if len(arrows) != 1:
            return None
        order = [index_of(mark) for mark in re.findall(_NAMED, arrows[0][0])]
        start, end = arrows[0].start(), arrows[0].end()
    if sorted(order) != list(range(count)):
        return None
    return _top(text, order, start, end)


def _place(number: str) -> int:
    return int(number) if number.isdigit() else "🥇🥈🥉".index(number) + 1


def _top(text: str, order: Sequence[int], start: int, end: int) -> int | None:
    before = text[max(0, start - 300) : start] + text[end : end + 200]
    if _UPWARDS.search(before):
        top = order[-1]
    elif _DOWNWARDS.search(before) or re.search(r"[^-]>", text[start:end]):
        top = order[0]
    else:
        return None
    after = {index_of(mark) for mark in re.findall(_NAMED, text[end:])}
    return top if after <= {top} else None
