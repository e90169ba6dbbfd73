"""The journal: every reply, stored before it is used."""

import asyncio
import sqlite3
import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from sociometer.core.conversation import Identity, Message, Usage
from sociometer.store.database import storage_errors
from sociometer.store.records import Charge, JournalEntry, Spent
from sociometer.store.texts import TextShelf, get_texts, seal, split_hashes, unseal
from sociometer.store.writer import Writer

_encode_json = msgspec.json.Encoder(order="deterministic").encode
_PUT_ALLOWANCE = "INSERT OR REPLACE INTO allowance (run, requests, tokens, cost) VALUES (?, ?, ?, ?)"
_SPEAKERS = {"system": b"s", "user": b"u", "assistant": b"a", "text": b"t"}
_NAMES = {value[0]: key for key, value in _SPEAKERS.items()}


class Journal:
    """Replies by key."""

    def __init__(self, path: Path, writer: Writer, reader: sqlite3.Connection, texts: TextShelf) -> None:
        self._path = path
        self._writer = writer
        self._reader = reader
        self._texts = texts
        self._models: dict[Identity, int] = {}

    def lookup(self, key: bytes) -> bytes | None:
        """The reply under that key, encoded, or None."""
        with storage_errors(self._path):
            row = self._reader.execute("SELECT reply FROM journal WHERE key = ?", (key,)).fetchone()
            return unseal(row[0], key) if row else None

    def knows(self, identity: Identity) -> bool:
        """Whether there is any reply of this model; if not, lookups can be skipped."""
        with storage_errors(self._path):
            row = self._reader.execute(
                "SELECT 1 FROM journal JOIN model ON model.id = journal.model WHERE identity = ? LIMIT 1",
                (_encode_json(identity).decode(),),
            ).fetchone()
        return row is not None

    def keep(self, entry: JournalEntry) -> "asyncio.Future[bytes | None]":
        """Queues a reply; the future is done when it is on disk.

        Its result is None, or the reply that another process has stored for this draw, which then counts.
        """
        return self._writer.committed(lambda connection: self._insert(connection, entry))

    def count_attempt(self, run: str, usage: Usage | None, charge: Charge) -> None:
        """Queue the usage of an attempt without a reply to store; no usage means that there was no response."""
        used = usage or Usage(0, 0)
        row = (run, used.input_tokens, used.output_tokens, *structs.astuple(charge), time.time())
        self._writer.execute("INSERT INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def allow(self, run: str, requests: int, tokens: int, cost: float) -> "asyncio.Future[Any]":
        """Queue the worst case of the whole run; the future is done when it is on disk."""
        row = (run, requests, tokens, cost)
        return self._writer.committed(lambda connection: connection.execute(_PUT_ALLOWANCE, row))

    def end_allowance(self, run: str) -> None:
        """Queue that a run has no requests in flight any more."""
        self._writer.execute("DELETE FROM allowance WHERE run = ?", (run,))

    def charge_allowance(self, run: str, held: tuple[int, int, float] = (0, 0, 0.0)) -> None:
        """Charge the worst case of the requests that a killed run had in flight, as attempts without a reply.

        `held` is the worst case of those that still wait at a provider: they are not lost.
        """
        with storage_errors(self._path):
            row = self._reader.execute("SELECT requests, tokens, cost FROM allowance WHERE run = ?", (run,)).fetchone()
        if row is None:
            return
        spent = self.spent(run).against_caps
        requests, tokens, cost = (one + other for one, other in zip(spent, held, strict=True))
        lost, now = max(0, row[0] - requests), time.time()
        charges = [(run, 0, 0, None, 0, 0.0, now)] * lost
        if lost:
            charges[0] = (run, 0, 0, None, max(0, row[1] - tokens), max(0.0, row[2] - cost), now)

        def charge(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?)", charges)
            connection.execute("DELETE FROM allowance WHERE run = ?", (run,))

        self._writer.queue(charge)
        self._writer.flush()

    def spent(self, run: str) -> Spent:
        """The requests, tokens and cost of a run, including failed attempts."""
        with storage_errors(self._path):
            row = self._reader.execute(
                "WITH spent AS ("
                " SELECT input_tokens, output_tokens, cost, charged_tokens, charged_cost FROM journal WHERE run = ?"
                " UNION ALL"
                " SELECT input_tokens, output_tokens, cost, charged_tokens, charged_cost FROM attempt WHERE run = ?)"
                " SELECT count(*), total(input_tokens), total(output_tokens), total(cost),"
                " sum(cost IS NULL AND (input_tokens, output_tokens) IS NOT (0, 0)),"
                " sum(input_tokens IS NULL OR output_tokens IS NULL), total(charged_tokens), total(charged_cost),"
                " count(cost) FROM spent",
                (run, run),
            ).fetchone()
        return Spent(
            row[0], int(row[1]), int(row[2]), row[3], row[4] or 0, row[5] or 0, int(row[6]), row[7], int(row[8])
        )

    def count_replies(self, run: str, identity: Identity) -> int:
        """How many replies of one player to a run are on disk."""
        with storage_errors(self._path):
            row = self._reader.execute(
                "SELECT count(*) FROM journal JOIN model ON model.id = journal.model WHERE run = ? AND identity = ?",
                (run, _encode_json(identity).decode()),
            ).fetchone()
        return int(row[0])

    def asked(self, key: bytes, known: dict[bytes, Message] | None = None) -> tuple[tuple[Message, ...], bytes]:
        """What was asked under a key, and the reply; `known` are messages read before, by their hash."""
        with storage_errors(self._path):
            row = self._reader.execute("SELECT messages, reply FROM journal WHERE key = ?", (key,)).fetchone()
            return (read_messages(self._reader, row[0], known), unseal(row[1], key)) if row else ((), b"")

    def _insert(self, connection: sqlite3.Connection, entry: JournalEntry) -> bytes | None:
        done = connection.execute(
            "INSERT INTO journal (key, model, run, messages, reply, input_tokens, output_tokens, cost,"
            " charged_tokens, charged_cost, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (key) DO NOTHING",
            (
                entry.key,
                self._model(connection, entry.identity),
                entry.run,
                put_messages(connection, self._texts, entry.messages),
                seal(entry.reply, entry.key),
                entry.usage.input_tokens,
                entry.usage.output_tokens,
                *structs.astuple(entry.charge),
                time.time(),
            ),
        )
        if done.rowcount:
            return None
        row = connection.execute("SELECT reply FROM journal WHERE key = ?", (entry.key,)).fetchone()
        return unseal(row[0], entry.key)

    def _model(self, connection: sqlite3.Connection, identity: Identity) -> int:
        number = self._models.get(identity)
        if number is None:
            text = _encode_json(identity).decode()
            connection.execute("INSERT OR IGNORE INTO model (identity) VALUES (?)", (text,))
            number = int(connection.execute("SELECT id FROM model WHERE identity = ?", (text,)).fetchone()[0])
            self._models[identity] = number
        return number

    def forget(self) -> None:
        """Forget the row numbers of models, after their transaction was rolled back."""
        self._models.clear()


def put_messages(connection: sqlite3.Connection, texts: TextShelf, messages: tuple[Message, ...]) -> bytes:
    """Store messages as texts and return their joined hashes."""
    return b"".join(
        [
            texts.put(connection, _SPEAKERS[message.role] + message.content.encode("utf-8", "surrogatepass"))
            for message in messages
        ]
    )


def read_messages(
    connection: sqlite3.Connection, joined: bytes, known: dict[bytes, Message] | None = None
) -> tuple[Message, ...]:
    """The messages whose hashes were joined; those in `known` are not read again, and what is read is added to it."""
    found = {} if known is None else known
    hashes = split_hashes(joined)
    missing = [each for each in dict.fromkeys(hashes) if each not in found]
    for digest, body in zip(missing, get_texts(connection, missing), strict=True):
        if body:
            found[digest] = Message(_NAMES.get(body[0], "user"), body[1:].decode("utf-8", "replace"))  # type: ignore[arg-type]
    return tuple(found[each] for each in hashes if each in found)
