"""The store: a SQLite file or a PostgreSQL database, which several processes may use at once."""

from contextlib import AbstractContextManager

from msgspec import structs

from sociometer.store.database import Connection, Database
from sociometer.store.episodes import Episodes
from sociometer.store.erasing import Erased, delete_study, finish_withdrawals, withdraw
from sociometer.store.holding import RunHold
from sociometer.store.journal import Journal
from sociometer.store.names import Names
from sociometer.store.place import StorePlace, StoreUrl, parse_place
from sociometer.store.records import RunRecord, Totals
from sociometer.store.runs import Runs
from sociometer.store.searching import Search
from sociometer.store.sqlite import SqliteDatabase
from sociometer.store.texts import Connections
from sociometer.store.writer import WriterThread


def database_at(place: StorePlace) -> Database:
    """The database of a place; nothing is opened yet."""
    if isinstance(place, StoreUrl):
        from sociometer.store.postgresql import PostgresDatabase  # here, since it needs the extra 'postgres'

        return PostgresDatabase(place)
    return SqliteDatabase(place)


class Store:
    """A store that several threads may use at once; it is opened or created on first use."""

    def __init__(self, path: StorePlace | str) -> None:
        self.path = parse_place(path)
        self.database = database_at(self.path)
        self.writer = WriterThread(self.database, self.forget, lambda: finish_withdrawals(self.database, self.forget))
        self._shared = shared = Connections(self.database, self.writer)
        self.journal = Journal(shared)
        self.runs = Runs(shared)
        self.names = Names(shared)
        self.episodes = Episodes(shared, self.journal)
        self.search = Search(shared, self.episodes)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def reader(self) -> Connection:
        """The read-only connection."""
        return self._shared.reader

    def hold(self, run: str) -> AbstractContextManager[RunHold]:
        """Hold a run exclusively while the context lasts; a StoreError if it is being played."""
        return self.database.hold(run)

    def forget(self) -> None:
        """Forget recent texts and models, which may have been deleted or never committed."""
        self._shared.texts.forget()
        self.journal.forget()

    def withdraw(self, participant: str) -> Erased:
        """Erase a participant of a study whose run is not being played."""
        return withdraw(self.database, participant, self.forget)

    def delete_study(self, study: str) -> int:
        """Erase all participants of a study that is not open, and the study; their number."""
        return delete_study(self.database, study, self.forget)

    def totals(self, record: RunRecord) -> Totals:
        """The counts of a run, without failures that do not count, and its spending; now, if it is in progress."""
        totals = record.totals or Totals(*self.episodes.counts(record.id), self.journal.spent(record.id))
        if not totals.failed or not (uncounted := self.runs.uncounted(record)):
            return totals
        return structs.replace(totals, failed=sum(self.episodes.failures(record.id, uncounted, scoring=False).values()))

    def flush(self) -> None:
        """Wait until everything queued is on disk and can be read; opens the store if that was not done yet."""
        _ = self.reader
        self.writer.flush()

    def close(self) -> None:
        """Write everything queued and close the file; the next use opens it again."""
        try:
            self.journal.close()
            self._shared.close()
        finally:
            self.forget()
