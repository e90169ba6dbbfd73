"""The store: one SQLite file that several processes may use at once."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from types import TracebackType

from sociometer.core.conversation import Identity
from sociometer.core.errors import UsageError
from sociometer.store.database import connect, is_current, storage_errors
from sociometer.store.episodes import Episodes
from sociometer.store.erasing import erase_run
from sociometer.store.journal import Journal
from sociometer.store.lock import RunLock
from sociometer.store.provider_batches import ProviderBatches
from sociometer.store.runs import Runs
from sociometer.store.texts import TextShelf
from sociometer.store.writer import Writer


class Store:
    """Journal, runs and episodes over one writer and one reader; the file is opened or created on first use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened: _Opened | None = None

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def journal(self) -> Journal:
        """Every stored reply."""
        return self._open().journal

    @property
    def runs(self) -> Runs:
        """The runs with their items and summaries."""
        return self._open().runs

    @property
    def episodes(self) -> Episodes:
        """The episodes of all runs."""
        return self._open().episodes

    @property
    def batches(self) -> ProviderBatches:
        """The batches that wait at a provider."""
        return self._open().batches

    @property
    def reader(self) -> sqlite3.Connection:
        """The read-only connection."""
        return self._open().reader

    def backup(self, path: Path) -> None:
        """Copy the store to a new file, completely or not at all; runs in progress continue."""
        if path.exists():
            raise UsageError(f"{path} already exists; give backup a new file name.")
        partial = path.with_name(f".{path.name}.part")
        try:
            with storage_errors(path), closing(sqlite3.connect(partial)) as copy:
                self.reader.backup(copy)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)

    def erase(self, run: str, identity: Identity) -> None:
        """Deletes a run, every reply to it, and that player's replies to any other, without a trace in the file."""
        opened = self._open()

        def erase(connection: sqlite3.Connection) -> None:
            erase_run(connection, run, identity)
            # Here, between other writes: the next one must not take for stored what has just been deleted.
            opened.forget()

        with RunLock(self.path, run):
            opened.writer.queue(erase)
            opened.writer.flush()
        with storage_errors(self.path), closing(connect(self.path)) as connection:
            # What was deleted is also in the write-ahead log until it is written back.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @property
    def backlog(self) -> int:
        """The number of operations that wait to be written."""
        return self._open().writer.backlog

    def flush(self) -> None:
        """Wait until everything queued is on disk and can be read."""
        self._open().writer.flush()

    def close(self) -> None:
        """Write everything queued and close the file."""
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.reader.close()
            opened.writer.close()

    def _open(self) -> "_Opened":
        if self._opened is None:
            self._opened = _Opened(self.path)
        return self._opened


class _Opened:
    """The open file."""

    def __init__(self, path: Path) -> None:
        self._texts = TextShelf()
        self.writer = Writer(path, on_rollback=self.forget)
        if not is_current(path):
            self.writer.start()
        try:
            self.reader = connect(path, writable=False)
        except BaseException:
            self.writer.close()
            raise
        self.journal = Journal(path, self.writer, self.reader, self._texts)
        self.batches = ProviderBatches(self.writer, self.reader, partial(storage_errors, path))
        self.runs = Runs(path, self.writer, self.reader, self._texts)
        self.episodes = Episodes(path, self.writer, self.reader, self._texts, self.journal)

    def forget(self) -> None:
        """Forget recent texts, which may have been deleted."""
        self._texts.forget()
        self.journal.forget()
