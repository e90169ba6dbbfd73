"""The store: one SQLite file that several processes may use at once."""

import sqlite3
from contextlib import closing
from pathlib import Path
from types import TracebackType

from sociometer.core.conversation import Identity
from sociometer.core.errors import UsageError
from sociometer.store.database import connect, is_current, storage_errors
from sociometer.store.episodes import Episodes
from sociometer.store.erasing import erase_run
from sociometer.store.journal import Journal
from sociometer.store.lock import RunLock
from sociometer.store.runs import Runs
from sociometer.store.texts import TextShelf
from sociometer.store.writer import Writer


class Store:
    """Journal, runs and episodes over one writer and one reader; the file is opened, or made, at the first use."""

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
        """Every reply ever paid for."""
        return self._open().journal

    @property
    def runs(self) -> Runs:
        """The runs with their items and summaries."""
        return self._open().runs

    @property
    def episodes(self) -> Episodes:
        """What happened when items were played."""
        return self._open().episodes

    @property
    def reader(self) -> sqlite3.Connection:
        """The connection that reads; nothing can be written through it."""
        return self._open().reader

    def backup(self, path: Path) -> None:
        """Copies the store to a new file, whole or not at all; runs that are being played go on."""
        if path.exists():
            raise UsageError(f"{path}: there is a file already; give backup a new name.")
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
        """How many operations wait to be written."""
        return self._open().writer.backlog

    def flush(self) -> None:
        """Waits until all that was queued is on disk and can be read."""
        self._open().writer.flush()

    def close(self) -> None:
        """Writes what is queued and closes the file."""
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
        self.runs = Runs(path, self.writer, self.reader, self._texts)
        self.episodes = Episodes(path, self.writer, self.reader, self._texts, self.journal)

    def forget(self) -> None:
        """Forgets what was put lately: it may be gone."""
        self._texts.forget()
        self.journal.forget()
