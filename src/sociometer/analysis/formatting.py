"""Numbers, differences and intervals as text, in the unit of their measure. Imports no numpy."""

from collections.abc import Callable, Mapping

from sociometer.analysis.interval_methods import NO_VARIATION
from sociometer.core.measure import Interval

SAME_ON_EVERY_ITEM = "the same on every item"
"""The text that replaces the bounds of an interval if every value was the same."""


def scale_and_digits(unit: str) -> tuple[int, int]:
    """The factor and the decimals of a unit: shares in percent and points with one decimal, other numbers with two."""
    return (100 if unit == "share" else 1), (1 if unit in ("share", "points") else 2)


def number(value: float | None, unit: str, digits: int | None = None) -> str:
    """A value as text, a share with its percent sign, None as a dash; `digits` overrides the decimals of the unit."""
    if value is None:
        return "–"
    scale, usual = scale_and_digits(unit)
    return f"{value * scale:.{usual if digits is None else digits}f}" + (" %" if unit == "share" else "")


def amount(value: float, unit: str) -> str:
    """The size of a difference in words, without its sign; a difference of shares is given in points."""
    scale, digits = scale_and_digits(unit)
    return f"{abs(value) * scale:.{digits}f}" + (" points" if unit in ("share", "points") else "")


def signed_amount(value: float, unit: str) -> str:
    """A difference in words, with a minus sign if it is negative."""
    return ("−" if value < 0 else "") + amount(value, unit)


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


def interval_text(interval: Interval | None, unit: str, too_few: str = "") -> str:
    """An interval as “low to high”; empty if there is none."""
    if interval is None:
        return ""
    few = too_few or f"too few ({interval.clusters} clusters)"
    return bounds_text(interval, lambda low, high: f"{number(low, unit)} to {number(high, unit)}", too_few=few)


def bracketed_interval(interval: Interval, unit: str, reverse: bool = False) -> str:
    """The interval of a difference as “[low, high]”; `reverse` gives that of first minus second."""
    scale, digits = scale_and_digits(unit)

    def bounds(low: float, high: float) -> str:
        low, high = (-high, -low) if reverse else (low, high)
        return f"[{low * scale:.{digits}f}, {high * scale:.{digits}f}]"

    return bounds_text(interval, bounds, too_few="[too few clusters]", same=f"[{SAME_ON_EVERY_ITEM}]")
