"""Every instrument as an Inspect task: `inspect eval sociometer/sesi --model openai/gpt-4o-mini -T orders=4`.

Inspect finds this module by the entry point `sociometer` in the group `inspect_ai`. Items, `play` and `score` are the
instrument's own; Inspect provides models, log and viewer. A sample's log keeps the item and the outcome, so that
`inspect score` computes the scores again without asking a model. Numbers of the whole run, such as SECEU's EQ, are
metrics: the instrument's `summarise` computes them from the outcomes of all samples, as after `sociometer run`.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from math import nan
from typing import Any, cast

import msgspec
from inspect_ai import Task as InspectTask
from inspect_ai import task as inspect_task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import HeadlineMetric, transcript
from inspect_ai.model import ChatMessageAssistant, Model, ModelOutput, get_model, model_roles
from inspect_ai.scorer import Metric, SampleScore, Scorer, Target, mean, metric, scorer, stderr
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.solver import Generate, Solver, TaskState, solver
from msgspec import structs

from sociometer.adapters.inspect_player import InspectPlayer, chat_messages
from sociometer.core.card import Card, RoleCard
from sociometer.core.conversation import SUBJECT, Event, Exchange, Identity
from sociometer.core.errors import DataError, FailureKind, MachineryError, SociometerError, UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.player import Player
from sociometer.core.reply_summary import summarised
from sociometer.core.session import RoleBinding, ToolMode
from sociometer.core.settings import Settings
from sociometer.core.task import AnyRun, Episode, Item, RunView, Task
from sociometer.engine.plan import Plan, make_plan
from sociometer.engine.run_options import make_config
from sociometer.engine.runner import play_episode
from sociometer.instruments import card_of, cards, load
from sociometer.statistics.intervals import MINIMUM_CLUSTERS

OUTCOME, ROLES = "sociometer:outcome", "sociometer:roles"
"""The content of a sample's store in the log: the outcome, and who played the other roles."""
CLUSTER = "cluster"
REPEAT = "repeat"


def _offer(name: str) -> Any:
    """Registers the task of one instrument."""

    def offered(
        task: str = "",
        official: bool = False,
        data: str = "",
        prompts: str = "",
        seed: int = 0,
        second_question: bool | None = None,
        tools: ToolMode = "",
        **settings: Any,
    ) -> InspectTask:
        chosen = {
            key.replace("_", "-"): tuple(map(str, value)) if isinstance(value, list) else value
            for key, value in settings.items()
        }
        options = {"official": official, "data": data, "prompts": prompts, "seed": seed}
        options |= {"tools": tools} if tools else {}
        options["second_question"] = False if official and second_question is None else second_question
        try:
            return _task(name, task, options, chosen)
        except (UsageError, DataError) as error:
            # Inspect shows the message of this one alone, without the way through its own code.
            raise PrerequisiteError(str(error)) from None

    offered.__name__ = offered.__qualname__ = name
    offered.__doc__ = f"{cards()[name].title}; -T task=NAME chooses the task, other -T options are its settings."
    return inspect_task(offered)


def _task(name: str, task: str, options: dict[str, Any], settings: dict[str, Any]) -> InspectTask:
    card = cards()[name]
    chosen = task or _only_task(card)
    plan = _plan(name, chosen, msgspec.json.encode((options, settings), order="deterministic"))
    primary = card.primary_of(chosen)
    samples = [sample_of(item, place) for place, item in enumerate(plan.item_lists()[chosen])]
    return InspectTask(
        dataset=MemoryDataset(samples, name=f"{name}/{chosen}"),
        solver=play(name, chosen, options, settings),
        scorer=logged_outcome(name, chosen),
        metrics=[summary(name, chosen, options, settings), *_METRICS],
        headline_metric=HeadlineMetric(metric=primary.name) if primary else None,
        version=card.version,
        epochs=plan.repeats(chosen),
        display_name=f"{name}/{chosen}",
    )


def _only_task(card: Card) -> str:
    tasks = card.default_tasks()
    if len(tasks) != 1:
        raise UsageError(f"{card.name} has several tasks: {', '.join(tasks)}; choose one with -T task=NAME.")
    return tasks[0]


@cache
def _plan(name: str, task: str, choices: bytes) -> Plan:
    options, settings = msgspec.json.decode(choices)
    if card_of(name).task_card(task).tools:
        options.setdefault("tools", "called")
    config = make_config(card_of(name), "inspect", tasks=(task,), settings=settings, **options)
    return make_plan(config, load(name), bindings={})


def sample_of(item: Item, place: int) -> Sample:
    """An item as a sample; its metadata has the item, its place, and the cluster that standard errors need."""
    metadata = {CLUSTER: item.cluster or item.id, "item": msgspec.to_builtins(item), "place": place}
    return Sample(input=shown(item), id=item.id, metadata=metadata)


def shown(item: Item) -> str:
    """The texts of an item, for the viewer; what a model is asked comes from `play`."""
    values = [getattr(item, name) for name in item.__struct_fields__ if name not in ("id", CLUSTER)]
    texts = [line for value in values for line in _texts(value)]
    return "\n".join(texts) or item.id


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return [value] if value else []
    return [one for one in value if isinstance(one, str)] if isinstance(value, tuple | list) else []


@solver
def play(instrument: str, task: str, options: dict[str, Any], settings: dict[str, Any]) -> Solver:
    """Plays an item with the evaluated model as the subject; a failure of the machinery is the sample's error."""
    plan = _plan(instrument, task, msgspec.json.encode((options, settings), order="deterministic"))
    found = plan.tasks[0]

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        bindings = _bindings(plan.instrument, task)
        item = msgspec.convert(state.metadata["item"], found.item_type, strict=False)
        played = await play_episode(structs.replace(plan, bindings=bindings), found, item, state.epoch - 1)
        if played.error is not None:
            raise played.error
        if played.episode.failure is not None:
            raise MachineryError(played.episode.failure.message, FailureKind.SCORING_ERROR)
        state.store.set(OUTCOME, msgspec.to_builtins(played.episode.outcome))
        others = {role: one for role, one in bindings.items() if role != SUBJECT}
        facts = {role: {"label": one.label, "stand_in": one.player.identity.stand_in} for role, one in others.items()}
        state.store.set(ROLES, facts)
        _show(state, played.events)
        return state

    return solve


def _bindings(instrument: Instrument, task: str) -> dict[str, RoleBinding]:
    """The evaluated model as the subject; other roles from `--model-role`, else the instrument's own players.

    A role that has neither is an error, because Inspect would use the evaluated model for it.
    """
    optional = [role for role in instrument.card.role if role.name in model_roles() and task in role.optional]
    asked = [*instrument.card.roles_of(task), *optional]
    return {role.name: _binding(instrument, role) for role in asked}


def _binding(instrument: Instrument, role: RoleCard) -> RoleBinding:
    if role.name == SUBJECT:
        return _bound(get_model())
    if role.name not in model_roles() and role.default in instrument.players:
        own = f"{instrument.card.name}/{role.default}"
        return RoleBinding(_own_player(instrument.card.name, role.default), own, own)
    return _bound(get_model(role=role.name, required=True))


def _bound(model: Model) -> RoleBinding:
    return RoleBinding(InspectPlayer(model, Identity("inspect", str(model))), str(model), str(model))


@cache
def _own_player(instrument: str, name: str) -> Player:
    return load(instrument).players[name]()


def _show(state: TaskState, events: Iterable[Event]) -> None:
    """Puts the subject's last exchange and the instrument's notes into the parts of the log that the viewer shows."""
    last: Exchange | None = None
    for event in events:
        if not isinstance(event, Exchange):
            transcript().info({"kind": event.kind, **event.facts}, source="sociometer")
        elif event.role == SUBJECT:
            last = event
    if last is not None:
        said = ChatMessageAssistant(content=last.reply.text, source="generate", model=last.model)
        state.messages = [*chat_messages(last.messages), said]
        state.output = ModelOutput.from_message(said)


@metric(name="stderr")
def clustered_error() -> Metric:
    """Inspect's clustered standard error; NaN for too few clusters, for which we give no interval either."""
    of_inspect: Any = stderr(cluster=CLUSTER)

    def error(scores: list[SampleScore]) -> float:
        clusters = {(one.sample_metadata or {}).get(CLUSTER) for one in scores}
        return cast(float, of_inspect(scores)) if len(clusters) >= MINIMUM_CLUSTERS else nan

    return error


@metric(name="summary", scores="unreduced")
def summary(instrument: str, task: str, options: dict[str, Any], settings: dict[str, Any]) -> Metric:
    """Every measure of the instrument's summary, with the `low` and `high` end of its interval where it has one."""

    def measured(scores: list[SampleScore]) -> dict[str, float]:
        plan = _plan(instrument, task, msgspec.json.encode((options, settings), order="deterministic"))
        played = plan.instrument.task(task)
        ordered = sorted(scores, key=_place)
        found = summarised(played, _view(plan, task, [_episode(played, one) for one in ordered]))
        values: dict[str, float] = {}
        for measure in found.measures:
            if measure.value is None:
                continue
            values[measure.full_name] = measure.value
            ends = measure.interval
            if ends is not None and ends.low is not None and ends.high is not None:
                values[f"{measure.full_name}.low"] = ends.low
                values[f"{measure.full_name}.high"] = ends.high
        return values

    return measured


def _place(scored: SampleScore) -> tuple[int, int]:
    """The place of a sample's item, and its repeat: a summary gets the episodes in this order."""
    return (scored.sample_metadata or {})["place"], (scored.score.metadata or {})[REPEAT]


def _episode(played: Task[Any, Any], scored: SampleScore) -> Episode[Any, Any]:
    logged = scored.score.metadata or {}
    item = msgspec.convert((scored.sample_metadata or {})["item"], played.item_type, strict=False)
    outcome = msgspec.convert(logged[OUTCOME], played.outcome_type, strict=False)
    return Episode(item, logged[REPEAT], outcome, played.score(item, outcome), None)


def _view(plan: Plan, task: str, episodes: Sequence[Episode[Any, Any]]) -> AnyRun:
    """The samples that have an outcome as `summarise` gets a run."""
    manifest = plan.described()
    card = plan.instrument.card
    return RunView(
        lambda: iter(episodes),
        Settings({**manifest.shown_settings(card), **manifest.config.ways}),
        norm=manifest.norms[task],
        task=task,
        card=card,
        version=card.version,
        whose_items=manifest.whose_items,
        as_in_paper=manifest.config.official,
    )


_METRICS: Any = [{"*": [mean(), clustered_error()]}]


@scorer(metrics=_METRICS)
def outcome(instrument: str, task: str) -> Scorer:
    """Scores the outcome that the log contains; asks no model, so `inspect score` costs nothing."""
    return _scorer(instrument, task)


# A log keeps a scorer's name without its package, and `inspect score` then looks for it among Inspect's own. With the
# package's name inside the name, it looks in the package and finds the scorer above.
@scorer(metrics=_METRICS, name="sociometer/outcome")
def logged_outcome(instrument: str, task: str) -> Scorer:
    """The same scorer, under a name by which `inspect score` finds it."""
    return _scorer(instrument, task)


def _scorer(instrument: str, task: str) -> Scorer:
    loaded = load(instrument)
    found = loaded.task(task)
    names = score_names(loaded.card, task)

    async def score(state: TaskState, target: Target) -> InspectScore:
        kept = state.store.get(OUTCOME)
        if kept is None:
            raise SociometerError(f"sample {state.sample_id} has no outcome: it was not played by sociometer.")
        item = msgspec.convert(state.metadata["item"], found.item_type, strict=False)
        made = found.score(item, msgspec.convert(kept, found.outcome_type, strict=False))
        # The same keys for every sample; a missing value is NaN, which metrics leave out.
        values = {name: made.values.get(name, nan) for name in names}
        logged = {"facets": made.facets, "unreadable": made.unreadable, REPEAT: state.epoch - 1, OUTCOME: kept}
        return InspectScore(value=values, metadata=logged)

    return score


def score_names(card: Card, task: str) -> tuple[str, ...]:
    """The score values that measures of a task are made of under all settings, the primary measure's first."""
    measures = sorted(card.measures_of(task), key=lambda measure: not measure.primary)
    return tuple(dict.fromkeys(one.value for one in measures if one.value and not one.optional))


for _name in cards():
    globals()[_name] = _offer(_name)
