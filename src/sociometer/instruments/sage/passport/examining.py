"""`sage passport`: asks a simulator about the turns of all witnesses, and writes what was found."""

from pathlib import Path

from sociometer.core.command import CommandContext
from sociometer.core.config import provider_of
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.settings import Settings
from sociometer.core.task import AnyRun
from sociometer.instruments.sage.passport import page, verdict
from sociometer.instruments.sage.passport.against_people import people_probes
from sociometer.instruments.sage.passport.probes import FIRST, answers, own_probes
from sociometer.instruments.sage.passport.released import released_probes


def passport(context: CommandContext, options: Settings) -> Result:
    """Examines a simulator, writes its passport, and keeps it for `run sage`."""
    folders = context.source().folders
    study = options.text("people")
    people, views = _people_of(context, study) if study else ({}, [])
    released = released_probes(folders, options.whole("turns"), context.seed) if options.whole("turns") else []
    probes = [*own_probes(), *released]
    first = [probe for probe in probes if probe.kind == "order" and probe.arm == FIRST]
    others = [probe for probe in probes if probe not in first]
    context.expect(3 if study else 2)
    played = [context.play("passport", items=first)]
    view = played[0].view("passport")
    rows = answers(view)
    mute = len(rows) == len(first) and not any(outcome.changes for _, outcome in rows)
    if not mute:
        # People's turns have a run of their own, which goes when one of them withdraws.
        for chosen in (others, people_probes(study, people, views)):
            if chosen:
                played.append(context.play("passport", items=chosen))
                rows += answers(played[-1].view("passport"))
    left_out = sum(probe.times for probe in others) if mute else 0
    simulator, version = view.roles["simulator"], context.instrument.card.version
    before = None if study else page.kept_passport(simulator)
    earlier = before.people if before and before.version == version else None
    found = verdict.examine(rows, simulator, version, left_out, earlier)
    out = Path(options.text("to"))
    body = page.as_json(found)
    kept = page.kept_at(found.simulator)
    kept.parent.mkdir(parents=True, exist_ok=True)
    wrote = [
        context.write(path, text)
        for path, text in ((out, page.page(found)), (out.with_suffix(".json"), body), (kept, body))
    ]
    notes = [f"run {run.reference}" for run in played]
    if not released:
        notes.append(
            f"Not compared with released judgements: '{hint('get data sage --dialogues')}' fetches them, and --turns"
            " says how many are asked."
        )
    shown = tuple(page.tables(found))
    return Result(tables=shown, finding=found.line, notes=tuple(notes), wrote=tuple(wrote))


def _people_of(context: CommandContext, study: str) -> tuple[dict[str, str], list[AnyRun]]:
    """The ids of the people of a study who count, by run, and their talks; an error if their words may not be sent."""
    known = context.people_of_study(study)
    if not known:
        raise UsageError(f"nobody has taken a study '{study}'; '{hint('study list')}' lists the studies.")
    simulator = context.roles.get("simulator", "")
    reader, named = provider_of(simulator), next(iter(known.values())).readers
    if reader and reader not in named:
        raise UsageError(
            f"the people of study {study} were not told that {reader} reads their words ({simulator}); they agreed to:"
            f" {', '.join(named) or 'nobody but models on this machine'}."
        )
    runs = [context.run(run) for run, one in known.items() if not one.excluded]
    if any("talk" not in run.tasks for run in runs):
        made = hint("sage import --people FILE")
        raise UsageError(f"study {study} has no imported talks of people with a model; give one that '{made}' made.")
    return {run.id: known[run.id].id for run in runs}, [run.view("talk") for run in runs]
