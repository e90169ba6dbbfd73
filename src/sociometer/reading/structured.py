"""JSON replies: the one object that a reply gives, read leniently and validated by a type or a schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

import msgspec

from sociometer.reading.fitting import Fitter
from sociometer.reading.json_candidates import Choice, choose
from sociometer.reading.json_values import Misfit
from sociometer.reading.lenient_json import Budget, parse_strictly

__all__ = ["StructuredReading", "find_json", "read_each", "read_json", "read_schema"]

T = TypeVar("T")
_THINK = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_LONGEST = 100_000
_STEPS = 60_000


class StructuredReading(msgspec.Struct, Generic[T], frozen=True):
    """The record in a reply, or None; the rule that read it, or why none could.

    `problem` is what was wrong in one short sentence, to be shown to the model; `dropped` counts list entries left out.
    """

    value: T | None
    rule: str
    problem: str = ""
    dropped: int = 0


def read_json(
    text: str, type: type[T], schema: Mapping[str, Any] | None = None, *, partial: bool = False
) -> StructuredReading[T]:
    """Return the reply's JSON object as this type; none, a misfit or several different ones are unreadable.

    A schema adds limits that the type does not have. With `partial`, labels that are not allowed are left out of lists.
    """
    found = read_schema(text, _schema_of(cast(Any, type)) if schema is None else schema, partial=partial)
    if found.value is None:
        return StructuredReading(None, found.rule, found.problem)
    try:
        value = msgspec.convert(found.value, type)
    except (msgspec.ValidationError, RecursionError) as error:
        return StructuredReading(None, f"misfit: {error}", f"The object does not fit: {error}.")
    return StructuredReading(value, found.rule, "", found.dropped)


def read_schema(text: str, schema: Mapping[str, Any], *, partial: bool = False) -> StructuredReading[Any]:
    """Return the reply's JSON value in the types of a JSON schema, with unknown keys left out."""
    text = without_thinking(text[-_LONGEST:]).strip()
    if not text:
        return StructuredReading(None, "empty", "The reply is empty.")
    fitter = Fitter(schema, partial=partial)
    chosen = choose(text, fitter, Budget(_STEPS))
    if chosen.value is None:
        return StructuredReading(None, chosen.rule, _sentence(chosen))
    try:
        fitter.dropped = 0
        value = fitter.fit("", chosen.value, fitter.schema)
    except Misfit as error:
        return StructuredReading(None, f"misfit: {error}", f"{error}.")
    return StructuredReading(value, chosen.rule, "", fitter.dropped)


def read_each(text: str, type: type[T]) -> list[T]:
    """Return every value of this type in the text, in order."""
    fitter = Fitter(_schema_of(cast(Any, type)))
    found = []
    for value in choose(text[-_LONGEST:], fitter, Budget(_STEPS)).all_fitting:
        try:
            found.append(msgspec.convert(value, type))
        except (msgspec.ValidationError, RecursionError):
            continue
    return found


def find_json(text: str) -> Iterator[str]:
    """Yield each outermost JSON object or list in the text, in order."""
    for parsed in parse_strictly(text[-_LONGEST:]):
        yield text[-_LONGEST:][parsed.start : parsed.end]


def without_thinking(text: str) -> str:
    """Return the text without the content of reasoning tags; a tag that is never closed reaches to the end."""
    kept: list[str] = []
    at, inside = 0, False
    for match in _THINK.finditer(text):
        if match[1] and not inside:
            kept.clear()  # the opening tag was cut off or never written
        elif not inside:
            kept.append(text[at : match.start()])
        inside = not match[1]
        at = match.end()
    return "\n".join([*kept, "" if inside else text[at:]])


def _sentence(chosen: Choice) -> str:
    words = chosen.problem[:1].upper() + chosen.problem[1:] if chosen.problem.startswith("the ") else chosen.problem
    return f"{words}."


@lru_cache(maxsize=256)
def _schema_of(type: Any) -> Mapping[str, Any]:
    return msgspec.json.schema(type)
