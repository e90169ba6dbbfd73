"""Views -> figures, for the command, the report and a paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from sociometer.core.measure import Figure
from sociometer.instruments.socialeval.abilities import ABILITIES, DIMENSIONS, dimension_of
from sociometer.instruments.socialeval.inside.tables import (
    LANGUAGES,
    SCALE_CAVEAT,
    inside_tables,
    main_results,
    more_tables,
    parameters_text,
    short,
)
from sociometer.instruments.socialeval.inside.view import CausationResult, InsideView, NeuronResult, Representation
from sociometer.statistics.charts.curve import CurvePoint, curve_chart
from sociometer.statistics.charts.heatmap import Cell as HeatCell
from sociometer.statistics.charts.heatmap import heat_map
from sociometer.statistics.charts.scatter import ScatterPoint, scatter_chart
from sociometer.statistics.charts.spec import Spec, inline, nominal, order_of, shaped
from sociometer.statistics.formatting import bracketed_interval, number

PANEL = 196
"""Width and height of a panel if there are several, in pixels; three fit side by side."""
COLUMNS = 3


class CloudPoint(Struct, frozen=True):
    """One point; `group` sets its colour and shape, an empty group makes it quiet; `note` appears in the tooltip."""

    x: float
    y: float
    group: str = ""
    panel: str = ""
    note: str = ""


def cloud_chart(points: Sequence[CloudPoint], *, own_legends: bool = False) -> Spec:
    """The points in one panel that fills the width, or in panels of equal size, each with its name.

    The panels share colours, shapes and one legend; with `own_legends` each panel has its own.
    """
    panels = order_of(point.panel for point in points)
    if len(panels) == 1:
        groups = order_of(point.group for point in points if point.group)
        return {"width": "container", "height": 420, **_panel(points, groups, size=42)}
    every = order_of(point.group for point in points if point.group)
    parts: list[Spec] = []
    for name in panels:
        own = [point for point in points if point.panel == name]
        groups = order_of(point.group for point in own if point.group) if own_legends else every
        part = _panel(
            own, groups, size=16, legend={"orient": "bottom", "columns": 1, "offset": 8} if own_legends else {}
        )
        parts.append(
            {"title": {"text": name, "fontSize": 12, "fontWeight": "normal"}, "width": PANEL, "height": PANEL, **part}
        )
    sharing = "independent" if own_legends else "shared"
    resolve = {"scale": {"color": sharing, "shape": sharing, "x": "independent", "y": "independent"}}
    return {"concat": parts, "columns": COLUMNS, "spacing": 18, "resolve": resolve}


def _panel(points: Sequence[CloudPoint], groups: Sequence[str], *, size: int, legend: Spec | None = None) -> Spec:
    """One panel: quiet points behind, the others by colour and shape."""
    place: Spec = {
        axis: {
            "field": axis,
            "type": "quantitative",
            "axis": None,
            "scale": {"zero": False, "nice": False, "padding": 8},
        }
        for axis in ("x", "y")
    }
    tooltip = [{"field": "group", "title": "group"}, {"field": "note", "title": "utterance"}]
    own: Spec = {"legend": legend} if legend else {}
    quiet = [point for point in points if not point.group]
    layers: list[Spec] = []
    if quiet:
        mark: Spec = {"type": "point", "style": "quiet", "shape": "circle", "size": size / 2, "opacity": 0.25}
        layers.append({"data": inline(quiet), "mark": mark, "encoding": place})
    layers.append(
        {
            "data": inline([point for point in points if point.group]),
            "mark": {"type": "point", "size": size, "tooltip": True, "opacity": 0.85},
            "encoding": {
                **place,
                "color": {**nominal("group", groups), **own},
                "shape": {**shaped("group", groups), **own},
                "tooltip": tooltip,
            },
        }
    )
    return {"layer": layers}


_NOT_A_TEST = (
    "t-SNE shows neighbours, not distances, and can show clusters that do not exist; the tests are in the tables."
)


def inside_figures(views: Sequence[InsideView]) -> list[Figure]:
    """All figures of one or several models; then the tables, as figures, for a report or a paper."""
    found = [figure for view in views for figure in _of_one(view, f"-{_slug(view)}" if len(views) > 1 else "")]
    if len(views) > 1:
        found += _scale(views)
    tables = (*inside_tables(views), *more_tables(views))
    return found + [Figure(f"inside-{table.name}-table", table.title, table.note, table=table) for table in tables]


def _slug(view: InsideView) -> str:
    return re.sub(r"[^\w.]+", "-", f"{short(view)}-{view.revision[:6]}").strip("-.")


def _of_one(view: InsideView, suffix: str) -> Iterator[Figure]:
    yield from _planes(view, suffix)
    yield from _curves(view, suffix)
    if view.neurons:
        yield _overlap(view, view.neurons[-1], suffix)
        yield from _neuron_layers(view, suffix)
    if view.causation is not None:
        yield _drops(view, view.causation, suffix)


def _planes(view: InsideView, suffix: str) -> Iterator[Figure]:
    layers = sorted({spot.layer for spot in view.spots})
    state = "mean over the utterance" if view.spot_pooling == "mean" else "last token"
    # the abilities of a dimension are side by side in the inventory, so legends have its order
    spots = sorted(view.spots, key=lambda spot: (spot.layer, ABILITIES.index(spot.ability)))
    large = [spot for spot in spots if spot.layer == view.layer]
    chosen = "chosen by the user" if view.layer_chosen else "the layer with the best probe, so the clearest picture"
    yield Figure(
        f"inside-plane{suffix}",
        f"Utterances in layer {view.layer} of {short(view)}, by dimension",
        f"{state.capitalize()}; {chosen}. {_NOT_A_TEST}",
        chart=cloud_chart(
            [
                CloudPoint(spot.x, spot.y, dimension_of(spot.ability), "", f"{spot.ability}, {spot.question}")
                for spot in large
            ]
        ),
    )
    yield Figure(
        f"inside-planes{suffix}",
        f"Utterances in the layers of {short(view)}, by dimension",
        f"{state.capitalize()}; layer 0 is the embedding. {_NOT_A_TEST}",
        chart=cloud_chart(
            [
                CloudPoint(spot.x, spot.y, dimension_of(spot.ability), f"layer {spot.layer}", spot.ability)
                for layer in layers
                for spot in spots
                if spot.layer == layer
            ]
        ),
    )
    yield Figure(
        f"inside-abilities{suffix}",
        f"Utterances in layer {view.layer} of {short(view)}, by ability",
        f"Each panel colours the abilities of one dimension; the other utterances are grey. {_NOT_A_TEST}",
        chart=cloud_chart(
            [
                CloudPoint(
                    spot.x,
                    spot.y,
                    spot.ability if dimension_of(spot.ability) == dimension else "",
                    dimension,
                    spot.question,
                )
                for dimension in DIMENSIONS
                for spot in large
            ],
            own_legends=True,
        ),
    )


def _series(each: Representation) -> str:
    return each.condition.title


def _curves(view: InsideView, suffix: str) -> Iterator[Figure]:
    for level in ("dimension", "ability"):
        chosen = [
            each
            for each in view.representations
            if each.condition.level == level and each.condition.pooling == view.spot_pooling
        ]
        if not chosen:
            continue
        points = [
            CurvePoint(
                layer.layer, layer.accuracy, _series(each), layer.interval.low, layer.interval.high,
                f"shuffled {number(layer.accuracy_null, 'share')}, p {layer.p_accuracy:.3f}",
            )
            for each in chosen
            for layer in each.layers
        ]  # fmt: skip
        null = [
            CurvePoint(place, sum(each.layers[place].accuracy_null for each in chosen) / len(chosen))
            for place in range(len(chosen[0].layers))
        ]
        yield Figure(
            f"inside-probe-{level}{suffix}",
            f"How well a linear probe recognises the {level} in each layer of {short(view)}",
            "Balanced accuracy on trees that the probe was not fitted on; the band is a 95 % interval over trees (it"
            " needs ten), the dashed line the mean of shuffled labels. “en → zh” is fitted on English and tested on"
            " Chinese.",
            chart=curve_chart(points, x_title="layer", y_title="balanced accuracy", unit="share", truth=null),
        )
        own = [each for each in chosen if not each.condition.across]
        yield Figure(
            f"inside-silhouette-{level}{suffix}",
            f"Silhouette of each {level} in the layers of {short(view)}",
            "Above the dashed line, which is the mean of shuffled labels, utterances are nearer to those of their own"
            f" {level} than their tree explains.",
            chart=curve_chart(
                [
                    CurvePoint(
                        layer.layer, layer.silhouette or 0.0, _series(each), note=f"p {layer.p_silhouette or 1:.3f}"
                    )
                    for each in own
                    for layer in each.layers
                ],
                x_title="layer",
                y_title="silhouette",
                truth=[
                    CurvePoint(place, sum(each.layers[place].silhouette_null or 0.0 for each in own) / len(own))
                    for place in range(len(own[0].layers))
                ],
            ),
        )


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
            cells.append(HeatCell(row, column, mean, note=f"{len(pairs)} ordered pairs of abilities"))
    return Figure(
        f"inside-overlap{suffix}",
        f"Overlap of the neurons of two abilities in {short(view)}, by dimension",
        f"{found.top} neurons for each of {len(found.abilities)} abilities, {LANGUAGES[found.language]}. Shuffled"
        f" labels: {number(found.within_null, 'share')} within, {number(found.between_null, 'share')} between.",
        chart=heat_map(cells, title="overlap", unit="share"),
    )


def _neuron_layers(view: InsideView, suffix: str) -> Iterator[Figure]:
    for name, title in (("density", "Density"), ("separation", "Separation")):
        points = [
            CurvePoint(layer + 1, 100 * value, LANGUAGES[found.language])
            for found in view.neurons
            for layer, value in enumerate(found.layer_density if name == "density" else found.layer_separation)
        ]
        yield Figure(
            f"inside-{name}{suffix}",
            f"{title} of the ability neurons in each layer of {short(view)}",
            "Density: the share of a layer's neurons in the set of an ability, mean over abilities. Separation: overlap"
            " of two abilities of one dimension minus that of two dimensions. Both definitions are ours.",
            chart=curve_chart(points, x_title="layer", y_title=f"{name} in points", unit="points"),
        )


def _drops(view: InsideView, found: CausationResult, suffix: str) -> Figure:
    cells = [
        HeatCell(
            drop.switched_off,
            drop.measured_on,
            100 * drop.drop,
            "*" if _excludes_zero(drop.interval.low, drop.interval.high) else "",
            bracketed_interval(drop.interval, "share"),
        )
        for drop in found.matrix
    ]
    specific = (
        f"Specific after Holm's correction: {', '.join(found.specific)}."
        if found.specific
        else "No row is specific: the test finds no larger drop on a row's own questions."
    )
    return Figure(
        f"inside-drops{suffix}",
        f"What {short(view)} loses when neurons are switched off",
        f"Rows: whose {found.top} neurons were switched off. Columns: on whose questions. Points lost beyond"
        f" {found.controls} random sets in the same layers, {found.items} questions; * the 95 % interval over trees"
        f" excludes zero. {specific}",
        chart=heat_map(cells, title="points lost", unit="points", diverging=True),
    )


def _excludes_zero(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and (low > 0 or high < 0)


def _scale(views: Sequence[InsideView]) -> Iterator[Figure]:
    for name, title, values in (
        (
            "silhouette",
            "Silhouette of the dimensions, best layer",
            [[e.clearest.silhouette or 0.0 for e in main_results(v)] for v in views],
        ),
        (
            "separation",
            "Separation of the neuron sets",
            [[found.separation for found in v.neurons[-1:]] for v in views],
        ),
    ):
        points = [
            ScatterPoint(short(view), view.parameters, sum(of) / len(of), note=parameters_text(view.parameters))
            for view, of in zip(views, values, strict=True)
            if of
        ]
        if len(points) > 1:
            yield Figure(
                f"inside-scale-{name}",
                f"{title}, by number of parameters",
                SCALE_CAVEAT,
                chart=scatter_chart(points, x_title="parameters", y_title=name, log_x=True),
            )
