"""The HTML of the report: one file that loads nothing, runs only our own script, and shows replies as text."""

import base64
import contextlib
import functools
import gzip
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version as package_version
from typing import Any

import msgspec
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from msgspec import Struct
from platformdirs import user_cache_path

from sociometer.analysis.charts.subjects import shape_of
from sociometer.analysis.charts.theme import CATEGORIES, contained, theme
from sociometer.analysis.comparison import ComparedMeasure
from sociometer.analysis.error_counts import known_errors
from sociometer.analysis.formatting import estimate, group_text, interval_text, number
from sociometer.analysis.leaderboard import Standing
from sociometer.core.measure import Figure, Measure, Table
from sociometer.reporting.chart_tables import chart_table
from sociometer.reporting.comparison_table import FAMILIES, VERDICT, Column, observed_columns, tested_columns
from sociometer.reporting.content import Chapter, ReportContent
from sociometer.reporting.evidence import KINDS
from sociometer.reporting.headline import findings_of, title_of
from sociometer.reporting.profile_strips import strips
from sociometer.reporting.rankings import Ranking
from sociometer.reporting.safe_svg import clean_svg
from sociometer.reporting.table_cells import TextCell, cell, cells, heads, rows, without_empty_columns
from sociometer.reporting.troubles import troubles
from sociometer.reporting.words import counted, listed, sentence, short_name

LONGEST_NOTE = 180
NOTES_IN_VIEW = 2
_MOST_ROWS = 3_000
"""With more rows than this, the table of a chapter has no groups of items: a browser becomes slow."""
_OFFERED = "window.vegaEmbed = vegaEmbed;"


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


def rank_text(standing: Standing | None) -> str:
    """The rank of a subject: “1”, or “1 to 3” if other items of the same kind could give another rank."""
    if standing is None:
        return "–"
    low, high = standing.ranks.low, standing.ranks.high
    if low is None or high is None or low == high:
        return str(standing.rank)
    return f"{low:.0f} to {high:.0f}"


def render(content: ReportContent, *, made: str, version: str) -> str:
    """The whole page; `made` is the date as text."""
    library, script, style = _library(), _source("report.js"), _source("report.css")
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
        "shapes": [shape_of(place) for place in range(len(content.subjects))],
    }
    company = {
        result.run: ", ".join(f"{role} {name}" for role, name in result.roles.items())
        for chapter in content.chapters
        for result in chapter.results
    }
    shown = strips(content.profile, content.subjects, [chapter.card for chapter in content.chapters], company)
    names = {chapter.card.name: short_name(chapter.card) for chapter in content.chapters}
    evidence = [_episode(msgspec.to_builtins(episode)) for episode in content.evidence]
    return (
        _environment()
        .get_template("report.html")
        .render(
            content=content,
            title=title_of(content),
            findings=findings_of(content),
            strips=shown,
            marked={mark.name for strip in shown for mark in strip.marks},
            numbers={chapter.card.name: measure_rows(chapter) for chapter in content.chapters},
            left_out={chapter.card.name: rows_left_out(chapter) for chapter in content.chapters},
            troubles=troubles(content),
            names=names,
            unranked=unranked_sentences(content.rankings, names),
            verdict=VERDICT,
            families=FAMILIES,
            colours=CATEGORIES,
            shape_of=shape_of,
            notes_in_view=notes_in_view,
            said=lambda text: sentence(text, content.subjects),
            made=made,
            version=version,
            library=library,
            script=script,
            style=style,
            hashes=[_digest(library), _digest(script)],
            data=as_data_block(data),
            evidence=packed(evidence),
            evidence_kinds=[kind for kind in KINDS if any(kind in episode.kinds for episode in content.evidence)],
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
    return base64.b64encode(gzip.compress(msgspec.json.encode(data), compresslevel=6, mtime=0)).decode()


def rows_left_out(chapter: Chapter) -> int:
    """How many rows about groups of items are left out, because a browser cannot show so many; usually none."""
    measures = [measure for result in chapter.results for measure in result.summary.measures]
    return sum(bool(measure.group) for measure in measures) if len(measures) > _MOST_ROWS else 0


def measure_rows(chapter: Chapter) -> tuple[MeasureRow, ...]:
    """Every measure of every result, formatted in its unit; of very many, only those of all items."""
    found = []
    whole = bool(rows_left_out(chapter))
    for result in chapter.results:
        units = {known.name: known for known in chapter.card.measures_of(result.task)}
        measures = result.summary.measures
        for measure, errors in zip(measures, known_errors(measures), strict=True):
            if whole and measure.group:
                continue
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
        number(measure.value, unit, interval=measure.interval),
        interval_text(measure.interval, unit),
        measure.items,
        measure.unreadable,
        cell(errors),
        measure.note,
    )


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


def _chart_table(figure: Figure) -> Table | None:
    return chart_table(figure.name, figure.title, figure.chart) if figure.chart is not None else None


def _standing_text(standing: Standing, unit: str) -> str:
    return estimate(standing.value, unit, standing.interval)


def notes_in_view(notes: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The notes of a chapter that are shown under its picture, at most two short ones, and the others."""
    seen = tuple(note for note in notes if len(note) <= LONGEST_NOTE)[:NOTES_IN_VIEW]
    return seen, tuple(note for note in notes if note not in seen)


def unranked_sentences(rankings: Sequence[Ranking], names: Mapping[str, str]) -> tuple[str, ...]:
    """Why subjects have no rank: one sentence for each reason and the subjects and tasks that share it."""
    holders: dict[tuple[str, str], list[str]] = {}
    for ranking in rankings:
        reasons: dict[str, list[str]] = {}
        for subject, reason in ranking.unranked.items():
            reasons.setdefault(reason, []).append(subject)
        if not ranking.standings and len(reasons) == 1:
            continue  # the sentence of the ranking says it
        for reason, subjects in reasons.items():
            task = names[ranking.instrument]
            if sum(other.instrument == ranking.instrument for other in rankings) > 1:
                task = f"{task} ({ranking.task_title})"
            holders.setdefault((listed(subjects), reason), []).append(task)
    return tuple(f"{who}: {reason}, on {listed(tasks)}." for (who, reason), tasks in holders.items())


def _compared(row: ComparedMeasure, columns: Sequence[Column]) -> list[TextCell]:
    """A row of a comparison's table in these columns."""
    return [(cell(column.of(row)), column.right) for column in columns]


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
        "rows": rows,
        "heads": heads,
        "cells": cells,
        "filled": without_empty_columns,
        "counted": counted,
        "short_name": short_name,
        "rank": rank_text,
        "standing": _standing_text,
        "numbers_of": _chart_table,
        "compared": _compared,
        "observed": observed_columns,
        "tested": tested_columns,
    }
    return environment
