"""The batches of one model in a run: gathers requests, sends them together and waits for the replies."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import TypeVar

from msgspec import Struct

from sociometer.core.conversation import Reply, Request
from sociometer.core.errors import FailureKind, Filtered, MachineryError, Stopped, UnknownToServer
from sociometer.core.player import BatchEndpoint, BatchResult, certainly_not_created, ended_early
from sociometer.engine.budget import Reservation
from sociometer.engine.progress import Progress
from sociometer.engine.throttle import wait_asked
from sociometer.models.finish import filtered_reply
from sociometer.store.journal import HeldRequest, ProviderBatch, ProviderBatches

Value = TypeVar("Value")
_QUIET_SECONDS = 1.0
"""A batch is sent when no request has come for this long and nothing else is in flight."""
_FIRST_POLL_SECONDS = 1.0
_MOST_MALFORMED = 6
_LONGEST_POLL_SECONDS = 60.0
_SETTLING_SECONDS = 60.0
"""How long after a lost `create` a provider may still show the batch for the first time."""
_LOOK_SECONDS = 5.0
_LONGEST_UPLOAD_SECONDS = 3_600.0
_KEPT_SECONDS = 30 * 86_400.0
"""A batch that the provider does not know after this time was deleted; before, the key is another project's."""


class _Asked(Struct, frozen=True):
    """A request that an item waits for."""

    request: Request
    reservation: Reservation
    answer: "asyncio.Future[BatchResult]"


class Lane:
    """The requests to one model."""

    def __init__(
        self,
        model: str,
        endpoint: BatchEndpoint,
        store: ProviderBatches,
        run: str,
        may_send: Callable[[], bool],
        progress: Progress,
    ) -> None:
        self._model = model
        self._endpoint = endpoint
        self._store = store
        self._run = run
        self._may_send = may_send
        self._progress = progress
        self._asked: dict[bytes, _Asked] = {}
        self._pending: dict[bytes, bytes] = {}
        """Lines that are in no batch yet."""
        self._batch_of: dict[bytes, str] = {}
        """The batch in which each request waits."""
        self._unstored: dict[str, set[bytes]] = {}
        """By batch: the requests whose results are not in the store."""
        self._known: dict[str, str] = {}
        """The provider's ids of batches."""
        self._answers: dict[bytes, BatchResult] = {}
        """Results that no item has asked for yet."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._gathering = False
        self._proven = False
        self._trial: asyncio.Future[None] | None = None
        self._stopped: Exception | None = None

    @property
    def waiting(self) -> int:
        """The number of requests that items wait for."""
        return sum(not asked.answer.done() for asked in self._asked.values())

    def adopt(self, batch: ProviderBatch, held: frozenset[bytes]) -> None:
        """Wait for a batch that an earlier start has sent, or may have sent."""
        keys = [one.key for one in batch.requests if one.key in held]
        if not keys:
            self._store.remove(batch.label)
            return
        self._proven = self._proven or bool(batch.id)
        self._put_into(batch.label, keys)
        self._start(self._follow(batch))

    async def is_open(self, key: bytes) -> bool:
        """Whether a request may go into a batch; False for the first request, which is sent separately."""
        while not (self._proven or self._stopped or key in self._batch_of or key in self._answers):
            if self._trial is None:
                self._trial = asyncio.get_running_loop().create_future()
                return False
            await asyncio.shield(self._trial)
        return True

    def tried(self, answered: bool) -> None:
        """The request that was sent separately was answered, or another one must be sent so."""
        self._proven = self._proven or answered
        trial, self._trial = self._trial, None
        if trial is not None and not trial.done():
            trial.set_result(None)

    async def ask(self, key: bytes, request: Request, reservation: Reservation) -> Reply:
        """The reply, after its batch has ended; a MachineryError if there is none, Stopped if the run ends first."""
        if self._stopped is not None:
            raise self._stopped
        result = self._answers.pop(key, None)
        if result is None:
            answer: asyncio.Future[BatchResult] = asyncio.get_running_loop().create_future()
            self._asked[key] = _Asked(request, reservation, answer)
            try:
                if key not in self._batch_of:
                    self._gather(key, request)
                result = await answer
            finally:
                del self._asked[key]
                self._pending.pop(key, None)
        if isinstance(result, Filtered):
            return filtered_reply(result)
        if isinstance(result, MachineryError):
            raise result
        return self._endpoint.read(result, request)

    def stored(self, key: bytes) -> None:
        """Forget a request; if it was the last one of its batch, the store forgets the batch too."""
        label = self._batch_of.pop(key, "")
        unstored = self._unstored.get(label)
        if unstored is not None:
            unstored.discard(key)
            if not unstored:
                del self._unstored[label]
                self._progress.batches -= 1
                self._store.remove(label)

    def stop(self, reason: Exception) -> None:
        """End all waiting for replies; the store knows what waits at the provider."""
        self._stopped = self._stopped or reason
        for asked in self._asked.values():
            if not asked.answer.done():
                asked.answer.set_exception(self._stopped)
        self.tried(answered=False)

    async def close(self, cancel: bool) -> None:
        """End all waiting."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if cancel:
            waiting = [self._known[label] for label in self._unstored if label in self._known]
            done = await asyncio.gather(*map(self._endpoint.cancel, waiting), return_exceptions=True)
            for failure in done:
                if isinstance(failure, MachineryError):
                    self._progress.warnings.append(f"a batch could not be cancelled: {failure}")

    def _put_into(self, label: str, keys: Iterable[bytes]) -> None:
        self._unstored[label] = set(keys)
        self._progress.batches += 1
        self._batch_of.update(dict.fromkeys(self._unstored[label], label))

    def _gather(self, key: bytes, request: Request) -> None:
        self._pending[key] = self._endpoint.line(key.hex(), request)
        if not self._gathering:
            self._gathering = True
            self._start(self._send_when_quiet())

    async def _send_when_quiet(self) -> None:
        """Send what is pending when no further request can come before one of these is answered."""
        try:
            while self._pending and self._stopped is None:
                before = set(self._pending)
                await asyncio.sleep(_QUIET_SECONDS)
                if self._pending.keys() == before and self._may_send():
                    for lines in self._parts():
                        self._start(self._send(self._new_batch(lines), list(lines.values())))
        finally:
            self._gathering = False

    def _parts(self) -> Iterable[dict[bytes, bytes]]:
        """The pending lines, in parts that fit into one batch each."""
        parts: list[dict[bytes, bytes]] = [{}]
        size = 0
        for key, line in self._pending.items():
            size += len(line) + 1
            if len(parts[-1]) >= self._endpoint.most_requests or (parts[-1] and size > self._endpoint.most_bytes):
                parts.append({})
                size = len(line) + 1
            parts[-1][key] = line
        self._pending.clear()
        return parts

    def _new_batch(self, keys: Iterable[bytes]) -> ProviderBatch:
        reserved = {key: self._asked[key].reservation for key in keys}
        requests = tuple(HeldRequest(key, one.tokens, one.cost) for key, one in reserved.items())
        batch = ProviderBatch(
            f"{self._run}-{secrets.token_hex(6)}", self._run, self._model, requests, created=time.time()
        )
        self._put_into(batch.label, reserved)
        return batch

    async def _send(self, batch: ProviderBatch, lines: list[bytes]) -> None:
        await self._store.add(batch)
        try:
            number = await self._endpoint.create(batch.label, lines)
        except MachineryError as error:
            number = "" if certainly_not_created(error) else await self._search(batch)
            if not number:
                # Without a batch nothing was answered and nothing is charged, whatever went wrong.
                error.tokens = (0, 0)
                self._deliver(batch, {}, error)
                return
        await self._collect(batch, number)

    async def _follow(self, batch: ProviderBatch) -> None:
        """Wait for a batch of an earlier start; send its requests again if it turns out that there is none."""
        number = batch.id or await self._search(batch)
        if number:
            await self._collect(batch, number)
            return
        self._progress.batches -= 1
        for key in self._unstored.pop(batch.label):
            del self._batch_of[key]
            if (asked := self._asked.get(key)) is not None:
                self._gather(key, asked.request)
        self._store.remove(batch.label)

    async def _search(self, batch: ProviderBatch) -> str:
        """The id of a batch whose creation was not confirmed; empty if the provider does not have it."""
        names = frozenset(one.key.hex() for one in batch.requests)
        # Uploading takes its time: only a batch of long ago is certain to be listed by now.
        recent = time.time() - batch.created < _LONGEST_UPLOAD_SECONDS
        ends = time.monotonic() + (_SETTLING_SECONDS if recent else 0.0)
        while True:
            taken = frozenset(self._known.values())
            number = await self._patiently(partial(self._endpoint.find, batch.label, names, batch.created, taken))
            left = ends - time.monotonic()
            if number or left <= 0:
                return number or ""
            await asyncio.sleep(min(left, _LOOK_SECONDS))

    async def _collect(self, batch: ProviderBatch, number: str) -> None:
        self._known[batch.label] = number
        if number != batch.id:
            await self._store.identify(batch.label, number)
        names = {one.key.hex(): one.key for one in batch.requests}
        results: dict[bytes, BatchResult] = {}

        def take(name: str, result: BatchResult) -> None:
            # A request was sent once: its first answer counts, and no other result of it.
            if name in names and not isinstance(results.get(names[name]), bytes):
                results[names[name]] = result

        wait = _FIRST_POLL_SECONDS
        while not (ended := await self._patiently(lambda: self._endpoint.ended(number))):
            if ended is None and time.time() - batch.created < _KEPT_SECONDS:
                raise Stopped(
                    f"the provider does not know batch {number} with this key; use the key of the project that created"
                    " it. Its requests may have been paid for, so they are not sent again."
                )
            if ended is None:
                break
            await asyncio.sleep(wait)
            wait = min(_LONGEST_POLL_SECONDS, wait * 1.5)
        failure = await self._patiently(lambda: self._endpoint.results(number, take))
        self._deliver(batch, results, failure or ended_early("the provider gave no result"))

    def _deliver(self, batch: ProviderBatch, results: dict[bytes, BatchResult], otherwise: MachineryError) -> None:
        for one in batch.requests:
            if self._batch_of.get(one.key) == batch.label:
                result = results.get(one.key, otherwise)
                asked = self._asked.get(one.key)
                if asked is not None and not asked.answer.done():
                    asked.answer.set_result(result)
                else:
                    self._answers[one.key] = result

    async def _patiently(self, call: Callable[[], Awaitable[Value]]) -> Value | None:
        """The provider's answer, however long it takes; None if it does not know the batch.

        An answer that cannot be read several times stops the run; the batch is collected when the run is resumed.
        """
        wait, malformed = _FIRST_POLL_SECONDS, 0
        while True:
            try:
                return await call()
            except UnknownToServer:
                return None
            except MachineryError as error:
                malformed += error.kind is FailureKind.MALFORMED_REPLY
                if not error.retryable or malformed == _MOST_MALFORMED:
                    raise Stopped(f"a batch cannot be collected: {error}") from None
                await asyncio.sleep(max(wait, wait_asked(error, self._model, self._progress)))
                wait = min(_LONGEST_POLL_SECONDS, wait * 1.5)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(self._watched(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _watched(self, work: Coroutine[None, None, None]) -> None:
        """Passes an error to everyone who waits, because it concerns the whole run."""
        try:
            await work
        except Exception as error:
            self.stop(error)
