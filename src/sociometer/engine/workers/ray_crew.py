"""Workers that Ray starts and places, on this machine or on a cluster; leases and journal stay in the store.

A model that runs inside a process (a GGUF file, weights from Hugging Face) is loaded by actors, one for each GPU; all
workers use them.
"""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Abilities, Identity, Player, Reply, Request
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.session import Vectors
from sociometer.engine.runner import Ending
from sociometer.engine.workers.launching import Order, Report
from sociometer.store.place import StoreUrl
from sociometer.store.records import RunStatus

_RETRIES = 3
"""How often Ray restarts a worker whose process or machine is gone."""
_IN_PROCESS = ("local", "hf")
_OPTIONS = ("num_cpus", "num_gpus", "memory")


class RayCrew:
    """Workers as tasks of Ray."""

    def __init__(
        self,
        place: StoreUrl,
        count: int,
        load: Callable[..., Instrument],
        address: str = "",
        resources: dict[str, float] | None = None,
    ) -> None:
        """`address` is empty for a Ray on this machine; `resources` are those of one worker."""
        self._load = load
        self._place = place
        self._count = count
        self._address = address
        self._resources = resources
        self._tasks: list[Any] = []
        self._reports: list[Report] = []
        self._stopped = 0
        self._run = ""
        self._actors: dict[str, list[Any]] = {}

    def start(self, order: Order) -> None:
        ray = _ray()
        if not ray.is_initialized():
            # The address of the store may have a password: nothing of it goes through logs or the dashboard.
            try:
                ray.init(
                    self._address or "local", log_to_driver=False, include_dashboard=False, configure_logging=False
                )
            except (ConnectionError, ImportError, RuntimeError, ValueError) as error:
                said = " ".join(str(error).split())[:200]
                raise UsageError(
                    f"cannot reach Ray at {self._address or 'this machine'}: {said}. Is the address that of the Ray"
                    " client server (ray://HEAD:10001), is 'ray[client]' installed, and does the cluster ask for a"
                    " token (RAY_AUTH_MODE=token)?"
                ) from None
        self._run = order.run
        self._actors = self._players(ray, order.config)
        # The models first: workers that wait for them must not take their place.
        ray.get([actor.about.remote() for actors in self._actors.values() for actor in actors])
        needs = self._resources or {"num_cpus": 0.1 if self._actors else 1}
        work = ray.remote(max_retries=_RETRIES, **_ray_options(needs))(_work)
        told = msgspec.json.encode(order)
        self._tasks = [work.remote(self._place.url, told, self._actors, self._load) for _ in range(self._count)]

    def running(self) -> bool:
        ray = _ray()
        done, self._tasks = ray.wait(self._tasks, num_returns=len(self._tasks), timeout=0) if self._tasks else ([], [])
        for task in done:
            try:
                self._reports.append(Report(msgspec.json.decode(ray.get(task), type=Ending)))
            except Exception as error:
                said = str(error).strip().splitlines()
                self._reports.append(Report(None, f"{type(error).__name__}: {said[-1] if said else ''}"))
        if not self._tasks:
            for actors in self._actors.values():
                for actor in actors:
                    ray.kill(actor)
            self._actors = {}
        return bool(self._tasks)

    def stop(self) -> None:
        self._stopped += 1
        if self._stopped > 1:
            for task in self._tasks:
                _ray().cancel(task, force=True)
            return
        # Every worker looks at the status of its run once a second, wherever it is.
        from sociometer.store.store import Store

        with Store(self._place) as store:
            store.runs.set_status(self._run, RunStatus.STOPPED)
            store.flush()

    def reports(self) -> list[Report]:
        return self._reports

    def _players(self, ray: Any, config: RunConfig) -> dict[str, list[Any]]:
        """The actors of each model that runs inside a process, by its specification."""
        specs = {spec for spec in (config.subject, *config.roles.values()) if spec.partition("/")[0] in _IN_PROCESS}
        if not specs:
            return {}
        count, options = _shares(ray.cluster_resources(), len(specs))
        actor = ray.remote(max_restarts=_RETRIES, max_task_retries=_RETRIES, **options)(PlayerActor)
        told = msgspec.json.encode(config)
        return {spec: [actor.remote(told, spec) for _ in range(count)] for spec in sorted(specs)}


class PlayerActor:
    """A model in its own process that answers the workers, one request after another."""

    def __init__(self, config: bytes, spec: str) -> None:
        from sociometer.engine.roles import SUBJECT, resolve_player

        told = msgspec.json.decode(config, type=RunConfig)
        role = SUBJECT if spec == told.subject else next(name for name, one in told.roles.items() if one == spec)
        self._player: Player = resolve_player(spec, role, told)

    def about(self) -> tuple[Identity, Abilities]:
        """The identity and the abilities of the model."""
        return self._player.identity, getattr(self._player, "abilities", Abilities())

    async def answer(self, request: Request) -> Reply:
        """The reply."""
        return await self._player.answer(request)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts."""
        return await self._player.embed(texts)


class RayPlayer:
    """Asks the actors of a model in turn."""

    journaled = True
    parallel = True

    def __init__(self, actors: list[Any]) -> None:
        self._turns = itertools.cycle(actors)
        self.identity: Identity
        self.abilities: Abilities
        self.identity, self.abilities = _ray().get(actors[0].about.remote())

    async def answer(self, request: Request) -> Reply:
        """The reply of the next actor."""
        reply: Reply = await asyncio.wrap_future(next(self._turns).answer.remote(request).future())
        return reply

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts."""
        vectors: Vectors = await asyncio.wrap_future(next(self._turns).embed.remote(texts).future())
        return vectors

    async def close(self) -> None:
        """Nothing to close: the actors end with the crew."""


def _work(url: str, order: bytes, actors: dict[str, list[Any]], load: Callable[..., Instrument]) -> bytes:
    """One worker, from joining the run to leaving it."""
    from sociometer.engine.engine import Engine, run_loop
    from sociometer.store.store import Store

    told = msgspec.json.decode(order, type=Order)
    with Store(url) as store:
        engine = Engine(store, load)
        engine.lease_seconds = told.lease_seconds
        players: dict[str, Player] = {spec: RayPlayer(theirs) for spec, theirs in actors.items()}
        played = run_loop(engine.play(engine.prepare_again(told.run, told.config, players, told.key_variables)))
    return msgspec.json.encode(played.ending)


def _shares(resources: dict[str, float], models: int) -> tuple[int, dict[str, float]]:
    """The number of actors of each model, and the resources of one: all must fit at once, or they wait forever."""
    gpus = int(resources.get("GPU", 0))
    if gpus:
        return max(1, gpus // models), {"num_gpus": min(1.0, gpus / models)}
    # Half of the processors stays for the workers.
    return 1, {"num_cpus": min(1.0, resources.get("CPU", 1) / (2 * models))}


def _ray_options(resources: dict[str, float]) -> dict[str, Any]:
    own = {name: value for name, value in resources.items() if name not in _OPTIONS}
    known = {name: value for name, value in resources.items() if name in _OPTIONS}
    return {**known, **({"resources": own} if own else {})}


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise UsageError("this needs the extra 'ray': pip install 'sociometer[ray]'.") from None
    return ray
