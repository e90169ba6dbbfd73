"""The instrument's own commands: lint, probe, contamination, analyse, build."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.measure import Cell
from sociometer.core.settings import Settings
from sociometer.core.task import RunView
from sociometer.core.words import counted
from sociometer.instruments._recall import examine
from sociometer.instruments.sesi import errors, figures, items, probing, recall
from sociometer.instruments.sesi.build.command import build as build
from sociometer.instruments.sesi.conditions import CONTROL, SECOND_PERSON, noise_for, of_factors
from sociometer.instruments.sesi.items import TABLES
from sociometer.instruments.sesi.probe_figures import probe_figures
from sociometer.reading import ChoiceAnswer
from sociometer.statistics.formatting import number, stand_in_notes


def lint(context: CommandContext, options: Settings) -> Result:
    """Counts and checks the items; fails on a contradiction or a duplicate id."""
    found = list(items.questions(context.source()))
    pairs = items.contradictions(found)
    repeated = [name for name, count in Counter(item.id for item in found).items() if count > 1]
    converted, unconverted = items.in_second_person(found)
    counts = Counter((str(item.ability), item.answer) for item in found)
    rows: list[tuple[Cell, ...]] = [
        (ability, *(counts[ability, place] for place in range(4))) for ability in items.ABILITIES
    ]
    left_out = tuple((name,) for name in unconverted)
    tables = (
        TABLES("lint/positions", rows),
        TABLES("lint/left out", left_out, share=number(len(converted) / len(found), "share")),
    )
    notes = [
        f"contradiction: {one.id} and {other.id} are the same item with keys {one.answer} and {other.answer}"
        for one, other in pairs
    ]
    notes += [f"duplicate id: {name}" for name in repeated]
    finding = (
        f"{len(found)} item{'s' * (len(found) != 1)}: {len(pairs) or 'no'} contradiction{'s' * (len(pairs) != 1)}, "
        f"{len(repeated) or 'no'} duplicate ids, {len(left_out) or 'none'} without a second-person form."
    )
    return Result(tables, tuple(notes), failed=bool(repeated or pairs), finding=finding)


def probe(context: CommandContext, options: Settings) -> Result:
    """Plays the control and every condition of the factors for every subject, and compares on the same items."""
    if not context.subjects:
        raise UsageError("probe needs a subject: give --model MODEL; repeat it for several.")
    wanted = [entry.name for entry in of_factors(options.texts("factor"))]
    notes = _second_person_notes(context, wanted)
    noise = () if options.flag("skip-noise") else noise_for(probing.factors_in(wanted))
    probes: list[probing.Probe] = []
    stand_ins: list[str] = []
    context.expect(len(context.subjects) * (len(wanted) + len(noise) + 1))
    for subject in context.subjects:
        runs = {name: _played(context, subject, name) for name in (*wanted, *noise, CONTROL)}
        shown = runs[CONTROL].subject
        shown = f"{shown} ({runs[CONTROL].run})" if shown in [one.subject for one in probes] else shown
        probes.append(probing.probe_of(shown, runs))
        stand_ins += stand_in_notes([runs[CONTROL]])
    tests = probing.factor_table(probes, wanted, noise)
    tables = [tests, probing.change_table(probes, (*wanted, *noise)), probing.contrast_table(probes)]
    by_ability = probing.ability_table(probes, wanted)
    compared = f"{len(wanted)} conditions were compared with the control."
    notes.insert(0, f"{compared} Stars show uncorrected p.")
    if noise:
        notes.append(f"The noise floor comes from {len(noise)} conditions without meaning: {', '.join(noise)}.")
    notes += stand_ins
    return Result(
        tuple(table for table in tables if table.rows),
        tuple(dict.fromkeys(notes)),
        probe_figures(probes, wanted),
        finding=probing.finding(tests),
        more=(by_ability,) if by_ability.rows else (),
    )


def _played(context: CommandContext, subject: str, name: str) -> RunView[items.Question, ChoiceAnswer]:
    """One condition; the second person is played on those of the chosen items that have such a form."""
    given = items.in_second_person(context.items("questions"))[0] if name == SECOND_PERSON else None
    return context.play("questions", subject=subject, settings={"condition": name}, items=given).view("questions")


def _second_person_notes(context: CommandContext, wanted: list[str]) -> list[str]:
    """The notes on the second person; the condition is left out if no item can be converted."""
    if SECOND_PERSON not in wanted:
        return []
    converted, left_out = items.in_second_person(context.items("questions"))
    if not converted and len(wanted) > 1:
        wanted.remove(SECOND_PERSON)
    left = f"{len(left_out)} items have no second-person form and are left out of that condition"
    return [f"{left}; 'sesi lint' lists them."]


def contamination(context: CommandContext, options: Settings) -> Result:
    """Asks every subject about pairs of public and unseen items, and says whether it knows the public ones by heart."""
    return examine(context, options, recall.recalled)


def sheet(context: CommandContext, options: Settings) -> Result:
    """Writes the sample of wrong answers for people, who name the cause of each."""
    runs, sample = _wrong_answers(context, options, options.whole("sample"))
    out = Path(options.text("to"))
    notes = (
        f"{len(sample)} wrong answers; fill in the column cause with one of: {', '.join(errors.CAUSES)}.",
        f"Then: {hint('sesi analyse', *runs, '--role', 'judge=MODEL', '--sheet', out)}",
    )
    return Result(notes=notes, wrote=(context.write(out, errors.write_sheet(sample)),))


def analyse(context: CommandContext, options: Settings) -> Result:
    """Asks a judge for the causes of a sample of wrong answers, or of those in a sheet, next to what people named."""
    sheet = Path(options.text("sheet"))
    labels = errors.read_labels(sheet) if options.text("sheet") else {}
    runs, sample = _wrong_answers(context, options, sys.maxsize if labels else options.whole("sample"))
    if labels:
        sample = [entry for entry in sample if entry.id in labels]
        if strangers := sorted(labels.keys() - {entry.id for entry in sample}):
            raise UsageError(
                f"{counted(len(strangers), 'row')} of the sheet, such as {strangers[0]}, are not wrong answers of"
                " these runs; give the runs that it was written from."
            )
        for name, run in errors.runs_by_name(runs).items():
            mine = [one.id for one in sample if one.subject == name]
            context.keep_labels(run, "causes", sheet.stem, {(one,): {"cause": labels[one]} for one in mine})
    judged = context.play("errors", items=sample)
    summary, view = judged.summary("errors"), judged.view("errors")
    subjects = list(dict.fromkeys(entry.subject for entry in sample))
    tables = [errors.cause_table(summary, subjects)]
    notes = [*summary.notes, *stand_in_notes([*runs.values(), view])]
    if labels:
        verdicts = {item.id: str(outcome.cause) for item, outcome, _ in view.scored() if outcome.cause}
        tables += [errors.label_table(labels), errors.agreement_table(labels, verdicts)]
    people = {"people (all subjects)": labels} if labels else {}
    return Result(tuple(tables), tuple(notes), (figures.cause_figure([summary], people),))


def _wrong_answers(
    context: CommandContext, options: Settings, count: int
) -> tuple[dict[str, RunView[Any, Any]], list[errors.WrongAnswer]]:
    """The runs, and a sample of so many wrong answers of each."""
    found = [context.run(reference, "questions") for reference in options.texts("run") or ("last",)]
    for run in found:
        if "questions" not in run.tasks:
            raise UsageError(
                f"run {run.reference} is of the task '{', '.join(run.tasks)}', not of 'questions'; "
                f"name a run of the test (see '{hint('runs')}')."
            )
    runs = {run.id: run.view("questions") for run in found}
    sample = errors.sample_runs(runs, count, context.seed)
    if not sample:
        raise UsageError("these runs have no readable wrong answer, so there is nothing to explain.")
    return runs, sample
