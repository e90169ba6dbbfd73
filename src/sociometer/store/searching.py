"""Search for words among the episodes of a run."""

from collections.abc import Iterator, Sequence

from sociometer.store.database import portions
from sociometer.store.episodes import Episodes
from sociometer.store.texts import Connections, StorePart

_PLACES = """
SELECT item.position, episode.repeat, item.id FROM item
JOIN episode ON episode.run = item.run AND episode.task = item.task AND episode.item = item.id
WHERE item.run = ? AND item.task = ? ORDER BY item.position, episode.repeat
"""
Place = tuple[int, int, str]
"""The position of an item, the repeat, and the item's id."""


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
        texts = self._read(run, task, self._rows(_PLACES, run, task))
        return [(item, repeat) for (_, repeat, item), text in texts if all(word in text for word in wanted)]

    def _read(self, run: str, task: str, places: Sequence[Place]) -> Iterator[tuple[Place, bytes]]:
        """The texts of episodes: the id and the item, and what was replied."""
        for some in portions(places):
            items = list(dict.fromkeys(item for _, _, item in some))
            bodies = self._episodes.items(run, task, items)
            said = self._episodes.replies(run, task, items)
            for position, repeat, item in some:
                if (item, repeat) in said:
                    _, replies = said[item, repeat]
                    texts = [item + bodies.get(item, b"").decode("utf-8", "replace"), *(one.text for _, one in replies)]
                    yield (position, repeat, item), searchable(" ".join(texts))
