"""The store: one SQLite file that several processes may use at once."""

from pathlib import Path
from types import TracebackType

from platformdirs import user_data_path

from sociometer.store.database import connect
from sociometer.store.episodes import Episodes
from sociometer.store.journal import Journal
from sociometer.store.runs import Runs
from sociometer.store.texts import TextShelf
from sociometer.store.writer import Writer


def default_path() -> Path:
    """Where the store lies unless --store or SOCIOMETER_STORE says otherwise."""
    return user_data_path("sociometer", appauthor=False) / "sociometer.db"


class Store:
    """Journal, runs and episodes over one writer and one reader."""

    def __init__(self, path: Path) -> None:
        self.path = path
        texts = TextShelf()
        self._writer = Writer(path, on_rollback=self._forget)
        self._reader = connect(path, writable=False)
        self._texts = texts
        self.journal = Journal(path, self._writer, self._reader, texts)
        self.runs = Runs(path, self._writer, self._reader, texts)
        self.episodes = Episodes(path, self._writer, self._reader, texts, self.journal)

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def backlog(self) -> int:
        """How many operations wait to be written."""
        return self._writer.backlog

    def flush(self) -> None:
        """Waits until all that was queued is on disk and can be read."""
        self._writer.flush()

    def close(self) -> None:
        """Writes what is queued and closes the file."""
        self._reader.close()
        self._writer.close()

    def _forget(self) -> None:
        self._texts.forget()
        self.journal.forget()
