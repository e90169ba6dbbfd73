"""Which of the JSON values in a reply is its answer: the one that fits, or the last where the reply says so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from sociometer.reading.fitting import Fitter, key_of
from sociometer.reading.json_values import Misfit, folded
from sociometer.reading.labelled_lines import numbered_lines, read_labelled
from sociometer.reading.lenient_json import Budget, Parsed, parse_all

__all__ = ["Choice", "choose"]

_FINAL = re.compile(
    r"\b(?:final\w*|corrected|correction|revis(?:e|ed|ing|ion)|updat(?:ed?|ing)"
    r"|let me (?:change|fix|redo|correct)|instead|fixed|actual(?:ly)?|better|answer"
    r"|on reflection|"
    r"so here|second thought|wait|scratch that|should be|rather)\b|最终|最后|更正|修正|改为|改成|修改|应为"
    r"|应该是|答案|重新",
    re.IGNORECASE,
)
_DRAFT = re.compile(
    r"\b(?:draft|first (?:try|attempt|version|thought)|initial\w*)\b|初稿|草稿|起初|一开始", re.IGNORECASE
)
_EXAMPLE = re.compile(
    r"\b(?:examples?|for instance|e\.g|sample|template|instructions?|schema|the prompt|format is|you gave|not like)\b"
    r"|例如|比如|示例|例子|举例|模板|格式(?:是|为|如)",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"\bif\b[^.\n]{0,80}\b(?:i'd|would|could|might)\b|\bwould have\b|如果|假如|要是", re.IGNORECASE
)
_OTHER = re.compile(
    r"\b(?:or|alternativ\w*|another|other|option \d|version \d|either|could also)\b|或者|另一|也可以|方案|备选",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:the first (?:one|version|object)|the former|keep my first|stick with|example|the original)\b"
    r"|第一个|前者|原来的|以上(?:仅为|只是)",
    re.IGNORECASE,
)

_TAKEN_BACK = re.compile(
    r"\b(?:wait|actually|correction|scratch that|on second thought|i meant|i mean to|my mistake)\b"
    r"|\bshould (?:be|have been) [-+\d\"'“]"
    r"|更正|不对|应改|应为|写错",
    re.IGNORECASE,
)
_MOST_VALUES = 100


class Choice(msgspec.Struct, frozen=True):
    """The value that answers, not yet in its types, or None with the rule and the problem."""

    value: Any
    rule: str
    problem: str = ""
    all_fitting: tuple[Any, ...] = ()


class _Candidate(msgspec.Struct, frozen=True):
    before: str
    value: Any
    problem: str
    fitted: Any
    fenced: bool
    whole: bool
    complete: bool


def choose(text: str, fitter: Fitter, budget: Budget) -> Choice:
    """Return the reply's answer among all values in it; without JSON, labelled lines are read."""
    found = _choose_json(text, fitter, budget)
    if found is None and '\\"' in text:
        found = _choose_json(text.replace('\\"', '"').replace("\\n", "\n"), fitter, budget)
    return found or _choose_lines(text, fitter)


def _choose_json(text: str, fitter: Fitter, budget: Budget) -> Choice | None:
    parsed = list(parse_all(text, budget))[-_MOST_VALUES:]
    candidates = list(_candidates(text, parsed, fitter, budget))
    alike = [each for each in candidates if each.fitted is not None or _alike(each.value, fitter)]
    cut_last = bool(candidates) and not candidates[-1].complete and _FINAL.search(candidates[-1].before) is not None
    rows = _rows(parsed, fitter)
    if rows is not None:
        return Choice(rows, "rows", all_fitting=(rows,))
    if not any(each.fitted is not None for each in alike):
        if not alike:
            cut = bool(candidates) and not candidates[-1].complete
            return Choice(None, "cut", "the object is cut off") if cut else None
        problem = alike[-1].problem if alike[-1].complete else f"the object is cut off: {alike[-1].problem}"
        return Choice(None, f"misfit: {alike[-1].problem}", problem)
    return _ordered(text[parsed[-1].end :], alike, cut_last)


def _ordered(tail: str, alike: list[_Candidate], cut_last: bool) -> Choice:
    fitting = tuple(each.value for each in alike if each.fitted is not None)
    answers = [each for each in alike if not _is_example(each)]
    if not answers:
        return Choice(None, "example", "the reply holds only an example", fitting)
    sure = [each for each in answers if not _HYPOTHETICAL.search(each.before[-120:])]
    answers = sure or answers
    last = answers[-1]
    distinct = [each for place, each in enumerate(answers) if each.fitted not in [a.fitted for a in answers[:place]]]
    if last.fitted is None:
        return Choice(None, f"misfit: {last.problem}", last.problem, fitting)
    if cut_last:
        return Choice(None, "cut", "the final object is cut off", fitting)
    several = len([each for each in distinct if each.fitted is not None]) > 1
    if several and (not _comes_last(answers) or _BACK.search(tail)):
        return Choice(None, "several", "the reply gives several different objects", fitting)
    if _TAKEN_BACK.search(tail) and re.search(r"\d|should|change|instead|应|改", tail):
        return Choice(None, "taken back", "the reply corrects its object afterwards", fitting)
    rule = "whole" if last.whole else "fence" if last.fenced else "embedded"
    return Choice(last.value, rule, "", fitting)


def _comes_last(answers: list[_Candidate]) -> bool:
    """Whether the reply says that the last answer replaces those before it."""
    last, earlier = answers[-1], [each for each in answers[:-1] if each.fitted != answers[-1].fitted]
    if _OTHER.search(last.before[-80:]):
        return False
    drafts = all(_DRAFT.search(each.before[-120:]) for each in earlier)
    return drafts or bool(_FINAL.search(last.before)) or (last.fenced and not any(each.fenced for each in earlier))


def _is_example(candidate: _Candidate) -> bool:
    line = re.sub(r"[`\s]*(?:```(?:json)?)?\s*$", "", candidate.before[-200:]).rsplit("\n", 1)[-1][-80:]
    return _EXAMPLE.search(line) is not None and not _FINAL.search(line)


def _candidates(text: str, parsed: list[Parsed], fitter: Fitter, budget: Budget) -> Iterator[_Candidate]:
    end = fences = 0
    for each in parsed:
        fences += text.count("```", end, each.start)
        before = text[max(end, each.start - 2_000) : each.start]
        value, fitted, problem = _best(each, fitter, budget)
        whole = each.start == 0 and not text[each.end :].strip()
        yield _Candidate(before, value, problem, fitted, fences % 2 == 1, whole, each.complete)
        end = each.end


def _best(parsed: Parsed, fitter: Fitter, budget: Budget) -> tuple[Any, Any, str]:
    """The value itself or the one inside its wrapping that fits, with what it fits as."""
    problem = ""
    for value in _unwrapped(parsed.value, fitter, budget, 0):
        if isinstance(value, list) and not parsed.complete:
            continue
        if isinstance(value, dict) and not _knows(value, fitter):
            continue
        try:
            return value, fitter.fit("", value, fitter.schema), ""
        except Misfit as error:
            problem = problem or str(error)
    return parsed.value, None, problem or "none of the keys is known"


def _unwrapped(value: Any, fitter: Fitter, budget: Budget, depth: int) -> Iterator[Any]:
    """The value, the value with the wrapping that the schema has, and what is inside the value's own wrapping."""
    yield value
    only = _only_list(fitter)
    if only is not None and isinstance(value, list):
        yield {only: value}
    if depth >= 3:
        return
    if isinstance(value, str) and "{" in value:
        inner = [each.value for each in parse_all(value, budget)]
    elif isinstance(value, dict):
        inner = [] if _knows(value, fitter) else list(value.values())[:20]
    else:
        inner = value if isinstance(value, list) and len(value) == 1 else []
    parts = [part for part in inner if isinstance(part, dict | list | str)]
    known = [part for part in parts if not isinstance(part, dict) or _knows(part, fitter)] or parts
    if len(known) == 1:
        yield from _unwrapped(known[0], fitter, budget, depth + 1)


def _knows(value: dict[str, Any], fitter: Fitter) -> bool:
    """Whether the object has a key of the schema, or only keys in another language."""
    properties = fitter.schema.get("properties", {})
    if not properties:
        return True
    return any(key_of(key, properties) for key in value) or fitter.knows(value)


def _alike(value: Any, fitter: Fitter) -> bool:
    """Whether the value was meant as the answer though it does not fit."""
    properties = fitter.schema.get("properties", {})
    required = fitter.schema.get("required", ()) or tuple(properties)
    if not properties:
        return isinstance(value, list) and bool(value) and fitter.schema.get("type") == "array"
    if not isinstance(value, dict):
        return False
    known = {key_of(key, properties) for key in value} & set(required)
    return bool(required) and 2 * len(known) >= len(required)


def _only_list(fitter: Fitter) -> str | None:
    """The one property of an object that holds nothing but a list."""
    properties: Mapping[str, Any] = fitter.schema.get("properties", {})
    if len(properties) != 1:
        return None
    name = next(iter(properties))
    return name if fitter.resolved(properties[name]).get("type") == "array" else None


def _rows(parsed: list[Parsed], fitter: Fitter) -> Any:
    """The entries of the wanted list, given as one object after the other."""
    only = _only_list(fitter)
    schema = fitter.resolved(fitter.schema["properties"][only]) if only else fitter.schema
    rows = [each.value for each in parsed if isinstance(each.value, dict)]
    if schema.get("type") != "array" or len(rows) < 2 or len(rows) < len(parsed):
        return None
    if not all(each.complete for each in parsed):
        return None
    if any(row in rows[:place] for place, row in enumerate(rows[:200])) or len(rows) > 200:
        return None
    return _fitting({only: rows} if only else rows, fitter)


def _choose_lines(text: str, fitter: Fitter) -> Choice:
    properties: Mapping[str, Any] = fitter.schema.get("properties", {})
    labelled = read_labelled(text, lambda key: key_of(key, properties) or fitter.translated(key))
    required = fitter.schema.get("required", ())
    if len(labelled) > 1 and required and set(required) <= set(labelled):
        try:
            fitter.fit("", labelled, fitter.schema)
        except Misfit as error:
            return Choice(None, f"misfit: {error}", str(error))
        return Choice(labelled, "lines", "", (labelled,))
    for value in _listed(text, fitter):
        if _fitting(value, fitter) is not None:
            return Choice(value, "lines", "", (value,))
    bare = _bare(text, fitter)
    if bare is not None:
        return Choice(bare, "bare", "", (bare,))
    return Choice(None, "none", "the reply holds no JSON object")


def _bare(text: str, fitter: Fitter) -> Any:
    """The object with one label as its only field, where the reply is that label and nothing else."""
    properties: Mapping[str, Any] = fitter.schema.get("properties", {})
    if len(properties) != 1:
        return None
    name, inner = next(iter(properties.items()))
    labels = [folded(str(label)) for label in fitter.resolved(inner).get("enum", ())]
    word = folded(text) if len(text) <= 100 else ""
    return _fitting({name: text.strip(" \n*`\"'.。")}, fitter) if word in labels else None


def _listed(text: str, fitter: Fitter) -> Iterator[Any]:
    """The list that the schema wants, from numbered lines or from lines like 'Reply 1: A1'."""
    only = _only_list(fitter)
    schema = fitter.resolved(fitter.schema["properties"][only]) if only else fitter.schema
    if schema.get("type") != "array":
        return
    entries: Any = numbered_lines(text)
    if entries is not None:
        yield {only: entries} if only else entries
    inner = fitter.resolved(schema.get("items", {})).get("properties", {})
    if len(inner) == 2:
        first = next(iter(inner))
        named = re.compile(rf"{re.escape(first)}\s?#?\d{{1,4}}", re.IGNORECASE)
        entries = read_labelled(text, lambda key: key if named.fullmatch(key.strip()) else None)
        if entries:
            yield {only: entries} if only else entries


def _fitting(value: Any, fitter: Fitter) -> Any:
    try:
        fitter.fit("", value, fitter.schema)
    except Misfit:
        return None
    return value
