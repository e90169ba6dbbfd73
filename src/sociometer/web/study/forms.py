"""Answers as forms: the fields for each kind of answer, and the reply that a filled-in form makes."""

import math
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Allocation, AnswerFormat, Choice, Free, Schema

LONGEST = 20_000


class Field(Struct, frozen=True):
    """One field of a form: a choice among options, a number, or words."""

    name: str
    label: str
    kind: str
    options: tuple[tuple[str, str], ...] = ()
    """Value and text of each option."""
    low: float | None = None
    high: float | None = None
    step: str = "1"
    hint: str = ""


class BadAnswer(Exception):
    """A form that makes no answer; `problem` is a key of `WORDS`."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


def fields_of(wanted: AnswerFormat) -> tuple[Field, ...]:
    """The fields for a kind of answer."""
    match wanted:
        case Choice(options=options, labels=labels):
            shown = tuple(
                (label, option if label == option else f"{label}. {option}")
                for label, option in zip(labels, options, strict=True)
            )
            return (Field("answer", "", "choice", shown),)
        case Allocation(options=options, total=total):
            return tuple(
                Field(f"points-{place}", option, "number", low=0, high=total, step="0.5")
                for place, option in enumerate(options)
            )
        case Schema(schema=schema):
            return tuple(_field(name, part) for name, part in schema.get("properties", {}).items())
        case Free(hint=hint):
            return (Field("answer", "", "words", hint=hint),)


def _field(name: str, part: Mapping[str, Any]) -> Field:
    label = name.replace("_", " ").capitalize()
    if "enum" in part:
        return Field(f"part-{name}", label, "choice", tuple((str(one), str(one)) for one in part["enum"]))
    if part.get("type") in ("integer", "number"):
        low, high = part.get("minimum"), part.get("maximum")
        return Field(f"part-{name}", label, "number", (), low, high, "1" if part["type"] == "integer" else "any")
    return Field(f"part-{name}", label, "words")


def reply_of(wanted: AnswerFormat, given: Mapping[str, str]) -> str:
    """The reply from a filled-in form; raises BadAnswer if something is missing or out of range."""
    match wanted:
        case Allocation(options=options, total=total):
            points = [_number(given, field) for field in fields_of(wanted)]
            if not math.isclose(sum(points), total, abs_tol=1e-9):
                raise BadAnswer("must sum")
            return "\n".join(f"{option}: {value:g}" for option, value in zip(options, points, strict=True))
        case Schema(schema=schema):
            made: dict[str, Any] = {}
            for name, field in zip(schema.get("properties", {}), fields_of(wanted), strict=True):
                value = _number(given, field) if field.kind == "number" else _text(given, field)
                made[name] = int(value) if isinstance(value, float) and value.is_integer() else value
            return msgspec.json.encode(made).decode()
        case _:
            return _text(given, fields_of(wanted)[0])


def pattern_of(wanted: AnswerFormat, given: Mapping[str, str]) -> str:
    """How a form was filled in: the position of the chosen letter, or the points in their order; otherwise empty.

    Options that mean something by themselves, such as the moves of a game, may rightly be the same every time.
    """
    match wanted:
        case Choice(labels=labels, options=options) if labels != options:
            return given.get("answer", "")
        case Allocation():
            return " ".join(f"{_number(given, field):g}" for field in fields_of(wanted))
        case _:
            return ""


def _text(given: Mapping[str, str], field: Field) -> str:
    said = given.get(field.name, "").replace("\r\n", "\n").strip()
    if not said:
        raise BadAnswer("choose one" if field.kind == "choice" else "write something")
    if field.kind == "choice" and said not in [value for value, _ in field.options]:
        raise BadAnswer("choose one")
    if len(said) > LONGEST:
        raise BadAnswer("too long")
    return said


def _number(given: Mapping[str, str], field: Field) -> float:
    try:
        value = float(given.get(field.name, "").strip() or "nan")
    except ValueError:
        raise BadAnswer("a number") from None
    outside = (field.low is not None and value < field.low) or (field.high is not None and value > field.high)
    whole = field.step != "1" or value.is_integer() if math.isfinite(value) else False
    if not math.isfinite(value) or outside or not whole:
        raise BadAnswer("a number")
    return value
