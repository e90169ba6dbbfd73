"""Runs: what was played, under which settings, and how far it got."""

import secrets
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Summary
from sociometer.core.task import Item
from sociometer.store.database import storage_errors
from sociometer.store.records import Manifest, RunRecord
from sociometer.store.texts import TextShelf, pack, unpack
from sociometer.store.writer import Writer

_encode = msgspec.json.Encoder().encode
_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
_COLUMNS = "id, instrument, subject, status, manifest, created, finished"


class Runs:
    """The runs in the store with their items and summaries."""

    def __init__(self, path: Path, writer: Writer, reader: sqlite3.Connection, texts: TextShelf) -> None:
        self._path = path
        self._writer = writer
        self._reader = reader
        self._texts = texts

    def create(self, manifest: Manifest, subject: str, config_hash: str, *, only: bool = False) -> RunRecord:
        """A new run with an id of its own; with `only`, the one that another process made of the same just now."""
        name = f"{manifest.instrument}-{''.join(secrets.choice(_ALPHABET) for _ in range(5))}"
        created = time.time()
        row = (name, manifest.instrument, subject, config_hash, "playing", pack(_encode(manifest)), created)
        unless = " WHERE NOT EXISTS (SELECT 1 FROM run WHERE config_hash = ?)" if only else ""
        self._writer.execute(
            "INSERT INTO run (id, instrument, subject, config_hash, status, manifest, created)"
            f" SELECT ?, ?, ?, ?, ?, ?, ?{unless}",
            (*row, config_hash) if only else row,
        )
        self._writer.flush()
        made = RunRecord(name, manifest.instrument, subject, "playing", manifest, created, None)
        return made if not only else self.with_config(config_hash) or made

    def delete(self, run: str) -> None:
        """Removes a run with all that hangs on it; replies in the journal stay."""
        self._writer.execute("DELETE FROM run WHERE id = ?", (run,))
        self._writer.flush()

    def set_status(self, run: str, status: str) -> None:
        """Says how a run stands: playing, stopped, failed, finished."""
        finished = time.time() if status == "finished" else None
        self._writer.execute("UPDATE run SET status = ?, finished = ? WHERE id = ?", (status, finished, run))

    def with_config(self, config_hash: str) -> RunRecord | None:
        """The newest run made by the same command on the same models and data."""
        return next(self._select("WHERE config_hash = ? ORDER BY created DESC LIMIT 1", (config_hash,)), None)

    def all(self) -> Iterator[RunRecord]:
        """All runs, oldest first."""
        return self._select("ORDER BY created, id", ())

    def get(self, reference: str) -> RunRecord:
        """The run of that id, of an id that begins so, or the newest one (`last`)."""
        if reference == "last":
            newest = next(self._select("ORDER BY created DESC LIMIT 1", ()), None)
            if newest is None:
                raise UsageError(
                    "there is no run in the store yet; start one with 'sociometer run INSTRUMENT --model MODEL'."
                )
            return newest
        exact = next(self._select("WHERE id = ?", (reference,)), None)
        if exact is not None:
            return exact
        pattern = reference.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        found = list(self._select("WHERE id LIKE ? ESCAPE '\\' ORDER BY created", (pattern,)))
        if len(found) == 1 and reference:
            return found[0]
        if len(found) > 1 and reference:
            raise UsageError(f"'{reference}' begins several runs: {', '.join(run.id for run in found)}; name one.")
        raise unknown("run", reference, (run.id for run in self.all()), "Run 'sociometer runs' to see all.")

    def add_item(self, run: str, task: str, position: int, item: Item) -> None:
        """Keeps an item as it was played."""
        name, body = item.id, _encode(item)
        self._writer.queue(
            lambda connection: connection.execute(
                "INSERT OR IGNORE INTO item (run, task, id, position, body) VALUES (?, ?, ?, ?, ?)",
                (run, task, name, position, self._texts.put(connection, body)),
            )
        )

    def set_summary(self, run: str, task: str, summary: Summary) -> None:
        """Keeps a summary in place of an earlier one."""
        body = pack(_encode(summary))
        self._writer.execute("INSERT OR REPLACE INTO summary (run, task, body) VALUES (?, ?, ?)", (run, task, body))

    def summary(self, run: str, task: str) -> Summary | None:
        """A run's summary, or None where it was never made."""
        with storage_errors(self._path):
            row = self._reader.execute("SELECT body FROM summary WHERE run = ? AND task = ?", (run, task)).fetchone()
        return msgspec.json.decode(unpack(row[0]), type=Summary) if row else None

    def _select(self, where: str, values: tuple[str, ...]) -> Iterator[RunRecord]:
        with storage_errors(self._path):
            for row in self._reader.execute(f"SELECT {_COLUMNS} FROM run {where}", values):  # noqa: S608
                name, instrument, subject, status, manifest, created, finished = row
                told = msgspec.json.decode(unpack(manifest), type=Manifest)
                yield RunRecord(name, instrument, subject, status, told, created, finished)
