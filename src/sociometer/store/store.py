"""The store: a SQLite file or a PostgreSQL database, which several processes may use at once."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TypeVar

from sociometer.store.database import Connection, Database
from sociometer.store.episodes import Episodes
from sociometer.store.journal import Journal, ProviderBatches
from sociometer.store.place import StorePlace, StoreUrl, parse_place
from sociometer.store.records import RunRecord, Totals
from sociometer.store.runs import Runs
from sociometer.store.sqlite import SqliteDatabase
from sociometer.store.texts import StoredTexts
from sociometer.store.writer import Transaction, Writer

Value = TypeVar("Value")


def database_at(place: StorePlace) -> Database:
    """The database of a place; nothing is opened yet."""
    if isinstance(place, StoreUrl):
        from sociometer.store.postgresql import PostgresDatabase  # here, since it needs the extra 'postgres'

        return PostgresDatabase(place)
    return SqliteDatabase(place)


class Store:
    """Journal, runs and episodes over one writer and one reader; the store is opened or created on first use."""

    def __init__(self, path: StorePlace | str) -> None:
        self.path = parse_place(path)
        self.database = database_at(self.path)
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
    def reader(self) -> Connection:
        """The read-only connection."""
        return self._open().reader

    def hold(self, run: str) -> AbstractContextManager[object]:
        """Hold a run exclusively while the context lasts; a StoreError if it is being played."""
        return self.database.hold(run)

    def is_played(self, run: str) -> bool:
        """Whether a process is playing the run now."""
        return self._open().is_played(run)

    def write(self, operation: Callable[[Transaction], Value]) -> Value:
        """Run an operation in the writer, wait until it is on disk, and return its result or raise its error."""
        results: list[Value] = []
        errors: list[Exception] = []

        def run(batch: Transaction) -> None:
            try:
                results[:] = [operation(batch)]
            except Exception as error:
                errors[:] = [error]
                raise

        self._open().writer.queue(run)
        self._open().writer.flush()
        if not results:
            raise errors[0]
        return results[0]

    def forget(self) -> None:
        """Forget recent texts, which may have been deleted."""
        self._open().forget()

    def totals(self, record: RunRecord) -> Totals:
        """The counts and the spending of a run; computed now for a run in progress."""
        if record.totals is not None:
            return record.totals
        return Totals(*self.episodes.counts(record.id), self.journal.spent(record.id))

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
            opened.close()

    def _open(self) -> "_Opened":
        if self._opened is None:
            self._opened = _Opened(self.database)
        return self._opened


class _Opened:
    """The open store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._texts = StoredTexts()
        self.writer = Writer(database, on_rollback=self.forget)
        if not database.is_current():
            self.writer.start()
        try:
            self.reader = database.connect(writable=False)
        except BaseException:
            self.writer.close()
            raise
        self.journal = Journal(database, self.writer, self.reader, self._texts)
        self.batches = ProviderBatches(self.writer, self.reader, database.errors)
        self.runs = Runs(database, self.writer, self.reader, self._texts, self.is_played)
        self.episodes = Episodes(database, self.writer, self.reader, self._texts, self.journal)

    def is_played(self, run: str) -> bool:
        """Whether a process is playing the run now."""
        return self._database.is_played(run)

    def close(self) -> None:
        """Write everything queued and close the connections."""
        self.journal.close()
        self.reader.close()
        self.writer.close()

    def forget(self) -> None:
        """Forget recent texts, which may have been deleted."""
        self._texts.forget()
        self.journal.forget()
