"""Sends requests in batches: gathers those that wait at the same time, and hands out the replies when a batch ends.

A batch is stored before it is created and forgotten when its last reply is in the journal. So a run can be
stopped or killed at any moment and continued days later: `Journaled` asks for the same keys again, and a key that
is in a batch is waited for, never sent a second time.
"""

from sociometer.core.errors import Stopped, UsageError
from sociometer.core.player import BatchEndpoint
from sociometer.core.session import DrawnRequest, RoleBinding
from sociometer.engine.batches.lane import Lane
from sociometer.engine.budget import Budget
from sociometer.engine.plan import Plan
from sociometer.engine.progress import Progress
from sociometer.store.journal import HeldRequest
from sociometer.store.store import Store

MOST_WAITING = 10_000
"""The maximum number of requests of one model that wait for replies."""


def batch_endpoints(plan: Plan) -> dict[str, BatchEndpoint]:
    """The batches of the models of a plan, by model; a UsageError if `--batch` was given and there are none."""
    if not plan.config.batch:
        return {}
    if plan.config.base:
        raise UsageError("--batch sends conversations only and cannot be combined with -o base; remove one of them.")
    found = {one.spec: endpoint for one in plan.bindings.values() if (endpoint := one.player.batches()) is not None}
    if not found:
        names = ", ".join(dict.fromkeys(one.label for one in plan.bindings.values()))
        raise UsageError(f"--batch needs a model of openai or anthropic, not {names}; remove --batch.")
    return found


def held_requests(store: Store, run: str) -> dict[bytes, HeldRequest]:
    """The requests of a run that wait at a provider: those in batches whose reply is not in the journal."""
    held = {one.key: one for batch in store.batches.of_run(run) for one in batch.requests}
    return {key: one for key, one in held.items() if store.journal.lookup(key, run) is None}


class Batches:
    """The batches of one run, of all its models."""

    def __init__(self, plan: Plan, store: Store, run: str, budget: Budget, progress: Progress) -> None:
        self._budget = budget
        self._cancel = plan.config.cancel_batches
        self._held = held_requests(store, run)
        for held in self._held.values():
            budget.hold(held.tokens, held.cost)
        self._lanes = {
            spec: Lane(spec, endpoint, store.batches, run, self._may_send, progress)
            for spec, endpoint in batch_endpoints(plan).items()
        }
        self._progress = progress
        for batch in store.batches.of_run(run):
            if batch.model in self._lanes:
                self._lanes[batch.model].adopt(batch, frozenset(self._held))

    def serves(self, binding: RoleBinding) -> bool:
        """Whether requests to this role are sent in batches."""
        return binding.spec in self._lanes

    async def lane(self, drawn: DrawnRequest, key: bytes) -> Lane | None:
        """The lane of a request; None if it is sent separately.

        The first request of each model is sent separately: a wrong key, name or option is then found at once and not
        after a day.
        """
        lane = self._lanes.get(drawn.binding.spec)
        return lane if lane is not None and await lane.is_open(key) else None

    def release(self, key: bytes) -> None:
        """End the reservation that a request has from an earlier start, just before it is reserved again."""
        if (held := self._held.pop(key, None)) is not None:
            self._budget.hold(held.tokens, held.cost, -1)

    def tried(self, drawn: DrawnRequest, answered: bool) -> None:
        """A request that was sent separately was answered, or failed."""
        if (lane := self._lanes.get(drawn.binding.spec)) is not None:
            lane.tried(answered)

    def stored(self, drawn: DrawnRequest, key: bytes) -> None:
        """The reply of a request, or its failure, is queued for the store."""
        if (lane := self._lanes.get(drawn.binding.spec)) is not None:
            lane.stored(key)

    def stop(self, reason: Stopped) -> None:
        """Stop waiting; batches stay at the provider. A cap only forbids new requests; sent ones are awaited."""
        if reason.cause.is_cap:
            return
        for lane in self._lanes.values():
            lane.stop(reason)

    async def close(self, interrupted: bool) -> None:
        """End all waiting; cancel the batches of an interrupted run if the user asked for it."""
        for lane in self._lanes.values():
            await lane.close(cancel=interrupted and self._cancel)

    def _may_send(self) -> bool:
        """Whether everything in flight waits for a batch: then no further request can come."""
        return self._progress.in_flight <= sum(lane.waiting for lane in self._lanes.values())
