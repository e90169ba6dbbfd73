"""The recorded items of a model that still match the current items."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import groupby

from msgspec import Struct, structs

from sociometer.core.config import RunConfig
from sociometer.core.conversation import SUBJECT, Exchange
from sociometer.core.errors import SociometerError
from sociometer.core.instrument import Instrument
from sociometer.engine.plan import Plan, make_plan
from sociometer.engine.runner import play_episode
from sociometer.models.recorded import ModelRecording, Recorded, RecordedItem


class Matching(Struct, frozen=True):
    """The recorded items that can still be played, and those that cannot, each with the reason."""

    items: tuple[RecordedItem, ...]
    changed: tuple[tuple[RecordedItem, str], ...]


def matching(recording: ModelRecording, load: Callable[[str], Instrument], instrument: str = "") -> Matching:
    """Plays the recorded items (of one instrument, if it is named) with their replies and returns which still match.

    An item no longer matches if it is gone, if any word of a request changed, or if it asks for more replies.
    """
    kept: list[RecordedItem] = []
    changed: list[tuple[RecordedItem, str]] = []
    chosen = recording.of(instrument) if instrument else recording.items
    # In groups that were played with the same task, seed and settings.
    for _, group in groupby(chosen, key=lambda one: (one.instrument, one.task, one.seed, sorted(one.settings.items()))):
        alike = tuple(group)
        try:
            plan = _plan(recording, load(alike[0].instrument), alike)
        except SociometerError as error:
            changed += [(one, str(error)) for one in alike]
            continue
        task = plan.tasks[0]
        today = {item.id: item for item in task.items(plan.source())}
        for one in alike:
            if one.item not in today:
                changed.append((one, "the item is gone"))
                continue
            played = asyncio.run(play_episode(plan, task, today[one.item]))
            failure = played.episode.failure
            asked = sum(isinstance(event, Exchange) and event.role == SUBJECT for event in played.events)
            if failure is not None:
                changed.append((one, failure.message))
            elif asked < len(one.replies):
                changed.append((one, f"it asks for {asked} replies; {len(one.replies)} were recorded"))
            else:
                kept.append(one)
    return Matching(tuple(kept), tuple(changed))


def _plan(recording: ModelRecording, instrument: Instrument, alike: Sequence[RecordedItem]) -> Plan:
    first = alike[0]
    config = RunConfig(
        instrument=first.instrument,
        subject=f"recorded/{recording.name}",
        tasks=(first.task,),
        seed=first.seed,
        settings=dict(first.settings),
    )
    player = Recorded(structs.replace(recording, items=tuple(alike)))
    return make_plan(config, instrument, players={config.subject: player})
