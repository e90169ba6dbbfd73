"""The profile as strips: one scale a measure, chance and people marked, a dot with its whisker for each subject."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.analysis.candidates import beside_the_subject, plays_the_subject
from sociometer.analysis.profile import ProfileLine, on_norm
from sociometer.analysis.shown import NO_VARIATION, SAME_ON_EVERY_ITEM
from sociometer.core.card import Card, MeasureCard

CROWDED = 20


class StripDot(Struct, frozen=True):
    """A subject on a strip; places are percent of the strip's width."""

    subject: str
    place: int
    """Which of the report's subjects, for its colour."""
    at: float | None
    low: float | None
    high: float | None
    text: str
    range_text: str
    caveat: str = ""
    beside: str = ""
    """What could not be read or failed, where anything did."""


class StripMark(Struct, frozen=True):
    """A reference on a strip, such as chance or people."""

    name: str
    at: float
    text: str


class Strip(Struct, frozen=True):
    """One measure of one instrument."""

    instrument: str
    title: str
    measure: str
    low_text: str
    high_text: str
    better: str
    dots: tuple[StripDot, ...]
    marks: tuple[StripMark, ...]


def number(value: float | None, unit: str, digits: int | None = None) -> str:
    """A value in its unit: shares as percent, points with one decimal, other numbers with two."""
    if value is None:
        return "–"
    if unit == "share":
        return f"{value * 100:.{1 if digits is None else digits}f} %"
    return f"{value:.{(1 if unit == 'points' else 2) if digits is None else digits}f}"


def strips(lines: Sequence[ProfileLine], subjects: Sequence[str], cards: Sequence[Card]) -> tuple[Strip, ...]:
    """Strips in the order of the lines; subjects in the report's order."""
    groups: dict[tuple[str, str, str], list[ProfileLine]] = {}
    for line in lines:
        groups.setdefault((line.instrument, line.task, line.measure), []).append(line)
    by_name = {card.name: card for card in cards}
    return tuple(_strip(members, subjects, by_name[key[0]]) for key, members in groups.items())


def _strip(members: Sequence[ProfileLine], subjects: Sequence[str], card: Card) -> Strip:
    first = members[0]
    known = next(m for m in card.measures_of(first.task) if m.name == first.measure)
    low, high = _scale(members, known)

    def place(value: float | None) -> float | None:
        return None if value is None else round(100 * min(1.0, max(0.0, (value - low) / (high - low))), 2)

    dots = tuple(
        StripDot(
            line.subject,
            subjects.index(line.subject),
            place(line.value),
            place(line.interval.low) if line.interval else None,
            place(line.interval.high) if line.interval else None,
            number(line.value, line.unit),
            _range(line),
            "stand-in" if beside_the_subject(line.stand_ins) else plays_the_subject(line.stand_ins),
            _beside(line),
        )
        for line in members
    )
    # official and bundled items may meet in one strip; what chance earns is then not one place
    chance = first.chance if len({line.chance for line in members}) == 1 else None
    references = (("chance", chance), ("people", first.human))
    marks = tuple(
        StripMark(name, place(value) or 0.0, number(value, first.unit))
        for name, value in references
        if value is not None
    )
    # an end is left unnamed where a mark's name needs the room
    low_text = "" if any(mark.at < CROWDED for mark in marks) else number(low, first.unit, 0)
    high_text = "" if any(mark.at > 100 - CROWDED for mark in marks) else number(high, first.unit, 0)
    return Strip(card.name, card.title, first.measure_title, low_text, high_text, first.better, dots, marks)


def _beside(line: ProfileLine) -> str:
    counts = ((line.unreadable, "unreadable"), (line.errors, "failed"))
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _range(line: ProfileLine) -> str:
    if line.interval is None:
        return ""
    if line.interval.low is None or line.interval.high is None:
        return "too few for an interval"
    if line.interval.method == NO_VARIATION:
        return SAME_ON_EVERY_ITEM
    return f"{number(line.interval.low, line.unit)} to {number(line.interval.high, line.unit)}"


def _scale(members: Sequence[ProfileLine], known: MeasureCard) -> tuple[float, float]:
    """The card's range, or the range of what is shown, with some air.

    The latter where the card has none, and on a norm of people, whose ends nobody comes near.
    """
    if known.low is not None and known.high is not None and known.high > known.low and not on_norm(known):
        return known.low, known.high
    seen = [value for line in members for value in (line.value, line.chance, line.human, line.top) if value is not None]
    seen += [
        end for line in members if line.interval for end in (line.interval.low, line.interval.high) if end is not None
    ]
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    air = (high - low) * 0.08 or abs(high) * 0.1 or 1.0
    if on_norm(known):
        return low - air, high + air
    return known.low if known.low is not None else low - air, known.high if known.high is not None else high + air
