"""The journal: every reply, stored before it is used."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

import msgspec
from msgspec import structs

from sociometer.core.conversation import Identity, Message, Usage
from sociometer.core.errors import StoreError
from sociometer.store.database import Connection, marks, portions
from sociometer.store.records import Charge, JournalEntry, Spent
from sociometer.store.texts import Connections, StoredTexts, StorePart, get_texts, seal, split_hashes, unseal
from sociometer.store.writer import ALLOWANCE, ATTEMPT, JOURNAL, Transaction, batches, tell

_AT_ONCE = 500
_MOST_RESERVED, _MOST_LOST = 1e15, 1_000_000
"""More than a run can have reserved, and more requests than it can have in flight."""
_FIND = "SELECT key, origin, reply FROM journal WHERE key = ANY(?::bytea[])"
Waiting = tuple[bytes, str, "asyncio.Future[bytes | None]"]


class Lookups:
    """Keys wait in a queue; one query answers all that wait."""

    def __init__(self, reader: Connection) -> None:
        self._reader = reader
        self._queue: SimpleQueue[Waiting | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def find(self, key: bytes, origin: str) -> "asyncio.Future[bytes | None]":
        """The stored reply of a key that was received here or came from `origin`, or None."""
        future: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="store-lookups", daemon=True)
            self._thread.start()
        self._queue.put((key, origin, future))
        return future

    def close(self) -> None:
        """Answer what waits, and end the thread."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        for waiting in batches(self._queue, _AT_ONCE):
            keys = list({key for key, _, _ in waiting})
            found: dict[tuple[bytes, str], bytes] | StoreError
            try:
                found = {(key, origin): reply for key, origin, reply in self._reader.execute(_FIND, (keys,)).fetchall()}
            except StoreError as error:
                found = error
            tell(
                [
                    (future, found if isinstance(found, StoreError) else found.get((key, origin), found.get((key, ""))))
                    for key, origin, future in waiting
                ]
            )


_encode_json = msgspec.json.Encoder(order="deterministic").encode
# Nobody is paid for a request: a forged amount below zero must not raise a limit.
_AMOUNTS = ", ".join(
    f"CASE WHEN {name} < 0 THEN 0 ELSE {name} END AS {name}"
    for name in ("input_tokens", "output_tokens", "cost", "charged_tokens", "charged_cost")
)
_ANSWERED = "NOT (coalesce(input_tokens, -1) = 0 AND coalesce(output_tokens, -1) = 0)"
_SPENT = f"""
WITH spent AS (
  SELECT {_AMOUNTS} FROM journal WHERE run = ?
  UNION ALL
  SELECT {_AMOUNTS} FROM attempt WHERE run = ?
)
SELECT count(*), sum(input_tokens), sum(output_tokens), sum(cost),
  count(*) FILTER (WHERE cost IS NULL AND {_ANSWERED}),
  count(*) FILTER (WHERE input_tokens IS NULL OR output_tokens IS NULL),
  sum(charged_tokens), sum(charged_cost), count(cost) FILTER (WHERE {_ANSWERED})
FROM spent
"""  # noqa: S608
_SPEAKERS = {"system": b"s", "user": b"u", "assistant": b"a", "text": b"t", "calls": b"c", "result": b"r"}
_NAMES = {value[0]: key for key, value in _SPEAKERS.items()}


class Journal(StorePart):
    """Replies by key."""

    def __init__(self, shared: Connections) -> None:
        super().__init__(shared)
        self._models: dict[Identity, int] = {}
        self._origins: dict[str, str] = {}
        self._lookups: Lookups | None = None

    def lookup(self, key: bytes, run: str = "") -> bytes | None:
        """The reply under that key, encoded, or None; a copied reply is only for runs that were copied with it."""
        query = "SELECT reply FROM journal WHERE key = ? AND origin IN ('', ?) ORDER BY origin DESC LIMIT 1"
        with self._database.errors():
            row = self._row(query, key, self._origin(run))
            return unseal(row[0], key) if row else None

    async def find(self, key: bytes, run: str = "") -> bytes | None:
        """The same as `lookup`; a remote database is asked without blocking other work."""
        if not self._database.remote:
            return self.lookup(key, run)
        if self._lookups is None:
            self._lookups = Lookups(self._reader)
        stored = await self._lookups.find(key, self._origin(run))
        with self._database.errors():
            return None if stored is None else unseal(stored, key)

    def knows(self, identity: Identity) -> bool:
        """Whether there is any reply of this model; if not, lookups can be skipped."""
        query = "SELECT 1 FROM journal JOIN model ON model.id = journal.model WHERE identity = ? LIMIT 1"
        return self._row(query, _encode_json(identity).decode()) is not None

    def keep(self, entry: JournalEntry) -> "asyncio.Future[bytes | None]":
        """Queue a reply; the future is done when it is on disk.

        Its result is None, or the reply that another process has already stored for this draw, which is then used. What
        was spent is counted in both cases.
        """
        created = time.time()
        return self._writer.committed(lambda batch: self._insert(batch, entry, created))

    def count_attempt(self, run: str, usage: Usage | None, charge: Charge) -> None:
        """Queue the usage of an attempt without a reply to store; no usage means that there was no response."""
        used = usage or Usage(0, 0)
        row = (run, used.input_tokens, used.output_tokens, *structs.astuple(charge), time.time())
        self._writer.queue(lambda batch: batch.put(ATTEMPT, row))

    def allow(self, run: str, requests: int, tokens: int, cost: float) -> "asyncio.Future[Any]":
        """Queue the worst case of the whole run; the future is done when it is on disk."""
        row = (run, requests, tokens, cost)
        return self._writer.committed(lambda batch: batch.put(ALLOWANCE, row))

    def end_allowance(self, run: str) -> None:
        """Queue the fact that a run has no more requests in flight."""
        self._writer.queue(lambda batch: batch.execute("DELETE FROM allowance WHERE run = ?", (run,)))

    def charge_allowance(self, run: str) -> None:
        """Charge the worst case of the requests that a killed run had in flight, as attempts without a reply."""
        row = self._allowance(run)
        if row is None:
            return
        spent = self.spent(run).against_caps
        lost, now = max(0, row[0] - spent[0]), time.time()
        if lost > _MOST_LOST:
            raise StoreError(f"the record of what run {run} has reserved is damaged.")
        charges = [(run, 0, 0, None, 0, 0.0, now)] * lost
        if lost:
            tokens, cost = row[1] - spent[1], row[2] - spent[2]
            charges[0] = (run, 0, 0, None, max(0, tokens), max(0.0, cost), now)

        def charge(batch: Transaction) -> None:
            for one in charges:
                batch.put(ATTEMPT, one)
            batch.execute("DELETE FROM allowance WHERE run = ?", (run,))

        self._writer.queue(charge)
        self._writer.flush()

    def _allowance(self, run: str) -> tuple[int, int, float] | None:
        row = self._row("SELECT requests, tokens, cost FROM allowance WHERE run = ?", run)
        if row is None:
            return None
        if not all(isinstance(part, int | float) and 0 <= part < _MOST_RESERVED for part in row):
            raise StoreError(f"the record of what run {run} has reserved is damaged.")
        return row[0], row[1], row[2]

    def spent_at_most(self, run: str) -> tuple[int, int, float]:
        """Requests, tokens and cost of a run as caps count them, with what it may have in flight."""
        spent, allowed = self.spent(run).against_caps, self._allowance(run) or (0, 0, 0.0)
        return max(spent[0], allowed[0]), max(spent[1], allowed[1]), max(spent[2], allowed[2])

    def spent(self, run: str) -> Spent:
        """The requests, tokens and cost of a run, including failed attempts."""
        with self._database.errors():
            return spent_by(self._reader, run)

    def count_requests(self, run: str) -> "asyncio.Future[int]":
        """How many requests of a run are stored, after everything that is queued."""
        return self._writer.committed(lambda batch: spent_by(batch.connection, run).requests)

    def count_replies(self, run: str, identity: Identity) -> int:
        """How many replies of one player to a run are on disk."""
        query = "SELECT count(*) FROM journal JOIN model ON model.id = journal.model WHERE run = ? AND identity = ?"
        return int(self._row(query, run, _encode_json(identity).decode())[0])

    def asked(
        self, key: bytes, run: str = "", known: dict[bytes, Message] | None = None
    ) -> tuple[tuple[Message, ...], bytes]:
        """What was asked under a key, and the reply; `known` are messages read before, by their hash."""
        query = "SELECT messages, reply FROM journal WHERE key = ? ORDER BY origin = ? DESC, origin LIMIT 1"
        with self._database.errors():
            row = self._row(query, key, self._origin(run))
            if row is None:
                raise StoreError(f"the reply {key.hex()} of run {run} is missing from the journal.")
            return read_messages(self._reader, row[0], known), unseal(row[1], key)

    def replies(self, keys: Sequence[bytes], run: str) -> dict[bytes, bytes]:
        """The replies under these keys, as `asked` finds each."""
        found: dict[bytes, tuple[bool, str, bytes]] = {}
        for some in portions(keys):
            query = f"SELECT key, origin, reply FROM journal WHERE key IN {marks(some)}"  # noqa: S608
            for key, origin, reply in self._rows(query, *some):
                row = (origin != self._origin(run), origin, reply)
                found[key] = min(found.get(key, row), row)
        if missing := next((key for key in keys if key not in found), None):
            raise StoreError(f"the reply {missing.hex()} of run {run} is missing from the journal.")
        return {key: unseal(reply, key) for key, (_, _, reply) in found.items()}

    def _origin(self, run: str) -> str:
        """The store that a run was copied from."""
        if run not in self._origins:
            row = self._row("SELECT origin FROM run WHERE id = ?", run)
            self._origins[run] = row[0] if row else ""
        return self._origins[run]

    def _insert(self, batch: Transaction, entry: JournalEntry, created: float) -> Callable[[], bytes | None]:
        spent = (entry.usage.input_tokens, entry.usage.output_tokens, *structs.astuple(entry.charge), created)
        row = (
            entry.key,
            "",
            self._model(batch, entry.identity),
            entry.run,
            put_messages(batch, self._texts, entry.messages),
            seal(entry.reply, entry.key),
            *spent,
        )
        batch.put(JOURNAL, row)

        def other() -> bytes | None:
            stored = batch.other_reply(row)
            if stored is None:
                return None
            batch.put(ATTEMPT, (entry.run, *spent))
            return unseal(stored, entry.key)

        return other

    def _model(self, batch: Transaction, identity: Identity) -> int:
        number = self._models.get(identity)
        if number is None:
            number = self._models[identity] = batch.model(_encode_json(identity).decode())
        return number

    def close(self) -> None:
        """End the thread that looks up replies, and forget where runs come from."""
        if self._lookups is not None:
            self._lookups.close()
            self._lookups = None
        self._origins.clear()

    def forget(self) -> None:
        """Forget the row numbers of models, after their transaction was rolled back."""
        self._models.clear()


def spent_by(connection: Connection, run: str) -> Spent:
    """The requests, tokens and cost of a run, including failed attempts."""
    row = connection.execute(_SPENT, (run, run)).fetchone()
    requests, read, written, cost, unpriced, unmetered, tokens, charged, priced = (part or 0 for part in row)
    return Spent(
        requests, int(read), int(written), float(cost), unpriced, unmetered, int(tokens), float(charged), priced
    )


def put_messages(batch: Transaction, texts: StoredTexts, messages: tuple[Message, ...]) -> bytes:
    """Store messages as texts and return their joined hashes."""
    return b"".join(
        [
            texts.put(batch, _SPEAKERS[message.role] + message.content.encode("utf-8", "surrogatepass"))
            for message in messages
        ]
    )


def read_messages(
    connection: Connection, joined: bytes, known: dict[bytes, Message] | None = None
) -> tuple[Message, ...]:
    """The messages whose hashes were joined; those in `known` are not read again, and what is read is added to it."""
    found = {} if known is None else known
    hashes = split_hashes(joined)
    missing = [each for each in dict.fromkeys(hashes) if each not in found]
    for digest, body in zip(missing, get_texts(connection, missing), strict=True):
        found[digest] = Message(_NAMES.get(body[0], "user"), body[1:].decode("utf-8", "replace"))  # type: ignore[arg-type]
    return tuple(found[each] for each in hashes)
