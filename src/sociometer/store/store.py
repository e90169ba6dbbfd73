"""The store: a SQLite file or a PostgreSQL database, which several processes may use at once."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TypeVar

from sociometer.store.database import Connection, Database
from sociometer.store.episodes import Episodes
from sociometer.store.erasing import Erased, finish_withdrawals, withdraw
from sociometer.store.journal import Journal, ProviderBatches
from sociometer.store.place import StorePlace, StoreUrl, parse_place
from sociometer.store.records import RunRecord, Totals
from sociometer.store.runs import Runs
from sociometer.store.searching import Search
from sociometer.store.sqlite import SqliteDatabase
from sociometer.store.texts import Parts, StoredTexts
from sociometer.store.writer import Transaction, WriterThread

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
        self._texts = StoredTexts()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def journal(self) -> Journal:
        """Every stored reply."""
        return Journal(*self._parts)

    @cached_property
    def runs(self) -> Runs:
        """The runs with their items and summaries."""
        return Runs(*self._parts, played=self.is_played)

    @cached_property
    def episodes(self) -> Episodes:
        """The episodes of all runs."""
        return Episodes(*self._parts, journal=self.journal)

    @cached_property
    def search(self) -> Search:
        """Finds episodes by words."""
        return Search(*self._parts, episodes=self.episodes)

    @cached_property
    def batches(self) -> ProviderBatches:
        """The batches that wait at a provider."""
        return ProviderBatches(*self._parts)

    @cached_property
    def _parts(self) -> Parts:
        """The open database; a store that does not exist yet is created."""
        writer = WriterThread(self.database, self.forget, lambda: finish_withdrawals(self.database, self.forget))
        if not self.database.is_current():
            writer.start()
        try:
            return self.database, writer, self.database.connect(writable=False), self._texts
        except BaseException:
            writer.close()
            raise

    @property
    def reader(self) -> Connection:
        """The read-only connection."""
        return self._parts[2]

    @property
    def writer(self) -> WriterThread:
        """What writes to the store, one transaction after the other."""
        return self._parts[1]

    def hold(self, run: str) -> AbstractContextManager[object]:
        """Hold a run exclusively while the context lasts; a StoreError if it is being played."""
        return self.database.hold(run)

    def is_played(self, run: str) -> bool:
        """Whether a process is playing the run now."""
        return self.database.is_played(run)

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

        self.writer.queue(run)
        self.writer.flush()
        if not results:
            raise errors[0]
        return results[0]

    def forget(self) -> None:
        """Forget recent texts and models, which may have been deleted or never committed."""
        self._texts.forget()
        if "journal" in vars(self):
            self.journal.forget()

    def withdraw(self, participant: str) -> Erased:
        """Erase a participant of a study whose run is not being played."""
        return withdraw(self.database, participant, self.forget)

    def totals(self, record: RunRecord) -> Totals:
        """The counts and the spending of a run; computed now for a run in progress."""
        if record.totals is not None:
            return record.totals
        return Totals(*self.episodes.counts(record.id), self.journal.spent(record.id))

    @property
    def backlog(self) -> int:
        """The number of operations that wait to be written."""
        return self.writer.backlog

    def flush(self) -> None:
        """Wait until everything queued is on disk and can be read."""
        self.writer.flush()

    def close(self) -> None:
        """Write everything queued and close the file; the next use opens it again."""
        if "_parts" not in vars(self):
            return
        try:
            self.journal.close()
            self.reader.close()
            self.writer.close()
        finally:
            self._texts.forget()
            for name in ("_parts", "journal", "runs", "episodes", "search", "batches"):
                vars(self).pop(name, None)
