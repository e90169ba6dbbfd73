"""Instances of a JSON schema that a rule can give: the first, the last, a random one."""

from collections.abc import Callable, Sequence
from typing import Any

_DEEPEST = 12
_LONGEST_ARRAY = 1000

Pick = Callable[[Sequence[Any]], Any]
"""Picks one of several values (those of an enum, or the ends and the middle of a number's range)."""
Write = Callable[[], str]
"""Returns the text for a string without an enum."""


def sample(schema: dict[str, Any], pick: Pick, write: Write) -> Any:
    """An instance that satisfies the schema, each open decision made by `pick`."""
    return _Sampler(schema, pick, write).value(schema, 0)


class _Sampler:
    def __init__(self, root: dict[str, Any], pick: Pick, write: Write) -> None:
        self._root = root
        self._pick = pick
        self._write = write

    def value(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return None
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self._pick(schema["enum"])
        if "$ref" in schema:
            return self.value(self._resolved(str(schema["$ref"])), depth + 1)
        for union in ("anyOf", "oneOf"):
            if schema.get(union):
                return self.value(self._pick(schema[union]), depth + 1)
        if schema.get("allOf"):
            merged: dict[str, Any] = {}
            for part in schema["allOf"]:
                merged.update(part)
            return self.value(merged, depth + 1)
        return self._typed(schema, depth)

    def _typed(self, schema: dict[str, Any], depth: int) -> Any:
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), "null")
        match kind:
            case "object":
                return {name: self.value(part, depth + 1) for name, part in schema.get("properties", {}).items()}
            case "array":
                return self._array(schema, depth)
            case "integer" | "number":
                return self._number(schema, whole=kind == "integer")
            case "boolean":
                return self._pick([True, False])
            case "null":
                return None
            case _:
                return self._text(schema)

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        prefix = [self.value(part, depth + 1) for part in schema.get("prefixItems", ())]
        count = max(min(int(schema.get("minItems", 1)), _LONGEST_ARRAY), len(prefix))
        rest = schema.get("items", {"type": "string"})
        made = prefix + [self.value(rest, depth + 1) for _ in range(count - len(prefix))]
        if schema.get("uniqueItems") and isinstance(rest, dict) and rest.get("enum"):
            return list(rest["enum"][:count])
        return made

    def _number(self, schema: dict[str, Any], *, whole: bool) -> float | int:
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        if low is None:
            low = 0 if high is None or high >= 0 else high - 10
        if high is None:
            high = low + 10
        if whole:
            first = int(low) + (1 if "exclusiveMinimum" in schema else 0)
            last = int(high) - (1 if "exclusiveMaximum" in schema else 0)
            return int(self._pick(range(first, max(first, last) + 1)))
        if "exclusiveMinimum" in schema or "exclusiveMaximum" in schema:
            margin = (high - low) / 100
            low, high = low + margin, high - margin
        return float(self._pick([low + (high - low) * step / 10 for step in range(11)]))

    def _text(self, schema: dict[str, Any]) -> str:
        text = self._write()
        shortest, longest = int(schema.get("minLength", 0)), schema.get("maxLength")
        while len(text) < shortest:
            text = f"{text} {text}" if text else "…"
        return text if longest is None else text[: int(longest)]

    def _resolved(self, reference: str) -> Any:
        found: Any = self._root
        for part in reference.removeprefix("#").strip("/").split("/"):
            found = found.get(part, {}) if isinstance(found, dict) and part else found
        return found
