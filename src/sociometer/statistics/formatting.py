"""Numbers and intervals as text, and what is said next to them: chance, failures, stand-ins. Imports no numpy."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sociometer.core.card import Card, MeasureCard
from sociometer.core.conversation import SUBJECT
from sociometer.core.measure import NO_VARIATION, SAME_ON_EVERY_ITEM, TOO_FEW_PEOPLE, Case, Interval, Measure, Summary
from sociometer.core.task import AnyRun, RunView
from sociometer.core.words import PART, counted, plain_number, plural, rounded


def scale_and_digits(unit: str) -> tuple[int, int]:
    """The factor of a unit, and its decimals without an interval: one for shares and points, else two.

    `share-points` is the unit of differences of shares in tables: 0.12 is shown as 12.
    """
    return (100 if unit in ("share", "share-points") else 1), (1 if unit in ("share", "share-points", "points") else 2)


def decimals(unit: str, interval: Interval | None) -> int | None:
    """The decimals that an interval is worth in its unit; None if there is none, or if it has no width.

    Too few clusters for an interval are worth one decimal less than usual. A bound has enough decimals to differ from
    the values that it must stay apart from.
    """
    scale, usual = scale_and_digits(unit)
    if interval is None or interval.method == NO_VARIATION:
        return None
    if interval.low is None or interval.high is None:
        return usual - 1
    width = (interval.high - interval.low) * scale
    if unit == "points" and interval.low > 0:
        width *= 2  # an EQ with an interval of 5 points or more is a whole number
    if not math.isfinite(width) or width <= 0:
        return None
    digits = min(max(0, 1 - math.floor(math.log10(width))), usual + 1)
    pairs = [(end * scale, mark * scale) for end in (interval.low, interval.high) for mark in interval.apart]
    while digits < usual + 3 and any(end != mark and round(end, digits) == round(mark, digits) for end, mark in pairs):
        digits += 1
    return digits


def verdict_marks(margin: float | None) -> tuple[float, ...]:
    """The values that the verdict on a difference compares its interval with: zero, and the margin on both sides."""
    return (0.0,) if margin is None else (0.0, margin, -margin)


def common_decimals(unit: str, intervals: Iterable[Interval | None]) -> int | None:
    """The decimals of values next to each other: what the widest interval is worth; None without any.

    If a bound is negative, what the narrowest is worth, so that none hides its side of zero.
    """
    known = [one for one in intervals if one is not None]
    pick = max if any((one.low or 0.0) < 0 for one in known) else min
    return pick((found for one in known if (found := decimals(unit, one)) is not None), default=None)


def adding_decimals(first: float, second: float, unit: str, interval: Interval) -> int:
    """The decimals of a row with two values, their difference and its interval: one more if it adds up then."""
    scale, usual = scale_and_digits(unit)
    found = decimals(unit, interval)
    worth = usual if found is None else found
    values = (scale * first, scale * (second - first), -scale * second)
    fit = (more for more in (worth, worth + 1) if abs(sum(rounded(one, more) for one in values)) < _NOTHING)
    return next(fit, worth)


def column_decimals(rows: Iterable[Mapping[str, Any]], name: str, unit: str) -> int | None:
    """The most decimals that a number in a column without intervals has, for all of them; None if it has no number."""
    shown = (number(row[name], unit) for row in rows if row[name] is not None)
    return max((len(text.partition(".")[2].rstrip(" %")) for text in shown), default=None)


def number(value: float | None, unit: str, digits: int | None = None, *, interval: Interval | None = None) -> str:
    """A value as text, a share with its percent sign, a difference of shares in points, None as a dash.

    `digits` sets the decimals; without it the width of `interval` does, else the unit. 0.997 is > 99 %, not 100 %.
    """
    if value is None:
        return "–"
    scale, usual = scale_and_digits(unit)
    places = decimals(unit, interval) if digits is None else digits
    shown = plain_number(value * scale, places, usual)
    if unit == "share" and _NOTHING < value < 1 - _NOTHING and (end := float(shown)) in (0, 100):
        step = 0.1 ** (usual if places is None else places)
        shown = f"> {plain_number(end - step, places, usual)}" if end else f"< {plain_number(step, places, usual)}"
    point = " point" if shown in ("1", "−1") else " points"
    return shown + {"share": " %", "share-points": point}.get(unit, "")


def amount(value: float, unit: str, digits: int | None = None, *, interval: Interval | None = None) -> str:
    """The size of a difference in words, without its sign; a difference of shares is given in points."""
    scale, usual = scale_and_digits(unit)
    shown = plain_number(abs(value) * scale, decimals(unit, interval) if digits is None else digits, usual)
    return shown + ((" point" if shown == "1" else " points") if unit in ("share", "share-points", "points") else "")


def margin_text(margin: float, unit: str) -> str:
    """A margin as it was given: “3 points”, “0.03 points”."""
    return amount(margin, unit, len(f"{margin * scale_and_digits(unit)[0]:.9f}".rstrip("0").partition(".")[2]))


def signed_amount(value: float, unit: str, digits: int | None = None, *, interval: Interval | None = None) -> str:
    """A difference in words, with a minus sign if it is negative and not shown as zero."""
    shown = amount(value, unit, digits, interval=interval)
    return ("−" if value < 0 and shown.strip("0. points") else "") + shown


def p_text(value: float) -> str:
    """A p-value as papers print it: never 0 and never 1."""
    return "< .001" if value < 0.001 else "> .999" if value > 0.999 else f"{value:.3f}".removeprefix("0")


def p_phrase(value: float) -> str:
    """A p-value in a sentence: “p = .031”, “p < .001”."""
    text = p_text(value)
    return f"p {text}" if text[0] in "<>" else f"p = {text}"


def group_text(group: Mapping[str, str]) -> str:
    """The facets of a group with their levels; empty for a measure overall."""
    return ", ".join(f"{facet}: {level}" for facet, level in group.items())


def bounds_text(
    interval: Interval, text: Callable[[float, float], str], *, too_few: str, same: str = SAME_ON_EVERY_ITEM
) -> str:
    """`text` of the two bounds; `too_few` if the interval has no bounds, `same` if every value was the same."""
    if interval.low is None or interval.high is None:
        return too_few
    if interval.method == NO_VARIATION:
        return same
    return text(interval.low, interval.high)


def _ends(interval: Interval, unit: str, digits: int | None) -> list[str]:
    """The bounds as text, without a unit; “−0.00” is below zero."""
    scale, usual = scale_and_digits(unit)
    places = decimals(unit, interval) if digits is None else digits
    values = [end * scale for end in (interval.low, interval.high) if end is not None]
    texts = ((value, plain_number(value, usual if places is None else places)) for value in values)
    return [text if text.startswith("−") or value > -_NOTHING else f"−{text}" for value, text in texts]


def interval_text(
    interval: Interval | None, unit: str, too_few: str = "", digits: int | None = None, *, cluster: str = PART
) -> str:
    """An interval as “low to high”, a share with one percent sign; empty if there is none."""
    if interval is None:
        return ""
    few = too_few or f"too few ({counted(interval.clusters, interval.scarce(cluster))})"
    bounds = " to ".join(_ends(interval, unit, digits)) + (" %" if unit == "share" else "")
    return bounds_text(interval, lambda *_: bounds, too_few=few)


def bracketed_interval(interval: Interval, unit: str, digits: int | None = None, *, cluster: str = PART) -> str:
    """An interval as “[low, high]”, in points if of shares."""
    bounds = f"[{', '.join(_ends(interval, unit, digits))}]"
    few = f"[too few {plural(interval.scarce(cluster))}]"
    return bounds_text(interval, lambda *_: bounds, too_few=few, same=f"[{SAME_ON_EVERY_ITEM}]")


def difference_text(difference: float, unit: str, interval: Interval, than: str = "", digits: int | None = None) -> str:
    """A difference with its direction and its interval, with the sign of the table: “12 points lower [−26, 3]”."""
    size = amount(difference, unit, digits, interval=interval)
    way = f"{size} {'lower' if difference < 0 else 'higher'}{f' than {than}' if than else ''}"
    if not size.strip("0. points"):
        way = f"as high{f' as {than}' if than else ''}"
    return f"{way} {bracketed_interval(interval, unit, digits)}"


def estimate(value: float | None, unit: str, interval: Interval | None = None, digits: int | None = None) -> str:
    """A value with its interval in one cell: “15 % [7, 25]”."""
    shown = number(value, unit, digits, interval=interval)
    return shown if value is None or interval is None else f"{shown} {short_interval(interval, unit, digits)}"


def short_interval(interval: Interval, unit: str, digits: int | None = None) -> str:
    """An interval in the cell of its value: “[7, 25]”."""
    bounds = bracketed_interval(interval, unit, digits)
    few = "(too few people)" if interval.method == TOO_FEW_PEOPLE else "(too few)"
    return bounds_text(interval, lambda *_: bounds, too_few=few, same=bounds)


def failed_range(errors: int, cases: Sequence[Case], unit: str) -> str:
    """What failed episodes could change: “22 to 74 % with the 100 failed”; empty without any."""
    if not errors:
        return ""
    if not cases:
        return f"left open by the {errors} failed"
    low, high = (case.value for case in cases)
    return f"{interval_text(Interval(low, high), unit)} with the {errors} failed"


_NOTHING = 1e-9
"""Less than this is an error of rounding."""
CHANCE = "chance"
"""The series in which a summary can give chance levels of exactly what was played, by measure; None: unknown."""


def sure_chance(known: MeasureCard) -> float | None:
    """The chance level, if it follows from the number of options (a half, a quarter) and so is valid for all items."""
    chance = known.chance
    return chance if chance is not None and (chance == 0 or (1 / chance).is_integer()) else None


def chance_of(known: MeasureCard, card: Card, summary: Summary, *, on_official: bool) -> float | None:
    """The chance level of a measure on the items played; what the run itself says of it, if it does.

    A chance level that follows from the number of options (a half, a quarter) is valid for all items. Any other was
    measured on the bundled items and is not valid for official ones, except for tasks that `run` does not play by
    default: they have official items only.
    """
    if known.name in (told := told_chances(summary)):
        return told[known.name]
    if on_official and card.task_card(known.task).default and sure_chance(known) is None:
        return None
    return known.chance


def told_chances(summary: Summary) -> Mapping[str, float | None]:
    """The chance levels that a run gives itself, by measure."""
    told = summary.series.get(CHANCE)
    return told if isinstance(told, Mapping) else {}


def common_chance(known: MeasureCard, runs: Iterable[AnyRun]) -> float | None:
    """The chance level of a measure that several runs share; None if they differ, or it is unknown."""
    found = {chance_of(known, run.card, run.summary, on_official=run.whose_items != "bundled") for run in runs}
    return found.pop() if len(found) == 1 else None


def known_errors(measures: Sequence[Measure]) -> list[int | None]:
    """The number of failures of each measure; None if it is unknown.

    A failed episode may lack the facets that would assign it to a group. A group's count of zero is therefore known
    only if the groups of its kind contain all failures.
    """
    overall = {measure.name: measure.errors for measure in measures if not measure.group}
    most = max(overall.values(), default=0)
    assigned: Counter[tuple[str, tuple[str, ...]]] = Counter()
    for measure in measures:
        assigned[measure.name, tuple(measure.group)] += measure.errors
    return [
        None
        if not measure.errors and assigned[measure.name, tuple(measure.group)] < (overall.get(measure.name) or most)
        else measure.errors
        for measure in measures
    ]


TINY = "stand-in"


def other_stand_ins(stand_ins: Sequence[str]) -> tuple[str, ...]:
    """The stand-ins in roles other than the subject's. One that is the subject is visible from its name."""
    return tuple(name for name in stand_ins if not name.startswith(f"{SUBJECT}: "))


def stand_ins_sentence(names: Iterable[str]) -> str:
    """The stand-ins, each as `role: name`, in one sentence."""
    split = [name.partition(": ") for name in names]
    return f"Stand-ins, not real models: {', '.join(f'{name} ({role})' for role, _, name in split)}."


def stand_in_notes(views: Iterable[RunView[Any, Any]]) -> list[str]:
    """The stand-ins in any role, and the subjects that are not models."""
    played = list(views)
    beside = dict.fromkeys(name for view in played for name in other_stand_ins(view.stand_ins))
    notes = [stand_ins_sentence(beside)] if beside else []
    subjects = {view.subject: what for view in played if (what := subject_stand_in(view.stand_ins))}
    return notes + [f"{subject} is a {what}, not a model to be measured." for subject, what in subjects.items()]


def subject_stand_in(stand_ins: Sequence[str]) -> str:
    """The kind of stand-in that is the subject: `script`, `baseline` or `stand-in`; empty if there is none."""
    kinds = {"scripted": "script", "baseline": "baseline"}
    names = [name.removeprefix(f"{SUBJECT}: ") for name in stand_ins if name.startswith(f"{SUBJECT}: ")]
    return kinds.get(names[0].partition("/")[0], TINY) if names else ""


def hidden_stand_in(subject: str, stand_ins: Sequence[str]) -> str:
    """What a subject is whose label hides that it is not a model; empty if the label does not."""
    what = subject_stand_in(stand_ins)
    return "" if what in ("", TINY) or subject.startswith(("scripted/", "baseline/")) else f"a {what}, not a model"
