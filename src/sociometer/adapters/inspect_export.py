"""`sociometer export RUN --to FILE.eval`: a stored run as a log that Inspect's viewer and `inspect score` open."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from inspect_ai.event import Event as InspectEvent
from inspect_ai.event import InfoEvent, ModelEvent
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalPlan,
    EvalPlanStep,
    EvalSample,
    EvalSpec,
    EvalStats,
    recompute_metrics,
    write_eval_log,
)
from inspect_ai.model import GenerateConfig

from sociometer.adapters.inspect_player import chat_messages
from sociometer.adapters.inspect_provider import PREFIX, output_of
from sociometer.adapters.inspect_tasks import OUTCOME, ROLES, inspect_score, sample_of, score_names, task_facts
from sociometer.core.conversation import SUBJECT, Event, Exchange
from sociometer.core.errors import UsageError
from sociometer.core.sheets import whole_file
from sociometer.core.task import Episode
from sociometer.core.version import __version__
from sociometer.results.export import of_people
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun

_STATUS: dict[RunStatus, Any] = {RunStatus.FINISHED: "success", RunStatus.FAILED: "error"}
SCORER = "sociometer/outcome"


def export_log(run: StoredRun, to: Path, task: str = "") -> int:
    """Writes one task of a run as a log; returns the number of samples."""
    if run.manifest.card is not None:
        raise UsageError(
            f"run {run.reference} was imported from another tool's file; only runs of instruments can be exported."
        )
    if not task and len(run.tasks) > 1:
        raise UsageError(
            f"a log has one task, and run {run.reference} has {', '.join(run.tasks)}; choose one with --task."
        )
    stored = run.stored_episodes(run.task(task).name)
    log = _log(run, run.task(task).name)
    with whole_file(to, private=of_people(run)) as partial:
        write_eval_log(log, partial, format="eval")
    rows = len(log.samples or ())
    run.require_whole(rows, stored, run.task(task).name)
    return rows


def _log(run: StoredRun, task: str) -> EvalLog:
    samples = list(_samples(run, task))
    step = EvalPlanStep(solver="sociometer/play", params={"instrument": run.instrument, "task": task})
    times = EvalStats(started_at=_time(run.record.created), completed_at=_time(run.record.finished))
    log = EvalLog(
        status=_STATUS.get(run.status, "cancelled"),
        eval=_spec(run, task, [sample.id for sample in samples if sample.epoch == 1]),
        plan=EvalPlan(steps=[step]),
        stats=times,
        samples=samples,
    )
    if any(sample.scores for sample in samples):
        recompute_metrics(log)
    return log


def _time(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _spec(run: StoredRun, task: str, ids: list[Any]) -> EvalSpec:
    scorer = {
        "name": SCORER,
        "options": {"instrument": run.instrument, "task": task},
        "metrics": {"*": [{"name": name, "options": {}} for name in ("inspect_ai/mean", "sociometer/stderr")]},
    }
    settings = {name.replace("-", "_"): value for name, value in run.settings.items() if value not in (None, (), "")}
    return EvalSpec.model_validate(
        {
            "eval_id": run.id,
            "run_id": run.id,
            "created": _time(run.record.created),
            "task": f"sociometer/{run.instrument}",
            "task_id": f"{run.id}-{task}",
            "task_version": run.manifest.instrument_version,
            "task_display_name": f"{run.instrument}/{task}",
            "task_registry_name": f"sociometer/{run.instrument}",
            "task_args": msgspec.to_builtins({"task": task, "seed": run.manifest.config.seed, **settings}),
            "dataset": EvalDataset(name=f"{run.instrument}/{task}", samples=len(ids), sample_ids=ids),
            "model": f"{PREFIX}{run.subject}",
            "config": EvalConfig(epochs=run.manifest.repeats.get(task, 1)),
            "packages": {"sociometer": __version__},
            "metadata": {"sociometer": task_facts(run.manifest, task)},
            "scorers": [scorer],
        }
    )


def _samples(run: StoredRun, task: str) -> Iterator[EvalSample]:
    found = {value for episode in run.episodes(task) if episode.score for value in episode.score.values}
    names = score_names(run.definition.card, task, found)
    roles = {
        role: {"label": who.label, "stand_in": who.identity.stand_in}
        for role, who in run.manifest.roles.items()
        if role != SUBJECT
    }
    for episode in run.episodes(task):
        yield _sample(episode, run.transcript(episode.item.id, task, episode.repeat), names, roles)


def _sample(
    episode: Episode[Any, Any], events: Iterable[Event], names: tuple[str, ...], roles: dict[str, Any]
) -> EvalSample:
    shown = sample_of(episode.item)
    known = list(events)
    last = next((one for one in reversed(known) if isinstance(one, Exchange) and one.role == SUBJECT), None)
    score, failure = episode.score, episode.failure
    kept = {} if episode.outcome is None else {OUTCOME: msgspec.to_builtins(episode.outcome), ROLES: roles}
    optional: dict[str, Any] = {}
    if last is not None:
        output = output_of(last.reply, last.model)
        optional = {"messages": [*chat_messages(last.messages), output.message], "output": output}
    if failure is not None:
        message = f"{failure.kind}: {failure.message}"
        optional["error"] = EvalError(message=message, traceback=message, traceback_ansi=message)
    return EvalSample(
        id=shown.id or episode.item.id,
        epoch=episode.repeat + 1,
        input=shown.input,
        target="",
        metadata=shown.metadata or {},
        store=kept,
        scores=None if score is None else {SCORER: inspect_score(names, score.values, score.facets, score.unreadable)},
        events=[_event(event) for event in known],
        **optional,
    )


def _event(event: Event) -> InspectEvent:
    if not isinstance(event, Exchange):
        return InfoEvent(source="sociometer", data={"kind": event.kind, **msgspec.to_builtins(event.facts)})
    return ModelEvent(
        model=event.model,
        role=None if event.role == SUBJECT else event.role,
        input=chat_messages(event.messages),
        tools=[],
        tool_choice="none",
        config=GenerateConfig(),
        output=output_of(event.reply, event.model),
    )
