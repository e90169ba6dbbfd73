"""`sociometer import lm-eval samples_*.jsonl`: the items that lm-evaluation-harness logs with `--log_samples`.

Samples of our own tasks become a run of the instrument: the stored replies are read and scored here.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from sociometer.adapters.one_turn import plan_of, play_reply
from sociometer.adapters.scored_log import (
    LARGEST_SAMPLE,
    Benchmark,
    ImportOptions,
    LoggedItem,
    Measured,
    Played,
    Ranges,
    keep_own,
    keep_scores,
    numbers,
    widen,
)
from sociometer.core.conversation import Event, Exchange, Reply, user
from sociometer.core.errors import DataError
from sociometer.core.task import Episode, Failure
from sociometer.engine.engine import Engine
from sociometer.engine.plan import Plan
from sociometer.store.stored_run import StoredRun

TOOL = "lm-evaluation-harness"
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
        f"a log of {TOOL}",
        Measured.chosen(ranges, chosen, lower),
        str(results.versions.get(task, "")),
        ({} if shots is None else {"shots": int(shots)}) | ({"cluster": cluster} if cluster else {}),
    )
    return keep_scores(engine, benchmark, subject, _items(path, scores, cluster), file=path, name=chosen.name)


def _our_document(path: Path) -> _OurDocument | None:
    """What the first sample says, if it is of one of our tasks."""
    for sample, _ in _lines(path):
        with suppress(msgspec.ValidationError):
            return msgspec.convert(sample.doc, _OurDocument)
        return None
    return None


def _import_own(engine: Engine, path: Path, first: _OurDocument, subject: str, name: str) -> StoredRun:
    # The folder of official data that the file names is not read: the file may come from somebody else.
    plan = plan_of(first.instrument, first.task, first.settings.encode(), first.official, "", first.seed)
    manifest = plan.manifest()
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
            yield Episode(item, 0, None, None, Failure("lm-eval error", "the sample has no reply")), ()
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
    try:
        return named["task"], msgspec.json.decode(beside.read_bytes(), type=_Results)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(f"not the results of {TOOL}: {error}", beside) from None


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
                    raise DataError(f"not a sample of {TOOL}: {error}", path, number) from None
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
            Exchange("subject", TOOL, (user(prompt if isinstance(prompt, str) else _text(prompt)),), Reply(said))
        )
    return tuple(events)


def _text(value: Any) -> str:
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
