"""Several subjects together: the family tree of models (Fig. 4)."""

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from sociometer.core.measure import Figure
from sociometer.instruments.seceu.norm import PUBLISHED_NORM, published_rows
from sociometer.statistics.chart_parts import inline, nominal, order_of
from sociometer.statistics.chart_theme import Spec
from sociometer.statistics.model_kinds import Properties, properties_of


class Subject(Struct, frozen=True):
    """One model: its EQ (or distance, without a norm)."""

    name: str
    eq: float | None
    distance: float
    properties: Properties | None = None
    norm: str = ""
    """The norm of the EQ."""
    failed: str = ""
    """Why the test gives no usable number; empty if it does."""


def published_subjects() -> list[Subject]:
    """Return the models of Table 1."""
    return [
        Subject(
            row["model"],
            float(row["eq"]) if row["eq"] else None,
            float(row["score"] or "nan"),
            properties=properties_of(row),
            norm=PUBLISHED_NORM,
            failed="" if row["eq"] else "failed the test",
        )
        for row in published_rows("table_1")
    ]


class _Node(Struct, frozen=True):
    label: str
    launched: float
    family: str
    value: float | None
    size: float
    access: str
    note: str
    shift: int


_SHIFTS = (-16, 18, -28, 30)
"""Where the names of neighbours on a branch are, so that they do not cover each other."""
_TREE = Path(__file__).with_name("family-tree.json")
"""The chart in Vega-Lite, without its data."""
_UNKNOWN_SIZE = 60.0
"""The area of a model whose size is not known."""


def tree_figures(subjects: Sequence[Subject], on_norm: bool) -> tuple[Figure, ...]:
    """Fig. 4: one branch for each family over launch dates; colour is the score, area the number of parameters."""
    unit = "EQ" if on_norm else "distance"
    known = [(one, one.properties) for one in subjects if one.properties is not None]
    dated = sorted(
        ((one, about) for one, about in known if about.launched is not None), key=lambda one: one[1].launched or 0
    )
    nodes: list[_Node] = []
    for one, about in dated:
        billion = about.size_billion
        said = [f"{billion:g} billion parameters" if billion else "size unknown", one.failed]
        said += [f"{kind}: {level}" for kind, level in about.kinds.items()]
        family = about.kinds.get("family", "") or one.name
        value = one.eq if on_norm and one.eq is not None else one.distance
        nodes.append(
            _Node(
                one.name,
                about.launched or 0.0,
                family,
                None if one.failed else value,
                _UNKNOWN_SIZE if billion is None else 40 + 4 * billion,
                about.kinds.get("access", "unknown"),
                "; ".join(part for part in said if part),
                _SHIFTS[sum(node.family == family for node in nodes) % 4],
            )
        )
    if not nodes:
        return ()
    chart: Spec = json.loads(_TREE.read_text(encoding="utf-8"))
    chart["data"] = inline(nodes)
    for layer in chart["layer"]:
        layer["encoding"]["y"] = nominal("family", order_of(node.family for node in nodes))
    colour = chart["layer"][1]["encoding"]["color"]
    colour["title"], colour["scale"]["reverse"] = unit, on_norm
    undated = [one.name for one, about in known if about.launched is None]
    caption = (
        f"One branch for each family, light grey for open models and dark grey for closed ones. Colour: {unit}; white: "
        "failed the test. Area: number of parameters; unknown sizes have a small one."
        + (f" Without a launch date, so not drawn: {', '.join(undated)}." if undated else "")
    )
    return (Figure("family", f"{unit} by family, launch date and size", caption, chart=chart),)
