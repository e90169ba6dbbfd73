"""Several subjects together: contrasts between kinds of models (Fig. 4)."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.command import Run
from sociometer.core.instrument import Result
from sociometer.core.measure import Figure, Table
from sociometer.instruments.seceu.norm import PUBLISHED_NORM, published_rows
from sociometer.instruments.seceu.prompting import headline_of
from sociometer.statistics.chart_parts import inline, nominal, order_of
from sociometer.statistics.chart_theme import Spec
from sociometer.statistics.model_kinds import FEW, Described, Properties, contrast_tables, properties_of


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


def subject_of(run: Run) -> Subject:
    """Return a stored run as a subject."""
    summary = run.summary("feelings")
    measure, mean = summary.find("eq"), summary.find("distance")
    return Subject(
        run.subject,
        None if measure is None else measure.value,
        math.nan if mean is None or mean.value is None else mean.value,
        norm=str(summary.series.get("norm", {}).get("name", "")),
        failed=headline_of(run.view("feelings")).failed,
    )


def published_subjects(*, failed: bool = False) -> list[Subject]:
    """Return the models of Table 1 that completed the test; with `failed`, the others too."""
    return [
        Subject(
            row["model"], float(row["eq"]) if row["eq"] else None, float(row["score"] or "nan"),
            properties=properties_of(row), norm=PUBLISHED_NORM, failed="" if row["eq"] else "failed the test",
        )
        for row in published_rows("table_1")
        if row["eq"] or failed
    ]  # fmt: skip


def analysis(subjects: Sequence[Subject], published: Sequence[Subject], properties: Mapping[str, Properties]) -> Result:
    """Return contrasts over all subjects that have properties."""
    notes = [f"{subject.name} is left out: {subject.failed}." for subject in subjects if subject.failed]
    subjects = [subject for subject in subjects if not subject.failed]
    known = [msgspec.structs.replace(subject, properties=properties.get(subject.name)) for subject in subjects]
    missing = [subject.name for subject in known if subject.properties is None]
    if properties and missing:
        notes.append(f"Not in the models file, so excluded from the contrasts: {', '.join(missing)}.")
    everyone = [*known, *published]
    on_norm = len({subject.norm for subject in everyone}) == 1 and all(subject.eq is not None for subject in everyone)
    if published and not on_norm:
        notes.append("Runs without an EQ on the paper's norm are not compared with the paper's models.")
        everyone = [subject for subject in everyone if subject.eq is not None and subject.norm == PUBLISHED_NORM]
        on_norm = True
    elif not on_norm and any(subject.norm for subject in everyone):
        notes.append("The runs use different norms: contrasts compare distances, not EQs.")
    described = [subject for subject in everyone if subject.properties is not None]
    tables: list[Table] = []
    figures: tuple[Figure, ...] = ()
    if described:
        models = [Described(_value(one, on_norm), one.properties) for one in described if one.properties is not None]
        tables = contrast_tables(models, *(("EQ", 1) if on_norm else ("distance", 3)))
        more = [one for one in published_subjects(failed=True) if one.failed] if published else []
        figures = tree_figures([*described, *more], on_norm)
        notes.append(FEW)
    return Result(tables=tuple(tables), notes=tuple(notes), figures=figures)


def _value(subject: Subject, on_norm: bool) -> float:
    return subject.eq if on_norm and subject.eq is not None else subject.distance


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
        nodes.append(
            _Node(
                one.name, about.launched or 0.0, family, None if one.failed else _value(one, on_norm),
                _UNKNOWN_SIZE if billion is None else 40 + 4 * billion, about.kinds.get("access", "unknown"),
                "; ".join(part for part in said if part), _SHIFTS[sum(node.family == family for node in nodes) % 4],
            )
        )  # fmt: skip
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
