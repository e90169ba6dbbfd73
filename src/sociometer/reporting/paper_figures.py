"""Figures of a paper pack: remarks are drawn into the figure, so that no file loses its caveats."""

import json
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

from sociometer.core.paper import NOT_THE_PAPERS, remarks_on
from sociometer.core.task import AnyRun
from sociometer.core.words import first_of
from sociometer.statistics.chart_theme import Spec

LETTERS = 96
"""The maximum length of a line above a figure, in letters."""
_BOUNDS = (("low", "high"), ("y_low", "y_high"))
MOST_NAMES = 4
"""The number of subjects that a remark in a figure names."""


def marked(chart: Spec, title: str, remarks: Sequence[str]) -> Spec:
    """The chart with this title, and below it in small letters what it says above itself, and the remarks."""
    own = (chart.get("title") or {}).get("text", [])
    below = [*own, *(line for remark in remarks for line in wrap(remark, LETTERS))]
    look = {"anchor": "start", "fontSize": 12, "subtitleFontSize": 10, "subtitlePadding": 4, "offset": 14}
    return {**chart, "title": {**look, "text": wrap(title, LETTERS), "subtitle": below}}


def without_intervals(chart: Spec) -> str:
    """A sentence about the values of a chart that have no interval; empty if all have one."""
    values = list(_values(chart))
    for low, _ in _BOUNDS:
        known = [value for value in values if low in value]
        if not any(value[low] is not None for value in known):
            continue
        bare = list(dict.fromkeys(_name(value) for value in known if value[low] is None))
        if not bare:
            return ""
        return f"Shown without an interval: {first_of(bare, MOST_NAMES)}."
    return "No intervals are shown."


def _values(chart: Spec) -> Iterator[dict[str, Any]]:
    """The inline values of a chart and of all its parts."""
    data = chart.get("data")
    if isinstance(data, dict):
        yield from (value for value in data.get("values", ()) if isinstance(value, dict))
    for key in ("layer", "hconcat", "vconcat", "concat"):
        for part in chart.get(key, ()):
            yield from _values(part)
    if isinstance(chart.get("spec"), dict):
        yield from _values(chart["spec"])


def _name(value: dict[str, Any]) -> str:
    names = (str(value.get(field) or "") for field in ("group", "label"))
    return ", ".join(dict.fromkeys(name for name in names if name)) or "a value"


def figure_remarks(chart: Spec, runs: Sequence[AnyRun]) -> list[str]:
    """The remarks on the runs in a chart, each with the names of its runs."""
    text = json.dumps(chart, ensure_ascii=False)
    inside = [(run, run.subject) for run in runs if run.name and _quoted(run.subject)[1:-1] in text]
    # A figure over several runs of a subject names the subject alone.
    inside = inside or [(run, run.name) for run in runs if run.name and _quoted(run.name) in text]
    inside += [(run, "") for run in runs if not run.name]
    if not inside:
        # A figure about items or people: what is said about subjects does not concern it.
        return [f"{NOT_THE_PAPERS.capitalize()}."] if any(NOT_THE_PAPERS in remarks_on(run) for run in runs) else []
    said: dict[str, dict[str, None]] = {}
    for run, name in inside:
        for remark in remarks_on(run):
            said.setdefault(remark, {})[name] = None
    lines = []
    for remark, names in said.items():
        who = first_of([name for name in names if name], MOST_NAMES)
        lines.append(f"{who}: {remark}." if who else f"{remark.capitalize()}.")
    return lines


def _quoted(name: str) -> str:
    """A name as the text of a chart has it, with its quotation marks."""
    return json.dumps(name, ensure_ascii=False)
