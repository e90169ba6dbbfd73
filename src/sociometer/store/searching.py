"""Search among the episodes of a run: a copy of their texts, made and updated by the search itself, makes it fast.

The copy is in a file beside a SQLite store, or in a schema beside that of a PostgreSQL store. It can be deleted at any
time. Where it cannot be written, a search reads the episodes themselves and finds the same.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from sociometer.store.database import NoIndex, SearchTable
from sociometer.store.episodes import Episodes
from sociometer.store.texts import Parts, StorePart

_AT_ONCE = 500
_MOST_WORDS = 50
"""A search with more words is rare, and would be too deep for SQL."""
_STATE = "SELECT count(*), max(created), sum(created) FROM {table} WHERE run = ? AND task = ?"
_PRESENT = """
SELECT item.position, episode.repeat, item.id, episode.created FROM item
JOIN episode ON episode.run = item.run AND episode.task = item.task AND episode.item = item.id
WHERE item.run = ? AND item.task = ?
"""
Place = tuple[int, int, str, float]
"""The position of an item, the repeat, the item's id, and when the episode was stored: another time, other texts."""


def searchable(text: str) -> bytes:
    """A text as it is searched: capitals do not count."""
    return text.lower().encode("utf-8", "replace")


class Search(StorePart):
    """Finds episodes by words."""

    def __init__(self, *parts: *Parts, episodes: Episodes) -> None:
        super().__init__(*parts)
        self._episodes = episodes

    def found(self, run: str, task: str, words: str) -> list[tuple[str, int]]:
        """Item and repeat of the episodes whose id, item or replies have all of the words, in the order of items."""
        wanted = list(dict.fromkeys(map(searchable, words.split())))
        # The second attempt is for an index that was damaged: it has been deleted.
        for _ in range(2 if len(wanted) <= _MOST_WORDS else 0):
            with suppress(NoIndex), self._database.search_table() as table:
                self._forget_deleted(table)
                self._update(table, run, task)
                having = " AND ".join(("run = ? AND task = ?", *(table.contains for _ in wanted)))
                query = f"SELECT item, repeat FROM {table.name} WHERE {having} ORDER BY position, repeat"  # noqa: S608
                return [(item, int(repeat)) for item, repeat in table.connection.execute(query, (run, task, *wanted))]
        texts = self._read(run, task, sorted(self._rows(_PRESENT, run, task)))
        return [(item, repeat) for (_, repeat, item, _), text in texts if all(word in text for word in wanted)]

    def _forget_deleted(self, table: SearchTable) -> None:
        """Empties the copy if it has a run that is gone: a process was killed while it deleted one."""
        copied = {run for (run,) in table.connection.execute(f"SELECT DISTINCT run FROM {table.name}")}  # noqa: S608
        if copied - {run for (run,) in self._rows("SELECT id FROM run")}:
            table.clear()

    def _update(self, table: SearchTable, run: str, task: str) -> None:
        """Brings the copy of a task to the state of the store, in transactions that keep what they have done."""
        copy, name = table.connection, table.name
        if copy.execute(_STATE.format(table=name), (run, task)).fetchone() == self._row(
            _STATE.format(table="episode"), run, task
        ):
            return
        query = f"SELECT position, repeat, item, created FROM {name} WHERE run = ? AND task = ?"  # noqa: S608
        present, copied = set(self._rows(_PRESENT, run, task)), set(copy.execute(query, (run, task)).fetchall())
        for one in copied - present:
            copy.execute(
                f"DELETE FROM {name} WHERE run = ? AND task = ? AND position = ? AND repeat = ? AND item = ?"  # noqa: S608
                " AND created = ?",
                (run, task, *one),
            )
        for some in _parts(sorted(present - copied)):
            self._database.begin(copy)
            try:
                # Read inside the transaction: whoever erases a person empties the copy after the store, and waits.
                rows = [(run, task, *place, text) for place, text in self._read(run, task, some)]
                self._database.insert(copy, table.rows, rows)
                copy.execute("COMMIT")
            except BaseException:
                self._database.rollback(copy)
                raise

    def _read(self, run: str, task: str, places: Sequence[Place]) -> Iterator[tuple[Place, bytes]]:
        """The texts of episodes: the id and the item, and what was replied."""
        for some in _parts(places):
            items = list(dict.fromkeys(item for _, _, item, _ in some))
            bodies, said = self._episodes.items(run, task, items), self._episodes.replies(run, task, items)
            for position, repeat, item, _ in some:
                if (item, repeat) in said:
                    created, replies = said[item, repeat]
                    asked = item + bodies.get(item, b"").decode("utf-8", "replace")
                    yield (position, repeat, item, created), searchable(" ".join((asked, *replies)))


def _parts(places: Sequence[Place]) -> Iterator[Sequence[Place]]:
    return (places[start : start + _AT_ONCE] for start in range(0, len(places), _AT_ONCE))
