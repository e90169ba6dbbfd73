"""Copies a store into another: all of its rows, merged with what is there; runs in progress continue."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from sociometer.core.errors import UsageError, hint
from sociometer.core.sheets import whole_file
from sociometer.store.database import Connection, Database, StoreTable, marks, pages, patiently, transaction
from sociometer.store.erasing import Withdrawing, finish_withdrawals
from sociometer.store.names import NameEntry
from sociometer.store.place import StorePlace
from sociometer.store.records import RunStatus
from sociometer.store.sqlite import storage_errors
from sociometer.store.store import database_at
from sociometer.store.studies import unfinished_withdrawals
from sociometer.store.texts import text_of
from sociometer.store.writer import ALLOWANCE, ATTEMPT, EPISODE, ITEM, JOURNAL, SCORE, SUMMARY, TEXT

_RUN = StoreTable(
    "run",
    ("id", "instrument", "subject", "config_hash", "status", "manifest", "created", "finished", "name", "totals",
     "origin"),
    1,
)  # fmt: skip
_NAMES = StoreTable("names", ("name", "kind", "meaning"), 1)
_NEW = EPISODE.on_conflict.partition(" WHERE ")[0] + " WHERE excluded.outcome IS NOT NULL AND episode.outcome IS NULL"
_EPISODE = structs.replace(EPISODE, on_conflict=_NEW)
_KEPT = tuple(structs.replace(one, on_conflict="DO NOTHING") for one in (SCORE, SUMMARY, ALLOWANCE))
"""Tables whose rows in the target stay as they are."""
_BOOKS = (".studies", ".labels")
_ROWS_AT_ONCE = 1_000


class Copied(Struct, frozen=True):
    """The number of rows that were new to the target."""

    runs: int
    episodes: int
    replies: int


def copy_store(source: StorePlace, target: StorePlace, *, trust: bool = False) -> Copied:
    """Copy everything; rows of the target stay, and a failed episode there gets the outcome that it has in the source.

    Copied runs and replies are marked with the source: such a reply answers only runs that came from there too, and a
    run that the target has from elsewhere stays as it is. With `trust` they are like those of the target.

    A file that does not exist yet is written completely or not at all. If a copy into an existing store is interrupted,
    the same command completes it.
    """
    if source.absolute() == target.absolute():
        raise UsageError(f"{source} cannot be copied into itself; give another store.")
    read, write = database_at(source), database_at(target)
    if read.is_of_last_version():
        read.connect().close()  # which upgrades it
    if not read.is_current():
        raise UsageError(f"there is no store at {source}; give an existing store and the one to copy into.")
    for database in (read, write):
        finish_withdrawals(database, lambda: None)
    if pending := ", ".join(filter(None, unfinished_withdrawals(source))):
        raise Withdrawing(f"the withdrawal of {pending} from {source} is not finished; nothing was copied. Try again.")
    if isinstance(source, Path) and isinstance(target, Path) and not target.exists():
        return _copy_file(source, target, trust)
    with _snapshot(read) as reader, closing(write.connect()) as writer:
        return _Copy(reader, write, writer, str(source.absolute()), trust).everything()


def _copy_file(source: Path, target: Path, trust: bool) -> Copied:
    with (
        whole_file(target, private=True) as partial,
        closing(database_at(source).connect(writable=False)) as reader,
        storage_errors(target),
        closing(sqlite3.connect(partial)) as copy,
    ):
        assert isinstance(reader, sqlite3.Connection)
        reader.backup(copy)
        for table in () if trust else ("journal", "run"):
            marked = "CASE origin WHEN '' THEN ?1 ELSE ?1 || ' < ' || origin END"
            copy.execute(f"UPDATE {table} SET origin = {marked}", (str(source.absolute()),))  # noqa: S608
        copy.commit()
        names = ("run", "episode", "journal")
        counts = [copy.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names]  # noqa: S608
        return Copied(*counts)


@contextmanager
def copied_books(source: StorePlace, target: StorePlace) -> Iterator[tuple[list[str], list[str]]]:
    """Copies the books of studies and labels; they get their names after the context, which copies the store.

    Yields the new files, and those that are not copied: a book is never merged into another.
    """
    wrote: list[str] = []
    left_out: list[str] = []
    known = [(source.with_name(source.name + one), one) for one in _BOOKS] if isinstance(source, Path) else []
    with ExitStack() as staged:
        for book, ending in ((book, ending) for book, ending in known if book.exists()):
            copy = target.with_name(target.name + ending) if isinstance(target, Path) else None
            if copy is None or copy.exists():
                left_out.append(str(book))
                continue
            partial = staged.enter_context(whole_file(copy, private=True))
            with storage_errors(book), closing(sqlite3.connect(book)) as one, closing(sqlite3.connect(partial)) as two:
                one.backup(two)
            wrote.append(str(copy))
        yield wrote, left_out


@contextmanager
def _snapshot(database: Database) -> Iterator[Connection]:
    """A connection whose reads all see the same state."""
    with closing(database.connect(writable=False)) as reader, database.errors():
        database.begin(reader, snapshot=True)
        yield reader
        database.rollback(reader)


class _Copy:
    """One copy from a snapshot into another database, page by page, each a transaction."""

    def __init__(self, reader: Connection, target: Database, writer: Connection, source: str, trust: bool) -> None:
        self._source = source
        self._trust = trust
        self._lost: dict[str, list[tuple[Any, ...]]] = {}
        """What was spent, by run, on replies in whose place the target has others."""
        self._reader = reader
        self._target = target
        self._writer = writer
        if trust:
            self._write(self._trust_earlier)
        self._known = {
            run: facts for run, *facts in writer.execute("SELECT id, config_hash, origin FROM run").fetchall()
        }
        self._open: set[str] = set()
        """The runs that rows may be added to: those of the source, unless the target has them from elsewhere."""
        self._changed: set[str] = set()
        """The runs of the target that got episodes."""
        self._spent: set[str] = set()
        """The runs of the target that got replies or attempts."""

    def everything(self) -> Copied:
        """Copy all tables, in the order in which they refer to each other."""
        runs = self._reader.execute(f"SELECT {', '.join(_RUN.columns)} FROM run ORDER BY id").fetchall()  # noqa: S608
        self._refuse_strangers(runs)
        names = self._new_names()
        self._open = {
            run for run, *_, origin in runs if run not in self._known or self._known[run][1] == self._marked(origin)
        }
        models = self._models()
        self._table(TEXT)
        paid = _count_by_run(self._writer, _REPLIES)
        replies = self._table(JOURNAL, lambda row: (row[0], self._marked(row[1]), models[row[2]], *row[3:]))
        self._spent = _that_grew(paid, _count_by_run(self._writer, _REPLIES))
        # A new run is in progress until all of it is there.
        playing = [
            (*row[:4], RunStatus.PLAYING.value, *row[5:7], None, row[8], None, self._marked(row[10])) for row in runs
        ]
        self._write(lambda: self._target.insert(self._writer, _NAMES, names))
        self._write(lambda: self._target.insert(self._writer, _RUN, playing))
        self._table(ITEM)
        played = _count_by_run(self._writer, _PLAYS)
        episodes = self._table(_EPISODE)
        self._changed = _that_grew(played, _count_by_run(self._writer, _PLAYS))
        for table in _KEPT:
            self._table(table)
        for row in runs:
            if row[0] in self._open:
                self._attempts(row[0])
                self._end(row)
        if self._target.remote:
            self._writer.execute("ANALYZE item, episode, score, journal, text")
        return Copied(sum(row[0] not in self._known for row in runs), episodes, replies)

    def _refuse_strangers(self, runs: list[Any]) -> None:
        for row in runs:
            if row[0] in self._known and self._known[row[0]][0] != row[3]:
                raise UsageError(
                    f"both stores have a run {row[0]}, and they are different runs; nothing was copied. Copy into"
                    " another store."
                )

    def _new_names(self) -> list[tuple[str, str, str]]:
        """The names that the target does not have; a UsageError if one would mean two things, or a model get two."""
        query = "SELECT name, kind, meaning FROM names ORDER BY name"
        there = [NameEntry(*row) for row in self._writer.execute(query).fetchall()]
        by_name = {entry.name: entry for entry in there}
        by_key = {(entry.kind, entry.key): entry for entry in there}
        new: list[tuple[str, str, str]] = []
        for row in self._reader.execute(query).fetchall():
            entry = NameEntry(*row)
            known = by_name.get(entry.name)
            if known is not None and known != entry:
                what = "two models" if known.kind == entry.kind else f"{entry.what} here and {known.what} there"
                raise UsageError(
                    f"'{entry.name}' would mean {what}; nothing was copied. Rename it first:"
                    f" {self._rename(entry.name, 'NAME')}"
                )
            same = by_key.get((entry.kind, entry.key))
            if same is not None and same.name != entry.name:
                raise UsageError(
                    f"one model is called '{entry.name}' in {self._source} and '{same.name}' in {self._target.place};"
                    f" nothing was copied. Rename it first: {self._rename(entry.name, same.name)}"
                )
            if known is None:
                new.append((entry.name, entry.kind, entry.key))
        return new

    def _rename(self, name: str, to: str) -> str:
        return hint("store rename", name, to, "--store", self._source)

    def _models(self) -> dict[int, int]:
        """The numbers of the source's models in the target."""
        identities = dict(self._reader.execute("SELECT id, identity FROM model ORDER BY id").fetchall())

        def insert() -> None:
            for identity in identities.values():
                self._writer.execute("INSERT INTO model (identity) VALUES (?) ON CONFLICT DO NOTHING", (identity,))

        self._write(insert)
        there = dict(self._writer.execute("SELECT identity, id FROM model").fetchall())
        return {number: there[identity] for number, identity in identities.items()}

    def _table(self, table: StoreTable, change: Callable[[Any], tuple[Any, ...]] = tuple) -> int:
        """Copy the rows of a table and return how many were written."""
        query = f"SELECT {', '.join(table.columns)} FROM {table.name} WHERE {{after}}"  # noqa: S608
        written, page = 0, list[tuple[Any, ...]]()
        run = table.columns.index("run") if "run" in table.columns else None
        for row in pages(self._reader, query, table.columns[: table.key]):
            # A reply may have outlived its run.
            if run is not None and row[run] not in self._open and (table is not JOURNAL or row[run] in self._known):
                continue
            if table is TEXT and text_of(*row) is None:
                # It would take the place of the text that has this hash.
                continue
            page.append(change(row))
            if len(page) == _ROWS_AT_ONCE:
                written += self._insert(table, page)
                page = []
        return written + self._insert(table, page)

    def _insert(self, table: StoreTable, page: list[tuple[Any, ...]]) -> int:
        if page and table is JOURNAL:
            page = self._new_replies(page)
        if not page:
            return 0
        return int(self._write(lambda: self._target.insert(self._writer, table, page)))

    def _marked(self, origin: str) -> str:
        """The origin of a row in the target."""
        return origin if self._trust else " < ".join(filter(None, (self._source, origin)))

    def _trust_earlier(self) -> None:
        """Make what was copied from this source earlier like the target's own, where it has nothing in its place."""
        own = "SELECT 1 FROM journal AS own WHERE own.key = journal.key AND own.origin = ''"
        self._writer.execute(
            f"UPDATE journal SET origin = '' WHERE origin = ? AND NOT EXISTS ({own})",  # noqa: S608
            (self._source,),
        )
        self._writer.execute("UPDATE run SET origin = '' WHERE origin = ?", (self._source,))

    def _new_replies(self, page: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The replies that the target does not have; those that lose their place to another are counted as attempts."""
        key, origin, run, created = (JOURNAL.columns.index(name) for name in ("key", "origin", "run", "created"))
        query = f"SELECT key, origin, run, created FROM journal WHERE key IN {marks(page)}"  # noqa: S608
        there = self._writer.execute(query, [row[key] for row in page]).fetchall()
        same, taken = {(one[0], *one[2:]) for one in there}, {tuple(one[:2]) for one in there}
        new = []
        for row in page:
            if (row[key], row[run], row[created]) in same:
                continue
            if (row[key], row[origin]) in taken:
                self._lost.setdefault(row[run], []).append((row[run], *row[-len(ATTEMPT.columns) + 1 :]))
            else:
                new.append(row)
        return new

    def _attempts(self, run: str) -> None:
        """Add the attempts that the target does not have; equal ones are counted."""
        query = f"SELECT {', '.join(ATTEMPT.columns)} FROM attempt WHERE run = ?"  # noqa: S608
        ours = Counter([*map(tuple, self._reader.execute(query, (run,)).fetchall()), *self._lost.get(run, ())])
        ours.subtract(Counter(map(tuple, self._writer.execute(query, (run,)).fetchall())))
        rows = sorted(ours.elements(), key=lambda row: row[-1])
        if rows:
            self._spent.add(run)
        self._write(lambda: self._target.insert(self._writer, ATTEMPT, rows))

    def _end(self, row: tuple[Any, ...]) -> None:
        """Give a new run its status; in one that has grown, the summaries are computed again when they are read."""
        run, status, finished, totals = row[0], row[4], row[7], row[9]

        def end() -> None:
            interrupted = (
                "SELECT 1 FROM run WHERE id = ? AND status = 'playing' AND totals IS NULL AND finished IS NULL"
            )
            if run not in self._known or (
                status != RunStatus.PLAYING
                and self._writer.execute(interrupted, (run,)).fetchone()
                and not self._target.is_played(run)
            ):
                self._writer.execute(
                    "UPDATE run SET status = ?, finished = ?, totals = ? WHERE id = ?", (status, finished, totals, run)
                )
            elif run in self._changed and status != RunStatus.PLAYING and self._has_all_of(run):
                self._take_over(row)
            elif run in self._changed:
                self._writer.execute("UPDATE run SET totals = NULL WHERE id = ?", (run,))
                self._writer.execute("DELETE FROM summary WHERE run = ?", (run,))
                if status == RunStatus.FINISHED:
                    self._writer.execute(
                        "UPDATE run SET status = ?, finished = ? WHERE id = ?", (status, finished, run)
                    )
            elif run in self._spent:
                self._writer.execute("UPDATE run SET totals = NULL WHERE id = ?", (run,))

        self._write(end)

    def _has_all_of(self, run: str) -> bool:
        """Whether a run has the same episodes in both stores."""
        return self._is_equal("SELECT task, item, repeat, outcome IS NULL FROM episode WHERE run = ?", run)

    def _is_equal(self, query: str, run: str) -> bool:
        """Whether a query about a run finds the same rows in both stores."""
        there = {tuple(row) for row in self._reader.execute(query, (run,)).fetchall()}
        return there == {tuple(row) for row in self._writer.execute(query, (run,)).fetchall()}

    def _take_over(self, row: tuple[Any, ...]) -> None:
        """Give a run of the target what the source says of the same episodes: its ending, totals and summaries."""
        run, status, finished, totals = row[0], row[4], row[7], row[9]
        spending = (f"SELECT count(*) FROM {table} WHERE run = ?" for table in ("journal", "attempt"))  # noqa: S608
        if not all(self._is_equal(query, run) for query in spending):
            totals = None
        self._writer.execute(
            "UPDATE run SET status = ?, finished = ?, totals = ? WHERE id = ?", (status, finished, totals, run)
        )
        self._writer.execute("DELETE FROM summary WHERE run = ?", (run,))
        columns = ", ".join(SUMMARY.columns)
        rows = self._reader.execute(f"SELECT {columns} FROM summary WHERE run = ?", (run,)).fetchall()  # noqa: S608
        self._target.insert(self._writer, SUMMARY, [tuple(each) for each in rows])

    def _write(self, work: Callable[[], Any]) -> Any:
        def once() -> Any:
            with transaction(self._target, self._writer):
                return work()

        with self._target.errors():
            return patiently(once)


_REPLIES = "SELECT run, count(*), 0 FROM journal GROUP BY run"
_PLAYS = "SELECT run, count(*), count(outcome) FROM episode GROUP BY run"


def _count_by_run(connection: Connection, query: str) -> dict[str, tuple[int, int]]:
    """The two counts of a query, by run."""
    return {run: (int(first), int(second)) for run, first, second in connection.execute(query).fetchall()}


def _that_grew(before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> set[str]:
    """The runs whose counts are not those of before."""
    return {run for run, counts in after.items() if counts != before.get(run)}
