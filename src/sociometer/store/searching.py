"""Search among the episodes of a run, in a copy of their texts that the search itself makes and updates.

The copy is a table of the store. Where it cannot be written, a search reads the episodes and finds the same.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress

from sociometer.core.errors import StoreError
from sociometer.store.database import Connection, StoreTable, portions, transaction
from sociometer.store.episodes import Episodes
from sociometer.store.texts import Connections, StorePart

SEARCHED = StoreTable("searched", ("run", "task", "position", "repeat", "item", "created", "body"), 6)
_MOST_WORDS = 50
"""A search with more words is rare, and would be too deep for SQL."""
_STATE = "SELECT count(*), max(created), sum(created) FROM {table} WHERE run = ? AND task = ?"
_COPIED = "SELECT position, repeat, item, created FROM searched WHERE run = ? AND task = ?"
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

    def __init__(self, shared: Connections, episodes: Episodes) -> None:
        super().__init__(shared)
        self._episodes = episodes

    def found(self, run: str, task: str, words: str) -> list[tuple[str, int]]:
        """Item and repeat of the episodes whose id, item or replies have all of the words, in the order of items."""
        wanted = list(dict.fromkeys(map(searchable, words.split())))
        having = " AND ".join(("run = ? AND task = ?", *(self._database.contains for _ in wanted)))
        query = f"SELECT item, repeat FROM searched WHERE {having} ORDER BY position, repeat"  # noqa: S608
        with suppress(StoreError):  # read-only, full, locked or damaged: what is damaged is told below
            if len(wanted) <= _MOST_WORDS:
                self._update(run, task)
                return [(item, int(repeat)) for item, repeat in self._rows(query, run, task, *wanted)]
        texts = self._read(run, task, sorted(self._rows(_PRESENT, run, task)))
        return [(item, repeat) for (_, repeat, item, _), text in texts if all(word in text for word in wanted)]

    def _update(self, run: str, task: str) -> None:
        """Brings the copy of a task to the state of the store, in transactions that keep what they have done."""
        with suppress(StoreError):  # a store of an earlier version has no such table
            states = [self._row(_STATE.format(table=table), run, task) for table in ("episode", "searched")]
            if states[0] == states[1]:
                return
        with self._database.errors(), closing(self._database.connect()) as copy:
            present, copied = set(self._rows(_PRESENT, run, task)), set(self._rows(_COPIED, run, task))
            for gone in copied - present:
                of_key = " AND ".join(f"{name} = ?" for name in SEARCHED.columns[: SEARCHED.key])
                copy.execute(f"DELETE FROM searched WHERE {of_key}", (run, task, *gone))  # noqa: S608
            for some in portions(sorted(present - copied)):
                self._copy(copy, run, task, some)

    def _copy(self, connection: Connection, run: str, task: str, places: Sequence[Place]) -> None:
        with transaction(self._database, connection):
            # Before the texts are read: whoever deletes a run or a person then waits, and deletes this copy too.
            self._database.lock_table(connection, "searched")
            rows = [(run, task, *place, text) for place, text in self._read(run, task, places)]
            self._database.insert(connection, SEARCHED, rows)

    def _read(self, run: str, task: str, places: Sequence[Place]) -> Iterator[tuple[Place, bytes]]:
        """The texts of episodes: the id and the item, and what was replied."""
        for some in portions(places):
            items = list(dict.fromkeys(item for _, _, item, _ in some))
            bodies, said = self._episodes.items(run, task, items), self._episodes.replies(run, task, items)
            for position, repeat, item, _ in some:
                if (item, repeat) in said:
                    created, replies = said[item, repeat]
                    texts = [item + bodies.get(item, b"").decode("utf-8", "replace"), *(one.text for _, one in replies)]
                    yield (position, repeat, item, created), searchable(" ".join(texts))
