"""Runs of any benchmark, read from other tools' logs, kept in the store as scored items."""

import hashlib
import math
import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.card import Card, MeasureCard, Paper, RoleCard, TaskCard
from sociometer.core.config import RunConfig
from sociometer.core.conversation import SUBJECT, Event, Identity
from sociometer.core.errors import DataError, UsageError, unknown
from sociometer.core.task import Episode, Failure, Score, Task
from sociometer.core.version import __version__
from sociometer.engine.engine import Engine
from sociometer.instruments import cards
from sociometer.instruments._scored_items import TASK, GivenScores, ScoredItem
from sociometer.store.records import Manifest, RoleRecord, RunRecord, RunStatus
from sociometer.store.stored_run import StoredRun

MOST_QUEUED = 2000
"""How many episodes may wait to be written, so that a large log is never completely in memory."""


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


class Range(Struct):
    """The smallest and the largest value of one score, as far as a log was read."""

    low: float = math.inf
    high: float = -math.inf

    def add(self, value: float) -> None:
        """Takes a value into account."""
        self.low, self.high = min(self.low, value), max(self.high, value)

    @property
    def is_share(self) -> bool:
        """Whether every value is between 0 and 1."""
        return self.low >= 0 and self.high <= 1


class Measured(Struct, frozen=True):
    """What a log says about its scores: their ranges by name, in order, and which are better when lower."""

    ranges: dict[str, Range]
    lower: frozenset[str] = frozenset()
    primary: str = ""
    scale: tuple[float, float] | None = None
    """The lowest and the highest possible value, as the user gives them; from 0 to 1 they are shares."""

    def cards(self) -> tuple[MeasureCard, ...]:
        """The scores as measures; one is the primary one."""
        if not self.ranges:
            raise UsageError("the log has no numeric scores.")
        for name in (*self.lower, *([self.primary] if self.primary else [])):
            if name not in self.ranges:
                raise unknown("score", name, self.ranges)
        primary = self.primary or next(iter(self.ranges))
        return tuple(self._card(name, found, name == primary) for name, found in self.ranges.items())

    def _card(self, name: str, found: Range, primary: bool) -> MeasureCard:
        low, high = self.scale or ((0.0, 1.0) if found.is_share else (None, None))
        if self.scale and not (self.scale[0] <= found.low and found.high <= self.scale[1]):
            raise UsageError(f"the score '{name}' has values from {found.low:g} to {found.high:g}, outside of --scale.")
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
        """The card that is stored with each run."""
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
    return ScoreImport(engine, benchmark, subject, file=file, name=name).keep(items)


def keep_run(
    engine: Engine,
    manifest: Manifest,
    task: Task[Any, Any],
    episodes: Iterable[tuple[Episode[Any, Any], tuple[Event, ...]]],
) -> StoredRun:
    """Stores episodes that were played elsewhere as a run; those of a file imported before are not read again."""
    kept = Import(engine, manifest, task.name)
    if kept.known:
        return engine.stored(kept.record.id)
    with kept.adding():
        for episode, events in episodes:
            kept.add(episode, events)
        return kept.finish()


class Import:
    """One run that is being imported: episodes are added one by one, and `finish` summarises them."""

    def __init__(self, engine: Engine, manifest: Manifest, task: str) -> None:
        self._engine, self._store, self._task = engine, engine.store, task
        config_hash = hashlib.sha256(msgspec.json.encode(manifest, order="deterministic")).hexdigest()[:32]
        earlier = self._store.runs.with_config(config_hash)
        self.known = earlier is not None and earlier.status is RunStatus.FINISHED
        """Whether the same file was imported before."""
        if earlier is not None and not self.known:
            self._store.runs.delete(earlier.id)
        name = manifest.config.name
        if not self.known and (other := self._store.runs.named(name)) is not None:
            raise UsageError(f"the name '{name}' is taken by run {other.id}; choose another --name.")
        self.record: RunRecord = (
            earlier if earlier is not None and self.known else self._store.runs.create(manifest, config_hash)
        )
        self._positions: dict[str, int] = {}

    @contextmanager
    def adding(self) -> Iterator[None]:
        """Holds the run's lock while episodes are added; an interrupted import leaves no run behind."""
        with self._store.hold(self.record.id):
            try:
                yield
            except BaseException:
                self._store.runs.delete(self.record.id)
                raise

    def add(self, episode: Episode[Any, Any], events: Sequence[Event] = ()) -> None:
        """Stores one play of one item."""
        item = episode.item.id
        if item not in self._positions:
            self._positions[item] = len(self._positions)
            self._store.runs.add_item(self.record.id, self._task, self._positions[item], episode.item)
        self._store.episodes.add(self.record.id, self._task, episode, events)
        if self._store.backlog > MOST_QUEUED:
            self._store.flush()

    def finish(self) -> StoredRun:
        """Summarises the run and marks it as complete."""
        self._store.flush()
        self._engine.stored(self.record.id).keep_summary(self._task)
        self._store.runs.set_status(self.record.id, RunStatus.FINISHED)
        self._store.flush()
        return self._engine.stored(self.record.id)


class ScoreImport:
    """The run of one subject on another tool's benchmark."""

    def __init__(self, engine: Engine, benchmark: Benchmark, subject: str, *, file: Path, name: str = "") -> None:
        self._engine = engine
        manifest = _manifest(benchmark, subject, file, name)
        _refuse_other_scale(engine, manifest)
        self.kept = Import(engine, manifest, TASK)

    def keep(self, items: Iterable[LoggedItem]) -> StoredRun:
        """Adds all items and finishes; reads nothing if the run exists already."""
        if self.kept.known:
            return self._engine.stored(self.kept.record.id)
        with self.kept.adding():
            for item in items:
                self.add(item)
            return self.kept.finish()

    def add(self, logged: LoggedItem) -> None:
        """Stores one play of one item."""
        item = ScoredItem(id=logged.id, cluster=logged.cluster, text=logged.text)
        failed = logged.failure is not None
        outcome = None if failed else GivenScores(logged.values, logged.answer)
        score = None if failed else Score(values=logged.values)
        self.kept.add(Episode(item, logged.repeat, outcome, score, logged.failure), logged.events)


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


def add_ranges(ranges: dict[str, Range], values: Mapping[str, float]) -> None:
    """Widens the range of each score by one item's values."""
    for name, value in values.items():
        ranges.setdefault(name, Range()).add(value)


def texts_of(parts: Sequence[str]) -> str:
    """The texts as paragraphs of one text."""
    return "\n\n".join(part for part in parts if part)
