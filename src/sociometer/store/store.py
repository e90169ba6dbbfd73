"""The store: a SQLite file or a PostgreSQL database, which several processes may use at once."""

import threading
from contextlib import AbstractContextManager

from sociometer.store.database import Connection, Database
from sociometer.store.episodes import Episodes
from sociometer.store.erasing import Erased, delete_study, finish_withdrawals, withdraw
from sociometer.store.journal import Journal, ProviderBatches
from sociometer.store.place import StorePlace, StoreUrl, parse_place
from sociometer.store.records import RunRecord, Totals
from sociometer.store.runs import Runs
from sociometer.store.searching import Search
from sociometer.store.sqlite import SqliteDatabase
from sociometer.store.texts import StoredTexts
from sociometer.store.writer import WriterThread


def database_at(place: StorePlace) -> Database:
    """The database of a place; nothing is opened yet."""
    if isinstance(place, StoreUrl):
        from sociometer.store.postgresql import PostgresDatabase  # here, since it needs the extra 'postgres'

        return PostgresDatabase(place)
    return SqliteDatabase(place)


class _OpenStore:
    """Journal, runs and episodes over one writer and one reader."""

    def __init__(self, store: "Store") -> None:
        """Open the database; a store that does not exist yet is created."""
        database, forget = store.database, store.forget
        self.writer = WriterThread(database, forget, lambda: finish_withdrawals(database, forget))
        if not database.is_current():
            self.writer.start()
        try:
            self.reader = database.connect(writable=False)
        except BaseException:
            self.writer.close()
            raise
        parts = database, self.writer, self.reader, store.texts
        self.journal = Journal(*parts)
        self.runs = Runs(*parts, played=store.is_played)
        self.episodes = Episodes(*parts, journal=self.journal)
        self.search = Search(*parts, episodes=self.episodes)
        self.batches = ProviderBatches(*parts)

    def close(self) -> None:
        """Write everything queued and close the connections."""
        self.journal.close()
        self.reader.close()
        self.writer.close()


class Store:
    """A store that several threads may use at once; it is opened or created on first use."""

    def __init__(self, path: StorePlace | str) -> None:
        self.path = parse_place(path)
        self.database = database_at(self.path)
        self.texts = StoredTexts()
        self._open: _OpenStore | None = None
        self._opening = threading.Lock()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _opened(self) -> _OpenStore:
        if (found := self._open) is not None:
            return found
        with self._opening:
            if self._open is None:
                self._open = _OpenStore(self)
            return self._open

    @property
    def journal(self) -> Journal:
        """Every stored reply."""
        return self._opened.journal

    @property
    def runs(self) -> Runs:
        """The runs with their items and summaries."""
        return self._opened.runs

    @property
    def episodes(self) -> Episodes:
        """The episodes of all runs."""
        return self._opened.episodes

    @property
    def search(self) -> Search:
        """Finds episodes by words."""
        return self._opened.search

    @property
    def batches(self) -> ProviderBatches:
        """The batches that wait at a provider."""
        return self._opened.batches

    @property
    def reader(self) -> Connection:
        """The read-only connection."""
        return self._opened.reader

    @property
    def writer(self) -> WriterThread:
        """What writes to the store, one transaction after the other."""
        return self._opened.writer

    def hold(self, run: str) -> AbstractContextManager[object]:
        """Hold a run exclusively while the context lasts; a StoreError if it is being played."""
        return self.database.hold(run)

    def is_played(self, run: str) -> bool:
        """Whether a process is playing the run now."""
        return self.database.is_played(run)

    def forget(self) -> None:
        """Forget recent texts and models, which may have been deleted or never committed."""
        self.texts.forget()
        if self._open is not None:
            self._open.journal.forget()

    def withdraw(self, participant: str) -> Erased:
        """Erase a participant of a study whose run is not being played."""
        return withdraw(self.database, participant, self.forget)

    def delete_study(self, study: str) -> int:
        """Erase all participants of a study that is not open, and the study; their number."""
        return delete_study(self.database, study, self.forget)

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
        opened, self._open = self._open, None
        if opened is not None:
            try:
                opened.close()
            finally:
                self.texts.forget()
