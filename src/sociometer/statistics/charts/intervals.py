"""Chart of values with their intervals, as dots with whiskers: one row for each label, one dot for each group."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from sociometer.core.measure import Measure
from sociometer.statistics.charts.spec import (
    ReferenceLine,
    Spec,
    inline,
    nominal,
    number_format,
    order_of,
    quantitative,
    reference_layers,
    shaped,
    tooltip,
)


class Dot(Struct, frozen=True):
    """One value with its interval; `low` and `high` are None if there were too few clusters."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    group: str = ""
    note: str = ""


def dots_of(found: Iterable[tuple[str, Measure | None, str]]) -> list[Dot]:
    """The dots of measures, each with its label and group; those without a value are left out."""
    return [dot for label, measure, group in found if (dot := dot_of(label, measure, group)) is not None]


def dot_of(label: str, measure: Measure | None, group: str = "") -> Dot | None:
    """The dot of a measure; None if there is none, or it has no value."""
    if measure is None or measure.value is None:
        return None
    low, high = (measure.interval.low, measure.interval.high) if measure.interval else (None, None)
    note = measure.note or ("too few for an interval" if low is None else "")
    return Dot(label, measure.value, low, high, group, note)


def interval_chart(
    dots: Sequence[Dot],
    *,
    title: str = "",
    unit: str = "share",
    domain: Sequence[float] | None = None,
    references: Sequence[ReferenceLine] = (),
    group_title: str = "",
    quiet: str = "",
) -> Spec:
    """Dots and whiskers with the labels on the y axis in the given order; colour and shape show the group.

    The dots of the group `quiet`, such as the figures that a paper prints, are grey and not in the legend.
    """
    labels = order_of(dot.label for dot in dots)
    groups = order_of(dot.group for dot in dots if not quiet or dot.group != quiet)
    several = len(groups) > 1
    crowded = several and len(labels) < len(dots)
    y = nominal("label", labels)
    shared: Spec = {"y": y}
    # the same title as the colour channel, so that Vega-Lite merges their legends
    shape: Spec = {**shaped("group", groups), "title": group_title or None}
    if several:
        if crowded:
            y["scale"]["paddingInner"] = 0.35
            shared["yOffset"] = nominal("group", groups)
        shared["color"] = {**nominal("group", groups), "title": group_title or None}
    elif groups and groups[0]:
        shared["color"] = {**nominal("group", groups), "legend": None}
        shape["legend"] = None
    formats = dict.fromkeys(("value", "low", "high"), number_format(unit).replace("0%", "1%"))
    first = {"group": group_title or "group"} if several else {}
    told = tooltip(formats, **first, label="measure", value="value", low="from", high="to")
    value = quantitative("value", title, unit, domain)
    loud: list[Spec] = [{"filter": {"not": {"field": "group", "equal": quiet}}}] if quiet else []
    whisker: Spec = {
        "transform": [*loud, {"filter": "datum.low != null"}],
        "mark": {"type": "rule", "style": "whisker"},
        "encoding": {**shared, "x": {**value, "field": "low"}, "x2": {"field": "high"}},
    }
    # the names of two lines that are close have two heights
    space = {"padding": {"left": 4, "top": 30, "right": 10, "bottom": 4}} if len(references) > 1 else {}
    return {
        "data": inline(dots),
        "width": "container",
        **space,
        "height": {"step": 15, "for": "offset"} if crowded else {"step": 28},
        "layer": [
            *reference_layers(references),
            *([whisker] if any(dot.low is not None for dot in dots) else []),
            *([_quiet_dots(quiet, shared, value, told)] if quiet else []),
            {
                **({"transform": loud} if loud else {}),
                "mark": {"type": "point", "tooltip": True},
                "encoding": {
                    **shared,
                    "x": value,
                    "tooltip": told,
                    **({"shape": shape} if several or "color" in shared else {}),
                },
            },
        ],
    }


def _quiet_dots(group: str, shared: Spec, value: Spec, told: list[Spec]) -> Spec:
    """The dots of the quiet group, in the middle of their row."""
    return {
        "transform": [{"filter": {"field": "group", "equal": group}}],
        "mark": {"type": "point", "style": "quiet", "shape": "square", "size": 44, "tooltip": True},
        "encoding": {"y": shared["y"], "x": value, "tooltip": told},
    }
