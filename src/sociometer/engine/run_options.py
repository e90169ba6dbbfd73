"""The options of a run, the same in Python and on the command line, and the run configuration made from them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypedDict, Unpack

import msgspec
from msgspec import Struct, structs

from sociometer.core.card import Card
from sociometer.core.config import DEFAULT_IN_FLIGHT, Caps, RunConfig
from sociometer.core.conversation import Sampling
from sociometer.core.errors import UsageError, unknown
from sociometer.core.language import read_texts
from sociometer.core.server_fields import server_fields
from sociometer.core.session import ToolMode
from sociometer.core.settings import Setting, SettingValue
from sociometer.core.stopping import Until
from sociometer.models.python import Function, name_of
from sociometer.store.stored_run import StoredRun

_SAMPLING = {"reply_tokens": "max_tokens", "sampling_seed": "seed", "server_sampling": "server_default"}
"""The options whose name differs from the sampling parameter they set."""


class RunOption(Struct, frozen=True):
    """One option of `run`, as the command line, Python, replications and commands of instruments offer it."""

    name: str
    """Its name in Python."""
    help: str
    """What it is, and its default."""
    kind: type = str
    default: Any = None
    flag: str = ""
    """How the command line spells it, if not by its name."""
    many: bool = False
    metavar: str = ""
    choices: tuple[str, ...] = ()
    detail: bool = False
    """Whether the command line takes it as `-o NAME=VALUE`."""
    in_name: bool = False
    """Whether the command line takes it as a part of the model's name."""


_KINDS: dict[str, type] = {"int": int, "float": float, "bool": bool, "dict": dict, "path": Path}
OPTIONS = tuple(
    msgspec.convert({**facts, "name": name}, RunOption, dec_hook=lambda _, kind: _KINDS[kind])
    for name, facts in read_texts(Path(__file__).with_name("run_options.toml")).items()
)


class RunOptions(TypedDict, total=False):
    """The options of `sociometer.run`, named as on the command line; `roles` takes functions too."""

    roles: Mapping[str, str | Function]
    tasks: Sequence[str]
    settings: Mapping[str, SettingValue]  # Settings of the instrument by name; `sm.list_instruments()` describes them.
    items: Sequence[str]
    limit: int | None
    repeats: int | None
    seed: int
    official: bool
    second_question: bool | None
    base: bool
    tools: ToolMode
    data: str | Path
    prompts: str | Path
    base_url: str
    revision: str
    key_variable: str
    insecure_http: bool
    server_fields: Mapping[str, Any]
    temperature: float | None
    top_p: float | None
    server_sampling: bool
    reply_tokens: int | None
    sampling_seed: int | None
    reasoning_effort: str | None
    in_flight: int
    on: str
    replicas: int | None
    timeout: float
    retries: int | None
    max_cost: float | None
    max_requests: int | None
    max_tokens: int | None
    fresh: bool
    against: str | StoredRun
    margin: float | None
    name: str
    same: bool


def make_config(card: Card, model: str | Function, **options: Unpack[RunOptions]) -> RunConfig:
    """Return the configuration of a run; raise UsageError for an unknown option or a value that is not allowed."""
    given: dict[str, Any] = dict(options)
    for option in given:
        if option not in RunOptions.__annotations__:
            raise unknown("option", option, ("model", *RunOptions.__annotations__))
    given |= {name: (one,) for name in ("tasks", "items") if isinstance(one := given.get(name), str)}
    take = given.pop
    if given.get("server_sampling") and (given.get("temperature") is not None or given.get("top_p") is not None):
        raise UsageError("-o server-sampling cannot be combined with -o temperature or -o top-p; remove one of them.")
    caps = Caps(**{name: take(name, None) for name in Caps.__struct_fields__})
    parameters = {_SAMPLING.get(name, name): take(name) for name in list(given) if _is_sampling(name)}
    sampling = Sampling(**parameters)
    until = _until(take("against", ""), take("margin", None))
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
        server_fields=server_fields(take("server_fields", {})),
        sampling=sampling,
        caps=caps,
        until=until,
        **given,
    )


def with_shared_rule(configs: Sequence[RunConfig]) -> list[RunConfig]:
    """The configurations of one command; models that are compared with one stored run share its error rate."""
    until = configs[0].until
    if until is None:
        return list(configs)
    if len({one.instrument for one in configs}) > 1:
        raise UsageError("--against needs one instrument; give one after 'run'.")
    shared = structs.replace(until, models=len(configs))
    return [structs.replace(one, until=shared) for one in configs]


def _until(against: "str | StoredRun", margin: float | None) -> Until | None:
    """When the run stops early, as the options say; None if it does not."""
    if against:
        return Until(against if isinstance(against, str) else against.id, margin)
    if margin is not None:
        raise UsageError("--margin needs --against RUN.")
    return None


_BY_FLAG = {(one.flag or one.name.replace("_", "-")).removeprefix("--"): one for one in OPTIONS}
_WRITTEN = re.compile(r"(?:--|-o )([a-z][a-z-]*)(?:[ =](?:([a-zA-Z]+)=)?([A-Z]+\b|\d+(?:\.\d+)?\b|'[^']*'))?")
"""An option in a text, with a role and a value that is a placeholder, a number or in quotes."""


def as_python(text: str, settings: Iterable[Setting] = ()) -> str:
    """The text with the options of the command line as arguments of Python: `--limit 3` as `limit=3`."""
    flags = {one.name: one.kind == "flag" for one in settings}

    def argument(found: re.Match[str]) -> str:
        name, role, value = found.groups()
        if (one := _BY_FLAG.get(name)) is None and name not in flags:
            return found[0]
        if role:
            return f'{one.name if one else "settings"}={{"{role}": {value}}}'
        value = value or ("True" if (one.kind is bool if one else flags[name]) else "")
        if one is None:
            return f'settings={{"{name}": {value or "…"}}}'
        name = "model" if one.name == "models" else one.name
        return f"{name}={f'[{value}]' if one.many and name != 'model' else value}" if value else name

    return _WRITTEN.sub(argument, re.sub(r"'--([a-z-]+)'", r"'\1'", text))


def chosen_items(config: RunConfig, card: Card, without: str = "") -> list[str]:
    """The options of `run` that choose the items of a run, and its settings `without` one."""
    given: list[tuple[str, object]] = [("limit", config.limit), ("data", config.data_folder)]
    tasks = () if set(config.tasks) == set(card.default_tasks(official=config.official)) else config.tasks
    given += [(name, value) for name, values in (("item", config.items), ("task", tasks)) for value in values]
    given += [("role", f"{role}={model}") for role, model in config.roles.items()]
    words = ["--official"] * (config.official and not config.data_folder)
    for one in card.setting:
        with suppress(UsageError):  # a run of an older version may have a value that is gone
            value = one.parse(config.settings.get(one.name, one.default))
            if one.kind == "flag":
                words += [f"--{one.name}"] * bool(value)
            elif value != one.default and one.name != without:
                given += [(one.name, each) for each in (value if isinstance(value, tuple) else [value])]
    return words + [word for name, value in given if value for word in (f"--{name}", str(value))]


def model_spec(model: str | Function) -> str:
    """The value of `--model` for a model."""
    if not (isinstance(model, str) or callable(model)):
        raise UsageError(
            f"a model is a name, such as openai/gpt-4o-mini, or a function of the messages, not {model!r}."
        )
    return model if isinstance(model, str) else f"python/{name_of(model)}"


def _is_sampling(option: str) -> bool:
    return _SAMPLING.get(option, option) in Sampling.__struct_fields__ and option not in ("max_tokens", "seed")
