"""`sage passport`: asks a simulator about the turns of all witnesses, and writes what was found."""

from pathlib import Path

from msgspec import Struct

from sociometer.core.command import CommandContext, Run
from sociometer.core.config import provider_of
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.instruments.sage.passport import against_people, page, people, probes, simple_judges
from sociometer.instruments.sage.passport.against_people import AgainstPeople
from sociometer.instruments.sage.passport.people import PersonAnswer, PersonProbe, TalkOf
from sociometer.instruments.sage.passport.released import released_probes
from sociometer.instruments.sage.passport.talks import TASKS
from sociometer.instruments.sage.passport.verdict import Passport, examine, with_people

_ASKED_FIRST = 6
"""Of people's turns so many are asked first; if none of the answers can be read, no other is asked."""


class Examined(Struct, frozen=True):
    """What one witness gave: the passport with it, the runs, and what a reader should know."""

    passport: Passport
    runs: tuple[Run, ...]
    notes: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


def passport(context: CommandContext, options: Settings) -> Result:
    """Examines a simulator, writes its passport, and keeps it for `run sage`."""
    study = options.text("people")
    if options.flag("only-people") and not study:
        raise UsageError("--only-people needs --people STUDY.")
    talks = study_talks(context, study) if study else []
    context.expect(4 if study else 2)
    witnesses: list[Examined] = []
    if not options.flag("only-people"):
        witnesses.append(_examine_on_our_turns(context, options.whole("turns")))
    is_mute = any(witness.passport.left_out for witness in witnesses)
    if study and not is_mute:
        before = witnesses[-1].passport if witnesses else None
        witnesses.append(_examine_on_people(context, options, study, talks, before))
    made = witnesses[-1].passport
    notes: list[str] = []
    tables = page.tables(made)
    for witness in witnesses:
        notes += [f"run {run.reference}" for run in witness.runs]
        notes += witness.notes
        tables += witness.tables
    wrote = _write(context, Path(options.text("to")), made)
    return Result(tables=tuple(tables), finding=made.line, notes=tuple(notes), wrote=wrote)


def _examine_on_our_turns(context: CommandContext, turns: int) -> Examined:
    """The passport on our own replies and on released judgements, with what it had about people before."""
    released = released_probes(context.source().folders, turns, context.seed) if turns else []
    own = probes.own_probes()
    first = [probe for probe in own if probe.kind == "order" and probe.arm == probes.FIRST]
    others = [probe for probe in (*own, *released) if probe not in first]
    runs = [context.play("passport", items=first)]
    view = runs[0].view("passport")
    rows = probes.answers(view)
    left_out = 0
    if len(rows) == len(first) and not any(outcome.changes for _, outcome in rows):
        left_out = sum(probe.times for probe in others)
    else:
        runs.append(context.play("passport", items=others))
        rows += probes.answers(runs[-1].view("passport"))
    version = context.instrument.card.version
    made = examine(rows, view.roles["simulator"], version, left_out)
    before = page.kept_passport(made.simulator)
    if before and before.version == version:
        for known in before.against:
            made = with_people(made, known)
    notes: tuple[str, ...] = ()
    if not released:
        command = hint("get data sage --dialogues")
        notes = (
            f"Not compared with released judgements: '{command}' fetches them, and --turns says how many are asked.",
        )
    return Examined(made, tuple(runs), notes)


def _examine_on_people(
    context: CommandContext, options: Settings, study: str, talks: list[TalkOf], made: Passport | None
) -> Examined:
    """The passport with what was found against the people of a study.

    People's turns have runs of their own, which go when one of them withdraws.
    """
    asked = people.people_probes(study, talks, options.whole("people-turns"), options.whole("words"), context.seed)
    reports = [probe for probe in asked if probe.asks == "report"]
    first = reports[:_ASKED_FIRST]
    runs = [context.play(people.TASK, items=first)]
    view = runs[0].view(people.TASK)
    rows = people.answers(view)
    notes: list[str] = []
    if any(answer.report is not None for _, answer in rows):
        chosen = {probe.id for probe in first}
        others = [probe for probe in asked if probe.id not in chosen]
        if others:
            runs.append(context.play(people.TASK, items=others))
            rows += people.answers(runs[-1].view(people.TASK))
    else:
        notes.append(
            f"None of the first {len(first)} answers about people can be read; the other"
            f" {len(asked) - len(first)} were not asked for and count as unreadable."
        )
    if made is None:
        simulator = view.roles["simulator"]
        version = context.instrument.card.version
        before = page.kept_passport(simulator)
        is_current = before is not None and before.version == version
        made = before if before and is_current else examine([], simulator, version)
    findings = against_study(study, asked, rows)
    if findings is None:
        raise UsageError(f"study {study} has no turn with a person's own report.")
    rules = simple_judges.table(asked)
    return Examined(with_people(made, findings), tuple(runs), tuple(notes), (rules,))


def against_study(
    study: str, asked: list[PersonProbe], rows: list[tuple[PersonProbe, PersonAnswer]]
) -> AgainstPeople | None:
    """What was found against a study; what was not answered stays in, as unreadable."""
    answered = {item.id: answer for item, answer in rows}
    missing = PersonAnswer(unreadable=1)
    every = [(probe, answered.get(probe.id, missing)) for probe in asked]
    unreadable = sum(answer.unreadable for _, answer in every) / max(1, len(every))
    turns, ends = against_people.turns_of(every)
    return against_people.examine_people(study, asked[0].report, turns, ends, unreadable)


def _write(context: CommandContext, out: Path, findings: Passport) -> tuple[str, ...]:
    body = page.as_json(findings)
    kept = page.kept_at(findings.simulator)
    kept.parent.mkdir(parents=True, exist_ok=True)
    files = ((out, page.page(findings)), (out.with_suffix(".json"), body), (kept, body))
    return tuple(context.write(path, text) for path, text in files)


def study_talks(context: CommandContext, study: str) -> list[TalkOf]:
    """The talks of the people of a study who count; an error if their words may not be sent."""
    members = context.people_of_study(study)
    if not members:
        raise UsageError(f"nobody has taken a study '{study}'; '{hint('study list')}' lists the studies.")
    simulator = context.roles.get("simulator", "")
    reader = provider_of(simulator)
    readers = next(iter(members.values())).readers
    if reader and reader not in readers:
        agreed = ", ".join(readers) or "nobody but models on this machine"
        raise UsageError(
            f"the people of study {study} were not told that {reader} reads their words"
            f" ({simulator}); they agreed to: {agreed}."
        )
    runs = [context.run(run) for run, member in members.items() if not member.excluded]
    views = []
    for run in runs:
        task = next((task for task in TASKS.values() if task in run.tasks), "")
        if not task:
            made = hint("sage import --people FILE")
            raise UsageError(
                f"study {study} has no imported talks of people with a model; give one that '{made}' made."
            )
        views.append(run.view(task))
    return people.talks_of({run.id: members[run.id].id for run in runs}, views)
