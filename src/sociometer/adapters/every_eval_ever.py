"""`export --as eee`: a run as a record of Every Eval Ever (schema 0.3.0), with a row for each item of our own.

The record is one JSON file and, for bundled items, JSON lines next to it, in the folders of their datastore.
"""

import hashlib
import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import numpy as np
from msgspec import Struct, structs

from sociometer.core.card import MeasureCard
from sociometer.core.conversation import (
    SUBJECT,
    Allocation,
    AnswerFormat,
    Choice,
    Exchange,
    Free,
    Message,
    Request,
    Sampling,
    assistant,
    spoken,
)
from sociometer.core.errors import UsageError
from sociometer.core.measure import Measure
from sociometer.core.sheets import whole_files
from sociometer.core.task import Episode, Score
from sociometer.engine.replay import PlayedAgain
from sociometer.models.presets import PRESETS
from sociometer.statistics.intervals import cluster_codes, mean_variance
from sociometer.statistics.item_values import item_values
from sociometer.store.bundle import plan_digest, public_manifest
from sociometer.store.records import RoleRecord, RunStatus
from sociometer.store.stored_run import StoredRun

SCHEMA = "0.3.0"
RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
_OPEN = ("hf", "local")
"""The kinds of models whose weights are on this machine."""
_COUNTS = ("clusters", "unreadable", "errors", "note")
_BOUNDS = {"min_score": "-Infinity", "max_score": "Infinity"}


class Publisher(Struct, frozen=True):
    """What only the user knows: who publishes, how they relate to the model, and the model's public id."""

    organization: str
    relationship: str
    model_id: str = ""


def export_record(run: StoredRun, folder: Path, publisher: Publisher) -> list[Path]:
    """Write the record into `folder` and return the files."""
    _refuse(run, publisher)
    model = publisher.model_id or _model_id(run.manifest.roles[SUBJECT])
    developer, _, name = model.partition("/")
    made = str(run.record.finished or run.record.created)
    key = f"sociometer_{run.instrument}/{model}/{made}"
    stem = str(UUID(bytes=hashlib.sha256(f"{run.id}/{key}".encode()).digest()[:16], version=4))
    place = Path("data", f"sociometer_{run.instrument}", developer, name.replace("/", "_"))
    again = PlayedAgain(run)
    record, files, lines = _record(run, publisher, model, key, again), [folder / place / f"{stem}.json"], list[bytes]()
    if run.manifest.whose_items == "bundled":
        path = place / f"{stem}_samples.jsonl"
        lines = [msgspec.json.encode(row) + b"\n" for row in _instances(run, model, key, again)]
        record["detailed_evaluation_results"] = {
            "format": "jsonl", "file_path": path.as_posix(), "hash_algorithm": "sha256", "total_rows": len(lines),
            "checksum": hashlib.sha256(b"".join(lines)).hexdigest(),
        }  # fmt: skip
        files.append(folder / path)
    bodies = (msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n", b"".join(lines))
    with whole_files(*files, within=folder) as partial:
        for one, body in zip(partial, bodies, strict=False):
            one.write_bytes(body)
    return files


def _refuse(run: StoredRun, publisher: Publisher) -> None:
    if run.status is not RunStatus.FINISHED or run.manifest.card is not None:
        raise UsageError(f"run {run.reference} is {run.state}; only finished runs of an instrument can be written.")
    if not publisher.organization or publisher.relationship not in RELATIONSHIPS:
        raise UsageError("--as eee needs --organization NAME and --relationship " + "|".join(RELATIONSHIPS) + ".")
    used = [f"{name}: {role.label}" for name, role in run.manifest.roles.items() if role.identity.stand_in]
    if used:
        raise UsageError(f"run {run.reference} was played with a stand-in, not a model ({', '.join(used)}).")
    if publisher.model_id.count("/") < 1 and publisher.model_id:
        raise UsageError(f"--model-id takes OWNER/NAME, not '{publisher.model_id}'.")


def _model_id(role: RoleRecord) -> str:
    """The id of a model as their datastore spells it; a server that users run themselves does not tell it."""
    family, _, name = role.label.partition("/")
    preset = PRESETS.get(family)
    if family == "hf" and name.count("/") == 1:
        return name.partition("#")[0]
    if preset is None or preset.own:
        raise UsageError(f"the public name of {role.label} is unknown; give --model-id OWNER/NAME.")
    return name if "/" in name else f"{family}/{name}"


def _model_info(role: RoleRecord, model: str = "", **details: str) -> dict[str, Any]:
    family = role.label.partition("/")[0]
    preset = PRESETS.get(family)
    own = family in _OPEN or (preset is not None and preset.own)
    facts = {
        "deployment_type": "self_deployed" if own else "externally_managed" if preset else "unknown",
        "model_availability": "open_weights" if family in _OPEN else "unknown",
        "revision": role.identity.revision,
        **details,
    }
    info = {"name": role.label, "id": model or role.label, "additional_details": _kept(facts)}
    return info | ({"inference_platform": preset.title} if preset else {})


def _kept(facts: dict[str, Any]) -> dict[str, str]:
    """The facts that are known, as texts."""
    return {name: str(value) for name, value in facts.items() if value not in (None, "", (), {})}


def _record(run: StoredRun, publisher: Publisher, model: str, key: str, again: PlayedAgain) -> dict[str, Any]:
    record, manifest, card = run.record, run.manifest, run.definition.card
    ended = datetime.fromtimestamp(record.finished or record.created, UTC)
    served: dict[str, set[str]] = {"served_as": set(), "server_version": set()}
    results = [row for task in run.tasks for row in _results(run, task, served, again)]
    reported = {name: ", ".join(sorted(found)) for name, found in served.items()}
    facts = {
        "run": run.id, "plan_sha256": plan_digest(public_manifest(manifest, card)), "items": manifest.whose_items,
        "instrument": run.instrument, "instrument_version": run.version, "seed": manifest.config.seed,
        **{f"setting {name}": value for name, value in run.settings.items()},
        **{f"role {name}": label for name, label in manifest.other_roles.items()},
    }  # fmt: skip
    return {
        "schema_version": SCHEMA,
        "evaluation_id": key,
        "evaluation_timestamp": ended.isoformat(timespec="seconds"),
        "retrieved_timestamp": key.rpartition("/")[2],
        "source_metadata": {
            "source_name": card.title,
            "source_type": "evaluation_run",
            "source_organization_name": publisher.organization,
            "evaluator_relationship": publisher.relationship,
        },
        "eval_library": {
            "name": "sociometer", "version": manifest.sociometer_version, "additional_details": _kept(facts),
        },
        "model_info": _model_info(manifest.roles[SUBJECT], model, **reported),
        "evaluation_results": results,
    }  # fmt: skip


def _results(run: StoredRun, task: str, served: dict[str, set[str]], again: PlayedAgain) -> Iterator[dict[str, Any]]:
    """One result for each measure that has a direction and a value."""
    cards = {card.name: card for card in run.definition.card.measures_of(task)}
    shared = {
        "source_data": _source(run, task), "generation_config": _generation(run, task, served),
    }  # fmt: skip
    scoring = _scoring(run, task, again)
    for measure in run.summary(task).measures:
        card = cards.get(measure.name)
        if card is None or card.better == "neither" or measure.value is None:
            continue
        yield {
            "evaluation_result_id": "/".join([task, measure.name, *map("=".join, measure.group.items())]),
            "evaluation_name": f"{run.instrument}/{task}",
            **shared,
            "metric_config": _metric(run, card, measure) | scoring,
            "score_details": {
                "score": measure.value,
                "uncertainty": _uncertainty(run, task, card, measure),
                "details": _kept({name: getattr(measure, name) or "" for name in _COUNTS}),
            },
        }


def _metric(run: StoredRun, card: MeasureCard, measure: Measure) -> dict[str, Any]:
    bounds = {name: value for name, value in zip(_BOUNDS, (card.low, card.high), strict=True) if value is not None}
    return {
        "metric_id": f"sociometer.{run.instrument}.{card.name}",
        "metric_name": card.title,
        "metric_unit": {"share": "proportion"}.get(card.unit, card.unit),
        "metric_parameters": dict(measure.group),
        "lower_is_better": card.better == "lower",
        "score_type": "continuous",
        **_BOUNDS,
        **bounds,
    }


def _scoring(run: StoredRun, task: str, again: PlayedAgain) -> dict[str, Any]:
    """The models whose replies decide the score, with the prompts that they got in the first episode with a score."""
    scores = {role.name for role in run.definition.card.role if role.scores and task in (*role.tasks, *role.optional)}
    judges = [_model_info(role) for name, role in run.manifest.roles.items() if name in scores]
    if not judges:
        return {}
    played = next((one for one in run.view(task).episodes() if one.score is not None), None)
    asked = again.play(task, played).asked if played else []
    found = again.prompts([one for one in asked if one.role in scores])
    digest = f"sociometer {run.manifest.sociometer_version}, {run.instrument} version {run.version}, prompts with the"
    digest += f" digest {run.manifest.prompts_digest}"
    prompt = "\n\n---\n\n".join([*found, digest])
    return {"llm_scoring": {"judges": [{"model_info": judge} for judge in judges], "input_prompt": prompt}}


def _uncertainty(run: StoredRun, task: str, card: MeasureCard, measure: Measure) -> dict[str, Any]:
    found: dict[str, Any] = {"num_samples": measure.items}
    interval = measure.interval
    if interval is not None and not interval.too_few:
        if (error := _standard_error(run, task, card, measure)) is not None:
            found["standard_error"] = {"value": error, "method": "analytic (cluster-robust)"}
        found["confidence_interval"] = {
            "lower": interval.low, "upper": interval.high, "confidence_level": interval.level,
            "method": interval.method or "see sociometer's reference of numbers",
        }  # fmt: skip
    return found


def _standard_error(run: StoredRun, task: str, card: MeasureCard, measure: Measure) -> float | None:
    """The cluster-robust standard error of a mean over items; None for another number, and if all values are equal."""
    if not card.value or measure.group or measure.value is None:
        return None
    items = [*item_values(run.task(task).headline(run.view(task)), card.value).values()]
    values = np.array([one.value for one in items])
    if not items or not math.isclose(values.mean(), measure.value, rel_tol=1e-9, abs_tol=1e-12):
        return None
    return math.sqrt(mean_variance(values, *cluster_codes([one.cluster for one in items], len(items)))) or None


def _source(run: StoredRun, task: str) -> dict[str, Any]:
    name, files = f"sociometer/{run.instrument}/{task}", run.definition.card.files_of(task)
    details = _kept({"items": run.manifest.whose_items, "items_digest": run.manifest.items_digests.get(task)})
    if run.official and files:
        addresses = list(dict.fromkeys(f"https://github.com/{file.repository}" for file in files))
        return {"dataset_name": name, "source_type": "url", "url": addresses, "additional_details": details}
    return {"dataset_name": name, "source_type": "other", "additional_details": details}


def _subject_exchanges(run: StoredRun, task: str, episode: Episode[Any, Any]) -> list[Exchange]:
    events = run.transcript(episode.item.id, task, episode.repeat)
    return [event for event in events if isinstance(event, Exchange) and event.role == SUBJECT]


def _generation(run: StoredRun, task: str, served: dict[str, set[str]]) -> dict[str, Any]:
    """The sampling parameters that were sent to the subject; one that varied is given with all its values."""
    sent: dict[str, set[Any]] = {name: set() for name in structs.asdict(Sampling())}
    for episode in run.episodes(task):
        for one in _subject_exchanges(run, task, episode):
            served["served_as"].update(filter(None, [one.reply.served_model]))
            served["server_version"].update(filter(None, [one.reply.served_version]))
            for name, value in structs.asdict(one.reply.sampling or Sampling()).items():
                sent[name].add(value)
    single = {name: next(iter(values)) for name, values in sent.items() if len(values) == 1}
    args = {name: single[name] for name in ("temperature", "top_p", "max_tokens") if single.get(name) is not None}
    others = {
        name: ", ".join(sorted(map(str, values - {None, (), False})))
        for name, values in sent.items()
        if name not in args
    }
    return {"generation_args": args, "additional_details": _kept(others)}


def _instances(run: StoredRun, model: str, key: str, again: PlayedAgain) -> Iterator[dict[str, Any]]:
    """A row for each scored episode and each measure that is a mean over items; a failed item has none."""
    for task in run.tasks:
        measured = {one.name for one in run.summary(task).measures if one.value is not None and not one.group}
        cards = [
            card
            for card in run.definition.card.measures_of(task)
            if card.value and card.better != "neither" and card.name in measured
        ]
        for episode in run.view(task).episodes():
            if (score := episode.score) is None:
                continue
            asked = _subject_exchanges(run, task, episode)
            sample = _sample(episode, asked, again.play(task, episode).asked) if asked and cards else {}
            for card in cards if asked else ():
                if card.value in score.values:
                    yield {
                        "schema_version": SCHEMA, "evaluation_id": key, "model_id": model,
                        "evaluation_name": f"{run.instrument}/{task}", "evaluation_result_id": f"{task}/{card.name}",
                        **sample, **_scored(card, episode, score, asked),
                    }  # fmt: skip


def _sample(episode: Episode[Any, Any], asked: list[Exchange], requests: list[Request]) -> dict[str, Any]:
    said = _conversation(asked)
    wanted = next((one.answer_format for one in requests if one.role == SUBJECT), Free())
    if isinstance(wanted, Free) and len(asked) > 1:
        wanted = Free()  # a conversation has no right answer
    raw = "\n\n".join(message.content for message in asked[0].messages if message.role != "assistant")
    found: dict[str, Any] = {
        "sample_id": episode.item.id,
        "sample_hash": hashlib.sha256(raw.encode("utf-8", "replace")).hexdigest(),
        "interaction_type": "single_turn" if len(asked) == 1 else "multi_turn",
        "input": {"raw": raw, **_reference(wanted)},
        "answer_attribution": [],
        "output": None,
        "messages": None,
    }
    if len(asked) == 1:
        reply = asked[0].reply
        thought = {"reasoning_trace": [reply.reasoning]} if reply.reasoning else {}
        return found | {"output": {"raw": [reply.shown], **thought}}
    roles = {"calls": "assistant", "result": "tool"}
    turns = [
        {"turn_idx": turn, "role": roles.get(one.role, one.role), "content": one.shown} for turn, one in enumerate(said)
    ]
    return found | {"messages": turns}


def _reference(wanted: AnswerFormat) -> dict[str, Any]:
    """The right answer of an item's first question and its options, where it has them."""
    key = wanted.key
    if isinstance(wanted, Choice):
        return {"reference": [] if key is None else [wanted.options[wanted.key or 0]], "choices": [*wanted.options]}
    options = {"choices": [*wanted.options]} if isinstance(wanted, Allocation) else {}
    text = key if isinstance(key, str) else msgspec.json.encode(key).decode()
    return {"reference": [] if key is None else [text], **options}


def _conversation(asked: Iterable[Exchange]) -> list[Message]:
    """All messages in order; those that a request repeats from the ones before it appear once."""
    said: list[Message] = []
    for one in asked:
        again = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(said, one.messages, strict=False)))
        reply = spoken(one.reply, one.messages) if one.reply.calls else assistant(one.reply.shown)
        said += [*one.messages[again if again == len(said) else 0 :], reply]
    return said


def _scored(card: MeasureCard, episode: Episode[Any, Any], score: Score, asked: list[Exchange]) -> dict[str, Any]:
    value = score.values[card.value]
    best = card.low if card.better == "lower" else card.high
    usage = [one.reply.usage for one in asked]
    read, written = [one.input_tokens for one in usage], [one.output_tokens for one in usage]
    seconds = [one.reply.seconds for one in asked]
    found: dict[str, Any] = {
        "evaluation": {"score": value, "is_correct": value == best, "num_turns": len(asked)},
        "metadata": _kept({"repeat": episode.repeat, "cluster": episode.item.cluster, **score.facets}),
    }
    if None not in read and None not in written:
        tokens = sum(filter(None, read)), sum(filter(None, written))
        found["token_usage"] = {"input_tokens": tokens[0], "output_tokens": tokens[1], "total_tokens": sum(tokens)}
    if None not in seconds:
        found["performance"] = {"latency_ms": round(1000 * sum(filter(None, seconds)), 1)}
    return found
