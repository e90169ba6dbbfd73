"""Stacked bar chart: shares of categories (error causes, strategies, endings) for each subject."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.statistics.charts.spec import PERCENT, Spec, nominal, order_of, tooltip

SHADES = 4
"""Up to this many parts have shades of one colour, since the other colours belong to subjects."""


class Portion(Struct, frozen=True):
    """One part of one bar."""

    bar: str
    part: str
    value: float
    note: str = ""


def stacked_bars(portions: Sequence[Portion], *, title: str = "") -> Spec:
    """Horizontal bars, normalised to shares; bars and parts in the given order."""
    bars, parts = order_of(entry.bar for entry in portions), order_of(entry.part for entry in portions)
    rank = {part: index for index, part in enumerate(parts)}
    values = [
        {"bar": entry.bar, "part": entry.part, "value": entry.value, "note": entry.note, "place": rank[entry.part]}
        for entry in portions
    ]
    x: Spec = {"field": "value", "type": "quantitative", "title": title or None, "stack": "normalize"}
    x["axis"] = {"labelExpr": PERCENT, "tickCount": 5}
    colours: Spec = {"range": "ordinal", "reverse": True} if len(parts) <= SHADES else {}
    return {
        "data": {"values": values},
        "width": "container",
        "height": {"step": 34},
        "mark": {"type": "bar", "tooltip": True, "cornerRadius": 2, "height": {"band": 0.72}},
        "encoding": {
            "y": nominal("bar", bars),
            "x": x,
            "color": nominal("part", parts, **colours),
            "order": {"field": "place"},
            "tooltip": tooltip({"value": ".3~r"}, bar="group", part="part", value="value"),
        },
    }
