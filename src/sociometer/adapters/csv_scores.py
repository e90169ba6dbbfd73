"""Scores of any test, read from a table with the columns item, subject, score and cluster.

Each subject becomes a run of scored items in the store, which every comparison takes.
"""

import hashlib
import math
import platform
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard, Paper, RoleCard, TaskCard
from sociometer.core.checksums import checksum
from sociometer.core.config import RunConfig
from sociometer.core.conversation import SUBJECT, Identity
from sociometer.core.errors import DataError, FailureKind, UsageError
from sociometer.core.sheets import stream_rows
from sociometer.core.task import Episode, Failure, Score
from sociometer.core.version import __version__
from sociometer.engine.engine import Engine
from sociometer.instruments import cards
from sociometer.instruments._scored_items import TASK, GivenScores, ScoredItem
from sociometer.store.records import Manifest, RoleRecord, RunStatus
from sociometer.store.stored_run import StoredRun

REQUIRED, OPTIONAL = ("item", "subject", "score"), ("cluster",)
MEASURE = "score"
MOST_ROWS = 2_000_000
"""The most rows of a table, those of items that only other subjects have included: all of them are in memory."""
MOST_QUEUED = 2000
"""How many episodes may wait to be written, so that a large table is never twice in memory."""


class _Row(Struct, frozen=True):
    """One play of one item; without a score it failed for the reason."""

    item: str
    cluster: str
    repeat: int = 0
    score: float | None = None
    failure: str = ""

    def episode(self) -> Episode[ScoredItem, GivenScores]:
        """The row as the store keeps it."""
        item = ScoredItem(id=self.item, cluster=self.cluster)
        if self.score is None:
            return Episode(item, self.repeat, None, None, Failure(FailureKind.NOT_SCORED, self.failure))
        values = {MEASURE: self.score}
        return Episode(item, self.repeat, GivenScores(values), Score(values=values), None)


def import_csv(
    engine: Engine,
    path: Path,
    *,
    benchmark: str = "",
    lower_is_better: bool = False,
    scale: str = "",
    origin: str = "a CSV file",
    about: str = "results imported from another tool",
    title: str = "",
) -> list[StoredRun]:
    """One run for each subject of a table; several rows of a subject for one item count as repeats.

    A row with an empty score is a failure, and so is an item that only other subjects of the table have. `origin` says
    where the scores come from, `title` what they are. Every row is checked before anything is stored.
    """
    rows = _rows_by_subject(path)
    scores = [row.score for own in rows.values() for row in own if row.score is not None]
    if not scores:
        raise UsageError(f"{path.name} has no scores.")
    measure = _measure(min(scores), max(scores), read_scale(scale), lower=lower_is_better, title=title)
    test = _card(benchmark or path.stem, origin, about, measure)
    runs: list[StoredRun] = []
    for subject, own in rows.items():
        manifest = _manifest(test, subject, path)
        _refuse_other_scale(engine, manifest)
        runs.append(_keep(engine, manifest, own))
    return runs


def _rows_by_subject(path: Path) -> dict[str, list[_Row]]:
    """The checked rows of each subject; an item that only others have is a failed row."""
    clusters: dict[str, str] = {}
    rows: dict[str, list[_Row]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for line, subject, row in _rows(path):
        if line > MOST_ROWS + 1:
            raise DataError(f"the table has more than {MOST_ROWS:,} rows; divide it into several files", path, line)
        if clusters.setdefault(row.item, row.cluster) != row.cluster:
            raise DataError(
                f"item '{row.item}' is in cluster '{row.cluster}' here and in '{clusters[row.item]}' above", path, line
            )
        rows.setdefault(subject, []).append(structs.replace(row, repeat=seen[subject, row.item]))
        seen[subject, row.item] += 1
    if not rows:
        raise DataError("the file has no rows", path)
    all_rows = max(len(clusters), 1) * len(rows)
    if all_rows > MOST_ROWS:
        raise DataError(
            f"the table has {len(clusters):,} items and {len(rows):,} subjects; with a row for each item of each"
            f" subject these are more than {MOST_ROWS:,} rows. Divide it into several files.",
            path,
        )
    absent = f"{path.name} has this item for other subjects only"
    for subject, own in rows.items():
        own += [_Row(item, of, failure=absent) for item, of in clusters.items() if not seen[subject, item]]
    return rows


def _rows(path: Path) -> Iterator[tuple[int, str, _Row]]:
    for line, cells in stream_rows(path, REQUIRED, OPTIONAL):
        item, subject, written = (cells[column].strip() for column in REQUIRED)
        for column, cell in (("item", item), ("subject", subject)):
            if not cell:
                raise DataError(f"the {column} is empty", path, line)
        cluster = cells.get("cluster", "").strip()
        if not written:
            yield line, subject, _Row(item, cluster, failure=f"the score is empty ({path.name}:{line})")
            continue
        try:
            score = float(written)
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise DataError(f"score '{written}' is not a number; leave it empty for a failed item", path, line)
        yield line, subject, _Row(item, cluster, score=score)


def read_scale(text: str) -> tuple[float, float] | None:
    """The scale in LOW:HIGH, or None for an empty text."""
    if not text:
        return None
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low, high = 1.0, 0.0
    if not -math.inf < low < high < math.inf:
        raise UsageError(f"--scale needs LOW:HIGH, such as 1:5, not '{text}'.")
    return low, high


def _measure(
    lowest: float, highest: float, scale: tuple[float, float] | None, *, lower: bool, title: str
) -> MeasureCard:
    """The measure of a table with scores from `lowest` to `highest`."""
    if scale and not (scale[0] <= lowest and highest <= scale[1]):
        raise UsageError(f"the score '{MEASURE}' has values from {lowest:g} to {highest:g}, outside of --scale.")
    low, high = scale or ((0.0, 1.0) if lowest >= 0 and highest <= 1 else (None, None))
    return MeasureCard(
        task=TASK,
        name=MEASURE,
        title=title or MEASURE,
        unit="share" if (low, high) == (0.0, 1.0) else "number",
        low=low,
        high=high,
        better="lower" if lower else "higher",
        primary=True,
        value=MEASURE,
    )


def _card(title: str, origin: str, about: str, measure: MeasureCard) -> Card:
    return Card(
        name=_test_name(title),
        title=title,
        version="0",
        about=about,
        how=f"Imported from {origin}; the scores are those of the file.",
        paper=Paper(title, origin, 0),
        task=(TaskCard(TASK, "Items"),),
        role=(RoleCard(SUBJECT, "the model that is measured"),),
        measure=(measure,),
    )


def _test_name(title: str) -> str:
    """The name in ids and commands: small letters, digits, '-' and '_'; never that of an instrument here."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", title.lower()).strip("-") or "benchmark"
    return f"imported-{plain}" if plain in cards() else plain


def _manifest(card: Card, subject: str, file: Path) -> Manifest:
    config = RunConfig(instrument=card.name, subject=subject, tasks=(TASK,))
    return Manifest(
        config=config,
        instrument_version=card.version,
        roles={SUBJECT: RoleRecord(subject, Identity("imported", subject), subject)},
        repeats={TASK: 1},
        prompts_digest="",
        data_files={file.name: _file_digest(file)},
        norms={},
        sociometer_version=__version__,
        python_version=platform.python_version(),
        platform=f"{sys.platform} {platform.machine()}",
        imported=True,
        card=card,
    )


def _file_digest(path: Path) -> str:
    try:
        return checksum(path)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path) from None


def _refuse_other_scale(engine: Engine, manifest: Manifest) -> None:
    """Runs of one test have their scores on one scale."""
    mine = _scales(manifest)
    for record in engine.store.runs.all():
        if record.instrument != manifest.config.instrument or not record.manifest.imported:
            continue
        other = _scales(record.manifest)
        for name, scale in mine.items():
            if other.get(name, scale) != scale:
                raise UsageError(
                    f"the score '{name}' of {manifest.config.instrument} has another scale or direction than in run"
                    f" {record.id}; give all files of this benchmark the same --scale LOW:HIGH and --lower-is-better."
                )


def _scales(manifest: Manifest) -> dict[str, tuple[str, float | None, float | None, str]]:
    measures = manifest.card.measure if manifest.card else ()
    return {measure.name: (measure.unit, measure.low, measure.high, measure.better) for measure in measures}


def _keep(engine: Engine, manifest: Manifest, rows: Sequence[_Row]) -> StoredRun:
    """Store the rows; a file that was imported before gives its run, and an interrupted import leaves none."""
    store = engine.store
    config_hash = hashlib.sha256(msgspec.json.encode(manifest, order="deterministic")).hexdigest()[:32]
    earlier = store.runs.with_config(config_hash)
    if earlier is not None and earlier.status is RunStatus.FINISHED:
        return engine.stored(earlier.id)
    if earlier is not None:
        with store.hold(earlier.id):
            store.runs.delete(earlier.id)
    engine.naming.claim_benchmark(manifest.config.instrument)
    named = engine.naming.imported(manifest.config.subject)
    manifest = structs.replace(manifest, subject=named.name, key=named.key)
    run = store.runs.create(manifest, config_hash).id
    positions: dict[str, int] = {}
    with store.hold(run):
        try:
            for row in rows:
                episode = row.episode()
                if row.item not in positions:
                    positions[row.item] = len(positions)
                    store.runs.add_item(run, TASK, positions[row.item], episode.item)
                store.episodes.add(run, TASK, episode, ())
                if store.writer.backlog > MOST_QUEUED:
                    store.flush()
            store.flush()
            engine.stored(run).keep_summary(TASK)
            store.runs.set_status(run, RunStatus.FINISHED)
            store.flush()
        except BaseException:
            store.runs.delete(run)
            raise
    return engine.stored(run)
