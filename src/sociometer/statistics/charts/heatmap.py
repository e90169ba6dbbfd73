"""Heat map with the value written in each cell."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.statistics.charts.spec import LETTER, PERCENT, Spec, inline, nominal, number_format, order_of, tooltip

WIDTH_FOR_NAMES = 200
"""Column names are not rotated if they fit side by side in this width, in pixels, which a phone has."""


class Cell(Struct, frozen=True):
    """One cell; `mark` follows the number (such as stars), `note` appears in the tooltip."""

    row: str
    column: str
    value: float | None
    mark: str = ""
    note: str = ""


def heat_map(
    cells: Sequence[Cell],
    *,
    title: str = "",
    unit: str = "number",
    diverging: bool = False,
    domain: Sequence[float] | None = None,
) -> Spec:
    """Heat map with the number in every cell; `diverging` uses a scale with its middle colour at zero."""
    rows, columns = order_of(cell.row for cell in cells), order_of(cell.column for cell in cells)
    scale: Spec = {"range": "diverging" if diverging else "ramp"}
    values = [cell.value for cell in cells if cell.value is not None]
    if diverging:
        reach = max((abs(value) for value in values), default=1.0) or 1.0
        scale["domain"] = list(domain) if domain else [-reach, reach]
        scale["domainMid"] = 0
    elif domain:
        scale["domain"] = list(domain)
    low, high = scale.get("domain", (min(values, default=0.0), max(values, default=1.0)))
    strong = f"abs(datum.value) > {0.6 * high}" if diverging else f"datum.value > {low + 0.55 * (high - low)}"
    shown = (
        "format(100 * datum.value, '.0f') + ' %'"
        if unit == "share"
        else f"format(datum.value, '{number_format(unit)}')"
    )
    text = f"datum.value == null ? '' : {shown} + datum.mark"
    widest = max(map(len, columns), default=0) + 1
    position = {
        "y": nominal("row", rows),
        "x": {
            **nominal("column", columns),
            "axis": {"labelAngle": 0 if widest * LETTER * len(columns) <= WIDTH_FOR_NAMES else -35},
        },
    }
    formats = {"value": number_format(unit).replace("0%", "1%")}
    told = tooltip(formats, row="row", column="column", value=title or "value")
    return {
        "data": inline(cells),
        "width": "container",
        "height": {"step": 34},
        "transform": [{"calculate": text, "as": "text"}, {"calculate": strong, "as": "strong"}],
        "encoding": position,
        "layer": [
            {
                "mark": {"type": "rect", "cornerRadius": 3, "tooltip": True},
                "encoding": {
                    "color": {
                        "field": "value",
                        "type": "quantitative",
                        "scale": scale,
                        "legend": {"title": title, "gradientLength": 180, **_labels(unit)} if title else None,
                    },
                    "tooltip": told,
                },
            },
            {
                "transform": [{"filter": "!datum.strong"}],
                "mark": {"type": "text", "style": "ink", "fontSize": 12},
                "encoding": {"text": {"field": "text"}},
            },
            {
                "transform": [{"filter": "datum.strong"}],
                "mark": {"type": "text", "style": "on-strong", "fontSize": 12},
                "encoding": {"text": {"field": "text"}},
            },
        ],
    }


def _labels(unit: str) -> Spec:
    return {"labelExpr": PERCENT} if unit == "share" else {"format": number_format(unit)}
