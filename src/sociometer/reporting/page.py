"""The HTML of the report: one file that loads nothing, runs only our own script, and shows replies as text."""

import base64
import contextlib
import functools
import gzip
import hashlib
import os
from collections.abc import Iterable, Sequence
from importlib.metadata import version as package_version
from typing import Any

import msgspec
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from msgspec import Struct
from platformdirs import user_cache_path

from sociometer.analysis.charts.theme import CATEGORIES, contained, theme
from sociometer.analysis.comparison import ComparedMeasure, Comparison
from sociometer.analysis.error_counts import known_errors
from sociometer.analysis.formatting import group_text, interval_text, number
from sociometer.analysis.stand_ins import other_stand_ins
from sociometer.core.measure import Cell, Figure, Measure, Table
from sociometer.reporting.comparison_table import FAMILIES, VERDICT, Column, observed_columns, tested_columns
from sociometer.reporting.content import Chapter, ReportContent
from sociometer.reporting.profile_strips import strips
from sociometer.reporting.safe_svg import clean_svg

_OFFERED = "window.vegaEmbed = vegaEmbed;"
SHAPES = ("round", "square", "diamond", "ring")
"""Shapes of the dots: colours repeat after eight subjects, each time with the next shape."""
TextCell = tuple[str, bool]
"""The text of a table cell, and whether it is aligned right."""


class MeasureRow(Struct, frozen=True):
    """One row of the table of all numbers of a chapter, as text."""

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

    def cells(self) -> Iterable[TextCell]:
        """The cells of the row, in the order of the table's columns."""
        numbers = ((str(count), True) for count in (self.items, self.unreadable))
        texts = ((text, False) for text in (self.subject, self.task, self.measure, self.group))
        return *texts, (self.value, True), (self.interval, False), *numbers, (self.errors, True), (self.note, False)


class SubjectComparisons(Struct, frozen=True):
    """The comparisons of one subject with the first: those with a verdict, and those without one."""

    first: str
    second: str
    clear: tuple[Comparison, ...]
    open: tuple[Comparison, ...]


def comparisons_by_subject(comparisons: Sequence[Comparison]) -> tuple[SubjectComparisons, ...]:
    """The comparisons of each subject, in the given order."""
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for comparison in comparisons:
        groups.setdefault((comparison.first, comparison.second), []).append(comparison)
    return tuple(
        SubjectComparisons(
            first, second, tuple(c for c in members if not _open(c)), tuple(c for c in members if _open(c))
        )
        for (first, second), members in groups.items()
    )


def _open(comparison: Comparison) -> bool:
    """Whether no measure of a comparison has a verdict other than “cannot tell” and “too few”."""
    return not any(row.verdict in ("better", "worse", "differs", "equivalent") for row in comparison.measures)


def render(content: ReportContent, *, made: str, version: str) -> str:
    """The whole page; `made` is the date as text."""
    library, script, style = _library(), _source("report.js"), _source("report.css")
    figures = content.figures()
    charts = {
        f"{chapter.card.name}/{figure.name}": contained(figure.chart)
        for chapter in content.chapters
        for figure in chapter.figures
        if figure.chart is not None
    }
    data = {
        "charts": charts,
        "themes": {mode: theme(mode) for mode in ("light", "dark")},
        "subjects": content.subjects,
        "shapes": SHAPES,
    }
    evidence = [_episode(msgspec.to_builtins(episode)) for episode in content.evidence]
    return (
        _environment()
        .get_template("report.html")
        .render(
            content=content,
            strips=strips(content.profile, content.subjects, [chapter.card for chapter in content.chapters]),
            by_subject=comparisons_by_subject(content.comparisons),
            numbers={chapter.card.name: measure_rows(chapter) for chapter in content.chapters},
            troubles=troubles(content),
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
    """JSON for a script element, with all characters escaped that could end the element or a line."""
    text = msgspec.json.encode(data).decode()
    for character, escaped in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        text = text.replace(character, escaped)
    return text


def packed(data: Any) -> str:
    """Data as gzip in base64: transcripts compress well, and base64 contains no character with a meaning in HTML."""
    return base64.b64encode(gzip.compress(msgspec.json.encode(data), compresslevel=9, mtime=0)).decode()


def measure_rows(chapter: Chapter) -> tuple[MeasureRow, ...]:
    """Every measure of every result, formatted in its unit."""
    found = []
    for result in chapter.results:
        units = {known.name: known for known in chapter.card.measures_of(result.task)}
        measures = result.summary.measures
        for measure, errors in zip(measures, known_errors(measures), strict=True):
            known = units.get(measure.name)
            unit, title = (known.unit, known.title) if known else ("number", measure.name)
            found.append(_measure_row(result.subject, result.task_title, title, measure, errors, unit))
    return tuple(found)


def _measure_row(subject: str, task: str, title: str, measure: Measure, errors: int | None, unit: str) -> MeasureRow:
    return MeasureRow(
        subject,
        task,
        title,
        group_text(measure.group),
        number(measure.value, unit),
        interval_text(measure.interval, unit),
        measure.items,
        measure.unreadable,
        cell(errors),
        measure.note,
    )


def troubles(content: ReportContent) -> tuple[str, ...]:
    """One sentence for each failure, unreadable reply and stand-in."""
    found = []
    for chapter in content.chapters:
        for result in chapter.results:
            who = f"{result.subject}, {chapter.card.title} ({result.task_title.lower()})"
            if result.status != "finished":
                found.append(f"{who}: the run is {result.status}, so its numbers are provisional.")
            if result.failures:
                kinds = ", ".join(f"{count} × {kind}" for kind, count in sorted(result.failures.items()))
                found.append(f"{who}: {kinds}. Of {result.episodes} episodes these failed and are in no score.")
            unreadable = max((m.unreadable for m in result.summary.measures if not m.group), default=0)
            if unreadable:
                found.append(f"{who}: {unreadable} replies could not be read; they count as they came.")
        stand_ins = {name for result in chapter.results for name in other_stand_ins(result.stand_ins)}
        found.extend(
            f"{chapter.card.title}: {name} stands in for the real thing; these numbers are no measurement."
            for name in sorted(stand_ins)
        )
    return tuple(found)


def cell(value: Cell) -> str:
    """A table cell as text: at most three decimals, booleans as yes and no, None as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)


def is_number(value: Cell) -> bool:
    """Whether a cell is a number and so aligned right."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _episode(shown: dict[str, Any]) -> dict[str, Any]:
    """An episode of the evidence as data, with its drawing cleaned and its table cells as text."""
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
    """Column names, and whether each column has numbers only."""
    cells = [[row[place] for row in table.rows if place < len(row)] for place in range(len(table.columns))]
    numeric = [any(is_number(v) for v in column) and all(v is None or is_number(v) for v in column) for column in cells]
    return list(zip(table.columns, numeric, strict=True))


def _rows(table: Table) -> list[list[TextCell]]:
    """Cells as text, and whether each is aligned right: numbers are, and missing cells in a column of numbers."""
    numeric = [right for _, right in _heads(table)]
    return [
        [
            (cell(value), is_number(value) or (value is None and right))
            for value, right in zip(row, numeric, strict=False)
        ]
        for row in table.rows
    ]


def _compared(row: ComparedMeasure, columns: Sequence[Column]) -> list[TextCell]:
    """A row of a comparison's table in these columns."""
    return [(cell(column.of(row)), column.right) for column in columns]


def _cells(row: Iterable[TextCell]) -> Markup:
    """The cells of a row as HTML; here, since the template takes several times as long for a cell."""
    return Markup("".join(f"<td{_RIGHT if right else ''}>{_escaped(text)}</td>" for text, right in row))  # noqa: S704


_RIGHT = ' class="n"'


@functools.lru_cache(maxsize=65_536)
def _escaped(text: str) -> str:
    """The text as HTML; most cells of a page repeat."""
    return str(escape(text))


@functools.cache
def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, from the package that also draws the pictures of `plot`.

    Bundling takes seconds, so the script is cached in the user's cache folder by version.
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
        loader=PackageLoader("sociometer.reporting", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "drawing": _drawing,
        "rows": _rows,
        "heads": _heads,
        "cells": _cells,
        "compared": _compared,
        "observed": observed_columns,
        "tested": tested_columns,
    }
    return environment
