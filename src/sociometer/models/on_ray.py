"""Models on a Ray cluster: a pool of actors, each with the model in its own process, as one player."""

import asyncio
import os
import socket
import time
from collections.abc import Callable, Sequence
from math import ceil
from random import Random
from typing import Any

import msgspec
from msgspec import structs

from sociometer.core.conversation import Message, Reply, Request
from sociometer.core.errors import FailureKind, MachineryError, SociometerError, Stopped, UsageError
from sociometer.core.lazy import lazy, require
from sociometer.core.player import Player
from sociometer.core.version import __version__
from sociometer.core.words import first_line
from sociometer.models.pool import Member, Pool
from sociometer.models.presets import ModelOptions
from sociometer.models.serial_thread import SerialThread

ray = lazy("ray")

ON_RAY = ("hf/", "local/", "vllm/", "python/", "inspect/")
"""How the names of models begin that run on a cluster."""
_WITH_WEIGHTS = ON_RAY[:3]
_CORES_A_REPLICA = 8
"""The default for weights on the CPU; measured on 16 cores: two write a fifth more than one, four no more than one."""
_BYTES_A_REPLICA = 250 << 20
"""The memory of a process without weights."""
_START_SECONDS = 300.0
_WATCH_SECONDS = 5.0
_PATIENCE_SECONDS = 15.0
_PAUSE_SECONDS = 0.1
_MOST_FAILURES = 6
_NO_RANDOMNESS = Random(0)
Source = Player | Callable[[], Player]
"""A player, or a function that makes it where it will run."""


class Actor:
    """One replica of the model, in a process of the cluster; errors are returned, since Ray wraps those it raises."""

    def __init__(self, source: Source, environment: dict[str, str]) -> None:
        os.environ.update(environment)
        self._opened: asyncio.Future[None] | None = None
        self._player: Player | SociometerError
        try:
            self._player = source if isinstance(source, Player) else source()
        except SociometerError as error:
            self._player = error

    async def facts(self) -> tuple[Any, ...] | SociometerError:
        """Identity, abilities and limits of the model, or why it cannot be used."""
        one = self._player
        if isinstance(one, SociometerError):
            return one
        return one.identity, one.abilities, one.lacks, one.most_in_flight if one.parallel else 1

    async def call(self, method: str, *given: Any) -> Any:
        if isinstance(self._player, SociometerError):
            return self._player
        try:
            if not self._opened:
                self._opened = asyncio.ensure_future(self._player.open())
            await self._opened
            return await getattr(self._player, method)(*given)
        except Exception as error:
            other = MachineryError(f"{type(error).__name__}: {error}", FailureKind.LOCAL_MODEL)
            return error if isinstance(error, SociometerError) else other


class RayPool(Pool):
    """A model on Ray, with actors from when it is opened until it is closed."""

    def __init__(self, spec: str, source: Source, options: ModelOptions) -> None:
        super().__init__(())
        self._spec = spec
        self._source = source
        self._looked_at = 0.0
        self._lonely_deaths: dict[int, tuple[Request, int]] = {}
        self._thread = SerialThread("ray")
        connect(options.on)
        self.replicas, self._resources, self._environment = _shares(spec, options)
        try:
            ray.cloudpickle.dumps(source)
        except Exception as error:
            raise UsageError(f"'{spec}' cannot be sent to Ray, because it cannot be pickled: {error}.") from None
        self.identity, self.abilities, self.lacks, self.most_in_flight = self._facts()

    parallel = True

    async def answer(self, request: Request) -> Reply:
        """One attempt at a reply; a request during which two replicas died that answered nothing else fails."""
        sent = structs.replace(request, view=None, rng=_NO_RANDOMNESS)
        reply: Reply = await self.ask(lambda one: self._called(one, request, "answer", sent), request.messages)
        self._lonely_deaths.pop(id(request), None)
        return reply

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        asked = Request("", ())
        vectors: tuple[tuple[float, ...], ...] = await self.ask(
            lambda one: self._called(one, asked, "embed", tuple(texts))
        )
        return vectors

    async def choose(self, messages: tuple[Message, ...]) -> Member:
        """A replica that is ready; one that died is used again when Ray has restarted it."""
        while True:
            chosen = await super().choose(messages)
            if chosen.failures and chosen.is_ready():
                try:
                    async with asyncio.timeout(_START_SECONDS):
                        await chosen.target.facts.remote()
                except (ray.exceptions.RayError, TimeoutError):
                    await self._refuse_lost_cluster()
                    chosen.rest(time.monotonic())
            if chosen.is_ready():  # another request may have taken it meanwhile
                return chosen
            if all(one.failures > _MOST_FAILURES for one in self.members):
                raise Stopped(f"no replica of {self._spec} came back after it died; see 'ray status'")
            await asyncio.sleep(_PAUSE_SECONDS)

    async def open(self) -> None:
        """Start the actors."""
        self.members = [Member(self._actor()) for _ in range(self.replicas)]

    async def close(self) -> None:
        """End the actors, and with them what they have started."""
        actors, self.members = [one.target for one in self.members], ()
        await self._thread.end(lambda: _end(actors))

    def _actor(self) -> Any:
        """A new actor; Ray starts its process when there is room for it."""
        actor = ray.remote(Actor).options(
            **self._resources, max_restarts=-1, max_task_retries=0, scheduling_strategy="SPREAD"
        )
        return actor.remote(self._source, self._environment)

    def _facts(self) -> Any:
        """What the model is, where it will run: asked of an actor that loads no weights and ends at once."""
        actor = self._actor()
        try:
            facts = ray.get(actor.facts.remote(), timeout=_START_SECONDS)
        except ray.exceptions.RayError as error:
            advice = f"All nodes need sociometer {__version__} and what the model needs."
            raise UsageError(f"{self._reason(error)} {advice}") from None
        finally:
            ray.kill(actor)
        if isinstance(facts, SociometerError):
            raise facts
        return facts

    async def _called(self, replica: Member, request: Request, method: str, given: Any) -> Any:
        nth, alone, now = replica.sent, replica.in_flight == 1, time.monotonic()
        if now > self._looked_at + _WATCH_SECONDS:
            self._looked_at = now
            await self._refuse_lost_cluster()
        call = asyncio.ensure_future(replica.target.call.remote(method, given))
        try:
            while not (await asyncio.wait({call}, timeout=_WATCH_SECONDS))[0]:
                await self._refuse_lost_cluster()
            answer = call.result()
        except (ray.exceptions.RayError, ConnectionError) as error:
            alone = alone and replica.sent == nth
            replica.rest(now, _PAUSE_SECONDS, trials=replica.in_flight)
            await self._refuse_lost_cluster()
            raise self._died(request, error, alone=alone) from None
        finally:
            call.cancel()
        if isinstance(answer, SociometerError):
            raise answer
        return answer

    def _died(self, request: Request, error: Exception, *, alone: bool) -> MachineryError:
        """The failure of a request whose replica died; final if two died that answered nothing else."""
        deaths = self._lonely_deaths.pop(id(request), (request, 0))[1] + alone
        if deaths < 2:
            self._lonely_deaths[id(request)] = (request, deaths)
            return MachineryError(self._reason(error), FailureKind.REPLICA_DIED, retryable=True)
        said = f"{self._reason(error)} It is the second one that answered only this."
        return MachineryError(said, FailureKind.REPLICA_DIED)

    async def _refuse_lost_cluster(self) -> None:
        """Stop the run if the cluster is lost; a minute later Ray would end this process."""
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                if any(node["Alive"] for node in await self._thread.run(ray.nodes)):
                    return
        except Exception:  # Ray raises what it likes here  # noqa: S110
            pass
        raise Stopped("the Ray cluster is lost")

    def _reason(self, error: Exception) -> str:
        """Why a replica died, in one line."""
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        said = next((line for line in reversed(lines) if "Error" in line), lines[0])
        return f"a replica of {self._spec} died: {said[:200].rstrip('.')}."


def _end(actors: Sequence[Any]) -> None:
    ending = [one.call.remote("close") for one in actors]
    ray.wait(ending, num_returns=len(ending), timeout=_PATIENCE_SECONDS)
    for one in actors:
        ray.kill(one)


_POOLS: dict[tuple[str, bytes], RayPool] = {}


def pool_of(spec: str, source: Source, options: ModelOptions) -> RayPool:
    """The pool of a model, the same for all runs of a command, so that they share its actors."""
    key = (spec, msgspec.json.encode(structs.replace(options, role="")))
    if key not in _POOLS:
        _POOLS[key] = RayPool(spec, source, options)
    return _POOLS[key]


def connect(on: str) -> None:
    """Connect to the cluster, or start one on this machine; raise a UsageError if that fails."""
    address = os.environ.get("RAY_ADDRESS", "") if on == "ray" else on
    # Ray would report to its makers, and print each death of a worker to the standard output.
    for variable, value in {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "."}.items():
        os.environ.setdefault(variable, value)
    require("ray", "ray")
    try:
        if ray.is_initialized():
            return
        host, colon, port = address.removeprefix("ray://").rpartition(":")
        if colon and port.isdigit():
            # Ray itself would try for minutes.
            socket.create_connection((host, int(port)), _PATIENCE_SECONDS).close()
        quiet = {} if address.startswith("ray://") else {"log_to_driver": False, "logging_level": "error"}
        ray.init(address=address or "local", **quiet, **({} if address else {"include_dashboard": False}))
    except Exception as error:  # Ray raises what it likes here
        advice = (
            "Check the address, or use '--on ray' without RAY_ADDRESS for a cluster on this machine."
            if address
            else "End earlier starts with 'ray stop', wait until the machine is less busy, or omit --on."
        )
        said = f"cannot start or reach Ray at {address or 'this machine'}: {first_line(error)}"
        raise UsageError(f"{said}. {advice}") from None


def _shares(spec: str, options: ModelOptions) -> tuple[int, dict[str, float], dict[str, str]]:
    """How many replicas there are, what each takes of the cluster, and its environment."""
    has = ray.cluster_resources()
    gpus, cores, memory = int(has.get("GPU", 0)), has.get("CPU", 1.0), int(has.get("memory", 0))
    weights = spec.startswith(_WITH_WEIGHTS)
    usual = gpus if gpus and weights else cores // _CORES_A_REPLICA if weights else cores
    count = options.replicas or max(1, int(usual // options.pools))
    wanted, fits = count * options.pools, memory // _BYTES_A_REPLICA // options.pools
    if count > max(1, fits):
        size = f"{memory / 1e9:.1f} GB of memory, enough for {max(1, fits)}"
        raise UsageError(f"--replicas {count} is more than fits: the cluster has {size}.")

    def part(total: float) -> float:
        """A whole core or GPU for each, or an equal part of one."""
        return 1.0 if wanted <= total else 1.0 / ceil(wanted / total)

    environment = {"SOCIOMETER_THREADS": str(max(1, int(cores // wanted)))}
    resources = {"num_cpus": part(cores), "num_gpus": part(gpus) if gpus and weights else 0}
    return count, resources, {name: os.environ.get(name, value) for name, value in environment.items()}
