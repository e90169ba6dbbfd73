"""The forms of a study: how people read an instrument's questions, and how a filled-in form makes a reply."""

import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs

from sociometer.core.conversation import Allocation, AnswerFormat, Choice, Event, Free, Noted, Schema
from sociometer.core.instrument import Instrument
from sociometer.core.language import ENGLISH
from sociometer.store.person_questions import PersonQuestion
from sociometer.web.errors import BadForm

LONGEST = 20_000
LONGEST_ABOUT = 500
"""The most characters of an answer, and of one about the person."""
_CARD = re.compile(r"\b([SHDC])([2-9TJQKA])\b")
_SUITS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
_JOINED = re.compile(r"(?<=[a-z])_(?=[a-z])")
_BACKGROUND = re.compile(r"\s*^-----$\s*", re.MULTILINE)
"""The line of a text for people below its background, which need not be read again at every question of an item.

Where a text has two such lines, the background is between them."""


class PeopleTexts(Struct, frozen=True, forbid_unknown_fields=True):
    """How people read an instrument: the names of fields and moves, and whether its texts name cards (“HJ”)."""

    fields: dict[str, str] = {}
    values: dict[str, str] = {}
    cards: bool = False
    words: dict[str, str] = {}
    """Parts of texts that are shown in other words."""
    again: dict[str, str] = {}
    """By task, what stands above the further questions of an item."""
    ended: dict[str, dict[str, str]] = {}
    """By task and kind of note, what came of an item, with the facts of its last note of this kind."""
    practice: tuple[str, ...] = ()
    """The tasks, such as games, of which people first play an item that does not count."""
    results: dict[str, str] = {}
    """By “task.measure”, what a result is called; others are not shown."""

    def shown(self, text: str) -> str:
        """A text as people write: “♥J”, and no “front_yard”."""
        for ours, theirs in self.words.items():
            text = text.replace(ours, theirs)
        text = _JOINED.sub(" ", text)
        return _CARD.sub(lambda card: _SUITS[card[1]] + card[2].replace("T", "10"), text) if self.cards else text

    def split(self, text: str) -> tuple[str, str, str]:
        """What stands above the background of a text, the background, and the rest."""
        *above, background, rest = ["", *_BACKGROUND.split(self.shown(text))]
        return "".join(above), background, rest

    def what_happened(self, task: str, events: Iterable[Event]) -> str:
        """What came of an item, if these texts have words for it."""
        notes = {event.kind: event.facts for event in events if isinstance(event, Noted)}
        known = [(notes[kind], text) for kind, text in self.ended.get(task, {}).items() if kind in notes]
        return self.shown(
            " ".join(
                text.format(**{name: self.values.get(f"{name}={value}", value) for name, value in facts.items()})
                for facts, text in known
            ).strip()
        )

    def label(self, field: str) -> str:
        """What a field of a form is called."""
        return self.fields.get(field, field.replace("_", " ").capitalize())

    def own(self, said: str) -> str:
        """A person's earlier answer: of a form, a line for each field."""
        try:
            given = msgspec.json.decode(said, type=dict[str, Any])
        except (msgspec.DecodeError, msgspec.ValidationError):
            return said
        return "\n".join(f"{self.label(name)}: {self.values.get(str(value), value)}" for name, value in given.items())


def people_folder(instrument: Instrument) -> str:
    """The folder of the texts for people, which replace prompts of the same name; empty if there is none."""
    folder = instrument.folder / "people"
    return str(folder) if folder.is_dir() else ""


def people_texts(instrument: Instrument, language: str) -> PeopleTexts:
    """The names in the forms of an instrument, in a language or else in English."""
    for tongue in (language, ENGLISH):
        path = instrument.folder / "people" / tongue / "forms.toml"
        if path.is_file():
            return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), PeopleTexts)
    return PeopleTexts()


class Field(Struct, frozen=True):
    """One field of a form: a choice among options, the moves of a game, a number, or words."""

    name: str
    label: str
    kind: str
    options: tuple[tuple[str, str], ...] = ()
    """Value and text of each option."""
    low: float | None = None
    high: float | None = None
    step: str = "1"
    unit: str = ""
    """What the reply has after a number, such as “%”."""
    required: bool = True


def fields_of(wanted: AnswerFormat, texts: PeopleTexts | None = None) -> tuple[Field, ...]:
    """The fields for a kind of answer; moves of a game are buttons that send the form, so they come last."""
    texts = texts or PeopleTexts()
    match wanted:
        case Choice(options=options, labels=labels):
            shown = tuple(
                (label, texts.values.get(option, texts.shown(option)))
                for label, option in zip(labels, options, strict=True)
            )
            return (Field("answer", "", "moves" if labels == options else "choice", shown),)
        case Allocation(options=options, total=total):
            return tuple(
                Field(f"points-{place}", option, "number", low=0, high=total, step="0.5")
                for place, option in enumerate(options)
            )
        case Schema(schema=schema):
            *others, last = (_field(name, part, texts) for name, part in schema.get("properties", {}).items())
            return (*others, structs.replace(last, kind="moves") if last.kind == "choice" else last)
        case Free():
            return (Field("answer", "", "words"),)


def _field(name: str, part: Mapping[str, Any], texts: PeopleTexts) -> Field:
    label = texts.label(name)
    if "enum" in part:
        shown = tuple((str(one), texts.values.get(str(one), str(one))) for one in part["enum"])
        return Field(f"part-{name}", label, "choice", shown)
    if part.get("type") in ("integer", "number"):
        low, high = part.get("minimum"), part.get("maximum")
        return Field(f"part-{name}", label, "number", (), low, high, "1" if part["type"] == "integer" else "any")
    if name.endswith("_percent"):
        return Field(f"part-{name}", label, "number", low=0, high=100, step="any", unit="%")
    return Field(f"part-{name}", label, "words")


def about_fields(questions: Sequence[PersonQuestion], *, after: bool) -> tuple[Field, ...]:
    """The fields of the questions about the person that are asked before or after the items."""
    kinds = {"choice": "choice", "number": "number", "text": "line"}
    return tuple(
        Field(f"about-{place}", one.name, kinds.get(one.kind, "hidden"), one.options, one.low, one.high, "any",
              required=one.required)
        for place, one in enumerate(questions) if one.after == after
    )  # fmt: skip


def about_of(questions: Sequence[PersonQuestion], given: Mapping[str, str], *, after: bool) -> dict[str, str]:
    """What a form says about the person; raises BadForm if something is missing or not allowed."""
    found = {}
    for field in about_fields(questions, after=after):
        if said := given.get(field.name, "").strip()[:LONGEST_ABOUT]:
            (_number if field.kind == "number" else _text)({field.name: said}, field)
            found[field.label] = said
        elif field.required:
            raise BadForm("link incomplete" if field.kind == "hidden" else "required", question=field.label)
    return found


def reply_of(wanted: AnswerFormat, given: Mapping[str, str], texts: PeopleTexts | None = None) -> str:
    """The reply from a filled-in form; raises BadForm, in these texts, if something is missing or out of range."""
    match wanted:
        case Allocation(options=options, total=total):
            points = _points(wanted, given)
            if sum(points) != total or any(not (2 * one).is_integer() for one in points):
                raise BadForm("must sum")
            return "\n".join(f"{option}: {value:g}" for option, value in zip(options, points, strict=True))
        case Schema(schema=schema):
            made: dict[str, Any] = {}
            for name, field in zip(schema.get("properties", {}), fields_of(wanted, texts), strict=True):
                value = _number(given, field) if field.kind == "number" else _text(given, field)
                whole = int(value) if isinstance(value, float) and value.is_integer() else value
                made[name] = f"{whole} {field.unit}" if field.unit else whole
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
            return " ".join(f"{points:g}" for points in _points(wanted, given))
        case _:
            return ""


def _text(given: Mapping[str, str], field: Field) -> str:
    said = given.get(field.name, "").replace("\r\n", "\n").strip()
    if not said and field.required:
        raise BadForm("choose one" if field.options else "write something")
    if field.options and said not in [value for value, _ in field.options]:
        raise BadForm("choose one")
    if len(said) > LONGEST:
        raise BadForm("too long")
    return said


def _points(wanted: Allocation, given: Mapping[str, str]) -> list[float]:
    """The points for each option; an empty field is a zero."""
    return [_number({field.name: given.get(field.name, "").strip() or "0"}, field) for field in fields_of(wanted)]


def _number(given: Mapping[str, str], field: Field) -> float:
    try:
        value = float(given.get(field.name, "").strip() or "nan")
    except ValueError:
        value = math.nan
    low, high = (-math.inf if field.low is None else field.low), (math.inf if field.high is None else field.high)
    whole = field.step == "1"
    if not math.isfinite(value) or not low <= value <= high or (whole and not value.is_integer()):
        key = "a number" if math.inf in (-low, high) else "a whole number in" if whole else "a number in"
        raise BadForm(key, field=field.label, low=f"{low:g}", high=f"{high:g}")
    return value
