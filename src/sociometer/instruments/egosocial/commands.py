"""The instrument's own commands for its stories and worlds."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from sociometer.core.command import CommandContext
from sociometer.core.errors import DataError, UsageError
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.core.sheets import write_sheet
from sociometer.instruments.egosocial import controls, items
from sociometer.instruments.egosocial.build import (
    accepted,
    both_tellings,
    drafts_of,
    json_lines,
    read_sheet,
    review_sheet,
    with_findings,
)
from sociometer.instruments.egosocial.games.blackjack.judging import grade
from sociometer.instruments.egosocial.scene import Scene
from sociometer.instruments.egosocial.stories.pairs import names_left
from sociometer.instruments.egosocial.stories.tomi import agreement_table, disagreements, read_archive
from sociometer.statistics.model_kinds import read_properties

__all__ = ["analyse", "build", "grade", "lint", "probe"]


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
    wrote = [context.write(out, json_lines(usable)), context.write(sheet, review_sheet(drafts))]
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


def probe(context: CommandContext, options: Settings) -> Result:
    """Plays fresh stories with all matched controls for every subject, and compares the tellings in pairs."""
    if not context.subjects:
        raise UsageError("probe needs a subject: give --model MODEL; repeat it for several.")
    context.expect(len(context.subjects))
    runs = []
    for subject in context.subjects:
        run = context.play("generated", subject=subject, settings={"perspective": "controls"})
        runs.append((run.subject, run.view("generated")))
    contrasts = controls.contrast_table(runs)
    return Result((controls.accuracy_table(runs), contrasts), finding=controls.finding(contrasts))


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
    return controls.analysis(summarised, properties, published)


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
    wrote: list[str] = []
    if archive is not None:
        questions = list(read_archive(archive, source.settings.text("split")))
        tables.append(agreement_table(questions))
        if options.text("to"):
            table = disagreements(questions)
            wrote.append(
                context.write(Path(options.text("to")), write_sheet(table.columns, table.rows, guard_formulas=True))
            )
    finding = f"{sum(map(len, scenes.values()))} items, {len(faults) or 'no'} faults."
    return Result(tables=tuple(tables), notes=tuple(faults), wrote=tuple(wrote), failed=bool(faults), finding=finding)


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
