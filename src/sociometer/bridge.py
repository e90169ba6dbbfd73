"""`bridge`: how much a new form of an instrument changes the numbers of the same subjects, on stored replies.

Replies of stored runs and of recordings are read again by the installed reader, so that only items and wording differ.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, structs

from sociometer.core.card import MeasureCard
from sociometer.core.config import RunConfig
from sociometer.core.errors import UsageError
from sociometer.core.measure import CLUSTER_BOOTSTRAP, Interval
from sociometer.core.settings import Settings
from sociometer.core.task import Episode, Instrument, RunView
from sociometer.engine.episode import play_episode
from sociometer.engine.forms import Form
from sociometer.engine.plan import Plan, make_plan
from sociometer.engine.roles import SUBJECT
from sociometer.models.recorded import ModelRecording, Recorded, RecordedItem, RecordedModel
from sociometer.recordings import alike_items, recorded_items
from sociometer.results.candidates import candidate_of
from sociometer.statistics.intervals import (
    MINIMUM_CLUSTERS,
    bootstrap_means,
    cluster_codes,
    cluster_sums,
    expanded_percentiles,
    too_few,
)
from sociometer.statistics.item_values import ItemValue, item_values
from sociometer.store.stored_run import StoredRun

Items = Mapping[str, ItemValue]


class Side(Struct, frozen=True):
    """One subject in one form: its episodes by task, and how many items could not be read again."""

    subject: str
    views: dict[str, RunView[Any, Any]]
    lost: int = 0
    stored: bool = False
    """Whether the stored scores are used, because other models took part."""

    @property
    def scored(self) -> int:
        """The number of episodes with a score."""
        return sum(episode.score is not None for view in self.views.values() for episode in view.episodes())


class BridgedMeasure(Struct, frozen=True):
    """The change of one measure, as a mean over the subjects; on the shared items, both forms have the same items."""

    task: str
    measure: str
    title: str
    unit: str
    first: float
    second: float
    difference: float
    interval: Interval
    subjects: int
    items: tuple[int, int]
    shared: int
    shared_difference: float | None = None
    shared_interval: Interval | None = None


class Bridge(Struct, frozen=True):
    """What changed between two forms of an instrument."""

    first: str
    second: str
    subjects: tuple[str, ...]
    measures: tuple[BridgedMeasure, ...]
    notes: tuple[str, ...] = ()


def side_of_run(run: StoredRun, form: Form) -> Side:
    """A stored run, read again in its form; with its stored scores if other models took part in it."""
    if set(run.manifest.roles) != {SUBJECT}:
        return Side(run.subject, {task: run.view(task) for task in run.tasks}, stored=True)
    about = RecordedModel(model=run.subject, sha256=run.revision or run.id, recorded="")
    return side_of_recording(ModelRecording(run.id, about, recorded_items([run])), run.definition, form, run.subject)


def side_of_recording(recording: ModelRecording, instrument: Instrument, form: Form, subject: str = "") -> Side:
    """The recorded replies of a model, read again in a form."""
    name = subject or recording.about.model
    views = asyncio.run(_played(recording, instrument, form, name))
    lost = sum(episode.score is None for view in views.values() for episode in view.episodes())
    return Side(name, views, lost)


async def _played(
    recording: ModelRecording, instrument: Instrument, form: Form, subject: str
) -> dict[str, RunView[Any, Any]]:
    """Every recorded item that the form has, played with the recorded replies, by task."""
    found: dict[str, list[Episode[Any, Any]]] = {}
    settings: dict[str, Settings] = {}
    for alike in alike_items(recording.of(instrument.card.name)):
        if alike[0].task not in form.tasks:
            continue
        plan = _plan(recording, alike, instrument, form)
        (task,) = plan.tasks
        items, settings[task.name] = {item.id: item for item in plan.all_items(task)}, plan.settings
        for one in alike:
            if one.item in items:
                played = await play_episode(plan, task, items[one.item])
                found.setdefault(task.name, []).append(played.episode)
    return {
        task: RunView(episodes.__iter__, settings[task], subject=subject, roles={SUBJECT: subject})
        for task, episodes in found.items()
    }


def _plan(recording: ModelRecording, alike: Sequence[RecordedItem], instrument: Instrument, form: Form) -> Plan:
    first = alike[0]
    config = RunConfig(
        instrument=first.instrument, subject=f"recorded/{recording.name}", tasks=(first.task,), seed=first.seed,
        settings=dict(first.settings), form=form.name,
    )  # fmt: skip
    player = Recorded(structs.replace(recording, items=tuple(alike)))
    return make_plan(config, instrument, players={config.subject: player}, form=form)


def bridged(instrument: Instrument, names: tuple[str, str], sides: tuple[Sequence[Side], Sequence[Side]]) -> Bridge:
    """The change of every measure that is a mean over items, for the subjects that have both forms."""
    by_subject = [{side.subject: side for side in sorted(one, key=lambda side: side.scored)} for one in sides]
    subjects = [name for name in by_subject[0] if name in by_subject[1]]
    if not subjects:
        have = [", ".join(known) or "none" for known in by_subject]
        raise UsageError(
            f"no subject has replies in both forms: {names[0]} has {have[0]}; {names[1]} has {have[1]}. Play both with"
            f" the same model: sociometer run {instrument.card.name} --form {names[0]} --model MODEL"
        )
    pairs = [(by_subject[0][name], by_subject[1][name]) for name in subjects]
    measures = [
        found
        for card in instrument.card.measure
        if card.value and (found := _measure(instrument, card, pairs)) is not None
    ]
    return Bridge(*names, tuple(subjects), tuple(measures), tuple(_notes(names, by_subject, pairs)))


def _measure(instrument: Instrument, card: MeasureCard, pairs: Sequence[tuple[Side, Side]]) -> BridgedMeasure | None:
    """The change of one measure; None if no subject has it in both forms."""
    tables = [
        (first, second)
        for pair in pairs
        for first, second in [[_items(instrument, card, side) for side in pair]]
        if first and second
    ]
    if not tables:
        return None
    values, difference, interval = _change(tables)
    same = [_shared(first, second) for first, second in tables]
    kept = [pair for pair in same if pair[0]]
    paired = _change(kept) if kept else None
    return BridgedMeasure(
        card.task, card.name, card.title, card.unit, *values, difference, interval, len(tables),
        (len(_union(one for one, _ in tables)), len(_union(two for _, two in tables))),
        len(_union(one for one, _ in same)),
        paired[1] if paired else None, paired[2] if paired else None,
    )  # fmt: skip


def _items(instrument: Instrument, card: MeasureCard, side: Side) -> Items:
    if card.task not in side.views:
        return {}
    candidate = candidate_of(side.subject, instrument, card.task, side.views[card.task])
    return {} if candidate.failed else item_values(candidate.view, card.value)


def _shared(first: Items, second: Items) -> tuple[Items, Items]:
    """The items of both forms with the same content."""
    names = [name for name in first if name in second and first[name].content == second[name].content]
    return {name: first[name] for name in names}, {name: second[name] for name in names}


def _union(tables: Iterable[Items]) -> set[str]:
    return {name for table in tables for name in table}


def _change(tables: Sequence[tuple[Items, Items]]) -> tuple[tuple[float, float], float, Interval]:
    """Both means, the mean difference over the subjects, and its interval.

    Clusters of items are drawn with replacement, the same for all subjects and both forms: an item that both forms
    have stays paired, and so do the two forms of a subject.
    """
    clusters: dict[str, str] = {}
    for pair in tables:
        for table in pair:
            clusters |= {name: one.cluster for name, one in table.items()}
    columns = [
        [table[name].value if name in table else np.nan for name in clusters] for pair in tables for table in pair
    ]
    scores = np.array(columns, dtype=np.float64).T
    means = np.nanmean(scores, axis=0).reshape(-1, 2).mean(axis=0)
    codes, count = cluster_codes(list(clusters.values()), len(clusters))
    interval = too_few(count)
    if count >= MINIMUM_CLUSTERS:
        drawn = bootstrap_means(*cluster_sums(scores, codes, count))
        low, high = expanded_percentiles((drawn[:, 1::2] - drawn[:, 0::2]).mean(axis=1), count)
        interval = Interval(low, high, 0.95, CLUSTER_BOOTSTRAP, count)
    return (float(means[0]), float(means[1])), float(means[1] - means[0]), interval


def _notes(
    names: tuple[str, str], by_subject: Sequence[Mapping[str, Side]], pairs: Sequence[tuple[Side, Side]]
) -> Iterator[str]:
    for place, other in ((0, 1), (1, 0)):
        alone = [name for name in by_subject[place] if name not in by_subject[other]]
        if alone:
            yield f"Only in {names[place]}, so left out: {', '.join(alone)}."
    for place, name in enumerate(names):
        lost = [f"{pair[place].subject} {pair[place].lost}" for pair in pairs if pair[place].lost]
        if lost:
            yield f"Items of {name} without a stored reply to their present wording: {', '.join(lost)}."
    stored = sorted({side.subject for pair in pairs for side in pair if side.stored})
    if stored:
        yield f"With stored scores, not read again, because other models took part: {', '.join(stored)}."
