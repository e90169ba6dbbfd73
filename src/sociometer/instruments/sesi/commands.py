"""The instrument's own commands: lint, probe, contamination, analyse, build."""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sociometer.core.command import CommandContext, Run
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.measure import Cell
from sociometer.core.settings import Settings
from sociometer.core.task import RunView, SheetRow
from sociometer.instruments._recall import examine
from sociometer.instruments.sesi import errors, figures, items, probing, recall
from sociometer.instruments.sesi.build.command import build as build
from sociometer.instruments.sesi.conditions import CONTROL, SECOND_PERSON, noise_for, of_factors
from sociometer.instruments.sesi.items import TABLES
from sociometer.instruments.sesi.probe_figures import probe_figures
from sociometer.reading import ChoiceAnswer
from sociometer.statistics.agreement import majorities
from sociometer.statistics.formatting import number, stand_in_notes

_SAMPLE = 50
"""How many wrong answers of each run are drawn by default."""


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


def causes(runs: Sequence[Run], count: int | None, seed: int) -> list[SheetRow]:
    """The rows of the sheet of causes: a sample of the wrong answers of each run, without names of models and items."""
    views = {run.id: run.view("questions") for run in map(_of_questions, runs)}
    run_of = errors.runs_by_name(views)
    return [
        SheetRow(run_of[one.subject], (one.id,), (one.situation, one.question, one.right, one.picked))
        for one in _sampled(views, count or _SAMPLE, seed)
    ]


def analyse(context: CommandContext, options: Settings) -> Result:
    """Asks a judge for the causes of a sample of wrong answers; of those that people labelled, if they did."""
    found = [_of_questions(context.run(reference, "questions")) for reference in options.texts("run") or ("last",)]
    runs = {run.id: run.view("questions") for run in found}
    labels = [label for run in runs for label in context.labels(run, "causes")]
    people = {key[0]: cause for key, cause in majorities(labels, "cause").items()}
    if options.whole("sample"):
        sample = _sampled(runs, options.whole("sample"), context.seed)
    else:
        labelled = [entry for entry in _sampled(runs, sys.maxsize, context.seed) if entry.id in people]
        sample = labelled or _sampled(runs, _SAMPLE, context.seed)
    judged = context.play("errors", items=sample)
    summary, view = judged.summary("errors"), judged.view("errors")
    subjects = list(dict.fromkeys(entry.subject for entry in sample))
    tables = [errors.cause_table(summary, subjects)]
    notes = [*summary.notes, *stand_in_notes([*runs.values(), view])]
    if people:
        verdicts = {item.id: str(outcome.cause) for item, outcome, _ in view.scored() if outcome.cause}
        tables += [errors.label_table(people), errors.agreement_table(people, verdicts)]
    named = {"people (all subjects)": people} if people else {}
    return Result(tuple(tables), tuple(notes), (figures.cause_figure([summary], named),))


def _of_questions(run: Run) -> Run:
    """The run, if it is one of the test."""
    if "questions" not in run.tasks:
        contents = "contains only numbers of an earlier version"
        if run.tasks:
            contents = f"is of the task '{', '.join(run.tasks)}', not of 'questions'"
        raise UsageError(f"run {run.reference} {contents}; name a run of the test (see '{hint('runs')}').")
    return run


def _sampled(runs: Mapping[str, RunView[Any, Any]], count: int, seed: int) -> list[errors.WrongAnswer]:
    """A sample of so many wrong answers of each run."""
    sample = errors.sample_runs(runs, count, seed)
    if not sample:
        raise UsageError("these runs have no readable wrong answer, so there is nothing to explain.")
    return sample
