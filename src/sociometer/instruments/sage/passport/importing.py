"""`sage import --people`: talks of people with models become a study of this machine."""

import re
from pathlib import Path

from sociometer.core.command import CommandContext
from sociometer.core.conversation import Event, Exchange, Noted, Reply, assistant, user
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import FinishedEpisode, Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.core.words import grouped
from sociometer.instruments.sage.passport import talks
from sociometer.instruments.sage.passport.talks import Matter


def import_people(context: CommandContext, path: Path, options: Settings) -> Result:
    """Imports talks of people with models as a study."""
    if options.texts("files"):
        raise UsageError("--people FILE names the models itself; leave out other files.")
    by_person: dict[str, dict[str, list[FinishedEpisode]]] = {}
    for found in talks.read_people(path):
        known = by_person.setdefault(found.person, {}).setdefault(found.model, [])
        item = Matter(id=found.person, cluster=found.person, language=found.talk.language)
        known.append(FinishedEpisode(item, found.talk, _events_of(found.talk, found.model), len(known)))
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", path.stem).strip("-")
    runs = context.keep_people(name, "talk", by_person, options.text("simulator"))
    by_model = grouped((run.subject, run) for run in runs)
    rows = tuple(
        (model, len(found), sum(len(list(run.view("talk").scored())) for run in found))
        for model, found in by_model.items()
    )
    table = Table("imported", f"Study {name}", ("model", "people", "talks"), rows)
    readers = next(iter(context.people_of_study(name).values())).readers
    note = (
        f"Simulators of these providers may read the talks: {', '.join(readers) or 'none but models on this machine'}."
        f" To add one that the people agreed to, repeat the command with --simulator MODEL. Examine a simulator with:"
        f" {hint('sage passport --people', name, '--role', 'simulator=MODEL')}"
    )
    return Result(tables=(table,), notes=(note,))


def _events_of(talk: talks.PersonTalk, model: str) -> tuple[Event, ...]:
    """The transcript of a person's talk with a model."""
    events: list[Event] = [Exchange(talks.ROLE, "human", (), Reply(talk.opening))]
    events.append(Noted("feeling", {"turn": 0, "felt": talk.start}))
    said = [user(talk.opening)]
    for number, turn in enumerate(talk.turns, 1):
        events.append(Exchange("subject", model, tuple(said), Reply(turn.reply)))
        if turn.felt is not None:
            events.append(Noted("feeling", {"turn": number, "felt": turn.felt}))
        if turn.other:
            events.append(Noted("second", {"turn": number, "other": turn.other, "preferred": turn.preferred}))
        said.append(assistant(turn.reply))
        if turn.words:
            events.append(Exchange(talks.ROLE, "human", tuple(said), Reply(turn.words)))
            said.append(user(turn.words))
    return tuple(events)
