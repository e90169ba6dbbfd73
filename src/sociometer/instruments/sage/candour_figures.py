"""Sycophancy and safety: their plane, their table, what each question found, and both on the paper's coordinate."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import structs

from sociometer.core.measure import Cell, Figure, Measure, Summary, Table
from sociometer.core.task import SummarisedRun
from sociometer.instruments.sage.hard_talks import ASPECTS
from sociometer.instruments.sage.leaderboard import simulator_of
from sociometer.statistics.charts.scatter import ScatterPoint, scatter_chart
from sociometer.statistics.formatting import estimate, number

CANDOUR = "candour"
_ON_THE_COORDINATE = ("sycophancy", "safety")
_JUDGED = "candour"
"""The series of a coordinate's summary that holds what was found about the same subject's candour."""
_WHEN = {"never": "never", "once": "in one reply"}
MOST_QUESTIONS = 12


def draw(runs: Sequence[SummarisedRun]) -> Iterator[Figure]:
    """The plane of sycophancy and safety with intervals, the table with the emotion, and the questions."""
    caption = " ".join(dict.fromkeys(note for run in runs for note in run.summary.notes))
    points = [point for run in runs if (point := _point(run)) is not None]
    chart = scatter_chart(
        points, x_title="sycophancy (lower is better)", y_title="safety (higher is better)", x_unit="share",
        y_unit="share",
    )  # fmt: skip
    if points:
        yield Figure(
            "candour", "Sycophancy and safety of replies", f"Whiskers: 95 % intervals. {caption}".strip(), chart=chart
        )
    yield Figure("candour-table", "Emotion, sycophancy, safety and harshness", caption, table=_table(runs))
    yield Figure("candour-questions", "Questions that dialogues fail", caption, table=_questions(runs))


def with_candour(runs: Sequence[SummarisedRun], every: Sequence[SummarisedRun]) -> list[SummarisedRun]:
    """Coordinates, each with the sycophancy and safety of the same subject if these were judged once."""
    judged: dict[tuple[str, str], list[SummarisedRun]] = {}
    for run in every:
        if run.task == CANDOUR:
            judged.setdefault((run.subject, simulator_of(run)), []).append(run)
    made = []
    for run in runs:
        found = judged.get((run.subject, simulator_of(run)), [])
        if len(found) == 1:
            measures = {name: found[0].summary.measure(name) for name in _ON_THE_COORDINATE}
            summary = structs.replace(run.summary, series={**run.summary.series, _JUDGED: measures})
            stand_ins = tuple(dict.fromkeys((*run.stand_ins, *found[0].stand_ins)))
            run = structs.replace(run, summary=summary, stand_ins=stand_ins)
        made.append(run)
    return made


def is_judged(run: SummarisedRun) -> bool:
    """Whether a coordinate comes with sycophancy and safety."""
    return bool(_judged(run))


def beneath(run: SummarisedRun) -> str:
    """The line under a subject's name on the coordinate: its sycophancy and safety if they are known."""
    return ", ".join(f"{name} {number(measure.value, 'share', 0)}" for name, measure in _judged(run).items())


def told_with_intervals(run: SummarisedRun) -> str:
    """The same with intervals, for the note that a point shows."""
    return ", ".join(
        f"{name} {estimate(measure.value, 'share', measure.interval)}" for name, measure in _judged(run).items()
    )


def _judged(run: SummarisedRun) -> dict[str, Measure]:
    known: dict[str, Measure | None] = run.summary.series.get(_JUDGED, {})
    return {name: measure for name, measure in known.items() if measure is not None and measure.value is not None}


def _point(run: SummarisedRun) -> ScatterPoint | None:
    one, two = run.summary.measure("sycophancy"), run.summary.measure("safety")
    if one is None or two is None or one.value is None or two.value is None:
        return None
    emotion = _value(run.summary, "emotion")
    note = f"final emotion {number(emotion, 'points')}; {one.items} dialogues"
    (x_low, x_high), (y_low, y_high) = _bounds(one), _bounds(two)
    return ScatterPoint(run.subject, one.value, two.value, "", y_low, y_high, None, note, x_low, x_high)


def _table(runs: Sequence[SummarisedRun]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        found = {name: run.summary.measure(name) for name in ("emotion", *ASPECTS)}
        cells = [
            estimate(measure.value, "points" if name == "emotion" else "share", measure.interval) if measure else None
            for name, measure in found.items()
        ]
        dialogues = max((measure.items for measure in found.values() if measure), default=0)
        errors = max((measure.errors for measure in found.values() if measure), default=0)
        caveat = "stand-in: " + ", ".join(run.stand_ins) if run.stand_ins else ""
        judges = ", ".join(run.summary.series.get("judges", ()))
        rows.append((run.subject, judges, *cells, dialogues, errors, caveat))
    columns = ("subject", "judge", "emotion", *ASPECTS, "dialogues", "errors", "caveat")
    note = "With 95 % intervals. A dialogue without a readable answer of the judge is an error and is in no mean."
    return Table("candour", "Emotion, sycophancy, safety and harshness", columns, tuple(rows), note=note)


def _questions(runs: Sequence[SummarisedRun]) -> Table:
    """The questions that fail most often, one row each, with the share of each subject's dialogues that fail them."""
    entries: dict[tuple[str, str], dict[str, Any]] = {}
    shares: dict[tuple[str, str], list[float | None]] = {}
    for at, run in enumerate(runs):
        for entry in run.summary.series.get("questions", ()):
            place = (entry["scenario"], entry["id"])
            entries.setdefault(place, entry)
            shares.setdefault(place, [None] * len(runs))[at] = entry["failed"] / entry["dialogues"]
    worst = sorted(entries, key=lambda place: -max(share for share in shares[place] if share is not None))
    rows = tuple(
        (entries[place]["question"], entries[place]["about"], _WHEN[entries[place]["when"]], *shares[place])
        for place in worst[:MOST_QUESTIONS]
    )
    subjects = tuple(run.subject for run in runs)
    note = f"The {len(rows)} of {len(entries)} questions that fail most often; the share of dialogues that fail each."
    columns = ("question about a reply", "about", "expected", *subjects)
    units = dict.fromkeys(subjects, "share")
    return Table("candour-questions", "Questions that dialogues fail", columns, rows, note=note, units=units)


def _value(summary: Summary, name: str) -> float | None:
    measure = summary.measure(name)
    return measure.value if measure else None


def _bounds(measure: Measure) -> tuple[float | None, float | None]:
    return (measure.interval.low, measure.interval.high) if measure.interval else (None, None)
