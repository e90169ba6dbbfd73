"""The instrument's own commands for its stories and worlds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Result
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import Settings
from sociometer.core.task import AnyRun
from sociometer.instruments.egosocial import items
from sociometer.instruments.egosocial.games.blackjack.grading import grade
from sociometer.instruments.egosocial.paper import PARTS, Column
from sociometer.instruments.egosocial.published.reproduce import printed_models, printed_properties
from sociometer.instruments.egosocial.scene import Scene
from sociometer.instruments.egosocial.stories.pairs import names_left
from sociometer.instruments.egosocial.stories.tomi import agreement_table, read_archive
from sociometer.statistics.model_kinds import (
    EXACT,
    FEW,
    TRENDS,
    Described,
    Properties,
    kind_rows,
    read_properties,
    trend_rows,
)

__all__ = ["analyse", "grade", "lint"]


def analyse(context: CommandContext, options: Settings) -> Result:
    """Compares kinds of models, scenario by scenario: size, tuning, open or API."""
    runs = [context.run(reference) for reference in options.texts("runs")]
    published = options.flag("published")
    if not runs and not published:
        raise UsageError("analyse needs stored runs (see 'sociometer runs'), or --published for the paper's models.")
    if runs and not options.text("models"):
        raise UsageError("analyse needs --models FILE for runs: a CSV with a column `model` and their properties.")
    properties = read_properties(Path(options.text("models"))) if options.text("models") else {}
    summarised = [run.summarised(task) for run in runs for task in run.tasks]
    return analysis(summarised, properties, published)


COLUMNS: tuple[Column, ...] = tuple(column for _, _, columns in PARTS for column in columns)


def analysis(runs: Sequence[AnyRun], properties: Mapping[str, Properties], published: bool) -> Result:
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
            Table("trends", "Accuracy by size and date", ("scenario", *TRENDS), tuple(trends), EXACT),
        ),
        notes=(*notes, FEW),
        finding=_finding(kinds),
    )


def _described(
    column: Column, runs: Sequence[AnyRun], properties: Mapping[str, Properties], published: bool
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


def lint(context: CommandContext, options: Settings) -> Result:
    """Checks the bundled and generated scenes, and the official ToMi file if it is available."""
    source = context.source()
    scenes = {
        "generated": list(items.generated(source)),
        "counterfactual": list(items.counterfactual(source)),
        "worlds": list(items.worlds(source)),
        "customs": list(items.customs(source)),
    }
    archive = source.find(items.TOMI)
    if archive is not None:
        scenes["tomi"] = list(items.tomi(context.source(selection="all")))
    faults = [f"{name}: {fault}" for name, found in scenes.items() for fault in _faults(found)]
    tables = [_positions(name, found) for name, found in scenes.items()]
    if archive is not None:
        tables.append(agreement_table(read_archive(archive, source.settings.text("split"))))
    finding = f"{sum(map(len, scenes.values()))} items, {len(faults) or 'no'} faults."
    return Result(tables=tuple(tables), notes=tuple(faults), failed=bool(faults), finding=finding)


def _faults(scenes: list[Scene]) -> Iterable[str]:
    for name, count in Counter(scene.id for scene in scenes).items():
        if count > 1:
            yield f"id {name} appears {count} times"
    for scene in scenes:
        for telling in scene.tellings:
            text = "\n".join((telling.story, telling.question, *telling.options))
            if telling.name == "first" and scene.ego and names_left(text, scene.ego):
                yield f"{scene.id}: {scene.ego} is still named in the first person"
            if len(set(telling.options)) != len(telling.options):
                yield f"{scene.id}: two options are the same"


def _positions(name: str, scenes: list[Scene]) -> Table:
    places = Counter("ABCD"[scene.tellings[0].answer] for scene in scenes)
    return Table(
        f"positions-{name}",
        f"{name}: positions of right answers",
        ("position", "items"),
        tuple(sorted(places.items())),
    )
