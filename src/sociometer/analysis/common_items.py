"""Which runs are compared together: those that have most of the items that most of them share."""

from collections import Counter
from collections.abc import Collection, Sequence

from msgspec import Struct

NO_SCORED_ITEM = "no scored item"
"""Why a run is left out whose episodes all failed or were not played."""


class CommonItems(Struct, frozen=True):
    """The runs to compare, by their place in the given order, and how many items the others have of those shared."""

    kept: tuple[int, ...]
    short: dict[int, int]
    items: int
    """The number of items that all kept runs share."""


def common_items(scored: Sequence[Collection[str]], include_short: bool = False) -> CommonItems:
    """The runs whose items are compared together; `scored` are the scored items of each run.

    An item counts as shared if more than half of the runs have it. A run with at most half of these items would halve
    the comparison, so it is short and left out, unless `include_short`. Two runs are always compared with each other.
    """
    everyone = tuple(range(len(scored)))
    found = [set(items) for items in scored]
    together = set[str].intersection(*found) if found else set()
    counts = Counter(item for items in found for item in items)
    usual = {item for item, count in counts.items() if 2 * count > len(found)}
    short = {place: len(found[place] & usual) for place in everyone if 2 * len(found[place] & usual) <= len(usual)}
    kept = tuple(place for place in everyone if place not in short)
    if include_short or not short or len(kept) < 2:
        return CommonItems(everyone, {}, len(together))
    return CommonItems(kept, short, len(set[str].intersection(*(found[place] for place in kept))))


def short_run_note(label: str, has: int, items: int) -> str:
    """Why a run is left out, and the option that includes it."""
    return f"{label} has {has} of the {items} items that the others share (--include-short includes it)"
