"""Several subjects together: reliability over items, and contrasts between kinds of models (Fig. 4)."""

import math
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct

from sociometer.analysis.agreement import spearman
from sociometer.analysis.charts.scatter import ScatterPoint, scatter_chart
from sociometer.analysis.reliability import cronbach_alpha
from sociometer.core.errors import DataError
from sociometer.core.measure import Cell, Figure, Table
from sociometer.core.task import Result
from sociometer.instruments.seceu.norm import PUBLISHED_NORM, published_rows
from sociometer.instruments.seceu.prompting import headline_of
from sociometer.sheets import read_rows
from sociometer.store.stored_run import StoredRun

KINDS = ("sft", "rlhf", "architecture", "access", "family")
FEWEST_MODELS = 4


class Properties(Struct, frozen=True):
    """The properties of one model in a models file; unknown ones are empty."""

    size_billion: float | None = None
    launched: float | None = None
    """Date as a year with its fraction."""
    kinds: dict[str, str] = {}


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


def subject_of(run: StoredRun) -> Subject:
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


def read_properties(path: Path) -> dict[str, Properties]:
    """Return the properties in a models file, by model."""
    rows = read_rows(path, ("model",), ("size_billion", "launched", *KINDS))
    return {row["model"]: properties_of(row, path, line) for line, row in rows}


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
        tables += _contrast_tables(described, on_norm)
        figures = launch_figures(described, on_norm)
        notes.append(
            "There are few models, and models of one family are not independent: the contrasts are only descriptive."
        )
    return Result(tables=tuple(tables), notes=tuple(notes), figures=figures)


def _with(subject: Subject, properties: Properties | None) -> Subject:
    return msgspec.structs.replace(subject, properties=properties)


def _reliability_table(subjects: Sequence[Subject]) -> Table:
    """Cronbach's alpha over items; runs of one subject count once."""
    distinct = {subject.name: subject.pattern for subject in subjects if subject.pattern}
    shared = sorted(set.intersection(*(set(pattern) for pattern in distinct.values()))) if distinct else []
    columns = ("coefficient", "value", "subjects", "items", "note")
    if len(shared) < 2:
        row: tuple[Cell, ...] = ("alpha", None, len(distinct), len(shared), "the runs share fewer than two scenarios")
        return Table("reliability", "Reliability over distinct subjects", columns, (row,))
    found = cronbach_alpha([[pattern[scenario] for scenario in shared] for pattern in distinct.values()])
    value = None if found.value is None else round(found.value, 3)
    row = ("alpha", value, found.subjects, found.items, found.note)
    return Table("reliability", "Reliability over distinct subjects", columns, (row,))


def _contrast_tables(subjects: Sequence[Subject], on_norm: bool) -> list[Table]:
    unit = "EQ" if on_norm else "distance"
    groups: list[tuple[Cell, ...]] = []
    for kind in KINDS:
        levels: dict[str, list[float]] = {}
        for subject in subjects:
            level = subject.properties.kinds.get(kind, "") if subject.properties else ""
            if level:
                levels.setdefault(level, []).append(_value(subject, on_norm))
        p_value = _permutation(list(levels.values()))
        groups += [
            (kind, level, len(values), round(float(np.mean(values)), 1 if on_norm else 3), p_value)
            for level, values in sorted(levels.items())
        ]
    trends = [
        trend
        for name, points in (
            ("log size", _points(subjects, "size", on_norm)),
            ("launch date", _points(subjects, "date", on_norm)),
        )
        if (trend := _trend(name, points)) is not None
    ]
    note = "p: permutation test over two groups; needs at least two models per group."
    return [
        Table(
            "kinds",
            f"Mean {unit} by kind of model",
            ("property", "level", "models", f"mean {unit}", "p"),
            tuple(groups),
            note,
        ),
        Table("trends", f"{unit} by size and date", ("property", "models", "Spearman's rho", "p"), tuple(trends)),
    ]


def _value(subject: Subject, on_norm: bool) -> float:
    return subject.eq if on_norm and subject.eq is not None else subject.distance


def _permutation(levels: Sequence[Sequence[float]]) -> float | None:
    if len(levels) != 2 or min(len(level) for level in levels) < 2:
        return None
    from scipy import stats  # here, since it takes longer to import than a short command takes

    test = stats.permutation_test(
        levels,
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    return round(float(test.pvalue), 3)


def _points(subjects: Sequence[Subject], which: str, on_norm: bool) -> list[tuple[float, float]]:
    found = []
    for subject in subjects:
        about = subject.properties
        x = None if about is None else about.size_billion if which == "size" else about.launched
        if x is not None:
            found.append((math.log10(x) if which == "size" else x, _value(subject, on_norm)))
    return found


def _trend(name: str, points: Sequence[tuple[float, float]]) -> tuple[Cell, ...] | None:
    if len(points) < FEWEST_MODELS or len({x for x, _ in points}) < 2 or len({y for _, y in points}) < 2:
        return None
    rho, p_value = spearman([x for x, _ in points], [y for _, y in points])
    return (name, len(points), round(rho, 2), round(p_value, 3))


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


def properties_of(row: Mapping[str, str], path: Path | None = None, line: int | None = None) -> Properties:
    """Return the properties in a row of a models file."""
    size, launched = row.get("size_billion", "").strip(), row.get("launched", "").strip()
    try:
        return Properties(
            float(size) if size else None,
            _year(launched) if launched else None,
            {kind: text for kind in KINDS if (text := row.get(kind, "").strip())},
        )
    except ValueError:
        raise DataError(
            f"size_billion '{size}' must be a number and launched '{launched}' a date such as 2023-03-14",
            path or "",
            line,
        ) from None


def _year(text: str) -> float:
    """The date as a year with its fraction; a month without a day counts from its first."""
    day = date.fromisoformat(text if len(text) > 7 else f"{text}-01")
    return day.year + (day.timetuple().tm_yday - 1) / 365.25
