"""Parsed JSON made to fit a JSON schema: keys matched, values read as their type, misfits named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import permutations
from typing import Any

from sociometer.reading.json_values import Misfit, folded, label_of, read_boolean, read_number, shown
from sociometer.reading.key_words import TRANSLATIONS
from sociometer.reading.lenient_json import Bare, Twice
from sociometer.reading.nested_values import inner_value

__all__ = ["Fitter", "key_of"]

Schema = Mapping[str, Any]

_PLACEHOLDER = re.compile(r"\s*(?:\.{3}|…|<[^<>]{0,60}>|string|integer|number)\s*", re.IGNORECASE)
_LIST_MARKS = re.compile(r"\s*(?:[,，、;；>|\n]|\band\b|\bthen\b|和|→)\s*", re.IGNORECASE)
_MISSING = object()


def key_of(written: str, properties: Mapping[str, Any]) -> str | None:
    """Return the property that a key names in any case and with any separators, or None."""
    fold = folded(re.sub(r"[(（\[].*?[)）\]]|^\s*\d{1,2}[.)、]", "", written[:200]))
    return next((name for name in properties if folded(name) == fold), None) if fold else None


class Fitter:
    """Fits values to one schema; `dropped` counts list entries that were left out where that is allowed."""

    def __init__(self, schema: Schema, *, partial: bool = False) -> None:
        self._definitions = schema.get("$defs", {})
        self._partial = partial
        self.schema = self.resolved(schema)
        self.dropped = 0

    def resolved(self, schema: Schema) -> Schema:
        """Return the schema that a reference names, or the schema itself."""
        while "$ref" in schema:
            schema = self._definitions[str(schema["$ref"]).rsplit("/", 1)[-1]]
        return schema

    def fit(self, name: str, value: Any, schema: Schema) -> Any:
        """Return the value in the schema's types; raise Misfit naming the first thing that is wrong."""
        schema = self.resolved(schema)
        if value is Twice:
            raise Misfit(f"{name} is given twice")
        if "anyOf" in schema:
            return self._any(name, value, schema["anyOf"])
        kinds = schema.get("type")
        if isinstance(kinds, list | tuple):
            return self._any(name, value, [{**schema, "type": kind} for kind in kinds])
        scalar = "enum" in schema or kinds in ("integer", "number", "boolean")
        if scalar and isinstance(value, list) and len(value) == 1:
            value = value[0]
        if scalar and isinstance(value, dict):
            inside = re.sub(r"\[\d+\]$", "", name)
            value = inner_value(value, lambda part: self._fits(name, part, schema), inside)
        if "const" in schema or "enum" in schema:
            return label_of(name, value, [schema["const"]] if "const" in schema else schema["enum"])
        match kinds:
            case "object":
                return self._object(name, value, schema)
            case "array":
                return self._array(name, value, schema)
            case "integer" | "number":
                return read_number(name, value, schema)
            case "boolean":
                return read_boolean(name, value)
            case "null":
                if value is None or (isinstance(value, str) and folded(value) in ("null", "none")):
                    return None
                raise Misfit(f"{name} is {shown(value)}, allowed null")
            case "string":
                return _string(name, value, schema)
        return str(value) if isinstance(value, Bare) else value

    def _any(self, name: str, value: Any, options: list[Schema]) -> Any:
        """The value as the first kind it already is, else as the first that can be made of it."""
        kinds = [self.resolved(option).get("type") for option in options]
        plain = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array"}
        own = "null" if value is None else plain.get(type(value), "")
        order = sorted(range(len(options)), key=lambda at: kinds[at] != own)
        problem = f"{name} is {shown(value)}, which does not fit"
        for at in order:
            try:
                return self.fit(name, value, options[at])
            except Misfit as error:
                problem = str(error)
        raise Misfit(problem)

    def _object(self, name: str, value: Any, schema: Schema) -> Any:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        required = schema.get("required", ())
        if isinstance(value, str) and not isinstance(value, Bare):
            value = _from_words(value, properties, required, self)
        if not isinstance(value, dict):
            raise Misfit(f"{name or 'the answer'} is {shown(value)}, an object is needed")
        if not properties:
            inner = schema.get("additionalProperties", True)
            return {
                key: self.fit(key, part, inner if isinstance(inner, Mapping) else {}) for key, part in value.items()
            }
        matched = self._matched(value, properties, required)
        found = {}
        for key, inner in properties.items():
            part = matched.get(key, _MISSING)
            if part is _MISSING and key in required:
                part = self._flattened(key, value, inner)
                if part is _MISSING:
                    raise Misfit(f"{key} is missing")
            if part is _MISSING or (part is None and key not in required and not _allows_null(inner)):
                continue
            found[key] = self.fit(key, part, inner)
        return found

    def _matched(self, value: dict[str, Any], properties: Mapping[str, Schema], required: Any) -> dict[str, Any]:
        matched: dict[str, Any] = {}
        unknown: dict[str, Any] = {}
        for written, part in value.items():
            key = key_of(written, properties)
            if key is None:
                unknown[written] = part
            elif key in matched:
                matched[key] = matched[key] if matched[key] == part else Twice
            else:
                matched[key] = part
        return matched if matched else self._translated(unknown, properties, required)

    def _translated(self, unknown: dict[str, Any], properties: Mapping[str, Schema], required: Any) -> dict[str, Any]:
        """The values of an object all of whose keys are in another language, where only one reading fits."""
        found: dict[str, Any] = {}
        rest = {}
        for written, part in unknown.items():
            names = [name for name in properties if _translates(folded(written), folded(name)) and name not in found]
            if len(names) == 1:
                found[names[0]] = part
            elif folded(written).isascii() != all(folded(name).isascii() for name in properties):
                rest[written] = part
        missing = [name for name in required if name not in found]
        if not found or len(rest) != len(missing) or len(missing) > 3:
            return found
        if list(found) == [name for name in properties if name in found] and len(found) >= 2 * len(missing):
            placed = self._placed(unknown, found, properties)
            if placed is not None:
                return placed
        ways = [dict(zip(missing, order, strict=True)) for order in permutations(rest.values())]
        fitting = [way for way in ways if all(self._fits(name, part, properties[name]) for name, part in way.items())]
        return found | fitting[0] if len(fitting) == 1 else found

    def _placed(
        self, unknown: dict[str, Any], found: dict[str, Any], properties: Mapping[str, Schema]
    ) -> dict[str, Any] | None:
        """The values by their place, where the known keys are in the schema's order and nothing is left."""
        if len(unknown) != len(properties):
            return None
        placed = dict(zip(properties, unknown.values(), strict=True))
        same = all(placed[name] is part for name, part in found.items())
        fits = same and all(self._fits(name, part, properties[name]) for name, part in placed.items())
        return placed if fits else None

    def translated(self, written: str) -> str | None:
        """Return the one property that a key in the other language names, or None."""
        properties = self.schema.get("properties", {})
        names = [name for name in properties if _translates(folded(written), folded(name))]
        return names[0] if len(names) == 1 else None

    def knows(self, value: dict[str, Any]) -> bool:
        """Return whether the object has a key of the schema in the other language."""
        return any(self.translated(key) for key in value)

    def _fits(self, name: str, value: Any, schema: Schema) -> bool:
        try:
            self.fit(name, value, schema)
        except Misfit:
            return False
        return True

    def _flattened(self, name: str, value: dict[str, Any], schema: Schema) -> Any:
        """The keys of an inner object that were written one level too high; all of them or nothing."""
        schema = self.resolved(schema)
        inner: Mapping[str, Schema] = schema.get("properties", {})
        if schema.get("type") != "object" or not inner:
            return _MISSING
        for prefix in ("", name):
            short = {_without(prefix, key): part for key, part in value.items()}
            found = {key: part for key, part in short.items() if key and key_of(key, inner) is not None}
            if len(found) == len(inner):
                return found
        return _MISSING

    def _array(self, name: str, value: Any, schema: Schema) -> list[Any]:
        items = schema.get("items", {})
        places = schema.get("prefixItems")
        if isinstance(value, str):
            value = self._split(name, value, items)
        elif isinstance(value, dict):
            value = self._listed(value, items)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            value = [value]
        if not isinstance(value, list):
            raise Misfit(f"{name or 'the answer'} is {shown(value)}, a list is needed")
        found = []
        problem: Misfit | None = None
        for place, part in enumerate(value):
            inner = places[place] if places and place < len(places) else items
            try:
                found.append(self.fit(f"{name}[{place}]", part, inner if isinstance(inner, Mapping) else {}))
            except Misfit as error:
                problem = problem or error
                if not (self._partial and isinstance(inner, Mapping) and "enum" in self.resolved(inner)):
                    raise
                self.dropped += 1
        if problem is not None and not found:
            raise problem
        _check_length(name, found, schema)
        return found

    def _split(self, name: str, text: str, items: Any) -> list[Any]:
        """The entries of a list that was written as one string: 'R2 > R4', '3, 4, 5'."""
        items = self.resolved(items) if isinstance(items, Mapping) else {}
        parts = [
            re.sub(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+", "", part)
            for part in _LIST_MARKS.split(text.strip().strip("[]［］"))
        ]
        parts = [part.strip().strip("\"'“”") for part in parts if part.strip()]
        if "enum" in items and self._fits(name, text, items):
            return [text]
        if "enum" in items or items.get("type") in ("integer", "number"):
            return parts
        if items.get("type") == "string" and len(parts) > 1 and all(len(part) <= 40 for part in parts):
            return parts
        raise Misfit(f"{name} is {shown(text)}, a list is needed")

    def _listed(self, value: dict[str, Any], items: Any) -> list[Any]:
        """A list of records with two fields that was written as a mapping from one field to the other."""
        items = self.resolved(items) if isinstance(items, Mapping) else {}
        inner: Mapping[str, Schema] = items.get("properties", {})
        if items.get("type") == "object" and any(key_of(key, inner) for key in value):
            return [value]
        places = [key.strip() for key in value]
        if not inner and places == [str(place) for place in range(1, len(places) + 1)]:
            return list(value.values())
        if len(inner) != 2:
            raise Misfit(f"{shown(value)} is an object, a list is needed")
        first, second = inner
        numbered = self.resolved(inner[first]).get("type") == "integer"
        found = []
        for key, part in value.items():
            written = re.sub(rf"^\s*{re.escape(first)}\s*[#_-]?\s*", "", key, flags=re.IGNORECASE)
            found.append({first: written if numbered else key, second: part})
        return found


def _without(prefix: str, key: str) -> str:
    """The key behind 'setting.' or 'setting_', or nothing where it does not begin so; with no prefix, the key."""
    if not prefix:
        return key
    match = re.fullmatch(rf"\s*{re.escape(prefix)}\s*[._/\- ]\s*(.+)", key, re.IGNORECASE)
    return match[1] if match else ""


def _translates(written: str, name: str) -> bool:
    written = written.removeprefix("我的")
    return written in TRANSLATIONS.get(name, ()) or name in TRANSLATIONS.get(written, ())


def _allows_null(schema: Schema) -> bool:
    kinds = [option.get("type") for option in schema.get("anyOf", ())]
    return "null" in kinds or (isinstance(schema.get("type"), list) and "null" in schema["type"])


def _string(name: str, value: Any, schema: Schema) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Misfit(f"{name} is {shown(value)}, a text is needed")
    text = str(value)
    if _PLACEHOLDER.fullmatch(text):
        raise Misfit(f"{name} is the placeholder {shown(text)}")
    if len(text) < schema.get("minLength", 0):
        raise Misfit(f"{name} is empty" if not text else f"{name} is too short")
    return text


def _check_length(name: str, found: list[Any], schema: Schema) -> None:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if len(found) < least or (most is not None and len(found) > most):
        allowed = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
        raise Misfit(f"{name} has {len(found)} entries, allowed {allowed}")
    if schema.get("uniqueItems") and any(part in found[:place] for place, part in enumerate(found)):
        raise Misfit(f"{name} has an entry twice")


def _from_words(text: str, properties: Mapping[str, Schema], required: Any, fitter: Fitter) -> Any:
    """'Tom: worried' for a record of two texts."""
    kinds = [fitter.resolved(inner).get("type") for inner in properties.values()]
    parts = re.split(r"\s*[:：]\s*", text.strip(), maxsplit=1)
    if kinds != ["string", "string"] or len(required) != 2 or len(parts) != 2 or not all(parts):
        return text
    return dict(zip(properties, parts, strict=True))
