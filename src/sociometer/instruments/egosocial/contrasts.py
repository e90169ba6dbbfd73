"""Kinds of models compared scenario by scenario: by size, tuning, access and date."""

from collections.abc import Mapping, Sequence

from sociometer.core.instrument import Result
from sociometer.core.measure import Cell, Table
from sociometer.core.task import SummarisedRun
from sociometer.instruments.egosocial.published.claims import printed_models, printed_properties
from sociometer.instruments.egosocial.suite import PARTS, Column
from sociometer.statistics.model_kinds import FEW, Described, Properties, kind_rows, trend_rows

COLUMNS: tuple[Column, ...] = tuple(column for _, _, columns in PARTS for column in columns)


def analysis(runs: Sequence[SummarisedRun], properties: Mapping[str, Properties], published: bool) -> Result:
    """Means by kind of model and rank correlations with size and date, for every column that has models."""
    kinds: list[tuple[Cell, ...]] = []
    trends: list[tuple[Cell, ...]] = []
    for column in COLUMNS:
        models = _described(column, runs, properties, published)
        kinds += [(column.title, *row) for row in kind_rows(models, 1)]
        trends += [(column.title, *row) for row in trend_rows(models)]
    missing = sorted({run.subject for run in runs} - set(properties))
    notes = [f"Not in the models file, so excluded: {', '.join(missing)}."] if missing else []
    if published and runs:
        notes.append("Printed values and runs are compared as they are; our items may be easier or harder.")
    note = "p: permutation test over two groups; needs at least two models per group."
    columns = ("scenario", "property", "level", "models", "mean %", "p")
    return Result(
        tables=(
            Table("kinds", "Accuracy by kind of model", columns, tuple(kinds), note),
            Table("trends", "Accuracy by size and date", ("scenario", "property", "models", "rho", "p"), tuple(trends)),
        ),
        notes=(*notes, FEW),
        finding=_finding(kinds),
    )


def _described(
    column: Column, runs: Sequence[SummarisedRun], properties: Mapping[str, Properties], published: bool
) -> list[Described]:
    found = []
    for subject in dict.fromkeys(run.subject for run in runs):
        measure = column.found([run for run in runs if run.subject == subject])
        if measure is not None and measure.value is not None and subject in properties:
            found.append(Described(100 * measure.value, properties[subject]))
    if published and column.printed:
        about = printed_properties()
        found += [Described(values[column.printed], about[name]) for name, values in printed_models().items()]
    return found


def _finding(kinds: Sequence[tuple[Cell, ...]]) -> str:
    tested = {(row[0], row[1]): row[5] for row in kinds if isinstance(row[5], float)}
    clear = [f"{scenario} by {kind}" for (scenario, kind), p in tested.items() if isinstance(p, float) and p < 0.05]
    said = f"{len(tested)} contrasts of two kinds of models, {len(clear) or 'none'} with p < .05"
    return f"{said}: {', '.join(clear)}." if clear else f"{said}."
