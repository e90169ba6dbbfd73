"""Makes a recording of a model from stored runs, and finds the recorded items that still match the current items."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby

from msgspec import Struct, structs

import sociometer
from sociometer.core.config import RunConfig
from sociometer.core.conversation import Exchange
from sociometer.core.errors import SociometerError, UsageError
from sociometer.engine.episode import play_episode
from sociometer.engine.plan import Plan, make_plan
from sociometer.engine.roles import SUBJECT
from sociometer.instruments import load
from sociometer.models.recorded import ModelRecording, Recorded, RecordedItem, RecordedModel, RecordedReply, digest
from sociometer.store.stored_run import StoredRun


class Matching(Struct, frozen=True):
    """The recorded items that can still be played, and those that cannot, each with the reason."""

    items: tuple[RecordedItem, ...]
    changed: tuple[tuple[RecordedItem, str], ...]


def recorded_items(runs: Iterable[StoredRun]) -> tuple[RecordedItem, ...]:
    """Each item that a run has a score for, once, with the subject's replies in the order they were asked for."""
    found: dict[tuple[str, str, str], RecordedItem] = {}
    for run in runs:
        config = run.manifest.config
        for task in run.tasks:
            for episode in run.episodes(task):
                place = (run.instrument, task, episode.item.id)
                if episode.score is not None and episode.repeat == 0:
                    found[place] = RecordedItem(
                        instrument=run.instrument, task=task, item=episode.item.id, seed=config.seed,
                        settings=dict(config.settings), replies=_replies(run, task, episode.item.id),
                    )  # fmt: skip
    return tuple(found[place] for place in sorted(found))


def recorded_model(runs: Sequence[StoredRun], model: str, licence: str = "") -> RecordedModel:
    """The model of the runs; an error if there are several, or if its weights are unknown."""
    weights = {run.revision for run in runs}
    if len(weights) != 1 or not all(weights):
        raise UsageError(
            "a recording needs runs of one model whose weights have a known digest; these runs are of:"
            f" {', '.join(sorted({run.subject for run in runs}))}."
        )
    latest = max(run.record.finished or run.record.created for run in runs)
    day = datetime.fromtimestamp(latest, UTC).strftime("%Y-%m-%d")
    return RecordedModel(
        model=model, sha256=weights.pop(), recorded=day, licence=licence, sociometer=sociometer.__version__
    )


def matching(recording: ModelRecording, instrument: str = "") -> Matching:
    """Plays the recorded items (of one instrument, if it is named) with their replies and returns which still match.

    An item no longer matches if it is gone, if any word of a request changed, or if it asks for more replies.
    """
    chosen = recording.of(instrument) if instrument else recording.items
    return asyncio.run(_matching(recording, chosen))


async def _matching(recording: ModelRecording, chosen: Sequence[RecordedItem]) -> Matching:
    kept: list[RecordedItem] = []
    changed: list[tuple[RecordedItem, str]] = []
    for alike in alike_items(chosen):
        try:
            plan = _plan(recording, alike)
        except SociometerError as error:
            changed += [(one, str(error)) for one in alike]
            continue
        task = plan.tasks[0]
        today = {item.id: item for item in task.items(plan.source())}
        for one in alike:
            if one.item not in today:
                changed.append((one, "the item is gone"))
                continue
            played = await play_episode(plan, task, today[one.item])
            failure = played.episode.failure
            asked = sum(isinstance(event, Exchange) and event.role == SUBJECT for event in played.events)
            if failure is not None:
                changed.append((one, failure.message))
            elif asked < len(one.replies):
                changed.append((one, f"it asks for {asked} replies; {len(one.replies)} were recorded"))
            else:
                kept.append(one)
    return Matching(tuple(kept), tuple(changed))


def alike_items(chosen: Sequence[RecordedItem]) -> Iterator[tuple[RecordedItem, ...]]:
    """The recorded items in groups that were played with the same task, seed and settings."""
    for _, group in groupby(chosen, key=lambda one: (one.instrument, one.task, one.seed, sorted(one.settings.items()))):
        yield tuple(group)


def _plan(recording: ModelRecording, alike: Sequence[RecordedItem]) -> Plan:
    first = alike[0]
    config = RunConfig(
        instrument=first.instrument, subject=f"recorded/{recording.name}", tasks=(first.task,), seed=first.seed,
        settings=dict(first.settings),
    )  # fmt: skip
    player = Recorded(structs.replace(recording, items=tuple(alike)))
    return make_plan(config, load(first.instrument), players={config.subject: player})


def _replies(run: StoredRun, task: str, item: str) -> tuple[RecordedReply, ...]:
    asked = [one for one in run.transcript(item, task) if isinstance(one, Exchange) and one.role == SUBJECT]
    return tuple(
        RecordedReply(digest(one.messages), structs.replace(one.reply, logprobs=(), served_model="")) for one in asked
    )
