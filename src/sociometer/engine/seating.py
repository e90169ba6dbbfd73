"""Binds every role to whoever plays it, before anything is sent."""

from collections.abc import Iterable

from sociometer.core.conversation import Identity, Player, Sampling
from sociometer.core.errors import UsageError, unknown
from sociometer.core.task import Instrument
from sociometer.engine.config import RunConfig
from sociometer.engine.session import Seat
from sociometer.models.options import ModelOptions
from sociometer.models.registry import resolve
from sociometer.models.replay import RecordedReplies
from sociometer.store.records import SeatRecord


def seat_roles(
    instrument: Instrument,
    tasks: Iterable[str],
    config: RunConfig,
    recorded: RecordedReplies | None = None,
) -> dict[str, Seat]:
    """A seat for every role that the tasks ask; one without a model and without a default is an error."""
    needed = {role.name: role for task in tasks for role in instrument.card.roles_of(task)}
    known = {role.name for role in instrument.card.role}
    for name in config.roles:
        if name not in known:
            raise unknown(f"role of {instrument.card.name}", name, known)
    seats: dict[str, Seat] = {}
    for name, role in needed.items():
        spec = config.subject if name == "subject" else config.roles.get(name, role.default)
        if not spec:
            option = "--model MODEL" if name == "subject" else f"--role {name}=MODEL"
            raise UsageError(
                f"nobody plays the role '{name}' ({role.help}); give {option}."
                " 'sociometer models' lists what may stand there."
            )
        seats[name] = _seat(instrument, name, spec, config, recorded)
    return seats


def _seat(instrument: Instrument, role: str, spec: str, config: RunConfig, recorded: RecordedReplies | None) -> Seat:
    own = spec.removeprefix(f"{instrument.card.name}/")
    if own in instrument.players:
        return Seat(instrument.players[own](), f"{instrument.card.name}/{own}")
    sampling = config.sampling if role == "subject" else Sampling()
    player = resolve_player(spec, role, config, recorded)
    lacks: frozenset[str] = getattr(player, "lacks", frozenset())
    for name in sorted(lacks):
        if (given := getattr(sampling, name)) is not None:
            raise UsageError(f"{spec} has no place for '{name}' (given: {given}); leave it out.")
    return Seat(player, spec, sampling, lacks)


def resolve_player(spec: str, role: str, config: RunConfig, recorded: RecordedReplies | None = None) -> Player:
    """The player a specification names; `provider/name@URL#REVISION` gives it a base URL and weights of its own."""
    name, at, address = spec.partition("@http")
    address, _, revision = address.partition("#")
    subject = role == "subject"
    options = ModelOptions(
        base_url="http" + address if at else config.base_url if subject else "",
        revision=revision or (config.revision if subject else ""),
        key_variable=config.key_variable if subject else "",
        timeout_seconds=config.timeout_seconds,
        sends=not config.dry_run,
    )
    return resolve(name, options, recorded=recorded)


def seat_record(role: str, seat: Seat, config: RunConfig) -> SeatRecord:
    """What is stored of a seat, so that it can be taken again."""
    subject = role == "subject"
    return SeatRecord(
        spec=config.subject if subject else seat.label,
        identity=seat.player.identity,
        sampling=seat.sampling,
        base_url=config.base_url if subject else "",
        revision=config.revision if subject else "",
        key_variable=config.key_variable if subject else "",
        timeout_seconds=config.timeout_seconds,
    )


def is_remote(identity: Identity) -> bool:
    """Whether requests go over the network, so that many may be in flight."""
    return bool(identity.base_url)
