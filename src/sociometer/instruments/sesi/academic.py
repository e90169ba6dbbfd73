"""Social and academic scores: reading them, correlating them, and testing whether the social one is distinct."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from sociometer.core.command import Run
from sociometer.core.errors import DataError, UsageError, hint
from sociometer.core.measure import Cell, Figure, Table
from sociometer.core.sheets import read_rows
from sociometer.core.task import RunView
from sociometer.instruments.sesi.conditions import CONTROL
from sociometer.instruments.sesi.items import FIGURES, TABLES
from sociometer.statistics.charts import HeatCell, heat_map
from sociometer.statistics.correlation import Correlation, correlation_contrast, few_families, pearson
from sociometer.statistics.formatting import stand_in_notes
from sociometer.statistics.item_values import ItemValue, SharedItems, item_values, shared_items
from sociometer.statistics.model_kinds import family_from_name
from sociometer.statistics.paired import stars

SOCIAL = "SESI"


class Scores(Struct, frozen=True):
    """Scores by model and benchmark, with each model's family."""

    values: dict[str, dict[str, float]]
    families: dict[str, str]

    def benchmarks(self) -> list[str]:
        """The benchmarks in order of first appearance, the social score last."""
        names = list(dict.fromkeys(name for scores in self.values.values() for name in scores))
        return [name for name in names if name != SOCIAL] + ([SOCIAL] if SOCIAL in names else [])


class PairResult(Struct, frozen=True):
    """One cell of the matrix."""

    first: str
    second: str
    correlation: Correlation | None
    note: str = ""


def join(scores: Scores, social: Mapping[str, float]) -> list[str]:
    """Adds the social scores of runs to their models' rows, and notes where the file's own column differs."""
    strangers = [model for model in social if model not in scores.values]
    if strangers:
        known = ", ".join(sorted(scores.values))
        raise UsageError(
            f"'{strangers[0]}' has no academic scores; known: {known}. Map a run's model with --as MODEL=NAME."
        )
    written = {model: own[SOCIAL] for model, own in scores.values.items() if SOCIAL in own}
    notes = [
        f"{model}: the {SOCIAL} of its run ({value:.1f}) is used, not the one in the file ({written[model]:.1f})."
        for model, value in social.items()
        if model in written
    ]
    others = [model for model in written if model not in social]
    if social and others:
        notes.append(
            f"The {SOCIAL} of {', '.join(others)} comes from the file and may be based on other items than the runs."
        )
    for model, value in social.items():
        scores.values[model][SOCIAL] = value
    return notes


def read_scores(path: Path) -> Scores:
    """The scores of a CSV file; a model without a family has the one of its name."""
    values: dict[str, dict[str, float]] = {}
    families: dict[str, str] = {}
    for line, row in read_rows(path, ("model",)):
        model = row["model"].strip()
        if not model or model in values:
            raise DataError(f"the model '{model}' is empty or appears twice", path, line)
        values[model], families[model] = {}, family_from_name(model)
        for name, cell in ((name, cell.strip()) for name, cell in row.items()):
            head = name.lower()
            if head in ("family", "series") and cell:
                families[model] = cell
            elif head not in ("model", "family", "series") and cell:
                number = _number(cell, name, path, line)
                if number is not None:
                    values[model][SOCIAL if head in ("sesi", "si") else name] = number
    return Scores(values, families)


def _number(cell: str, name: str, path: Path, line: int) -> float | None:
    """The number in a cell; None for "nan", which tables use for a missing score."""
    try:
        number = float(cell.rstrip("%"))
    except ValueError:
        number = math.inf
    if math.isinf(number):
        raise DataError(f"'{cell}' in column {name} is not a number (leave a missing score empty)", path, line)
    return None if math.isnan(number) else number


def correlate(scores: Scores) -> list[PairResult]:
    """Every pair of benchmarks over the models that have both."""
    names = scores.benchmarks()
    results = []
    for at, second in enumerate(names):
        for first in names[:at]:
            models = [model for model, own in scores.values.items() if first in own and second in own]
            one, two = ([scores.values[model][name] for model in models] for name in (first, second))
            if len(models) < 3:
                results.append(PairResult(first, second, None, f"only {len(models)} models have both"))
            elif len(set(one)) == 1 or len(set(two)) == 1:
                results.append(PairResult(first, second, None, "one of the two does not vary"))
            else:
                found = pearson(one, two, models, [scores.families[model] for model in models])
                note = f"depends on {found.carried_by}" if found.carried_by else ""
                results.append(PairResult(first, second, found, note))
    return results


def pair_table(results: Sequence[PairResult]) -> Table:
    """Each pair with p-value, interval and leave-one-model-out range."""
    lines: list[tuple[Cell, ...]] = []
    for pair in results:
        found = pair.correlation
        values: tuple[Cell, ...] = (None,) * 7
        if found is not None:
            bounds = found.interval
            values = (found.r, found.p_value, bounds.low, bounds.high, found.lowest, found.highest, found.n)
        lines.append((pair.first, pair.second, *values, pair.note))
    why = dict.fromkeys(few_families(pair.correlation.interval) for pair in results if pair.correlation)
    note = "; ".join(filter(None, why))
    return TABLES("correlations", lines, note=note and f"{note.capitalize()}.")


def matrix_figure(results: Sequence[PairResult], names: Sequence[str], remarks: Sequence[str] = ()) -> Figure:
    """The matrix as a heat map (Fig. 2); `remarks` are drawn into it."""
    cells = [HeatCell(name, name, 1.0) for name in names]
    for pair in results:
        if pair.correlation is not None:
            mark = stars(pair.correlation.p_value).replace("ns", "")
            cells += [
                HeatCell(row, column, pair.correlation.r, mark, pair.note)
                for row, column in ((pair.first, pair.second), (pair.second, pair.first))
            ]
    chart = heat_map(cells, title="r", diverging=True, domain=(-1, 1))
    if remarks:
        chart = {"title": {"text": list(remarks), "fontSize": 11, "fontWeight": "normal"}, **chart}
    return FIGURES("matrix", chart=chart, remarks=". ".join(remarks))


def apart(scores: Scores) -> tuple[Table | None, str]:
    """Whether the social score correlates less with the academic ones than they do with each other."""
    names = scores.benchmarks()
    models = [model for model, own in scores.values.items() if all(name in own for name in names)]
    if SOCIAL not in names or len(names) < 3 or len(models) < 4:
        why = f"The test needs at least four models with {SOCIAL} and two academic scores; {len(models)} have them."
        return None, why
    table = {name: [scores.values[model][name] for model in models] for name in names}
    families = [scores.families[model] for model in models]
    own, among, around = correlation_contrast(table, SOCIAL, families)
    line = (own, among, among - own, around.low, around.high, len(models), around.clusters)
    shown = "excludes zero" if around.low is not None and around.low > 0 else "includes zero: no difference is shown"
    note = few_families(around) or f"jackknife over families; the interval {shown}"
    return TABLES("apart", [line], note=f"{note[0].upper()}{note[1:]}."), ""


_TEST = "questions"


def view_of_test(run: Run) -> RunView[Any, Any]:
    """The run as a run of the test; a run of another task (a judge's, a builder's) raises an error."""
    if _TEST not in run.tasks:
        raise UsageError(
            f"run {run.reference} is of the task '{', '.join(run.tasks)}', not of '{_TEST}'; "
            f"name a run of the test (see '{hint('runs')}')."
        )
    return run.view(_TEST)


class Member(Struct, frozen=True):
    """A run as one model's score."""

    model: str
    run: str
    view: RunView[Any, Any]
    items: dict[str, ItemValue]


def run_scores(runs: Sequence[Run], renamed: Mapping[str, str]) -> tuple[dict[str, float], list[str]]:
    """The accuracies of the runs in percent on their shared items, and notes.

    A run that does not measure its model raises an error.
    """
    everyone = [_member(run, renamed) for run in runs]
    members = [member for member in everyone if member.items]
    notes = [
        f"run {member.run} of {member.model} has no scored answer and is left out"
        for member in everyone
        if not member.items
    ]
    if not members:
        return {}, notes
    accuracies, shared = shared_accuracies(members)
    said = {run.id: run.summary("questions").notes for run in runs}
    more = [f"{member.model} has {left} more" for member, left in zip(members, shared.left_out, strict=True) if left]
    on = f"SESI is the accuracy on the {len(shared.items)} items that all {len(members)} runs have"
    notes.append(f"{on}; left out: {', '.join(more)}." if more else f"{on}.")
    return accuracies, notes + _caveats(members, said)


def _member(run: Run, renamed: Mapping[str, str]) -> Member:
    view = view_of_test(run)
    condition = view.settings.text("condition")
    if condition != CONTROL:
        raise UsageError(
            f"run {run.reference} was played under the condition '{condition}' and does not measure {run.subject} "
            f"itself; give a run under '{CONTROL}'."
        )
    return Member(renamed.get(run.subject, run.subject), run.id, view, item_values(view, "correct"))


def shared_accuracies(members: Sequence[Member]) -> tuple[dict[str, float], SharedItems]:
    """Each model's accuracy in percent on the items that all have; raises an error if they have different items."""
    seen: dict[str, str] = {}
    for member in members:
        if member.model in seen:
            raise UsageError(
                f"runs {seen[member.model]} and {member.run} are both of '{member.model}', but a model has "
                "one score; give one of them."
            )
        seen[member.model] = member.run
    shared = shared_items([member.items for member in members])
    _refuse_other_items(members, shared)
    means = 100 * shared.values.mean(axis=0)
    return {member.model: float(mean) for member, mean in zip(members, means, strict=True)}, shared


def _refuse_other_items(members: Sequence[Member], shared: SharedItems) -> None:
    counts = ", ".join(f"{member.run} ({len(member.items)})" for member in members)
    if not shared.items:
        raise UsageError(f"the runs share no item ({counts}): give runs on the same items, official or bundled.")
    first = members[0]
    for member in members[1:]:
        for item in shared.items:
            if member.items[item].content != first.items[item].content:
                raise UsageError(
                    f"item '{item}' is not the same in runs {first.run} and {member.run}: give runs on the same items."
                )


def _caveats(members: Sequence[Member], notes: Mapping[str, Sequence[str]]) -> list[str]:
    """The runs' own notes, once each and with the model's name unless all have them, and the stand-ins."""
    whose: dict[str, list[str]] = {}
    for member in members:
        for note in notes[member.run]:
            whose.setdefault(note, []).append(member.model)
    said = [note if len(models) == len(members) else f"{', '.join(models)}: {note}" for note, models in whose.items()]
    orders = {member.model: member.view.settings.whole("orders") for member in members}
    if len(set(orders.values())) > 1:
        asked = ", ".join(f"{model} in {count}" for model, count in orders.items())
        said.append(f"The runs asked each item in different numbers of option orders: {asked}.")
    return said + stand_in_notes(member.view for member in members)
