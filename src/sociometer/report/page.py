"""The report's HTML: one file that loads nothing, runs only our own script, and shows a model's words as text."""

import base64
import contextlib
import functools
import gzip
import hashlib
import os
from collections.abc import Sequence
from importlib.metadata import version as package_version
from typing import Any

import msgspec
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct
from platformdirs import user_cache_path

from sociometer.analysis.candidates import beside_the_subject
from sociometer.analysis.charts.theme import CATEGORIES, contained, theme
from sociometer.analysis.compare import Comparison
from sociometer.analysis.shown import NO_VARIATION, SAME_ON_EVERY_ITEM, known_errors
from sociometer.core.measure import Cell, Figure, Interval, Measure, Table
from sociometer.report.comparison import FAMILIES, VERDICT, seen_columns, tested_columns
from sociometer.report.drawing import clean_svg
from sociometer.report.material import Chapter, Material
from sociometer.report.strips import number, strips

_OFFERED = "window.vegaEmbed = vegaEmbed;"
SHAPES = ("round", "square", "diamond", "ring")
"""Dots of the page: the colours come round after eight subjects, each time with the next shape."""


class Number(Struct, frozen=True):
    """One row of a chapter's table of all numbers."""

    subject: str
    task: str
    measure: str
    group: str
    value: str
    interval: str
    items: int
    unreadable: int
    errors: str
    note: str


class Verdicts(Struct, frozen=True):
    """The comparisons of one subject with the first: those that say something, and those that cannot tell."""

    first: str
    second: str
    clear: tuple[Comparison, ...]
    open: tuple[Comparison, ...]


def verdicts(comparisons: Sequence[Comparison]) -> tuple[Verdicts, ...]:
    """Comparisons by subject, in the order given."""
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in comparisons:
        groups.setdefault((comparison.first, comparison.second), []).append(comparison)
    return tuple(
        Verdicts(first, second, tuple(c for c in members if not _open(c)), tuple(c for c in members if _open(c)))
        for (first, second), members in groups.items()
    )


def _open(comparison: Comparison) -> bool:
    """Whether no measure of a comparison says anything."""
    return not any(row.verdict in ("better", "worse", "differs", "equivalent") for row in comparison.measures)


def render(material: Material, *, made: str, version: str) -> str:
    """The whole page; `made` is when, as text."""
    library, script, style = _library(), _source("report.js"), _source("report.css")
    figures = material.figures()
    charts = {
        f"{chapter.card.name}/{figure.name}": contained(figure.chart)
        for chapter in material.chapters
        for figure in chapter.figures
        if figure.chart is not None
    }
    data = {
        "charts": charts,
        "themes": {mode: theme(mode) for mode in ("light", "dark")},
        "subjects": material.subjects,
        "shapes": SHAPES,
    }
    evidence = [_episode(msgspec.to_builtins(episode)) for episode in material.evidence]
    return (
        _environment()
        .get_template("report.html")
        .render(
            material=material,
            strips=strips(material.profile, material.subjects, [chapter.card for chapter in material.chapters]),
            verdicts=verdicts(material.comparisons),
            numbers={chapter.card.name: all_numbers(chapter) for chapter in material.chapters},
            troubles=troubles(material),
            verdict=VERDICT,
            families=FAMILIES,
            colours=CATEGORIES,
            shapes=SHAPES,
            figures=figures,
            made=made,
            version=version,
            library=library,
            script=script,
            style=style,
            hashes=[_digest(library), _digest(script)],
            data=as_data_block(data),
            evidence=packed(evidence),
        )
    )


def as_data_block(data: Any) -> str:
    """JSON that can stand inside a script element: no character in it can end the element or a line."""
    text = msgspec.json.encode(data).decode()
    for character, escape in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        text = text.replace(character, escape)
    return text


def packed(data: Any) -> str:
    """Data as gzip in base64: transcripts repeat themselves, and packed no character of them can do anything."""
    return base64.b64encode(gzip.compress(msgspec.json.encode(data), compresslevel=9, mtime=0)).decode()


def all_numbers(chapter: Chapter) -> tuple[Number, ...]:
    """Every measure of every sitting, formatted by the card's unit."""
    found = []
    for sitting in chapter.sittings:
        units = {known.name: known for known in chapter.card.measures_of(sitting.task)}
        measures = sitting.summary.measures
        for measure, errors in zip(measures, known_errors(measures), strict=True):
            known = units.get(measure.name)
            unit, title = (known.unit, known.title) if known else ("number", measure.name)
            found.append(_number(sitting.subject, sitting.task_title, title, measure, errors, unit))
    return tuple(found)


def _number(subject: str, task: str, title: str, measure: Measure, errors: int | None, unit: str) -> Number:
    return Number(
        subject,
        task,
        title,
        ", ".join(f"{name}: {level}" for name, level in measure.group.items()),
        number(measure.value, unit),
        span(measure.interval, unit),
        measure.items,
        measure.unreadable,
        cell(errors),
        measure.note,
    )


def span(interval: Interval | None, unit: str) -> str:
    """An interval as text."""
    if interval is None:
        return ""
    if interval.low is None or interval.high is None:
        return f"too few ({interval.clusters} clusters)"
    if interval.method == NO_VARIATION:
        return SAME_ON_EVERY_ITEM
    return f"{number(interval.low, unit)} to {number(interval.high, unit)}"


def troubles(material: Material) -> tuple[str, ...]:
    """What failed, could not be read, or is not the real thing, one sentence each."""
    found = []
    for chapter in material.chapters:
        for sitting in chapter.sittings:
            who = f"{sitting.subject}, {chapter.card.title} ({sitting.task_title.lower()})"
            if sitting.status != "finished":
                found.append(f"{who}: the run is {sitting.status}, so its numbers are provisional.")
            if sitting.failures:
                kinds = ", ".join(f"{count} × {kind}" for kind, count in sorted(sitting.failures.items()))
                found.append(f"{who}: {kinds}. Of {sitting.episodes} episodes these failed and are in no score.")
            unreadable = max((m.unreadable for m in sitting.summary.measures if not m.group), default=0)
            if unreadable:
                found.append(f"{who}: {unreadable} replies could not be read; they count as they came.")
        stand_ins = {name for sitting in chapter.sittings for name in beside_the_subject(sitting.stand_ins)}
        found.extend(
            f"{chapter.card.title}: {name} stands in for the real thing; these numbers are no measurement."
            for name in sorted(stand_ins)
        )
    return tuple(found)


def cell(value: Cell) -> str:
    """A table's cell as text: whole numbers whole, others with at most three decimals, yes and no in words."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)


def is_number(value: Cell) -> bool:
    """Whether a cell is set flush right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _episode(shown: dict[str, Any]) -> dict[str, Any]:
    """An episode of the evidence as data, its drawing made safe and its table's cells made text."""
    beside = shown.get("beside")
    if beside:
        if beside.get("svg"):
            beside["svg"] = clean_svg(beside["svg"])
        if beside.get("chart"):
            beside["chart"] = contained(beside["chart"])
        if beside.get("table"):
            beside["table"]["rows"] = [[cell(value) for value in row] for row in beside["table"]["rows"]]
    return shown


def _drawing(figure: Figure) -> str:
    return clean_svg(figure.svg)


def _heads(table: Table) -> list[tuple[str, bool]]:
    """Column names, and whether the column holds numbers."""
    cells = [[row[place] for row in table.rows if place < len(row)] for place in range(len(table.columns))]
    numeric = [any(is_number(v) for v in column) and all(v is None or is_number(v) for v in column) for column in cells]
    return list(zip(table.columns, numeric, strict=True))


def _rows(table: Table) -> list[list[tuple[str, bool]]]:
    """Cells as text, and whether each is set flush right: numbers are, and what is missing among them."""
    numeric = [right for _, right in _heads(table)]
    return [
        [
            (cell(value), is_number(value) or (value is None and right))
            for value, right in zip(row, numeric, strict=False)
        ]
        for row in table.rows
    ]


@functools.cache
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, from the package that also draws our pictures.

    Bundling takes seconds, so the script is kept in the user's cache under the versions that made it.
    """
    versions = f"{package_version('vl-convert-python')}-{vl_convert.get_vega_version()}"
    kept = user_cache_path("sociometer", appauthor=False) / f"vega-{versions}.js"
    if kept.is_file():
        return kept.read_text(encoding="utf-8")
    bundle: str = vl_convert.javascript_bundle(_OFFERED)
    bundle = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_name(f"{kept.name}.{os.getpid()}")
        unfinished.write_text(bundle, encoding="utf-8")
        unfinished.replace(kept)
    return bundle


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


def _digest(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sociometer.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "drawing": _drawing,
        "rows": _rows,
        "heads": _heads,
        "amount": number,
        "span": span,
        "cell": cell,
        "seen": seen_columns,
        "tested": tested_columns,
    }
    return environment
