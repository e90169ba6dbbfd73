"""`sage import --people`: talks of people with models become a study of this machine."""

import re
from collections.abc import Sequence
from pathlib import Path

from sociometer.core.command import CommandContext, Run
from sociometer.core.conversation import Event, Exchange, Message, Noted, Reply, assistant, user
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import FinishedEpisode, Result
from sociometer.core.measure import Cell, Table
from sociometer.core.settings import Settings
from sociometer.core.words import first_of, grouped
from sociometer.instruments.sage.passport import talks
from sociometer.instruments.sage.passport.files import FoundTalks, read_people
from sociometer.instruments.sage.passport.talks import Matter


def import_people(context: CommandContext, path: Path, options: Settings) -> Result:
    """Imports talks of people with models as a study."""
    if options.texts("files"):
        raise UsageError("--people FILE names the models itself; leave out other files.")
    people = read_people(path)
    by_person: dict[str, dict[str, list[FinishedEpisode]]] = {}
    for found in people.talks:
        talks_so_far = by_person.setdefault(found.person, {}).setdefault(found.model, [])
        item = Matter(id=found.person, cluster=found.person, language=found.talk.language)
        events = _events_of(found.talk, found.model)
        talks_so_far.append(FinishedEpisode(item, found.talk, events, len(talks_so_far)))
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", path.stem).strip("-")
    report = people.talks[0].talk.report
    runs = context.keep_people(name, talks.TASKS[report], by_person, options.text("simulator"))
    table = _imported_table(name, runs, people)
    readers = next(iter(context.people_of_study(name).values())).readers
    allowed = ", ".join(readers) or "none but models on this machine"
    command = hint("sage passport --people", name, "--role", "simulator=MODEL")
    note = (
        f"Simulators of these providers may read the talks: {allowed}. To add one that the people"
        f" agreed to, repeat the command with --simulator MODEL. Examine a simulator with: {command}"
    )
    return Result(tables=(table,), notes=(*_left_out(people), note))


def _imported_table(name: str, runs: Sequence[Run], people: FoundTalks) -> Table:
    people_by_model = grouped((run.subject, run) for run in runs)
    talks_by_model = grouped((found.model, found.talk) for found in people.talks)
    rows: list[tuple[Cell, ...]] = []
    for model, runs_of_model in people_by_model.items():
        told = talks_by_model[model]
        reports = sum(len(talk.reports) for talk in told)
        rows.append((model, len(runs_of_model), len(told), reports))
    report = people.talks[0].talk.report
    columns = ("model", "people", "talks", f"reports of {report}")
    return Table("imported", f"Study {name}", columns, tuple(rows))


def _left_out(people: FoundTalks) -> list[str]:
    notes: list[str] = []
    if people.left_out:
        places = first_of(people.left_out, 5)
        notes.append(f"{len(people.left_out)} talks without any report were left out: {places}.")
    if people.unused_reports:
        notes.append(
            f"{people.unused_reports} reports were not used: they are for no reply, or for one that"
            " has a report already."
        )
    if any(not found.names_person for found in people.talks):
        notes.append("The file names no people, so each talk counts as a person of its own.")
    return notes


def _events_of(talk: talks.PersonTalk, model: str) -> tuple[Event, ...]:
    """The transcript of a person's talk with a model."""
    events: list[Event] = []
    said: list[Message] = []
    if talk.opening:
        events.append(Exchange(talks.ROLE, "human", (), Reply(talk.opening)))
        said.append(user(talk.opening))
    if talk.start is not None:
        events.append(_report(talk, 0, talk.start))
    for number, turn in enumerate(talk.turns, 1):
        events.append(Exchange("subject", model, tuple(said), Reply(turn.reply)))
        if turn.reported is not None:
            events.append(_report(talk, number, turn.reported))
        if turn.other:
            events.append(Noted("second", {"turn": number, "other": turn.other, "preferred": turn.preferred}))
        said.append(assistant(turn.reply))
        if turn.words:
            events.append(Exchange(talks.ROLE, "human", tuple(said), Reply(turn.words)))
            said.append(user(turn.words))
    return tuple(events)


def _report(talk: talks.PersonTalk, turn: int, report: int) -> Noted:
    if talk.report == "feeling":
        return Noted("feeling", {"turn": turn, "felt": report})
    return Noted("report", {"turn": turn, talk.report: report})
