"""The figures of one or several models."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from sociometer.core.measure import Figure
from sociometer.instruments._tables import Figures
from sociometer.instruments.socialeval.abilities import ABILITIES, dimension_of
from sociometer.instruments.socialeval.inside.findings import language_name, short
from sociometer.instruments.socialeval.inside.view import LEVELS, InsideView, NeuronResult, Spot
from sociometer.statistics import charts
from sociometer.statistics.chart_parts import nominal, order_of, shaped
from sociometer.statistics.chart_theme import Spec
from sociometer.statistics.formatting import number

FIGURES = Figures(Path(__file__).parents[1] / "figures.toml")


def cloud_chart(spots: Sequence[Spot]) -> Spec:
    """The utterances of a plane, coloured by dimension."""
    points = [
        {"x": spot.x, "y": spot.y, "group": dimension_of(spot.ability), "note": f"{spot.ability}, {spot.question}"}
        for spot in spots
    ]
    groups = order_of(str(point["group"]) for point in points)
    scale: Spec = {"zero": False, "nice": False, "padding": 8}
    place = {axis: {"field": axis, "type": "quantitative", "axis": None, "scale": scale} for axis in ("x", "y")}
    tooltip = [{"field": "group", "title": "dimension"}, {"field": "note", "title": "utterance"}]
    return {
        "width": "container",
        "height": 420,
        "data": {"values": points},
        "mark": {"type": "point", "size": 42, "tooltip": True, "opacity": 0.85},
        "encoding": {**place, "color": nominal("group", groups), "shape": shaped("group", groups), "tooltip": tooltip},
    }


def inside_figures(views: Sequence[InsideView]) -> list[Figure]:
    """All figures of one or several models."""
    return [figure for view in views for figure in _of_one(view, f"-{_slug(view)}" if len(views) > 1 else "")]


def _slug(view: InsideView) -> str:
    return re.sub(r"[^\w.]+", "-", f"{short(view)}-{view.revision[:6]}").strip("-.")


def _of_one(view: InsideView, suffix: str) -> Iterator[Figure]:
    yield _plane(view, suffix)
    yield from _curves(view, suffix)
    if view.neurons:
        yield _overlap(view, view.neurons[-1], suffix)
        yield _neuron_layers(view, suffix)


def _plane(view: InsideView, suffix: str) -> Figure:
    # the abilities of a dimension are side by side in the inventory, so legends have its order
    spots = sorted(view.spots, key=lambda spot: ABILITIES.index(spot.ability))
    name = f"inside-plane{suffix}"
    return FIGURES("inside-plane", name=name, chart=cloud_chart(spots), layer=view.layer, model=short(view))


def _curves(view: InsideView, suffix: str) -> Iterator[Figure]:
    for level in LEVELS:
        own = [each for each in view.representations if each.level == level]
        if not own:
            continue
        points = [
            charts.CurvePoint(
                layer.layer, layer.silhouette, language_name(each.language), note=f"p {layer.p_value:.3f}"
            )
            for each in own
            for layer in each.layers
        ]
        null = [
            charts.CurvePoint(place, sum(each.layers[place].null for each in own) / len(own))
            for place in range(len(own[0].layers))
        ]
        chart = charts.curve_chart(points, x_title="layer", y_title="silhouette", truth=null)
        name = f"inside-silhouette-{level}{suffix}"
        yield FIGURES("inside-silhouette", name=name, chart=chart, level=level, model=short(view))


def _overlap(view: InsideView, found: NeuronResult, suffix: str) -> Figure:
    """The mean overlap of two abilities, by their dimensions."""
    dimensions = [dimension_of(ability) for ability in found.abilities]
    cells = []
    for row in dict.fromkeys(dimensions):
        for column in dict.fromkeys(dimensions):
            pairs = [
                found.overlaps[first][second]
                for first, one in enumerate(dimensions)
                for second, other in enumerate(dimensions)
                if first != second and (one, other) == (row, column)
            ]
            mean = sum(pairs) / len(pairs) if pairs else None
            cells.append(charts.HeatCell(row, column, mean, note=f"{len(pairs)} ordered pairs of abilities"))
    chart = charts.heat_map(cells, title="overlap", unit="share")
    return FIGURES(
        "inside-overlap",
        name=f"inside-overlap{suffix}",
        chart=chart,
        model=short(view),
        top=found.top,
        abilities=len(found.abilities),
        language=language_name(found.language),
        within=number(found.within_null, "share"),
        between=number(found.between_null, "share"),
    )


def _neuron_layers(view: InsideView, suffix: str) -> Figure:
    points = [
        charts.CurvePoint(layer + 1, 100 * value, language_name(found.language))
        for found in view.neurons
        for layer, value in enumerate(found.layer_density)
    ]
    chart = charts.curve_chart(points, x_title="layer", y_title="density in points", unit="points")
    return FIGURES("inside-density", name=f"inside-density{suffix}", chart=chart, model=short(view))
