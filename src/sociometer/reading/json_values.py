"""Single values as models write them in JSON, read as the type that a schema asks for; never rounded, never clamped."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sociometer.reading.lenient_json import Bare

__all__ = ["Misfit", "folded", "label_of", "read_boolean", "read_number", "shown"]

Schema = Mapping[str, Any]

_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_HAN: dict[str, int] = dict(zip("零一二三四五六七八九十两", [*range(11), 2], strict=True))
_REMARK = r"(?:\s*[(（\[][^)）\]]{0,300}[)）\]]|\s*(?:[-–—:：,，;；]|//|#)\s*[^\d]{1,300})"
_UNIT = r"(?:\s*(?:points?|pts?|coins?|years?|years old|euros?|dollars?|分|点|岁|枚|个|元|块|颗|本))"
_NUMBER = re.compile(
    rf"\s*(?P<number>[+\-−]?\s?(?:\d{{1,12}}(?:\.\d{{1,12}})?|\.\d{{1,12}}))"
    rf"(?:\s*(?:/|out of)\s*(?P<per>\d{{1,6}}))?\s*(?P<percent>[%％])?{_UNIT}?(?P<remark>{_REMARK})?[.。]?\s*",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:or|maybe|perhaps|possibly|partly|partially|about|approx\w*|between|not sure|unsure|unclear|"
    r"sometimes|to|both)\b|或|可能|也许|大概|左右|部分|不确定|之间|都",
    re.IGNORECASE,
)
_TRUE = frozenset(["true", "yes", "y", "t", "是", "有", "对", "真", "是的", "有的", "对的", "√", "✓", "✔"])
_FALSE = frozenset(["false", "no", "n", "f", "否", "无", "不", "没有", "假", "不是", "不对", "×", "✗", "✘", "没"])
_BEFORE_LABEL = re.compile(
    r"^(?:the\s+)?(?:reply|response|option|answer|label|code|category|strategy|cause|emotion|winner|assistant|model"
    r"|选项|回复|回答|答案|标签|策略|类别|情绪)\s*(?:is\s*)?[:：#\-]?\s*",
    re.IGNORECASE,
)
_I_DO = re.compile(
    r"^(?:i|we)(?:'ll| will| would|'d| shall| choose to| decide to| want to| am going to|'m going to| have to)?\s+"
    r"|^(?:my )?(?:action|decision|move|choice|pick)\s*(?:is|:|：)\s*(?:to )?|^我(?:会|要|选择?|决定)?\s*",
    re.IGNORECASE,
)
_REMARK_MARK = re.compile(r"\s*[(（\[]|\s+[-–—]+\s*|[–—:：,，;；。]|\.\s|\.$|\s//|\s#")
_ENDINGS = ("ness", "ation", "ment", "ing", "ion", "ful", "ed", "er", "es", "al", "ly", "y", "e", "s")


class Misfit(Exception):
    """A value that does not fit; the message is one short sentence part that can be shown to the model."""


def folded(text: str) -> str:
    """Return the letters and digits of a key or label in lower case."""
    return re.sub(r"[\W_]+", "", text.casefold())


def shown(value: Any) -> str:
    """Return the value as a message shows it, shortened."""
    text = value if isinstance(value, Bare) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def read_number(name: str, value: Any, schema: Schema) -> int | float:
    """Return the number that the value spells, within the schema's limits; raise Misfit otherwise."""
    whole = schema.get("type") == "integer"
    number = _spelled(name, value, schema)
    if whole and not float(number).is_integer():
        raise Misfit(f"{name} is {shown(value)}, a whole number is needed")
    low, high = _limits(schema)
    if (low is not None and number < low) or (high is not None and number > high):
        raise Misfit(f"{name} is {number:g}, allowed {_allowed(low, high)}")
    over, under = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if (over is not None and number <= over) or (under is not None and number >= under):
        raise Misfit(f"{name} is {number:g}, allowed above {over} and below {under}")
    return int(number) if whole else number


def _limits(schema: Schema) -> tuple[float | None, float | None]:
    return schema.get("minimum"), schema.get("maximum")


def _allowed(low: float | None, high: float | None) -> str:
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"{low} to {high}"


def _spelled(name: str, value: Any, schema: Schema) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise Misfit(f"{name} is {shown(value)}, a number is needed")
    text = value.strip()
    word = folded(re.sub(rf"{_UNIT}$", "", text, flags=re.IGNORECASE))
    if word in _WORDS:
        return _WORDS.index(word)
    if word in _HAN:
        return _HAN[word]
    match = _NUMBER.fullmatch(text)
    if match is None or _HEDGE.search(match["remark"] or ""):
        raise Misfit(f"{name} is {shown(value)}, a number is needed")
    number = float(match["number"].replace("−", "-").replace(" ", ""))
    return _share(name, value, number, match, schema)


def _share(name: str, value: Any, number: float, match: re.Match[str], schema: Schema) -> int | float:
    """The number itself, '4/5' on a scale to 5, '85%' of a share up to 1."""
    _, high = _limits(schema)
    if match["percent"] and high == 1 and not match["per"]:
        return round(number / 100, 12)
    if match["per"] and high == 1 and schema.get("type") == "number" and int(match["per"]) > 1:
        return round(number / int(match["per"]), 12)
    if (match["percent"] and high != 100) or (match["per"] and high != int(match["per"])):
        raise Misfit(f"{name} is {shown(value)}, a number is needed")
    return int(number) if number.is_integer() else number


def read_boolean(name: str, value: Any) -> bool:
    """Return the truth value that the value spells; raise Misfit otherwise."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        bare = re.fullmatch(rf"\s*([^\s(（,，:：;；\-–—.。]{{1,10}})({_REMARK})?[.。!]?\s*", value)
        word = bare[1].casefold() if bare and not _HEDGE.search(bare[2] or "") else value.strip().casefold()
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
    if value in (0, 1) and not isinstance(value, str):
        return bool(value)
    raise Misfit(f"{name} is {shown(value)}, allowed true or false")


def label_of(name: str, value: Any, labels: Sequence[Any]) -> Any:
    """Return the one allowed label that the value spells: other case, hyphens, spaces and remarks are overlooked."""
    if value in labels and not isinstance(value, bool):
        return value
    found = _label_in(str(value), labels) if isinstance(value, str | int) else None
    if found is None:
        raise Misfit(f"{name} is {shown(value)}, allowed: {', '.join(map(str, labels[:30]))}")
    return found


def _label_in(text: str, labels: Sequence[Any]) -> Any:
    by_fold = {folded(str(label)): label for label in labels}
    text = text.strip()
    mark = _REMARK_MARK.search(text, 1)
    for head, remark in ((text, ""), (text[: mark.start()], text[mark.start() :]) if mark else (text, "")):
        if remark and (_HEDGE.search(remark) or _names_another(remark, by_fold, folded(head))):
            continue
        for words in (head, _BEFORE_LABEL.sub("", head), _I_DO.sub("", head)):
            if folded(words) in by_fold:
                return by_fold[folded(words)]
            stem = _stem(folded(words))
            same = [label for fold, label in by_fold.items() if len(stem) >= 3 and _stem(fold) == stem]
            if len(same) == 1:
                return same[0]
    return None


def _names_another(remark: str, by_fold: Mapping[str, Any], head: str) -> bool:
    if any(not fold.isascii() and fold in remark and fold != head for fold in by_fold):
        return True
    words = [folded(word) for word in re.findall(r"[\w\-]+(?:\s[\w\-]+)?|\w+", remark)]
    words += [folded(word) for word in re.findall(r"[\w\-]+", remark)]
    return any(word in by_fold and word != head and (len(word) > 1 or word.upper() in remark.split()) for word in words)


def _stem(word: str) -> str:
    if not word.isascii() or not word.isalpha():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _stem(word[: -len(ending)])
    return word
