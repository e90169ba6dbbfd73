"""JSON replies: the last complete object in a reply that fits a type or a schema.

What models write for JSON is repaired by `json_repair`; a repaired text counts only if no value was invented. Then it
is loosened to the schema: numbers in strings, other capitals in keys, a value inside a small object. Without any
brackets, lines such as "change: 3" count if each line holds one of the fields.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

import msgspec
from json_repair import repair_json

from sociometer.reading.rule_files import Rules, read_rules
from sociometer.reading.text import SIGN, plain, squeeze, without_thinking

T = TypeVar("T")
_LONGEST = 100_000
_LONGEST_REPAIRED = 20_000
_DEEPEST = 40
_MOST = 50
"""How many values of a reply are looked at, the last ones."""
_PAIRS = {"{": "}", "[": "]"}
_NUMBER = re.compile(
    r"([-+]?(?:\d{1,15}(?:\.\d{1,15})?|\.\d{1,15}))(\s?%)?(?:\s?/\s?(\d{1,4}))?(?:\s?[^\d\s/][^\d]{0,80})?"
)
_BARE = re.compile(r"[:：\[,，]\s{0,9}([^\w\s\"'{}\[\],:]{0,3}\s?[\d.¼-¾⅐-⅞][^,，\[\]{}:\n]{0,99})(?=[,，\]}\n])")
"""A value without quotation marks that begins as a number does."""
_QUOTED = re.compile(r'"[^"]*"|//[^\n]*')
_PLAIN_NUMBER = re.compile(
    r"[(~]?[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\)?\s?%?\s?[a-z分点]{0,9}\s*(?:#.*)?", re.IGNORECASE
)
_FIELD_LINE = re.compile(
    r"\s{0,9}(?:\d{1,2}[.)]\s{0,3}|[-•*|]\s)?[*_\"'`]{0,3}([^:：=|*\"'`]{1,60})[*_\"'`]{0,3}\s?[:：=|](.*)"
)
_LABEL = re.compile(r"([\w -]{1,40})[:：=]")
_BETWEEN = re.compile(r'(?<=")\s?：|(?<=["\d}\]])\s?，(?=\s?["}])')
"""A full-width colon or comma between the parts of an object."""


class StructuredReading(msgspec.Struct, Generic[T], frozen=True):
    """The record in a reply, or None; the rule that read it, or why none could.

    `problem` is what was wrong in one short sentence, to be shown to the model; `dropped` counts list entries left out.
    """

    value: T | None
    rule: str
    problem: str = ""
    dropped: int = 0


class Misfit(ValueError):
    """Why a value does not fit; a short sentence for the model."""


def object_schema(
    given: Mapping[str, Any] = MappingProxyType({}), /, *, closed: bool = True, **named: Mapping[str, Any]
) -> dict[str, Any]:
    """The JSON schema of an object with these properties, all required; a `closed` one has no others."""
    properties = {**given, **named}
    found = {"type": "object", "properties": properties, "required": list(properties)}
    return {**found, "additionalProperties": False} if closed else found


def read_json(
    text: str, type: type[T], schema: Mapping[str, Any] | None = None, *, partial: bool = False, language: str = "en"
) -> StructuredReading[T]:
    """Return the reply's JSON object as this type; none that fits is unreadable.

    A schema adds limits that the type does not have. With `partial`, labels that are not allowed are left out of lists.
    `language` is that of the question.
    """
    wanted = _schema_of(cast(Any, type)) if schema is None else schema
    found = read_schema(text, wanted, partial=partial, language=language)
    if found.value is None:
        return StructuredReading(None, found.rule, found.problem)
    try:
        value = msgspec.convert(found.value, type)
    except (msgspec.ValidationError, RecursionError) as error:
        return StructuredReading(None, f"misfit: {error}", f"The object does not fit: {error}.")
    return StructuredReading(value, found.rule, "", found.dropped)


def read_schema(
    text: str, schema: Mapping[str, Any], *, partial: bool = False, language: str = "en"
) -> StructuredReading[Any]:
    """Return the reply's JSON value in the types of a JSON schema, with unknown keys left out."""
    said = without_thinking(text[-_LONGEST:]).strip()
    if said.startswith('"') and said.endswith('"') and "{" in said:
        said = said[1:-1].replace('\\"', '"')  # an object inside a string
    if not said:
        return StructuredReading(None, "empty", "The reply is empty.")
    problem, found = "", list[tuple[Any, int]]()
    fields = _Fitted(schema).resolved(schema).get("properties", {}).keys()
    values = list(_each_value(said))
    if not any(isinstance(one, dict) for one in values):
        values = _field_lines(said, fields) or values
    if values and values[-1] is _UNREAD:
        return StructuredReading(None, "no json", "The last JSON object cannot be read.")
    for value in reversed(values):
        if value is _UNREAD:
            continue
        fitted = _Fitted(schema, partial=partial, language=language)
        try:
            found.append((fitted.fit("", value, schema), fitted.dropped))
        except Misfit as error:
            problem = problem or str(error)
            if not found and isinstance(value, dict) and fields & value.keys():
                break  # the last object is meant as the answer and does not fit
    if (
        found
        and any(other != found[0] for other in found[1:])
        and not read_rules("json", language).find("replaces").search(said)
    ):
        return StructuredReading(None, "several", "The reply has several different objects.")
    if found:
        return StructuredReading(found[0][0], "json", "", found[0][1])
    if not problem:
        return StructuredReading(None, "no json", "The reply has no complete JSON object.")
    return StructuredReading(None, f"misfit: {problem}", f"{problem[:1].upper()}{problem[1:]}.")


def read_each(text: str, type: type[T]) -> list[T]:
    """Return every value of this type in the text, in order."""
    schema, found = _schema_of(cast(Any, type)), []
    for value in json_values(text[-_LONGEST:]):
        try:
            found.append(msgspec.convert(_Fitted(schema).fit("", value, schema), type))
        except (Misfit, msgspec.ValidationError, RecursionError):
            continue
    return found


def json_values(text: str) -> Iterator[Any]:
    """Yield the value of each complete JSON object or list in the text, repaired where models write it loosely."""
    return (value for value in _each_value(text) if value is not _UNREAD)


_UNREAD = object()


def _field_lines(text: str, names: Iterable[str]) -> list[Any]:
    """The object that lines or rows such as "change: 3" hold, one field each; none if a later line is no field."""
    known = {_folded(name): name for name in names}
    lines = (_FIELD_LINE.fullmatch(line) for line in text.split("\n") if line.strip(" `\r*"))
    found = [(known.get(_folded(line[1])), _line_value(line[2])) if line else (None, "") for line in lines]
    first = next((at for at, (key, _) in enumerate(found) if key), len(found))
    fields = dict(found[first:])
    labels = [_folded(label) for _, value in found for label in _LABEL.findall(str(value))]
    if any(label.endswith(name) for label in labels for name in known):
        return []  # several fields in one line
    return [fields] if fields and None not in fields and len(fields) == len(found) - first else []


def _line_value(text: str) -> Any:
    """A list or a number as JSON has it, or a text."""
    with suppress(ValueError, RecursionError):
        return json.loads(text.strip(" ,|\r"))
    return text.strip(" *_\"'`,|\r")


def _halved(text: str) -> str:
    """An object with straight quotation marks, and with half-width signs between its parts."""
    return _BETWEEN.sub(lambda sign: ":" if "：" in sign[0] else ",", text.replace("“", '"').replace("”", '"'))


def _each_value(text: str) -> Iterator[Any]:
    text = text.replace("｛", "{").replace("｝", "}")
    parts = list(bracketed(text, lines=False)) or list(bracketed(text, lines=True)) or list(_unclosed(text))
    for part in parts[-_MOST:]:
        strict = _UNREAD
        for written in (part, _halved(part)):
            with suppress(ValueError, RecursionError):
                strict = json.loads(written)
                break
        if strict is not _UNREAD:
            yield strict
            continue
        value, part = None, SIGN.sub("-", part)
        if len(part) <= _LONGEST_REPAIRED:
            with suppress(ValueError, RecursionError):
                value = repair_json(part, return_objects=True)
        same = isinstance(value, dict) == part.startswith("{")
        # Of a sum, a fraction or a range, a repair keeps a part.
        same = same and all(map(_PLAIN_NUMBER.fullmatch, _BARE.findall(_QUOTED.sub(" ", part))))
        yield value if value and same and not _invented(value, part) else _UNREAD


def bracketed(text: str, *, lines: bool = False) -> Iterator[str]:
    """The outermost complete brackets of a text, in order; brackets in strings do not count.

    With `lines`, a string ends with its line: one quotation mark too many does not swallow the rest.
    """
    open_at, expected, quoted, escaped = -1, list[str](), False, False
    for at, letter in enumerate(text):
        if quoted:
            if escaped:
                escaped = False
            elif letter == "\\":
                escaped = True
            elif letter == '"' or (lines and letter == "\n"):
                quoted = False
        elif letter == '"' and expected:
            quoted = True
        elif letter in _PAIRS:
            if not expected:
                open_at = at
            if len(expected) < _DEEPEST:
                expected.append(_PAIRS[letter])
        elif expected and letter == expected[-1]:
            expected.pop()
            if not expected:
                yield text[open_at : at + 1]


def _unclosed(text: str) -> Iterator[str]:
    """An object at the end of a text whose last value is complete and of which only the last bracket is missing."""
    at = text.rfind("{")
    if at >= 0 and text[at:].rstrip("` \r\n").endswith(('"', "]", "}")):
        yield text[text.find("{") :].rstrip("` \r\n") + "}"


def _invented(value: Any, text: str) -> bool:
    """Whether a repaired value has a word or a number that the text does not have."""
    if isinstance(value, dict):
        return any(_invented(key, text) or _invented(one, text) for key, one in value.items())
    if isinstance(value, list):
        return any(_invented(one, text) for one in value)
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        return bool(value) and squeeze(value) not in squeeze(text)
    written = re.sub(r"^0\\", r"0?\\", re.escape(f"{value:g}"))  # also .9 for 0.9
    return re.search(rf"(?<![\d.]){written}(?![\d])", text) is None and str(value) not in text


class _Fitted:
    """A parsed value made to fit a schema; `dropped` counts list entries that are not allowed."""

    def __init__(self, schema: Mapping[str, Any], *, partial: bool = False, language: str = "en") -> None:
        self._whole, self._partial, self._rules = schema, partial, read_rules("json", language)
        self.dropped = 0

    def fit(self, name: str, value: Any, schema: Mapping[str, Any]) -> Any:
        """The value in the type of the schema; a Misfit says what is wrong."""
        schema = self.resolved(schema)
        if "enum" in schema or "const" in schema:
            return _label(name, value, schema.get("enum", [schema.get("const")]))
        if "anyOf" in schema:
            return self._any(name, value, schema["anyOf"])
        kind = schema.get("type")
        if kind == "object":
            return self._object(name, value, schema)
        if kind == "array":
            return self._array(name, value, schema)
        if kind in ("number", "integer"):
            return _number(name, value, schema, self._rules, whole=kind == "integer")
        if kind == "boolean":
            return _boolean(name, value, self._rules)
        if kind == "null":
            if value in (None, "", "null", "none", "None"):
                return None
            raise Misfit(f"{_called(name)} must be null")
        return _text(name, value) if kind == "string" else value

    def resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema with its `$ref` followed."""
        for _ in range(_DEEPEST):
            if "$ref" not in schema:
                return schema
            schema = self._whole["$defs"][schema["$ref"].rpartition("/")[2]]
        raise Misfit("the schema refers to itself")

    def _any(self, name: str, value: Any, choices: list[Mapping[str, Any]]) -> Any:
        problem = Misfit(f"{_called(name)} does not fit")
        for choice in sorted(choices, key=lambda one: one.get("type") != "null" or value is not None):
            try:
                return self.fit(name, value, choice)
            except Misfit as error:
                problem = error
        raise problem

    def _object(self, name: str, value: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
        properties: Mapping[str, Any] = schema.get("properties", {})
        lists = [key for key, one in properties.items() if self.resolved(one).get("type") == "array"]
        if isinstance(value, list) and len(properties) == 1 and lists:
            value = {lists[0]: value}
        elif isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, dict):
            raise Misfit(f"{_called(name)} must be an object")
        if len(value) == 1 and properties and (inner := next(iter(value.values()))).__class__ is dict:
            keys = {_folded(key) for key in inner}
            if _folded(next(iter(value))) not in map(_folded, properties) and keys & set(map(_folded, properties)):
                value = inner
        if not properties:
            more = schema.get("additionalProperties")
            fits = isinstance(more, Mapping)
            return {key: self.fit(key, one, more) if fits else one for key, one in value.items()}  # type: ignore[arg-type]
        given: dict[str, Any] = {}
        for key, one in value.items():
            match = key if key in properties else next((p for p in properties if _folded(p) == _folded(key)), None)
            if match is not None:
                given[match] = one
        missing = [key for key in schema.get("required", ()) if key not in given]
        if missing:
            raise Misfit(f"the object has no '{missing[0]}'")
        required = schema.get("required", ())
        kept = [key for key in properties if key in given and (given[key] is not None or key in required)]
        return {key: self.fit(key, given[key], properties[key]) for key in kept}

    def _array(self, name: str, value: Any, schema: Mapping[str, Any]) -> list[Any]:
        items = self.resolved(schema.get("items", {}))
        if isinstance(value, str) and ("enum" in items or items.get("type") == "string"):
            parts = self._rules.find("split").split(value) if "enum" in items else [value]
            value = [part.strip() for part in parts if part.strip()] if "enum" in items else parts
        if isinstance(value, dict) and list(value) == [str(number) for number in range(1, len(value) + 1)]:
            value = list(value.values())
        if isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), list):
            value = next(iter(value.values()))
        if not isinstance(value, list):
            raise Misfit(f"{_called(name)} must be a list")
        kept, problem = [], Misfit("")
        for one in value:
            try:
                kept.append(self.fit(name, one, schema.get("items", {})))
            except Misfit as error:
                if not self._partial:
                    raise
                problem = error
                self.dropped += 1
        if value and not kept:
            raise problem
        if schema.get("uniqueItems") and len(set(map(str, kept))) < len(kept):
            raise Misfit(f"{_called(name)} has an entry twice")
        if not schema.get("minItems", 0) <= len(kept) <= schema.get("maxItems", len(kept)):
            raise Misfit(f"{_called(name)} has {len(kept)} entries")
        return kept


def _called(name: str) -> str:
    return f"'{name}'" if name else "the value"


@lru_cache(maxsize=4096)
def _folded(key: str) -> str:
    return re.sub(r"[\W_]+", "", plain(str(key)).casefold())


def _inner(value: Any) -> Any:
    """The value of a small object around it: {"score": 5, "reason": "..."} for 5."""
    if isinstance(value, dict):
        for key in ("value", "score", "answer", "points", "rating", "label", "text"):
            if key in value and not isinstance(value[key], dict | list):
                return value[key]
    return value


def _number(name: str, value: Any, schema: Mapping[str, Any], known: Rules, *, whole: bool) -> int | float:
    value = _inner(value)
    said = plain(value) if isinstance(value, str) and not known.search("half", value) else ""
    # "3/10" is 3 on a scale to 10; another number below is a fraction.
    if (found := _NUMBER.fullmatch(said)) and float(found[3] or 0) in (0, schema.get("maximum", 10)):
        value = float(found[1]) / (100 if found[2] and schema.get("maximum", 2) <= 1 else 1)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Misfit(f"{_called(name)} must be a number")
    if value != value or abs(value) > 1e15 or (whole and value != int(value)):
        raise Misfit(f"{_called(name)} must be a {'whole ' * whole}number")
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    if not low <= value <= high:
        raise Misfit(f"{_called(name)} is {value:g}, outside {low:g} to {high:g}")
    return int(value) if whole else float(value)


def _boolean(name: str, value: Any, known: Rules) -> bool:
    value = _inner(value)
    if isinstance(value, bool):
        return value
    said = str(value).strip().casefold()
    for answer in ("yes", "no"):
        if any(said in words for words in known.lists(answer)):
            return answer == "yes"
    raise Misfit(f"{_called(name)} must be true or false")


def _text(name: str, value: Any) -> str:
    value = _inner(value)
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}"
    raise Misfit(f"{_called(name)} must be a text")


def _label(name: str, value: Any, allowed: list[Any]) -> Any:
    value = _inner(value)
    if value in allowed and not isinstance(value, bool):
        return value
    folded = _folded(re.sub(r"\s?[(（].*", "", str(value)) or str(value))
    found = [one for one in allowed if _folded(str(one)) == folded]
    if len(found) == 1:
        return found[0]
    shown = ", ".join(str(one) for one in allowed[:12])
    raise Misfit(f"{_called(name)} is {str(value)[:40]!r}, and must be one of: {shown}")


@lru_cache(maxsize=256)
def _schema_of(type: Any) -> Mapping[str, Any]:
    return msgspec.json.schema(type)
