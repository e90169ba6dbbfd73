"""The instrument's own commands for its stories and worlds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from sociometer.core.command import CommandContext
from sociometer.core.errors import DataError, UsageError
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
from sociometer.instruments.egosocial.tombench.convert import (
    accepted,
    both_tellings,
    drafts_of,
    read_sheet,
    review_sheet,
    with_findings,
)
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

__all__ = ["analyse", "build", "grade", "lint"]


def build(context: CommandContext, options: Settings) -> Result:
    """Converts ToMBench with the builder, checks every conversion, and writes the usable ones and a review sheet."""
    out = Path(options.text("to"))
    run = context.play("convert")
    drafts = drafts_of(run.view("convert"))
    scenes = list(both_tellings(drafts)) if options.flag("check-answers") else []
    if scenes:
        drafts = with_findings(drafts, context.play("solve", items=scenes).view("solve"))
    verdicts = read_sheet(_sheet_given(options)) if options.text("reviewed") else {}
    usable = list(accepted(drafts, verdicts))
    sheet = Path(options.text("sheet") or out.with_suffix(".review.csv"))
    wrote = [
        context.write(out, "".join(f"{msgspec.json.encode(line).decode()}\n" for line in usable)),
        context.write(sheet, review_sheet(drafts)),
    ]
    counts = (
        ("converted", len(drafts)),
        ("passed every check", sum(not draft.conversion.failed for draft in drafts)),
        *([("answered by the solver", len(scenes))] if scenes else []),
        ("judged by people", len(verdicts)),
        ("written", len(usable)),
    )
    note = f"Play them with: sociometer run egosocial --task tombench --converted {out}"
    summary = run.summary("convert")
    return Result(
        tables=(Table("build", "First-person ToMBench", ("what", "questions"), counts), *summary.tables),
        notes=(note,)
        if usable
        else ("No conversion is usable yet; the review sheet lists the checks that each one failed.",),
        wrote=tuple(wrote),
    )


def _sheet_given(options: Settings) -> Path:
    path = Path(options.text("reviewed"))
    if not path.is_file():
        raise DataError("no such review sheet; 'build' writes one next to its file of conversions", path)
    return path


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
