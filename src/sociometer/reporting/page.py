"""The HTML of the report: one file that loads nothing, runs only our own script, and shows replies as text."""

import base64
import contextlib
import functools
import gzip
import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Any

import msgspec
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from platformdirs import user_cache_path

from sociometer.core.errors import UsageError
from sociometer.core.form import norm_digest, setting_words
from sociometer.core.measure import Table
from sociometer.core.sheets import whole_file
from sociometer.core.task import AnyRun
from sociometer.core.words import cell_text, counted, grouped, listed, plural, sentence
from sociometer.reporting.content import CONTAMINATION, Chapter, ReportContent, gather
from sociometer.reporting.evidence import KINDS
from sociometer.reporting.figures import difference_strips, strips
from sociometer.reporting.headline import findings_of, headlines_of, title_of, troubles
from sociometer.reporting.rankings import Ranking, company_of
from sociometer.reporting.tables import TextCell, cells, heads, rows, without_empty_columns
from sociometer.results.candidates import item_sets
from sociometer.results.export import of_people
from sociometer.results.leaderboard import Standing
from sociometer.results.summaries import measure_rows
from sociometer.results.verdicts import Terms
from sociometer.results.wording import FAMILIES, VERDICT, observed_columns, tested_columns
from sociometer.statistics.chart_theme import CATEGORIES, contained, shape_of, theme
from sociometer.statistics.formatting import estimate, number
from sociometer.statistics.intervals import DRAWS
from sociometer.store.stored_run import StoredRun

TOP = 40
"""The most subjects of a panel or ranking that are not folded."""
NARROW = 18
"""The letters of a name that fit in a line of a chart that is beside another."""
LONGEST_NOTE = 180
NOTES_IN_VIEW = 5
_MOST_ROWS = 3_000
"""With more rows than this, the table of a chapter has no groups of items: a browser becomes slow."""
_OFFERED = "window.vegaEmbed = vegaEmbed;"


def rank_text(standing: Standing | None) -> str:
    """The rank of a subject: “1”, “1 to 3” if the items leave several ranks open, a dash if they are too few."""
    if standing is None or standing.ranks.too_few:
        return "–"
    low, high = standing.ranks.low, standing.ranks.high
    if low is None or high is None or low == high:
        return str(standing.rank)
    return f"{low:.0f} to {high:.0f}"


def render(content: ReportContent, *, made: str, version: str, top: int = TOP, left_out: Sequence[str] = ()) -> str:
    """The whole page; `made` is the date as text, and `top` the number of subjects that are not folded."""
    library, script, style = _library(), _source("report.js"), _source("report.css")
    charts = {
        f"{chapter.card.name}/{figure.name}": contained({**figure.chart, "title": None})
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
    company = {result.run: _apart(result) for chapter in content.chapters for result in chapter.results}
    cards = [chapter.card for chapter in content.chapters]
    shown = strips(content.profile, content.subjects, cards, company, content.crowds, content.comparisons)
    names = {chapter.card.name: chapter.card.short_title for chapter in content.chapters}
    evidence = [_episode(msgspec.to_builtins(episode)) for episode in content.evidence]
    findings, headlines, main = list(findings_of(content)), headlines_of(content), content.main
    below = {chapter.card.name for chapter in content.chapters if chapter.sample}
    own_items = {one.whose_items for each in main.chapters for one in each.results} == {"bundled"}
    told = 1 + any(chapter.caveat for chapter in main.chapters)  # a caveat stays with the number that it is about
    if len(main.chapters) == 1 and len(findings) > told and not (content.crowds or " be read" in findings[1]):
        headlines[main.chapters[0].card.name] = findings.pop(1)
    methods = tuple(row for chapter in content.chapters for row in interval_methods(chapter))
    return (
        _environment()
        .get_template("report.html")
        .render(
            content=content,
            title=title_of(content),
            findings=findings,
            headlines=headlines,
            main=main,
            strips=shown,
            differences=lambda one: difference_strips(one, content.subjects),
            silent=below - {line.instrument for line in content.profile if line.value is not None},
            top=top,
            ordered=best_first(main),
            narrow=all(len(part) <= NARROW for subject in content.subjects for part in name_parts(subject)),
            marked={mark.name for strip in shown if strip.instrument not in below for mark in strip.marks},
            numbers={chapter.card.name: all_numbers(chapter) for chapter in content.chapters},
            left_out={chapter.card.name: rows_left_out(chapter) for chapter in content.chapters},
            troubles=(*troubles(content), *(f"Left out: {why}." for why in left_out)),
            names=names,
            item_sets=item_sets([result for chapter in content.chapters for result in chapter.results]),
            unranked=unranked_sentences(main.rankings, names),
            own_items=own_items,
            verdict=VERDICT,
            families=FAMILIES,
            intervals=Table("intervals", "", ("test", "measure", "95 % interval", "resamples"), methods),
            colours=CATEGORIES,
            shape_of=shape_of,
            notes_of=lambda chapter: [one for one in chapter.notes if not (own_items and one.startswith("Bundled"))],
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


def _apart(result: AnyRun) -> str:
    """What keeps a run off the scale of others in words: the models in other roles, and a norm that is its key."""
    key = result.settings.get("norm") if norm_digest(result.norm) else ""
    return ", ".join(filter(None, (company_of(result), f"key: the answers in {key}" if key else "")))


def name_parts(name: str) -> list[str]:
    """The parts of a name between which a line may break: after signs and spaces."""
    return re.split(r"(?<=[-/:_ ])", name)


def best_first(content: ReportContent) -> list[str]:
    """The subjects by their ranks on the first task that ranks them, and then their scores; those without one last."""
    places = ((at, one) for at, each in enumerate(content.rankings) for one in each.standings)
    ordered = sorted(places, key=lambda found: (found[0], (of := found[1].ranks).low or 0, of.high or 0, found[1].rank))
    return [*dict.fromkeys([*(one.subject for _, one in ordered), *content.subjects])]


def chosen_settings(run: AnyRun) -> dict[str, str]:
    """The settings that have a value, as text."""
    return {name: setting_words(value) for name, value in run.settings.items() if value not in (None, "", ())}


def as_data_block(data: Any) -> str:
    """JSON for a script element, with all characters escaped that could end the element or a line."""
    escapes = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
    return msgspec.json.encode(data).decode().translate(escapes)


def packed(data: Any) -> str:
    """Data as gzip in base64: transcripts compress well, and base64 contains no character with a meaning in HTML."""
    return base64.b64encode(gzip.compress(msgspec.json.encode(data), compresslevel=6, mtime=0)).decode()


def rows_left_out(chapter: Chapter) -> int:
    """How many rows about groups of items are left out, because a browser cannot show so many; usually none."""
    measures = [measure for result in chapter.results for measure in result.summary.measures]
    return sum(bool(measure.group) for measure in measures) if len(measures) > _MOST_ROWS else 0


def all_numbers(chapter: Chapter) -> list[list[TextCell]]:
    """Every measure of every result as a row of the table; of very many, only those of all items."""
    whole, sets = bool(rows_left_out(chapter)), item_sets(chapter.results)
    found: list[list[TextCell]] = []
    for result in chapter.results:
        task = f"{chapter.card.task_title(result.task)}, {sets[result.run, result.task]}".removesuffix(", ")
        for row in measure_rows(result.summary, chapter.card, result.task, elsewhere=result.whose_items != "bundled"):
            if not (whole and row.group):
                texts = [(text, False) for text in (result.subject, task, row.card.title, row.group)]
                found_counts = (str(row.measure.items), str(row.measure.unreadable), row.errors)
                counts = [(text, True) for text in (number(row.chance, row.card.unit), *found_counts)]
                found.append([*texts, (row.value, True), (row.interval, False), *counts, (row.note, False)])
    return found


def interval_methods(chapter: Chapter) -> list[tuple[str, str, str, int | None]]:
    """The test, the measures of a method of intervals (with the subject if they differ), it, and its resamples."""
    made = [
        (card.title + " of people" * bool(result.people), one.interval.method, result.subject)
        for result in chapter.results
        for card in chapter.card.measures_of(result.task)
        if (one := result.summary.find(card.name)) and one.interval and one.interval.low != one.interval.high
    ]
    methods = grouped((title, method) for title, method, _ in made)
    found = [(method, title + f" ({who})" * (len({*methods[title]}) > 1)) for title, method, who in made]
    return [
        (chapter.card.short_title, ", ".join(dict.fromkeys(titles)), method, DRAWS if "bootstrap" in method else None)
        for method, titles in grouped(found).items()
        if method
    ]


def _episode(shown: dict[str, Any]) -> dict[str, Any]:
    """An episode of the evidence as data, with its table cells as text."""
    beside = shown.get("beside")
    if beside:
        if beside.get("chart"):
            beside["chart"] = contained(beside["chart"])
        if beside.get("table"):
            beside["table"]["rows"] = [[cell_text(value) for value in row] for row in beside["table"]["rows"]]
    return shown


def notes_in_view(notes: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The notes of a chapter that are shown under its picture, a few short ones and verdicts, and the others."""
    seen = tuple(note for note in notes if len(note) <= LONGEST_NOTE or CONTAMINATION in note)[:NOTES_IN_VIEW]
    return seen, tuple(note for note in notes if note not in seen)


def unranked_sentences(rankings: Sequence[Ranking], names: Mapping[str, str]) -> tuple[str, ...]:
    """Why subjects have no rank: one sentence for each reason and the subjects and tasks that share it."""
    holders: dict[tuple[str, str], list[str]] = {}
    for ranking in rankings:
        reasons = grouped((reason, subject) for subject, reason in ranking.unranked.items())
        if not ranking.standings and len(reasons) == 1:
            continue  # the sentence of the ranking says it
        for reason, subjects in reasons.items():
            task = names[ranking.instrument]
            if sum(other.instrument == ranking.instrument for other in rankings) > 1:
                task = f"{task} ({ranking.task_title})"
            holders.setdefault((listed(subjects), reason), []).append(task)
    return tuple(f"{who}: {reason}, on {listed(tasks)}." for (who, reason), tasks in holders.items())


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
    with contextlib.suppress(UsageError, OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(kept) as partial:
            partial.write_text(bundle, encoding="utf-8")
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
        "rows": rows,
        "heads": heads,
        "cells": cells,
        "filled": without_empty_columns,
        "counted": counted,
        "plural": plural,
        "chosen": chosen_settings,
        "breakable": lambda name: Markup("<wbr>").join(name_parts(name)),
        "by_run": lambda results: grouped((result.run, result) for result in results).items(),
        "rank": rank_text,
        "standing": lambda standing, unit: estimate(standing.value, unit, standing.interval),
        "compared": lambda row, columns: [(cell_text(column.of(row)), column.right) for column in columns],
        "observed": observed_columns,
        "tested": tested_columns,
    }
    return environment


def write_report(
    runs: Sequence[StoredRun],
    path: Path,
    *,
    made: str,
    version: str,
    terms: Terms | None = None,
    evidence: int | None = None,
    top: int = TOP,
    samples: Collection[str] = (),
    left_out: Sequence[str] = (),
) -> Path:
    """Write the page about these runs, with why others are left out; a failure leaves no partial page."""
    content = gather(runs, terms=terms, evidence=evidence, samples=samples)
    page = render(content, made=made, version=version, top=top, left_out=left_out)
    with whole_file(path, private=any(map(of_people, runs))) as partial:
        partial.write_text(page, encoding="utf-8")
    return path
