"""Runs of any benchmark, read from other tools' files (`sociometer import`), kept in the store as scored items.

CSV has the columns item, subject, score and cluster; lm-evaluation-harness logs its items with `--log_samples`.
Samples of our own tasks become a run of the instrument: the stored replies are read and scored here.
"""

import hashlib
import json
import math
import platform
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from sociometer.adapters.one_turn import plan_of, play_reply
from sociometer.core.card import Card, MeasureCard, Paper, RoleCard, TaskCard
from sociometer.core.checksums import checksum
from sociometer.core.config import RunConfig
from sociometer.core.conversation import SUBJECT, Event, Exchange, Identity, Reply, user
from sociometer.core.errors import DataError, FailureKind, UsageError, unknown
from sociometer.core.sheets import stream_rows
from sociometer.core.task import Episode, Failure, Score
from sociometer.core.version import __version__
from sociometer.engine.engine import Engine
from sociometer.engine.plan import Plan
from sociometer.instruments import card_of, cards
from sociometer.instruments._scored_items import TASK, GivenScores, ScoredItem
from sociometer.store.records import Manifest, RoleRecord, RunStatus
from sociometer.store.stored_run import StoredRun

LARGEST_SAMPLE = 1 << 28
"""The most bytes of one sample: a file from somebody else must not fill the memory."""
MOST_QUEUED = 2000
"""How many episodes may wait to be written, so that a large log is never completely in memory."""
_MOST_SCORES = 1000


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
    title: str = ""
    """What the primary score is called on pages; empty means its name."""

    @classmethod
    def chosen(cls, ranges: Ranges, options: ImportOptions, lower: Sequence[str] = ()) -> "Measured":
        """The scores as the user described them; `lower` are those that the log itself calls better when lower."""
        return cls(ranges, frozenset((*options.lower, *lower)), options.primary, read_scale(options.scale))

    def cards(self) -> tuple[MeasureCard, ...]:
        """The scores as measures; one is the primary one."""
        if not self.ranges:
            raise UsageError("the log has no numeric scores.")
        if len(self.ranges) > _MOST_SCORES:
            raise UsageError(f"the log has {len(self.ranges):,} different scores; at most {_MOST_SCORES:,} are read.")
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
            title=self.title if primary and self.title else name,
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
    about: str = "results imported from another tool"

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
            about=self.about,
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
    subject = RoleRecord(config.subject, Identity("logged", config.subject), config.subject)
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
        with store.hold(earlier.id):
            store.runs.delete(earlier.id)
    if name:
        engine.check_name(name)
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
                if store.writer.backlog > MOST_QUEUED:
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
                f"the score '{different[0]}' of {manifest.config.instrument} has another scale or direction than in run"
                f" {record.id}; give all files of this benchmark the same --scale LOW:HIGH and --lower-is-better."
            )


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
    """The SHA-256 of a file; a DataError if it cannot be read."""
    try:
        return checksum(path)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path) from None


def numbers(values: Mapping[str, object]) -> dict[str, float]:
    """The finite numbers among some values; True and False are 1 and 0."""
    given = {name: value for name, value in values.items() if isinstance(value, bool | int | float)}
    return {name: float(value) for name, value in given.items() if abs(value) <= sys.float_info.max}


def widen(ranges: Ranges, values: Mapping[str, float]) -> None:
    """Widens the range of each score by one item's values."""
    for name, value in values.items():
        low, high = ranges.get(name, (value, value))
        ranges[name] = min(low, value), max(high, value)


REQUIRED, OPTIONAL = ("item", "subject", "score"), ("cluster",)
MEASURE = "score"


def import_csv(
    engine: Engine,
    path: Path,
    *,
    benchmark: str = "",
    lower_is_better: bool = False,
    name: str = "",
    scale: str = "",
    origin: str = "a CSV file",
    about: str = "results imported from another tool",
    title: str = "",
) -> list[StoredRun]:
    """One run for each subject of a table; several rows of a subject for one item count as repeats.

    A row with an empty score is a failure, and so is an item that only other subjects of the table have. `origin` says
    where the scores come from, `title` what they are. Every row is checked before anything is stored.
    """
    found, clusters = Ranges(), dict[str, str]()
    rows: dict[str, list[LoggedItem]] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for line, subject, row in _rows(path):
        widen(found, row.values)
        if clusters.setdefault(row.id, row.cluster) != row.cluster:
            raise DataError(
                f"item '{row.id}' is in cluster '{row.cluster}' here and in '{clusters[row.id]}' above", path, line
            )
        rows.setdefault(subject, []).append(structs.replace(row, repeat=seen[subject, row.id]))
        seen[subject, row.id] += 1
    if not rows:
        raise DataError("the file has no rows", path)
    for subject, own in rows.items():
        absent = Failure(FailureKind.NOT_SCORED, f"{path.name} has this item for other subjects only")
        own += [LoggedItem(item, {}, of, failure=absent) for item, of in clusters.items() if not seen[subject, item]]
    lower = frozenset([MEASURE]) if lower_is_better else frozenset()
    scores = Measured(found, lower, scale=read_scale(scale), title=title)
    test = Benchmark(benchmark or path.stem, origin, scores, about=about)
    names = [f"{name}-{place}" if name and len(rows) > 1 else name for place in range(len(rows))]
    return [
        keep_scores(engine, test, subject, rows[subject], file=path, name=own)
        for subject, own in zip(rows, names, strict=True)
    ]


def _rows(path: Path) -> Iterator[tuple[int, str, LoggedItem]]:
    for line, cells in stream_rows(path, REQUIRED, OPTIONAL):
        item, subject, written = (cells[column].strip() for column in REQUIRED)
        for column, cell in (("item", item), ("subject", subject)):
            if not cell:
                raise DataError(f"the {column} is empty", path, line)
        cluster = cells.get("cluster", "").strip()
        if not written:
            empty = Failure(FailureKind.NOT_SCORED, f"the score is empty ({path.name}:{line})")
            yield line, subject, LoggedItem(item, {}, cluster, failure=empty)
            continue
        try:
            score = float(written)
        except ValueError:
            score = math.nan
        if not math.isfinite(score):
            raise DataError(f"score '{written}' is not a number; leave it empty for a failed item", path, line)
        yield line, subject, LoggedItem(item, {MEASURE: score}, cluster)


LM_EVAL = "lm-evaluation-harness"
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT.+)\.jsonl")
_UNFILTERED = "none"
_NOT_SCORES = {"doc_id"}
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class _Sample(Struct):
    """The fields of every line; the scores are next to them, under the names that `metrics` lists."""

    doc_id: int | str
    metrics: tuple[str, ...]
    doc: Any = None
    filter: str = _UNFILTERED
    arguments: Any = None
    resps: Any = None
    filtered_resps: Any = None


class _OurDocument(Struct):
    """What our own tasks write into each document: the item, and what the plan was made of."""

    instrument: str
    task: str
    settings: str
    version: str
    item: str
    official: bool
    seed: int


class _Results(Struct):
    """What `results_DATE.json` next to the samples says about the whole evaluation."""

    model_name: str = ""
    higher_is_better: dict[str, dict[str, bool | None]] = {}
    versions: dict[str, Any] = {}
    n_shot: dict[str, Any] = msgspec.field(default_factory=dict, name="n-shot")


def import_lm_eval(engine: Engine, path: Path, chosen: ImportOptions) -> StoredRun:
    """The run in a file of samples; clusters are in a field of the documents."""
    task, results = _described(path)
    subject = chosen.subject or results.model_name or path.absolute().parent.name
    if (ours := _our_document(path)) is not None:
        return _import_own(engine, path, ours, subject, chosen.name)
    scores, ranges = _scores(path)
    better, cluster = results.higher_is_better.get(task, {}), chosen.cluster
    lower = [measure for measure in ranges if better.get(measure.partition(",")[0]) is False]
    shots = results.n_shot.get(task)
    benchmark = Benchmark(
        task,
        f"a log of {LM_EVAL}",
        Measured.chosen(ranges, chosen, lower),
        str(results.versions.get(task, "")),
        ({"shots": int(shots)} if isinstance(shots, int | float) else {}) | ({"cluster": cluster} if cluster else {}),
    )
    return keep_scores(engine, benchmark, subject, _items(path, scores, cluster), file=path, name=chosen.name)


def _our_document(path: Path) -> _OurDocument | None:
    """What the first sample says, if it is of one of our tasks."""
    with suppress(StopIteration, msgspec.ValidationError):
        return msgspec.convert(next(_lines(path))[0].doc, _OurDocument)
    return None


def _import_own(engine: Engine, path: Path, first: _OurDocument, subject: str, name: str) -> StoredRun:
    # The folder of official data that the file names is not read: the file may come from somebody else.
    plan = plan_of(first.instrument, first.task, first.settings.encode(), first.official, "", first.seed)
    manifest = plan.described()
    manifest = structs.replace(
        manifest,
        config=structs.replace(manifest.config, subject=subject, name=name),
        instrument_version=first.version,
        repeats={first.task: max(1, *(len(_replies(sample)) for sample, _ in _lines(path)))},
    )
    return keep_own(engine, path, manifest, {}, _episodes(path, plan, first, subject))


def _episodes(path: Path, plan: Plan, first: _OurDocument, subject: str) -> Iterator[Played]:
    """Each reply as the engine plays it."""
    seen = set[str]()
    for sample, _ in _lines(path):
        try:
            document = msgspec.convert(sample.doc, _OurDocument)
            item = msgspec.json.decode(document.item, type=plan.tasks[0].item_type)
        except msgspec.DecodeError as error:
            raise DataError(
                f"sample {sample.doc_id} is not one of {first.instrument}/{first.task}: {error}", path
            ) from None
        if structs.replace(document, item=first.item) != first or item.id in seen:
            raise DataError(f"item '{item.id}' is there twice or from another evaluation; import one at a time", path)
        seen.add(item.id)
        replies = _replies(sample)
        if not replies:
            yield Episode(item, 0, None, None, Failure(FailureKind.LM_EVAL_ERROR, "the sample has no reply")), ()
        for repeat, reply in enumerate(replies):
            played = play_reply(plan, item, reply, subject, repeat)
            yield played.episode, played.events


def _replies(sample: _Sample) -> list[str]:
    """The replies to the only request of a sample."""
    asked = sample.resps[0] if isinstance(sample.resps, list) and sample.resps else []
    return [one for one in (asked if isinstance(asked, list) else [asked]) if isinstance(one, str)]


def _described(path: Path) -> tuple[str, _Results]:
    """The task's name, from the name of the file, and the results next to the file, if there are any."""
    named = _NAME.fullmatch(path.name)
    if named is None:
        return path.stem.removeprefix("samples_"), _Results()
    beside = path.with_name(f"results_{named['date']}.json")
    if not beside.is_file():
        return named["task"], _Results()
    if beside.stat().st_size > LARGEST_SAMPLE:
        raise DataError(f"the file has more than {LARGEST_SAMPLE >> 20} MB", beside)
    try:
        return named["task"], msgspec.json.decode(beside.read_bytes(), type=_Results)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(f"not the results of {LM_EVAL}: {error}", beside) from None


def _lines(path: Path) -> Iterator[tuple[_Sample, dict[str, float]]]:
    """Each line with its numeric scores; a score under a filter has the filter's name after its own."""
    try:
        with path.open("rb") as stream:
            lines = iter(lambda: stream.readline(LARGEST_SAMPLE + 1), b"")
            for number, line in enumerate(lines, 1):
                if len(line) > LARGEST_SAMPLE:
                    raise DataError(f"a sample has more than {LARGEST_SAMPLE >> 20} MB", path, number)
                if not line.strip():
                    continue
                try:
                    raw = _decoded(line)
                    sample = msgspec.convert(raw, _Sample)
                except (ValueError, RecursionError) as error:
                    raise DataError(f"not a sample of {LM_EVAL}: {error}", path, number) from None
                given = {one: raw.get(one) for one in sample.metrics if one not in _NOT_SCORES}
                suffix = "" if sample.filter == _UNFILTERED else f",{sample.filter}"
                yield sample, {f"{one}{suffix}": value for one, value in numbers(given).items()}
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path) from None


def _decoded(line: bytes) -> dict[str, Any]:
    """The values of a line; Python writes NaN into JSON, which only Python can read."""
    try:
        return _decode(line)
    except msgspec.DecodeError:
        found = json.loads(line)
        if not isinstance(found, dict):
            raise
        return found


def _scores(path: Path) -> tuple[dict[str, dict[str, float]], Ranges]:
    """All scores of each item: a file has a line for each item and filter."""
    scores: dict[str, dict[str, float]] = {}
    ranges: Ranges = {}
    for sample, values in _lines(path):
        known = scores.setdefault(str(sample.doc_id), {})
        if twice := known.keys() & values:
            said = f"item {sample.doc_id} has two scores '{min(twice)}'; a file must contain a single evaluation"
            raise DataError(said, path)
        known.update(values)
        widen(ranges, values)
    if not scores:
        raise DataError("the file has no samples", path)
    return scores, ranges


def _items(path: Path, scores: dict[str, dict[str, float]], cluster: str) -> Iterator[LoggedItem]:
    """Each item once, as its first line shows it, with the scores of all its lines."""
    left = dict(scores)
    for sample, _ in _lines(path):
        values = left.pop(str(sample.doc_id), None)
        if values is None:
            continue
        yield LoggedItem(
            str(sample.doc_id),
            values,
            _cluster(sample, cluster, path) if cluster else "",
            msgspec.json.encode(sample.doc).decode(),
            _text(sample.filtered_resps),
            events=_events(sample),
        )


def _cluster(sample: _Sample, field: str, path: Path) -> str:
    if not isinstance(sample.doc, dict) or sample.doc.get(field) in (None, ""):
        raise DataError(f"the document of item {sample.doc_id} has no field '{field}' to cluster by", path)
    return str(sample.doc[field])


def _events(sample: _Sample) -> tuple[Event, ...]:
    """The requests and the replies: a prompt and its completion, or a context with each continuation's likelihood."""
    asked = list(sample.arguments.values()) if isinstance(sample.arguments, dict) else []
    replies = sample.resps if isinstance(sample.resps, list) else []
    events: list[Event] = []
    for arguments, reply in zip(asked, replies, strict=False):
        given = arguments if isinstance(arguments, dict) else {}
        prompt, continuation = given.get("arg_0"), given.get("arg_1")
        said = _text(reply)
        if isinstance(continuation, str):
            said = f"{continuation.strip()} ({said})"
        events.append(
            Exchange("subject", LM_EVAL, (user(prompt if isinstance(prompt, str) else _text(prompt)),), Reply(said))
        )
    return tuple(events)


def _text(value: Any) -> str:
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
