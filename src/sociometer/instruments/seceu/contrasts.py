"""Several subjects together: reliability over items, and contrasts between kinds of models (Fig. 4)."""

import math
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from sociometer.core.command import Run
from sociometer.core.instrument import Result
from sociometer.core.measure import Cell, Figure, Table
from sociometer.instruments.seceu.method_result import headline_of
from sociometer.instruments.seceu.norm import PUBLISHED_NORM, published_rows
from sociometer.statistics.charts.scatter import ScatterPoint, scatter_chart
from sociometer.statistics.model_kinds import FEW, Described, Properties, contrast_tables, properties_of
from sociometer.statistics.reliability import cronbach_alpha


class Subject(Struct, frozen=True):
    """One model: its EQ (or distance, without a norm) and its distance on each scenario."""

    name: str
    eq: float | None
    distance: float
    pattern: dict[str, float] = {}
    properties: Properties | None = None
    norm: str = ""
    """The norm of the EQ."""
    failed: str = ""
    """Why the test gives no usable number; empty if it does."""


def subject_of(run: Run) -> Subject:
    """Return a stored run as a subject."""
    summary = run.summary("feelings")
    measure, mean = summary.measure("eq"), summary.measure("distance")
    patterns: dict[str, dict[str, float]] = summary.series.get("patterns", {})
    return Subject(
        run.subject,
        None if measure is None else measure.value,
        math.nan if mean is None or mean.value is None else mean.value,
        patterns.get(str(summary.series.get("prompting")), {}),
        norm=str(summary.series.get("norm", {}).get("name", "")),
        failed=headline_of(run.view("feelings")).failed,
    )


def published_subjects() -> list[Subject]:
    """Return the models of Table 1 that completed the test."""
    return [
        Subject(row["model"], float(row["eq"]), float(row["score"]), properties=properties_of(row), norm=PUBLISHED_NORM)
        for row in published_rows("table_1")
        if row["eq"]
    ]


def analysis(subjects: Sequence[Subject], published: Sequence[Subject], properties: Mapping[str, Properties]) -> Result:
    """Return reliability over the distinct subjects measured here, and contrasts over all that have properties."""
    notes = [f"{subject.name} is left out: {subject.failed}." for subject in subjects if subject.failed]
    subjects = [subject for subject in subjects if not subject.failed]
    known = [_with(subject, properties.get(subject.name)) for subject in subjects]
    missing = [subject.name for subject in known if subject.properties is None]
    if properties and missing:
        notes.append(f"Not in the models file, so excluded from the contrasts: {', '.join(missing)}.")
    tables = [_reliability_table(subjects)] if subjects else []
    everyone = [*known, *published]
    on_norm = len({subject.norm for subject in everyone}) == 1 and all(subject.eq is not None for subject in everyone)
    if published and not on_norm:
        notes.append("Runs without an EQ on the paper's norm are not compared with the paper's models.")
        everyone = [subject for subject in everyone if subject.eq is not None and subject.norm == PUBLISHED_NORM]
        on_norm = True
    elif not on_norm and any(subject.norm for subject in everyone):
        notes.append("The runs use different norms: contrasts compare distances, not EQs.")
    described = [subject for subject in everyone if subject.properties is not None]
    figures: tuple[Figure, ...] = ()
    if described:
        models = [Described(_value(one, on_norm), one.properties) for one in described if one.properties is not None]
        tables += contrast_tables(models, *(("EQ", 1) if on_norm else ("distance", 3)))
        figures = launch_figures(described, on_norm)
        notes.append(FEW)
    return Result(tables=tuple(tables), notes=tuple(notes), figures=figures)


def _with(subject: Subject, properties: Properties | None) -> Subject:
    return msgspec.structs.replace(subject, properties=properties)


def _reliability_table(subjects: Sequence[Subject]) -> Table:
    """Cronbach's alpha over items; runs of one subject count once."""
    distinct = {subject.name: subject.pattern for subject in subjects if subject.pattern}
    shared = sorted(set.intersection(*(set(pattern) for pattern in distinct.values()))) if distinct else []
    columns = ("coefficient", "value", "subjects", "items", "note")
    if len(shared) < 2:
        row: tuple[Cell, ...] = ("alpha", None, len(distinct), len(shared), "the runs share fewer than two stories")
        return Table("reliability", "Reliability over distinct subjects", columns, (row,))
    found = cronbach_alpha([[pattern[scenario] for scenario in shared] for pattern in distinct.values()])
    value = None if found.value is None else round(found.value, 3)
    row = ("alpha", value, found.subjects, found.items, found.note)
    return Table("reliability", "Reliability over distinct subjects", columns, (row,))


def _value(subject: Subject, on_norm: bool) -> float:
    return subject.eq if on_norm and subject.eq is not None else subject.distance


def launch_figures(subjects: Sequence[Subject], on_norm: bool) -> tuple[Figure, ...]:
    """EQ over launch date, sized by parameters: the data of Fig. 4 without its tree."""
    points = [
        ScatterPoint(
            subject.name,
            about.launched,
            _value(subject, on_norm),
            group="RLHF" if about.kinds.get("rlhf") == "yes" else "SFT" if about.kinds.get("sft") == "yes" else "base",
            size=about.size_billion,
            note=", ".join(f"{kind}: {level}" for kind, level in about.kinds.items()),
        )
        for subject in subjects
        if (about := subject.properties) is not None and about.launched is not None
    ]
    if not points:
        return ()
    unit = "EQ" if on_norm else "distance"
    chart = scatter_chart(points, x_title="launched", y_title=unit)
    return (
        Figure("family", f"{unit} by launch date, size and training", "Point area: number of parameters.", chart=chart),
    )
