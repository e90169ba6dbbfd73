"""Stores episodes that were played elsewhere as a run like any other."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from sociometer.core.conversation import Identity
from sociometer.core.task import Episode, Instrument
from sociometer.core.transcript import Event, Noted
from sociometer.core.workbench import FinishedEpisode
from sociometer.engine.config import RunConfig
from sociometer.engine.plan import make_plan
from sociometer.engine.stored import Stored
from sociometer.store.episodes import HeardInFull
from sociometer.store.records import SeatRecord
from sociometer.store.store import Store


def import_run(
    store: Store,
    instrument: Instrument,
    folder: Path,
    task: str,
    who: Mapping[str, str],
    episodes: Iterable[FinishedEpisode],
    settings: Mapping[str, object],
) -> Stored:
    """The imported run, scored and summarised; `who` names the subject and the other roles."""
    config = RunConfig(instrument=instrument.card.name, subject=who["subject"], tasks=(task,), settings=dict(settings))
    plan = make_plan(config, instrument, folder, seats={})
    manifest = msgspec.structs.replace(
        plan.manifest(),
        seats={role: SeatRecord(name, Identity("imported", name)) for role, name in who.items()},
        imported=True,
    )
    record = store.runs.create(manifest, who["subject"], plan.config_hash(manifest))
    verbs = instrument.task(task)
    for position, finished in enumerate(episodes):
        store.runs.add_item(record.id, task, position, finished.item)
        score = verbs.score(finished.item, finished.outcome)
        episode: Episode[Any, Any] = Episode(finished.item, finished.repeat, finished.outcome, score, None)
        store.episodes.add(record.id, task, episode, [_in_full(event) for event in finished.events])
    store.runs.set_status(record.id, "finished")
    store.flush()
    stored = Stored(store, store.runs.get(record.id), instrument)
    stored.summarise(task)
    return stored


def _in_full(event: Event) -> HeardInFull | Noted:
    if isinstance(event, Noted):
        return event
    return (event.role, event.model, event.branch, b"", event.messages, event.reply)
