"""Style: what people write against what simulated people write in the same position. No text of theirs is shown."""

import math
from collections.abc import Callable, Sequence
from statistics import fmean

import numpy as np
from msgspec import Struct

from sociometer.core.measure import Cell, Interval, Table
from sociometer.instruments.sage.passport.people import PersonAnswer, PersonProbe
from sociometer.instruments.sage.person.emotion import RULES, is_refusal
from sociometer.reading import read_rules
from sociometer.statistics.formatting import estimate
from sociometer.statistics.intervals import clustered_mean_interval

Feature = Callable[[str, str], float]
"""A number of a text in a language."""


def _characters(text: str, language: str) -> float:
    return float(len(text))


def _log_characters(text: str, language: str) -> float:
    return math.log1p(len(text))


def _asks(text: str, language: str) -> float:
    return float(bool(read_rules("chat", language, RULES).search("question", text)))


def _thanks(text: str, language: str) -> float:
    return float(bool(read_rules("chat", language, RULES).search("thanks", text)))


def _refuses(text: str, language: str) -> float:
    return float(is_refusal(text, language))


SHOWN: dict[str, tuple[Feature, str]] = {
    "characters": (_characters, "number"),
    "asks something": (_asks, "share"),
    "thanks": (_thanks, "share"),
    "refuses to speak as the person": (_refuses, "share"),
}
"""What the table shows, with its unit."""
COMPARED: dict[str, Feature] = {
    "length": _log_characters, "questions": _asks, "thanks": _thanks, "refusals": _refuses,
}  # fmt: skip
"""What the distance is made of; the length as its logarithm."""


class Style(Struct, frozen=True):
    """What one simulator writes, beside what the people wrote in the same positions."""

    simulator: str
    texts: int
    people: int
    unreadable: int
    features: dict[str, tuple[float, float, Interval]]
    """By feature: the people's mean, the simulator's mean, and the interval of the difference over people."""
    distance: float
    """The root mean square of the standardised differences; 0: as people write."""


def compare_style(simulator: str, rows: Sequence[tuple[PersonProbe, PersonAnswer]]) -> Style | None:
    """The style of a simulator's words; None if it was not asked for any."""
    asked = [(probe, answer) for probe, answer in rows if probe.asks == "words"]
    written = [(probe, answer.words) for probe, answer in asked if answer.words]
    if not written:
        return None
    people = [probe.cluster for probe, _ in written]
    features: dict[str, tuple[float, float, Interval]] = {}
    for name, (feature, _) in SHOWN.items():
        theirs, mine = _values(feature, written)
        gaps = [one - two for one, two in zip(mine, theirs, strict=True)]
        interval = clustered_mean_interval(gaps, people, binary=False)
        features[name] = (fmean(theirs), fmean(mine), interval)
    squares = [_standardised(*_values(feature, written)) ** 2 for feature in COMPARED.values()]
    return Style(
        simulator=simulator,
        texts=len(written),
        people=len(set(people)),
        unreadable=len(asked) - len(written),
        features=features,
        distance=math.sqrt(fmean(squares)),
    )


def _values(feature: Feature, written: Sequence[tuple[PersonProbe, str]]) -> tuple[list[float], list[float]]:
    theirs = [feature(probe.written, probe.language) for probe, _ in written]
    mine = [feature(words, probe.language) for probe, words in written]
    return theirs, mine


def _standardised(theirs: Sequence[float], mine: Sequence[float]) -> float:
    """The difference of the means in pooled standard deviations; 0 if nothing varies."""
    pooled = math.sqrt((float(np.var(theirs)) + float(np.var(mine))) / 2)
    gap = fmean(mine) - fmean(theirs)
    if pooled == 0:
        return 0.0 if gap == 0 else math.copysign(1.0, gap)
    return gap / pooled


def table(styles: Sequence[Style]) -> Table:
    """Each feature of people and simulators, and the distance of each simulator."""
    rows: list[tuple[Cell, ...]] = []
    for style in styles:
        for name, (theirs, mine, interval) in style.features.items():
            unit = SHOWN[name][1]
            difference = estimate(mine - theirs, unit, interval)
            rows.append((style.simulator, name, _shown(theirs, unit), _shown(mine, unit), difference))
        rows.append((style.simulator, "distance", None, f"{style.distance:.2f}", None))
    columns = ("simulator", "feature", "people", "simulator writes", "difference")
    sizes = "; ".join(_size(style) for style in styles)
    note = (
        f"{sizes}. Distance: root mean square of the standardised differences in length (logarithm),"
        " questions, thanks and refusals; 0 is how people write."
    )
    return Table("style", "What people write and what simulated people write", columns, tuple(rows), note=note)


def _size(style: Style) -> str:
    sentence = f"{style.simulator}: {style.texts} texts in the place of {style.people} people"
    return f"{sentence}, {style.unreadable} unreadable" if style.unreadable else sentence


def _shown(value: float, unit: str) -> str:
    return f"{value:.0%}" if unit == "share" else f"{value:.0f}"
