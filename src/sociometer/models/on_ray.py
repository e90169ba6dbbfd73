"""Models on a Ray cluster: a pool of actors, each with the model in its own process, as one player."""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

from msgspec import Struct, structs

from sociometer.core.conversation import Identity, Reply, Request
from sociometer.core.errors import MachineryError, SociometerError, Stopped, UsageError
from sociometer.core.lazy import lazy
from sociometer.core.player import Abilities, Player
from sociometer.core.version import __version__
from sociometer.models.files import file_of
from sociometer.models.pool import Member, Pool
from sociometer.models.presets import ModelOptions
from sociometer.models.serial_thread import SerialThread

ray = lazy("ray")

ON_RAY = ("hf", "local", "vllm", "python", "inspect")
"""The families of models that run on a cluster."""
_ON_GPU = ("hf", "local", "vllm")
_CORES_A_REPLICA = 8
"""The default for weights on the CPU, as for the copies of a local model."""
_BYTES_A_REPLICA = 250 << 20
"""What a process uses besides the weights."""
_START_SECONDS = 300.0
_WATCH_SECONDS = 5.0
_PAUSE_SECONDS = 0.1
_PATIENCE_SECONDS = 15.0
_MOST_FAILURES = 6
_NO_RANDOMNESS = Random(0)
Make = Callable[[], Player]


class Facts(Struct, frozen=True):
    """What a replica says about its model."""

    version: str
    identity: Identity
    abilities: Abilities
    lacks: frozenset[str]
    parallel: bool
    most_in_flight: int


class Actor:
    """One replica of the model, in a process of the cluster; errors are returned, since Ray wraps those it raises."""

    def __init__(self, make: Make, environment: dict[str, str]) -> None:
        os.environ.update(environment)
        self._player: Player | SociometerError
        try:
            self._player = make()
        except SociometerError as error:
            self._player = error

    async def facts(self) -> Facts | SociometerError:
        """The facts about the model, or why it cannot be used."""
        one = self._player
        if isinstance(one, SociometerError):
            return one
        return Facts(__version__, one.identity, one.abilities, one.lacks, one.parallel, one.most_in_flight)

    async def call(self, method: str, given: Any) -> Any:
        """The answer to a request, or the vectors of texts."""
        if isinstance(self._player, SociometerError):
            return self._player
        try:
            return await getattr(self._player, method)(given)
        except SociometerError as error:
            return error

    async def close(self) -> None:
        """Stop what the model has started."""
        if isinstance(self._player, Player):
            await self._player.close()


class Replica(Member):
    """An actor with its load."""

    def __init__(self, actor: Any) -> None:
        super().__init__()
        self.actor = actor


class RayPool(Pool[Replica]):
    """A model on Ray; its actors start when it is first asked, and end when another model needs their place."""

    def __init__(self, spec: str, make: Make, options: ModelOptions) -> None:
        super().__init__(())
        self._spec = spec
        self._make = make
        self._in_use = False
        self._gone: Stopped | None = None
        self._calls: set[asyncio.Future[Any]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._lonely_deaths: dict[int, tuple[Request, int]] = {}
        self._thread = SerialThread("ray")
        connect(options.on)
        self.replicas, self._resources, self._environment = _shares(spec, options)
        try:
            ray.cloudpickle.dumps(make)
        except Exception as error:
            raise UsageError(f"'{spec}' cannot be sent to Ray, because it cannot be pickled: {error}.") from None
        facts = self._facts()
        self.identity, self.abilities, self.lacks = facts.identity, facts.abilities, facts.lacks
        self.most_in_flight = facts.most_in_flight if facts.parallel else 1

    def __repr__(self) -> str:
        return f"RayPool({self._spec}, {self.replicas} replicas)"

    @property
    def parallel(self) -> bool:
        return True

    async def answer(self, request: Request) -> Reply:
        """One attempt at a reply; a request during which two replicas died that answered nothing else fails."""
        sent = structs.replace(request, view=None, rng=_NO_RANDOMNESS)

        async def send(replica: Replica) -> Reply:
            nth, alone = replica.sent, replica.in_flight == 1
            try:
                reply: Reply = await self._called(replica, "answer", sent)
            except ray.exceptions.RayError as error:
                replica.rest(_PAUSE_SECONDS, trials=replica.in_flight)
                await self._refuse_lost_cluster()
                alone &= replica.sent == nth
                raise self._died(request, alone, error) from None
            self._lonely_deaths.pop(id(request), None)
            return reply

        return await self.ask(send, request.messages)

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """A vector for each text."""

        async def send(replica: Replica) -> tuple[tuple[float, ...], ...]:
            try:
                vectors: tuple[tuple[float, ...], ...] = await self._called(replica, "embed", tuple(texts))
            except ray.exceptions.RayError as error:
                await self._refuse_lost_cluster()
                raise MachineryError(_reason(self._spec, error), "replica died", retryable=True) from None
            return vectors

        return await self.ask(send)

    async def choose(self, messages: tuple[Any, ...]) -> Replica:
        """A replica that is ready; one that died is used again when Ray has restarted it."""
        self._start()
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())
        while True:
            chosen = await super().choose(messages)
            if chosen.failures and chosen.is_ready():
                await self._look(chosen)
            if chosen.is_ready():  # another request may have taken it meanwhile
                return chosen
            if all(one.failures > _MOST_FAILURES for one in self.members):
                raise Stopped(f"no replica of {self._spec} came back after it died; see 'ray status'")
            await asyncio.sleep(0.05)

    async def close(self) -> None:
        """End the watch over the cluster; the actors stay for the next run of this command."""
        self._in_use = False
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None

    def end(self) -> None:
        """End the actors, and with them what they have started."""
        for replica in self.members:
            ending = replica.actor.close.remote()
            ray.wait([ending], timeout=_PATIENCE_SECONDS)
            ray.kill(replica.actor)
        self.members = ()

    def _start(self) -> None:
        """Start the actors, if they are not there; models that no run uses make room for them."""
        self._in_use = True
        if self.members:
            return
        for other in _POOLS.values():
            if not other._in_use and other.members:
                other.end()
        self.members = [self._actor() for _ in range(self.replicas)]

    def _actor(self) -> Replica:
        actor = ray.remote(Actor).options(
            **self._resources, max_restarts=-1, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        return Replica(actor.remote(self._make, self._environment))

    def _facts(self) -> Facts:
        self._start()
        self._in_use = False
        try:
            facts = ray.get(self.members[0].actor.facts.remote(), timeout=_START_SECONDS)
        except ray.exceptions.RayError as error:
            raise UsageError(f"{_reason(self._spec, error)} Install sociometer {__version__} on all nodes.") from None
        if isinstance(facts, SociometerError):
            raise facts
        if facts.version != __version__:
            raise UsageError(f"the Ray cluster has sociometer {facts.version}, not {__version__}; install the same.")
        found: Facts = facts
        return found

    async def _called(self, replica: Replica, method: str, given: Any) -> Any:
        if self._gone is not None:
            raise self._gone
        call = asyncio.ensure_future(_answer_of(replica.actor.call.remote(method, given)))
        self._calls.add(call)
        try:
            answer = await call
        except asyncio.CancelledError:
            if self._gone is not None:
                raise self._gone from None
            raise
        finally:
            self._calls.discard(call)
        if isinstance(answer, SociometerError):
            raise answer
        return answer

    def _died(self, request: Request, alone: bool, error: Exception) -> MachineryError:
        """The failure of a request whose replica died."""
        deaths = self._lonely_deaths.get(id(request), (request, 0))[1] + alone
        self._lonely_deaths[id(request)] = (request, deaths)
        if deaths < 2:
            return MachineryError(_reason(self._spec, error), "replica died", retryable=True)
        del self._lonely_deaths[id(request)]
        return MachineryError(
            f"two replicas died while they answered only this. {_reason(self._spec, error)}", "replica died"
        )

    async def _look(self, replica: Replica) -> None:
        """Wait until Ray has restarted a replica; let it rest if that takes too long."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                await _answer_of(replica.actor.facts.remote())
        except (ray.exceptions.RayError, TimeoutError):
            await self._refuse_lost_cluster()
            replica.rest()

    async def _watch(self) -> None:
        """End all calls if the cluster is lost: Ray ends the process a minute after it lost its cluster."""
        while self._gone is None:
            await asyncio.sleep(_WATCH_SECONDS)
            if not await self._has_cluster():
                self._gone = Stopped(_LOST)
                for call in tuple(self._calls):
                    call.cancel()

    async def _refuse_lost_cluster(self) -> None:
        if not await self._has_cluster():
            raise Stopped(_LOST)

    async def _has_cluster(self) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                return await self._thread.run(_has_nodes)
        except TimeoutError:
            return False


_LOST = "the Ray cluster is lost"
_POOLS: dict[tuple[str, ModelOptions], RayPool] = {}


def pool_of(spec: str, make: Make, options: ModelOptions) -> RayPool:
    """The pool of a model, the same for all runs of a command."""
    key = (spec, structs.replace(options, role=""))
    if key not in _POOLS:
        _POOLS[key] = RayPool(spec, make, options)
    return _POOLS[key]


def connect(on: str) -> None:
    """Connect to the cluster, or start one on this machine; raise a UsageError if that fails."""
    address = os.environ.get("RAY_ADDRESS", "") if on == "ray" else on
    # Ray would report to its makers, and print each death of a worker to the standard output.
    for variable, value in {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "."}.items():
        os.environ.setdefault(variable, value)
    try:
        if ray.is_initialized():
            return
    except ImportError:
        raise UsageError("--on ray needs the extra 'ray'; install it with: pip install 'sociometer[ray]'.") from None
    try:
        _refuse_unreachable(address)
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        local = {} if address else {"include_dashboard": False}
        ray.init(address=address or "local", **local, **({} if address.startswith("ray://") else quiet))
    except (OSError, ValueError, RuntimeError, TimeoutError) as error:
        said = str(error).strip().splitlines()[0][:200]
        raise UsageError(
            f"cannot reach the Ray cluster at {address or 'this machine'}: {said}. Check the address, or leave it out"
            " to start a cluster on this machine."
        ) from None


def _refuse_unreachable(address: str) -> None:
    """Raise an OSError at once if nobody listens; Ray itself tries for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), _PATIENCE_SECONDS).close()


def _shares(spec: str, options: ModelOptions) -> tuple[int, dict[str, float], dict[str, str]]:
    """How many replicas there are, what each takes of the cluster, and its environment."""
    family, _, name = spec.partition("/")
    has = ray.cluster_resources()
    gpus, cores, memory = int(has.get("GPU", 0)), has.get("CPU", 1.0), int(has.get("memory", 0))
    on_gpu = bool(gpus) and family in _ON_GPU
    usual = gpus if on_gpu else cores // _CORES_A_REPLICA if family in _ON_GPU else cores
    count = options.replicas or max(1, int(usual // options.pools))
    fits = memory // (_BYTES_A_REPLICA + (0 if on_gpu else _weights(family, name))) // options.pools
    if count > max(1, fits):
        raise UsageError(
            f"--replicas {count} is more than fits: the cluster has {memory / 1e9:.1f} GB of memory; give at most"
            f" {max(1, fits)}."
        )
    wanted = count * options.pools
    resources = {"num_cpus": _part(cores, wanted), "num_gpus": _part(gpus, wanted) if on_gpu else 0}
    threads = {} if on_gpu else {"SOCIOMETER_THREADS": str(max(1, int(cores // wanted)))}
    environment = {"SOCIOMETER_COPIES": "1", **threads}
    return count, resources, {name: os.environ.get(name, value) for name, value in environment.items()}


def _part(total: float, wanted: int) -> float:
    """The part of a core or GPU for each replica: a whole one, or an equal part of one."""
    return 1.0 if wanted <= total else 1.0 / ceil(wanted / total)


def _weights(family: str, name: str) -> int:
    """The size of weights on this machine; 0 if it is not known."""
    path = file_of(name) if family == "local" and not name.lower().endswith(".gguf") else Path(name).expanduser()
    if family not in _ON_GPU or path is None:
        return 0
    files = [path] if path.is_file() else path.glob("*.safetensors")
    return sum(file.stat().st_size for file in files)


async def _answer_of(reference: Any) -> Any:
    return await reference


def _has_nodes() -> bool:
    try:
        return any(node["Alive"] for node in ray.nodes())
    except Exception:
        return False


def _reason(spec: str, error: Exception) -> str:
    """Why a replica died, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = next((line for line in reversed(lines) if "Error" in line), lines[0] if lines else type(error).__name__)
    return f"a replica of {spec} died: {said[:200].rstrip('.')}."
