"""Runs of any benchmark, read from other tools' logs, kept in the store as scored items."""

import hashlib
import math
import platform
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard, Paper, RoleCard, TaskCard
from sociometer.core.config import RunConfig
from sociometer.core.conversation import SUBJECT, Event, Identity
from sociometer.core.errors import DataError, UsageError, unknown
from sociometer.core.task import Episode, Failure, Score
from sociometer.core.version import __version__
from sociometer.engine.engine import Engine
from sociometer.instruments import card_of, cards
from sociometer.instruments._scored_items import TASK, GivenScores, ScoredItem
from sociometer.store.records import Manifest, RoleRecord, RunStatus
from sociometer.store.stored_run import StoredRun

LARGEST_SAMPLE = 1 << 28
"""The most bytes of one sample: a file from somebody else must not fill the memory."""
MOST_QUEUED = 2000
"""How many episodes may wait to be written, so that a large log is never completely in memory."""


Played = tuple[Episode[Any, Any], Sequence[Event]]
"""An episode with its transcript."""


class ImportOptions(Struct, frozen=True):
    """What a user chose for the log of another tool."""

    subject: str = ""
    cluster: str = ""
    """The field of an item's record with the name of its cluster."""
    lower: tuple[str, ...] = ()
    """The scores that are better when lower."""
    primary: str = ""
    name: str = ""
    scale: str = ""


class LoggedItem(Struct, frozen=True):
    """One play of one item as another tool logged it; with `failure` it has no scores."""

    id: str
    values: dict[str, float]
    cluster: str = ""
    text: str = ""
    answer: str = ""
    repeat: int = 0
    events: tuple[Event, ...] = ()
    failure: Failure | None = None


Ranges = dict[str, tuple[float, float]]
"""The smallest and the largest value of each score, as far as a log was read."""


class Measured(Struct, frozen=True):
    """What a log says about its scores: their ranges by name, in order, and which are better when lower."""

    ranges: Ranges
    lower: frozenset[str] = frozenset()
    primary: str = ""
    scale: tuple[float, float] | None = None
    """The lowest and the highest possible value, as the user gives them; from 0 to 1 they are shares."""

    @classmethod
    def chosen(cls, ranges: Ranges, options: ImportOptions, lower: Sequence[str] = ()) -> "Measured":
        """The scores as the user described them; `lower` are those that the log itself calls better when lower."""
        return cls(ranges, frozenset((*options.lower, *lower)), options.primary, read_scale(options.scale))

    def cards(self) -> tuple[MeasureCard, ...]:
        """The scores as measures; one is the primary one."""
        if not self.ranges:
            raise UsageError("the log has no numeric scores.")
        for name in (*self.lower, *([self.primary] if self.primary else [])):
            if name not in self.ranges:
                raise unknown("score", name, self.ranges)
        primary = self.primary or next(iter(self.ranges))
        return tuple(self._card(name, found, name == primary) for name, found in self.ranges.items())

    def _card(self, name: str, found: tuple[float, float], primary: bool) -> MeasureCard:
        low, high = self.scale or ((0.0, 1.0) if found[0] >= 0 and found[1] <= 1 else (None, None))
        if self.scale and not (self.scale[0] <= found[0] and found[1] <= self.scale[1]):
            raise UsageError(f"the score '{name}' has values from {found[0]:g} to {found[1]:g}, outside of --scale.")
        return MeasureCard(
            task=TASK,
            name=name,
            title=name,
            unit="share" if (low, high) == (0.0, 1.0) else "number",
            low=low,
            high=high,
            better="lower" if name in self.lower else "higher",
            primary=primary,
            value=name,
        )


class Benchmark(Struct, frozen=True):
    """A benchmark as a file describes it: its name and version there, the kind of file, and its scores."""

    title: str
    origin: str
    measured: Measured
    version: str = ""
    settings: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """The name in ids and commands: small letters, digits, '-' and '_'; never that of an instrument here."""
        plain = re.sub(r"[^a-z0-9_-]+", "-", self.title.lower()).strip("-") or "benchmark"
        return f"imported-{plain}" if plain in cards() else plain

    def card(self) -> Card:
        return Card(
            name=self.name,
            title=self.title,
            version=self.version or "0",
            about="a benchmark that another tool ran",
            how=f"Imported from {self.origin}; the scores are those of the file.",
            paper=Paper(self.title, self.origin, 0),
            task=(TaskCard(TASK, "Items"),),
            role=(RoleCard(SUBJECT, "the model that is measured"),),
            measure=self.measured.cards(),
        )


def keep_scores(
    engine: Engine, benchmark: Benchmark, subject: str, items: Iterable[LoggedItem], *, file: Path, name: str = ""
) -> StoredRun:
    """Stores the items of one subject as a run; for a file that was imported before, returns the existing run."""
    manifest = _manifest(benchmark, subject, file, name)
    _refuse_other_scale(engine, manifest)
    return _keep(engine, manifest, TASK, map(_played, items))


def keep_own(
    engine: Engine, file: Path, manifest: Manifest, others: Mapping[str, RoleRecord], episodes: Iterable[Played]
) -> StoredRun:
    """Stores episodes of one of our instruments that another tool asked for, as a run of the instrument."""
    config, version = manifest.config, card_of(manifest.config.instrument).version
    if manifest.instrument_version != version:
        raise UsageError(
            f"{file}: made with {config.instrument} version {manifest.instrument_version}, this is {version}; evaluate"
            " it again with this version."
        )
    subject = RoleRecord(config.subject, Identity("imported", config.subject), config.subject)
    manifest = structs.replace(
        manifest,
        config=structs.replace(config, label=config.subject),
        roles={SUBJECT: subject, **others},
        imported=True,
        data_files={**manifest.data_files, file.name: file_digest(file)},
    )
    return _keep(engine, manifest, config.tasks[0], episodes)


def _keep(engine: Engine, manifest: Manifest, task: str, episodes: Iterable[Played]) -> StoredRun:
    """Stores episodes one by one; nothing is read for a file imported before, and an interrupted import leaves none."""
    store, name = engine.store, manifest.config.name
    config_hash = hashlib.sha256(msgspec.json.encode(manifest, order="deterministic")).hexdigest()[:32]
    earlier = store.runs.with_config(config_hash)
    if earlier is not None and earlier.status is RunStatus.FINISHED:
        return engine.stored(earlier.id)
    if earlier is not None:
        store.runs.delete(earlier.id)
    if (other := store.runs.named(name)) is not None:
        raise UsageError(f"the name '{name}' is taken by run {other.id}; choose another --name.")
    run = store.runs.create(manifest, config_hash).id
    positions: dict[str, int] = {}
    with store.hold(run):
        try:
            for episode, events in episodes:
                item = episode.item
                if item.id not in positions:
                    positions[item.id] = len(positions)
                    store.runs.add_item(run, task, positions[item.id], item)
                store.episodes.add(run, task, episode, events)
                if store.backlog > MOST_QUEUED:
                    store.flush()
            store.flush()
            engine.stored(run).keep_summary(task)
            store.runs.set_status(run, RunStatus.FINISHED)
            store.flush()
        except BaseException:
            store.runs.delete(run)
            raise
    return engine.stored(run)


def _played(logged: LoggedItem) -> Played:
    item = ScoredItem(id=logged.id, cluster=logged.cluster, text=logged.text)
    if logged.failure is not None:
        return Episode(item, logged.repeat, None, None, logged.failure), logged.events
    outcome, score = GivenScores(logged.values, logged.answer), Score(values=logged.values)
    return Episode(item, logged.repeat, outcome, score, None), logged.events


def _refuse_other_scale(engine: Engine, manifest: Manifest) -> None:
    """Runs of one benchmark have their scores on one scale."""
    for record in engine.store.runs.all():
        if record.instrument != manifest.config.instrument or not record.manifest.imported:
            continue
        mine, other = (
            {one.name: (one.unit, one.low, one.high, one.better) for one in card.measure} if card else {}
            for card in (manifest.card, record.manifest.card)
        )
        if different := [name for name in mine if name in other and mine[name] != other[name]]:
            raise UsageError(
                f"the score '{different[0]}' of {manifest.config.instrument} is on another scale than in run"
                f" {record.id}; give --scale LOW:HIGH, the same for all files of this benchmark."
            )


def read_scale(text: str) -> tuple[float, float] | None:
    """The scale in LOW:HIGH, or None for an empty text."""
    if not text:
        return None
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low, high = 1.0, 0.0
    if not low < high:
        raise UsageError(f"--scale needs LOW:HIGH, such as 1:5, not '{text}'.")
    return low, high


def _manifest(benchmark: Benchmark, subject: str, file: Path, name: str) -> Manifest:
    config = RunConfig(
        instrument=benchmark.name, subject=subject, tasks=(TASK,), settings=benchmark.settings, label=subject, name=name
    )
    return Manifest(
        config=config,
        instrument_version=benchmark.version or "0",
        roles={SUBJECT: RoleRecord(subject, Identity("imported", subject), subject)},
        repeats={TASK: 1},
        prompts_digest="",
        data_files={file.name: file_digest(file)},
        norms={},
        sociometer_version=__version__,
        python_version=platform.python_version(),
        platform=f"{sys.platform} {platform.machine()}",
        imported=True,
        card=benchmark.card(),
    )


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, read piece by piece."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path) from None


def numbers(values: Mapping[str, object]) -> dict[str, float]:
    """The finite numbers among some values; True and False are 1 and 0."""
    found = {name: float(value) for name, value in values.items() if isinstance(value, bool | int | float)}
    return {name: value for name, value in found.items() if math.isfinite(value)}


def widen(ranges: Ranges, values: Mapping[str, float]) -> None:
    """Widens the range of each score by one item's values."""
    for name, value in values.items():
        low, high = ranges.get(name, (value, value))
        ranges[name] = min(low, value), max(high, value)
