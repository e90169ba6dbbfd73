"""The items of a task: all, chosen ones, or a sample that is the same for every subject."""

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator

from sociometer.core.errors import DataError
from sociometer.core.task import Item

_HELD = 10_000


class ItemList:
    """The items of a task, all read once before anything is sent, so that a bad row is found before the run starts.

    A short list stays in memory; a long one is read again.
    """

    def __init__(self, task: str, read: Callable[[], Iterable[Item]]) -> None:
        self._read = read
        self._held: list[Item] = []
        ids: set[str] = set()
        for item in read():
            if item.id in ids:
                raise DataError(f"item id '{item.id}' appears twice in task {task}; ids must be unique.")
            ids.add(item.id)
            if len(ids) <= _HELD:
                self._held.append(item)
        self.count = len(ids)
        if not ids:
            raise DataError(f"task {task} has no items with these settings; nothing was played.")

    def __iter__(self) -> Iterator[Item]:
        return iter(self._held if len(self._held) == self.count else self._read())


def sample(
    read: Callable[[], Iterable[Item]], limit: int | None, seed: int, *, whole_clusters: bool = False
) -> Iterable[Item]:
    """The items, or those of `limit` ids drawn by a seeded order, in the order they came.

    With `whole_clusters` it is clusters that are counted and drawn, each with all its items.
    """
    if limit is None:
        return read()

    def name_of(item: Item) -> str:
        return item.cluster if whole_clusters and item.cluster else item.id

    def rank(name: str) -> bytes:
        return hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()

    drawn = set(heapq.nsmallest(limit, {name_of(item) for item in read()}, key=rank))
    return (item for item in read() if name_of(item) in drawn)
