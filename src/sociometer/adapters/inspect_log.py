"""`sociometer import inspect FILE.eval`: a log of any Inspect task as scored items, one of ours as a run of its own."""

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from inspect_ai.event import InfoEvent, ModelEvent
from inspect_ai.log import EvalLog, EvalSample, read_eval_log, read_eval_log_sample_summaries, read_eval_log_samples
from inspect_ai.scorer import Score as InspectScore
from msgspec import Struct, structs

from sociometer.adapters import scored_log
from sociometer.adapters.inspect_player import first_line, plain_messages
from sociometer.adapters.inspect_provider import PREFIX
from sociometer.adapters.inspect_tasks import OUTCOME, ROLES
from sociometer.core.archives import check_members
from sociometer.core.config import model_label
from sociometer.core.conversation import Event, Exchange, Identity, Noted, Reply, Usage
from sociometer.core.errors import DataError, FailureKind, SociometerError
from sociometer.core.task import Episode, Failure, Task
from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.store.records import Manifest, RoleRecord, RunStatus
from sociometer.store.stored_run import StoredRun, score_safely

TOOL = "Inspect"
OURS = "sociometer"
"""The key of a log's metadata under which our tasks keep what a run needs."""
WIRE = "inspect"
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""The words that Inspect reads as numbers."""


class _LoggedRole(Struct):
    """Who played a role."""

    label: str
    stand_in: bool


def import_inspect(engine: Engine, path: Path, chosen: scored_log.ImportOptions) -> StoredRun:
    """The run in a log; clusters are in a field of the samples' metadata. Samples are read one at a time."""
    header = _header(path)
    # One of our models has the name that our own runs give it.
    subject = chosen.subject or model_label(str(header.eval.model).removeprefix(PREFIX))
    if OURS in (header.eval.metadata or {}):
        return _import_own(engine, path, header, subject, chosen.name)
    arguments = (header.eval.task_args or {}).items()
    settings = {name: value for name, value in arguments if isinstance(value, str | int | float | bool)}
    benchmark = scored_log.Benchmark(
        header.eval.task.rpartition("/")[2],
        f"a log of {TOOL}" + ("" if header.status == "success" else f" that ended early (status '{header.status}')"),
        scored_log.Measured.chosen(_ranges(path), chosen),
        str(header.eval.task_version or ""),
        settings | ({"cluster": chosen.cluster} if chosen.cluster else {}),
    )
    return scored_log.keep_scores(engine, benchmark, subject, _items(path, chosen.cluster), file=path, name=chosen.name)


def _header(path: Path) -> EvalLog:
    if not path.is_file():
        raise DataError("there is no such file", path)
    if zipfile.is_zipfile(path):
        check_members(path, scored_log.LARGEST_SAMPLE)
    else:
        _check_json(path)
    with _reading(path):
        return read_eval_log(path, header_only=True)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Whatever reading a log raises becomes a DataError, because the log may come from somebody else."""
    try:
        yield
    except SociometerError:
        raise
    except Exception as error:
        raise DataError(f"not a log of {TOOL}: {first_line(error)}", path) from None


def _check_json(path: Path) -> None:
    """Raise a DataError if a log in JSON is too large or nested without end, on which Inspect would spend gigabytes."""
    if path.stat().st_size > scored_log.LARGEST_SAMPLE:
        raise DataError(f"the log has more than {scored_log.LARGEST_SAMPLE >> 20} MB; convert it to .eval", path)
    try:
        msgspec.json.decode(path.read_bytes(), type=msgspec.Raw)
    except RecursionError:
        raise DataError(f"not a log of {TOOL}: it is nested too deeply", path) from None
    except msgspec.DecodeError:
        pass  # Inspect says what is wrong with it; NaN, for example, is not wrong for Inspect.


def _import_own(engine: Engine, path: Path, header: EvalLog, subject: str, name: str) -> StoredRun:
    """A log of one of our instruments as a run of it: outcomes are scored here, and summaries are the instrument's."""
    manifest = _manifest(path, header)
    if next(_samples(path), None) is None:
        said = f"the log has no sample (status '{header.status}'): the evaluation was killed before it wrote one."
        raise DataError(f"{said} Run 'inspect log recover' first, or evaluate again", path)
    config = structs.replace(manifest.config, subject=subject, name=name)
    with _reading(path):
        task, roles = load(config.instrument).task(config.tasks[0]), _roles(path)
    manifest, episodes = structs.replace(manifest, config=config), _episodes(path, task, config.official)
    run = scored_log.keep_own(engine, path, manifest, roles, episodes)
    if header.status != "success":
        engine.store.runs.set_status(run.id, RunStatus.STOPPED)  # its result then says that items are missing
        engine.store.flush()
    return engine.stored(run.id)


def _manifest(path: Path, header: EvalLog) -> Manifest:
    try:
        return msgspec.convert((header.eval.metadata or {})[OURS], Manifest, strict=False)
    except msgspec.ValidationError as error:
        raise DataError(f"the log's metadata about the Sociometer run cannot be read: {error}", path) from None


def _roles(path: Path) -> dict[str, RoleRecord]:
    """Who played the other roles, as the first sample with an outcome says."""
    for sample in _samples(path):
        if ROLES in sample.store:
            found = msgspec.convert(sample.store[ROLES], dict[str, _LoggedRole])
            return {
                role: RoleRecord(who.label, Identity(WIRE, who.label, stand_in=who.stand_in), who.label)
                for role, who in found.items()
            }
    return {}


def _episodes(path: Path, task: Task[Any, Any], official: bool) -> Iterator[scored_log.Played]:
    for sample in _samples(path):
        try:
            item = msgspec.convert(sample.metadata["item"], task.item_type, strict=False)
            kept = sample.store.get(OUTCOME)
            outcome = None if kept is None else msgspec.convert(kept, task.outcome_type, strict=False)
        except (KeyError, msgspec.ValidationError) as error:
            raise DataError(f"sample {sample.id} is not one of {task.name}: {error}", path) from None
        repeat = sample.epoch - 1
        if outcome is None:
            said = sample.error.message if sample.error else "the sample was not finished"
            failure = Failure(FailureKind.INSPECT_ERROR, said)
            yield Episode(item, repeat, None, None, failure), tuple(events_of(sample))
            continue
        scored = score_safely(task, item, outcome, official=official)
        score, broken = (None, scored) if isinstance(scored, Failure) else (scored, None)
        yield Episode(item, repeat, outcome, score, broken), tuple(events_of(sample))


def _ranges(path: Path) -> scored_log.Ranges:
    ranges: scored_log.Ranges = {}
    with _reading(path):
        for summary in read_eval_log_sample_summaries(path):
            scored_log.widen(ranges, score_values(summary.scores or {}))
    if not ranges:
        raise DataError("no sample of the log has a score that is a number", path)
    return ranges


def _samples(path: Path) -> Iterator[EvalSample]:
    with _reading(path):
        yield from read_eval_log_samples(path, all_samples_required=False, resolve_attachments="core")


def _items(path: Path, cluster: str) -> Iterator[scored_log.LoggedItem]:
    for sample in _samples(path):
        values = score_values(sample.scores or {})
        failure = None
        if sample.error is not None:
            failure = Failure(FailureKind.INSPECT_ERROR, sample.error.message)
        elif not values:
            failure = Failure(FailureKind.NOT_SCORED, "the log has no score that is a number")
        yield scored_log.LoggedItem(
            str(sample.id),
            values,
            _cluster(sample, cluster, path) if cluster else str(sample.metadata.get("cluster") or ""),
            sample.input if isinstance(sample.input, str) else "\n\n".join(one.text for one in sample.input),
            sample.output.completion,
            sample.epoch - 1,
            tuple(events_of(sample)),
            failure,
        )


def _cluster(sample: EvalSample, field: str, path: Path) -> str:
    if sample.metadata.get(field) in (None, ""):
        raise DataError(f"the metadata of sample {sample.id} has no field '{field}' to cluster by", path)
    return str(sample.metadata[field])


def score_values(scores: Mapping[str, InspectScore]) -> dict[str, float]:
    """The numbers among a sample's scores; with several scorers or values, each has its own name."""
    found: dict[str, float] = {}
    for scorer, score in scores.items():
        value = score.value
        if isinstance(value, Mapping):
            prefix = f"{scorer}/" if len(scores) > 1 else ""
            found |= scored_log.numbers({f"{prefix}{key}": _number(one) for key, one in value.items()})
        else:
            found |= scored_log.numbers({scorer: _number(value)})
    return found


def _number(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value in _LETTERS:
        return _LETTERS[value]
    try:
        return float(value)
    except ValueError:
        return value


def events_of(sample: EvalSample) -> Iterator[Event]:
    """The requests and replies of each role and the instrument's notes; without them, the conversation as it ended."""
    heard = False
    for event in sample.events:
        if isinstance(event, ModelEvent):
            heard = True
            usage = event.output.usage
            counted = Usage(usage.input_tokens, usage.output_tokens) if usage else Usage()
            reply = Reply(event.output.completion, usage=counted, served_model=event.output.model)
            yield Exchange(event.role or "subject", event.model, plain_messages(event.input), reply)
        elif isinstance(event, InfoEvent) and event.source == "sociometer" and isinstance(event.data, dict):
            facts = dict(event.data)
            yield Noted(str(facts.pop("kind", "note")), facts)
    if not heard and sample.messages and sample.messages[-1].role == "assistant":
        *before, last = plain_messages(sample.messages)
        yield Exchange("subject", sample.output.model, tuple(before), Reply(last.content))
