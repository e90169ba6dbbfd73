"""Binds every role to a player, before anything is sent."""

from collections.abc import Iterable, Mapping

from sociometer.core.config import RunConfig, model_label, split_spec
from sociometer.core.conversation import SUBJECT, Sampling
from sociometer.core.errors import UsageError, hint, unknown
from sociometer.core.instrument import Instrument
from sociometer.core.player import Abilities, Player
from sociometer.core.server_fields import NONE
from sociometer.core.session import RoleBinding
from sociometer.models.keys import KeyPolicy
from sociometer.models.on_ray import ON_RAY, pool_of
from sociometer.models.presets import ModelOptions, presets
from sociometer.models.registry import resolve


def bind_roles(
    instrument: Instrument,
    tasks: Iterable[str],
    config: RunConfig,
    *,
    players: Mapping[str, Player] | None = None,
    sends: bool = True,
    keys: KeyPolicy | None = None,
) -> dict[str, RoleBinding]:
    """A player for every role that the tasks use; a role without a model and without a default is an error.

    `players` are for specifications that only the caller can resolve (a Python function). `keys` is given for a stored
    run.
    """
    card = instrument.card
    keys = keys or KeyPolicy.of_command(config)
    tasks = tuple(tasks)
    needed = {role.name: role for task in tasks for role in card.roles_of(task)}
    known = {role.name for role in card.role}
    needed |= {role.name: role for role in card.role if role.name in config.roles and set(tasks) & set(role.optional)}
    for name in (*config.roles, *(keys.variables.keys() - {SUBJECT})):
        if name not in known:
            raise unknown(f"{card.name} role", name, known)
    for name in config.server_fields.keys() - needed.keys():
        raise UsageError(f"-o {name}.…: this run has no model in the role '{name}'; give --role {name}=MODEL.")
    bindings: dict[str, RoleBinding] = {}
    specs = {name: config.roles.get(name, role.default) for name, role in needed.items()} | {SUBJECT: config.subject}
    pools = len({spec for name, spec in specs.items() if name in needed and spec.startswith(ON_RAY)}) or 1
    for name, role in needed.items():
        spec = specs[name]
        if not spec:
            option = "--model MODEL" if name == SUBJECT else f"--role {name}=MODEL"
            raise UsageError(
                f"no model for the role '{name}' ({role.help}); give {option}. See '{hint('list models')}'."
            )
        if name in config.server_fields and spec.partition("/")[0] not in presets():
            raise UsageError(f"-o body, header and query need a model on a server; {model_label(spec)} uses none.")
        label = config.model_name if name == SUBJECT else model_label(spec)
        own = spec.removeprefix(f"{card.name}/")
        if own in instrument.players:
            bindings[name] = _bound(instrument.players[own](), f"{card.name}/{own}", f"{card.name}/{own}", Sampling())
            continue
        given = (players or {}).get(spec)
        if given is not None and config.on and sends:
            given = pool_of(spec, given, ModelOptions(on=config.on, replicas=config.replicas, pools=pools))
        player = given or resolve_player(spec, name, config, sends=sends, keys=keys, pools=pools)
        bindings[name] = _bound(player, spec, label, config.sampling if name == SUBJECT else Sampling())
        if name == SUBJECT:
            _refuse_unable(spec, bindings[name].player.abilities, config)
    return bindings


def _bound(player: Player, spec: str, label: str, sampling: Sampling) -> RoleBinding:
    for name in sorted(player.lacks):
        if (value := getattr(sampling, name)) is not None:
            raise UsageError(f"{spec} does not support '{name}' (given: {value}); remove this option.")
    return RoleBinding(player, spec, label, sampling)


def _refuse_unable(spec: str, abilities: Abilities, config: RunConfig) -> None:
    """Raise a UsageError, before anything is sent, if the subject cannot answer in the chosen way."""
    if config.base and not abilities.continues_text:
        raise UsageError(
            f"{model_label(spec)} cannot continue a plain text, which -o base needs; these can: {_continuing()}."
        )


def _continuing() -> str:
    """The kinds of model that continue a plain text."""
    servers = [name for name, preset in presets().items() if preset.continues_text]
    return ", ".join(("hf", "local", *servers))


def resolve_player(
    spec: str, role: str, config: RunConfig, *, sends: bool = True, keys: KeyPolicy | None = None, pools: int = 1
) -> Player:
    """The player for a specification; `provider/name@URL#REVISION` sets its base URL and names its weights."""
    name, address, revision = split_spec(spec)
    subject = role == SUBJECT
    options = ModelOptions(
        base_url=address or (config.base_url if subject else ""),
        revision=revision or (config.revision if subject else ""),
        timeout_seconds=config.timeout_seconds,
        role=role,
        keys=keys or KeyPolicy.of_command(config),
        fields=config.server_fields.get(role, NONE),
        sends=sends,
        on=config.on,
        replicas=config.replicas,
        pools=pools,
    )
    return resolve(name, options)
