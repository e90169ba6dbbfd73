"""Chart of a plane with two named axes: each subject is a point with whiskers."""

from collections.abc import Sequence

from msgspec import Struct, structs

from sociometer.statistics.charts.scatter import NAME_OFFSETS, along, name_fields, place_names
from sociometer.statistics.charts.spec import Spec


class Place(Struct, frozen=True):
    """The point of a subject; spreads are the lengths of its whiskers to either side."""

    label: str
    x: float
    y: float
    x_spread: float | None = None
    y_spread: float | None = None
    note: str = ""
    beneath: str = ""
    """A line under the name."""


class Plane(Struct, frozen=True):
    """The names of the ends of the two axes, and their length from the middle."""

    left: str
    right: str
    bottom: str
    top: str
    reach: float = 1.0


def coordinate_chart(places: Sequence[Place], plane: Plane) -> Spec:
    """Points on a plane from −reach to reach; the axes cross in the middle and have named ends."""
    span = {"domain": [-plane.reach, plane.reach], "nice": False}
    x: Spec = {"field": "x", "type": "quantitative", "scale": span, "axis": None}
    y: Spec = {"field": "y", "type": "quantitative", "scale": span, "axis": None}
    cross: Spec = {"type": "rule", "style": "cross"}
    layers: list[Spec] = [
        {"data": {"values": [{}]}, "mark": cross, "encoding": {"x": {"datum": 0, "scale": span, "axis": None}}},
        {"data": {"values": [{}]}, "mark": cross, "encoding": {"y": {"datum": 0, "scale": span, "axis": None}}},
        *_ends(plane, x, y),
    ]
    for axis, other, spread in (("x", "y", "x_spread"), ("y", "x", "y_spread")):
        low, high = f"{axis}_low", f"{axis}_high"
        sides = {"x": x, "y": y}
        if all((entry.x_spread if axis == "x" else entry.y_spread) is None for entry in places):
            continue
        layers.append(
            {
                "transform": [
                    {"filter": f"datum.{spread} != null"},
                    {"calculate": f"max(-{plane.reach}, datum.{axis} - datum.{spread})", "as": low},
                    {"calculate": f"min({plane.reach}, datum.{axis} + datum.{spread})", "as": high},
                ],
                "mark": {"type": "rule", "style": "whisker"},
                "encoding": {
                    axis: {**sides[axis], "field": low},
                    f"{axis}2": {"field": high},
                    other: sides[other],
                },
            }
        )
    tooltip = [{"field": name} for name in ("label", "x", "y", "note")]
    text: Spec = {"type": "text", "style": "ink", "fontSize": 12, **NAME_OFFSETS}
    layers += [
        {
            "mark": {"type": "point", "size": 130, "tooltip": True},
            "encoding": {"x": x, "y": y, "tooltip": tooltip},
        },
        {"mark": text | {"lineBreak": "\n"}, "encoding": {"x": x, "y": y, "text": {"field": "text"}}},
    ]
    # corners and whiskers are points too: names are placed on the scale of what is given, and cross no whisker
    reach = plane.reach
    spots = [(-reach, -reach), (reach, reach)]
    spots += [(side * x, 0.03 * reach) for side in (-1, 1) for x in along(0.8 * reach, reach)]  # the names of the ends
    for entry in places:
        spots += [(x, entry.y) for x in along(entry.x - (entry.x_spread or 0), entry.x + (entry.x_spread or 0))]
        spots += [(entry.x, y) for y in along(entry.y - (entry.y_spread or 0), entry.y + (entry.y_spread or 0))]
    xs = [*(entry.x for entry in places), *(x for x, _ in spots)]
    ys = [*(entry.y for entry in places), *(y for _, y in spots)]
    longest = [max(entry.label, entry.beneath, key=len) for entry in places]
    named = place_names([*longest, *("" for _ in spots)], xs, ys)
    values = [
        structs.asdict(entry) | {"text": f"{entry.label}\n{entry.beneath}".strip()} | name_fields(name)
        for entry, name in zip(places, named, strict=False)
    ]
    return {"data": {"values": values}, "width": "container", "height": 460, "layer": layers}


def _ends(plane: Plane, x: Spec, y: Spec) -> list[Spec]:
    spots = (
        (plane.left, -plane.reach, 0.0, "left", 0, -8),
        (plane.right, plane.reach, 0.0, "right", 0, -8),
        (plane.bottom, 0.0, -plane.reach, "left", 8, -4),
        (plane.top, 0.0, plane.reach, "left", 8, 12),
    )
    return [
        {
            "data": {"values": [{"x": across, "y": up, "name": name}]},
            "mark": {"type": "text", "style": "reference-text", "align": align, "dx": dx, "dy": dy},
            "encoding": {"x": x, "y": y, "text": {"field": "name"}},
        }
        for name, across, up, align, dx, dy in spots
    ]
