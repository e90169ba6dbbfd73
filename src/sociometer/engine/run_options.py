"""The options of a run, the same in Python and on the command line, and the run configuration made from them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from sociometer.core.card import Card
from sociometer.core.config import DEFAULT_IN_FLIGHT, Caps, RunConfig
from sociometer.core.conversation import Sampling
from sociometer.core.errors import UsageError, unknown
from sociometer.core.session import AnswerMode
from sociometer.core.settings import SettingValue
from sociometer.models.python import Function, name_of

_SAMPLING = {"reply_tokens": "max_tokens", "sampling_seed": "seed", "server_sampling": "server_default"}
"""The options whose name differs from the sampling parameter they set."""


class RunOptions(TypedDict, total=False):
    """The options of `run`, named as on the command line."""

    roles: Mapping[str, str | Function]
    """The models for other roles, by role: a name or a function."""
    tasks: Sequence[str]
    """Tasks of the instrument to play."""
    settings: Mapping[str, SettingValue]
    """Settings of the instrument, by name, as `sociometer list INSTRUMENT` shows them."""
    items: Sequence[str]
    """Ids of the items to play."""
    limit: int | None
    """Size of the sample of items; the sample is the same for every subject."""
    repeats: int | None
    """Times to play each item."""
    seed: int
    """Seed of deals, orders and samples."""
    official: bool
    """Use the official items that `sociometer data fetch` downloaded."""
    second_question: bool | None
    """Ask a second time if a reply has no answer; by default yes for bundled and no for official items."""
    base: bool
    """Whether the subject is a base model, which continues a text with examples; only tasks with such a text form."""
    answer: AnswerMode
    """How a choice is answered: `reply` (read from the reply) or `probability` (of each option, nothing generated)."""
    data: str | Path
    """Folder with the official files; implies `official`."""
    prompts: str | Path
    """Folder of prompts that replace those of the instrument, by name."""
    base_url: str
    """The subject's server, if it is not the provider's own."""
    revision: str
    """Name of the subject's weights, so that later runs can reuse its replies."""
    key_variable: str
    """Environment variable that holds the subject's key."""
    insecure_http: bool
    """Send keys over plain HTTP even to other machines."""
    temperature: float | None
    """Sampling temperature of the subject."""
    top_p: float | None
    """Nucleus sampling of the subject."""
    server_sampling: bool
    """Send no temperature, top-p or seed, for models that accept none."""
    reply_tokens: int | None
    """Maximum number of tokens in one reply of the subject."""
    sampling_seed: int | None
    """Seed that is sent to the subject's server."""
    stop: Sequence[str]
    """Stop sequences of the subject."""
    reasoning_effort: str | None
    """Reasoning effort of the subject: low, medium or high."""
    logprobs: int | None
    """Number of top log-probabilities to request."""
    in_flight: int
    """Maximum number of requests in flight per server."""
    batch: bool
    """Send requests in batches, at a lower price and within a day each."""
    cancel_batches: bool
    """Cancel waiting batches when the run is interrupted."""
    timeout: float
    """Time limit for one request, in seconds."""
    retries: int | None
    """Number of times to retry a failed request."""
    max_cost: float | None
    """Maximum cost in dollars, counting all roles."""
    max_requests: int | None
    """Maximum number of requests, counting all roles."""
    max_tokens: int | None
    """Maximum number of tokens read and written, counting all roles."""
    fresh: bool
    """Request new replies instead of reusing stored ones."""
    name: str
    """Name of the run."""
    label: str
    """Name of the subject in tables and on pages."""


def make_config(card: Card, model: str | Function, **options: Unpack[RunOptions]) -> RunConfig:
    """Return the configuration of a run; raise UsageError for an unknown option or a value that is not allowed."""
    given: dict[str, Any] = dict(options)
    for option in given:
        if option not in RunOptions.__annotations__:
            raise unknown("option", option, RunOptions.__annotations__)
    take = given.pop
    if given.get("server_sampling") and (given.get("temperature") is not None or given.get("top_p") is not None):
        raise UsageError("--server-sampling cannot be combined with --temperature or --top-p; remove one of them.")
    caps = Caps(**{name: take(name, None) for name in Caps.__struct_fields__})
    parameters = {_SAMPLING.get(name, name): take(name) for name in list(given) if _is_sampling(name)}
    sampling = Sampling(**{**parameters, "stop": tuple(parameters.get("stop", ()))})
    data, prompts = (str(Path(path).absolute()) if (path := take(name, "")) else "" for name in ("data", "prompts"))
    return RunConfig(
        instrument=card.name,
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
    """The value of `--model` for a model."""
    return model if isinstance(model, str) else f"python/{name_of(model)}"


def _is_sampling(option: str) -> bool:
    return _SAMPLING.get(option, option) in Sampling.__struct_fields__ and option not in ("max_tokens", "seed")
