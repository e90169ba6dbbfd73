"""The options of a run, the same from Python and on the command line, and the configuration they make."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from sociometer.core.config import DEFAULT_IN_FLIGHT, Caps, RunConfig
from sociometer.core.conversation import Sampling
from sociometer.core.errors import UsageError, unknown
from sociometer.core.settings import SettingValue
from sociometer.instruments import card_of
from sociometer.models.python import Function, name_of

_SAMPLING = {"reply_tokens": "max_tokens", "sampling_seed": "seed", "server_sampling": "server_default"}
"""The options whose name differs from the sampling parameter they set."""


class RunOptions(TypedDict, total=False):
    """The options of `run`, named as on the command line."""

    roles: Mapping[str, str | Function]
    tasks: Sequence[str]
    settings: Mapping[str, SettingValue]
    items: Sequence[str]
    limit: int | None
    repeats: int | None
    seed: int
    official: bool
    second_question: bool | None
    data: str | Path
    prompts: str | Path
    base_url: str
    revision: str
    key_variable: str
    insecure_http: bool
    temperature: float | None
    top_p: float | None
    server_sampling: bool
    reply_tokens: int | None
    sampling_seed: int | None
    stop: Sequence[str]
    reasoning_effort: str | None
    logprobs: int | None
    in_flight: int
    timeout: float
    retries: int | None
    max_cost: float | None
    max_requests: int | None
    max_tokens: int | None
    fresh: bool
    name: str
    label: str


def make_config(instrument: str, model: str | Function, **options: Unpack[RunOptions]) -> RunConfig:
    """The configuration of a run; an option that does not exist or cannot be is a UsageError."""
    given: dict[str, Any] = dict(options)
    for option in given:
        if option not in RunOptions.__annotations__:
            raise unknown("option", option, RunOptions.__annotations__)
    take = given.pop
    if given.get("server_sampling") and (given.get("temperature") is not None or given.get("top_p") is not None):
        raise UsageError("--server-sampling sends neither a temperature nor a top-p; leave these out.")
    caps = Caps(**{name: take(name, None) for name in Caps.__struct_fields__})
    parameters = {_SAMPLING.get(name, name): take(name) for name in list(given) if _is_sampling(name)}
    sampling = Sampling(**{**parameters, "stop": tuple(parameters.get("stop", ()))})
    data, prompts = (str(Path(path).absolute()) if (path := take(name, "")) else "" for name in ("data", "prompts"))
    return RunConfig(
        instrument=card_of(instrument).name,
        subject=model_spec(model),
        tasks=tuple(take("tasks", ())),
        roles={role: model_spec(player) for role, player in take("roles", {}).items()},
        settings=dict(take("settings", {})),
        items=tuple(take("items", ())),
        official=take("official", False) or bool(data),
        data_folder=data,
        prompts_folder=prompts,
        timeout_seconds=take("timeout", 300.0),
        in_flight=take("in_flight", DEFAULT_IN_FLIGHT),
        sampling=sampling,
        caps=caps,
        **given,
    )


def model_spec(model: str | Function) -> str:
    """A model as `--model` names it."""
    return model if isinstance(model, str) else f"python/{name_of(model)}"


def _is_sampling(option: str) -> bool:
    return _SAMPLING.get(option, option) in Sampling.__struct_fields__ and option not in ("max_tokens", "seed")
