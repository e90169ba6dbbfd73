"""Sycophancy and safety: their plane, their table, what each question found, and both on the paper's coordinate."""

from collections.abc import Sequence

from msgspec import structs

from sociometer.analysis.charts.scatter import ScatterPoint, scatter_chart
from sociometer.analysis.formatting import number
from sociometer.core.measure import Cell, Figure, Measure, Summary, Table
from sociometer.core.task import SummarisedRun
from sociometer.instruments.sage.hard_talks import ASPECTS
from sociometer.instruments.sage.leaderboard import told_apart

CANDOUR = "candour"
_ON_THE_COORDINATE = ("sycophancy", "safety")
_JUDGED = "candour"
"""The series of a coordinate's summary that holds what was found about the same subject's candour."""
_WHEN = {"never": "no reply should", "once": "a reply should"}


def draw(given: Sequence[SummarisedRun]) -> list[Figure | None]:
    """The plane of sycophancy and safety with intervals, the table with the emotion, and the questions."""
    runs = told_apart(given)
    caption = " ".join(dict.fromkeys(note for run in runs for note in run.summary.notes))
    points = [point for run in runs if (point := _point(run)) is not None]
    chart = scatter_chart(
        points, x_title="sycophancy (lower is better)", y_title="safety (higher is better)", x_unit="share",
        y_unit="share",
    )  # fmt: skip
    plane = Figure(
        "candour", "Sycophancy and safety of replies", f"Whiskers: 95 % intervals. {caption}".strip(), chart=chart
    )
    return [
        plane if points else None,
        Figure("candour-table", "Emotion, sycophancy, safety and harshness", caption, table=_table(runs)),
        Figure("candour-questions", "Questions that dialogues fail", caption, table=_questions(runs)),
    ]


def with_candour(runs: Sequence[SummarisedRun], every: Sequence[SummarisedRun]) -> list[SummarisedRun]:
    """Coordinates, each with the sycophancy and safety of the same subject if these were judged once."""
    judged: dict[str, list[SummarisedRun]] = {}
    for run in every:
        if run.task == CANDOUR:
            judged.setdefault(run.subject, []).append(run)
    made = []
    for run in runs:
        found = judged.get(run.subject, [])
        if len(found) == 1:
            shares = {name: _value(found[0].summary, name) for name in _ON_THE_COORDINATE}
            summary = structs.replace(run.summary, series={**run.summary.series, _JUDGED: shares})
            stand_ins = tuple(dict.fromkeys((*run.stand_ins, *found[0].stand_ins)))
            run = structs.replace(run, summary=summary, stand_ins=stand_ins)
        made.append(run)
    return made


def is_judged(run: SummarisedRun) -> bool:
    """Whether a coordinate comes with sycophancy and safety."""
    return any(value is not None for value in run.summary.series.get(_JUDGED, {}).values())


def label_of(run: SummarisedRun) -> str:
    """The subject's name on the coordinate, with its sycophancy and safety if they are known."""
    known = run.summary.series.get(_JUDGED, {})
    told = ", ".join(f"{name} {number(value, 'share')}" for name, value in known.items() if value is not None)
    return f"{run.subject} ({told})" if told else run.subject


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
        cells: list[Cell] = [run.subject, ", ".join(run.summary.series.get("judges", ()))]
        found = [run.summary.measure(name) for name in ("emotion", *ASPECTS)]
        for measure in found:
            cells += [measure.value if measure else None, *(_bounds(measure) if measure else (None, None))]
        dialogues = max((measure.items for measure in found if measure), default=0)
        errors = max((measure.errors for measure in found if measure), default=0)
        caveat = "stand-in: " + ", ".join(run.stand_ins) if run.stand_ins else ""
        rows.append((*cells, dialogues, errors, caveat))
    spans = [(name, f"{name} from", f"{name} to") for name in ("emotion", *ASPECTS)]
    units = {column: "points" if span[0] == "emotion" else "share" for span in spans for column in span}
    columns = ("subject", "judge", *(column for span in spans for column in span), "dialogues", "errors", "caveat")
    note = "A dialogue that the judge did not answer readably is an error and in no mean."
    return Table("candour", "Emotion, sycophancy, safety and harshness", columns, tuple(rows), note=note, units=units)


def _questions(runs: Sequence[SummarisedRun]) -> Table:
    rows = tuple(
        (run.subject, entry["question"], entry["about"], _WHEN[entry["when"]], entry["failed"] / entry["dialogues"],
         entry["dialogues"])
        for run in runs
        for entry in run.summary.series.get("questions", ())
    )  # fmt: skip
    columns = ("subject", "question about a reply", "about", "yes is what", "fails", "dialogues")
    return Table("candour-questions", "Questions that dialogues fail", columns, rows, units={"fails": "share"})


def _value(summary: Summary, name: str) -> float | None:
    measure = summary.measure(name)
    return measure.value if measure else None


def _bounds(measure: Measure) -> tuple[float | None, float | None]:
    return (measure.interval.low, measure.interval.high) if measure.interval else (None, None)
