"""The items of a task: all, chosen ones, or a sample that is the same for every subject."""

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator

from sociometer.core.errors import DataError
from sociometer.core.task import Item

_HELD = 10_000


class ItemList:
    """The items of a task, read through once before anything is sent, so that a bad row is met before the run begins.

    It holds the items where they are few, and reads them again where they are many.
    """

    def __init__(self, task: str, read: Callable[[], Iterator[Item]]) -> None:
        self._read = read
        held: list[Item] = []
        rest = read()
        for item in rest:
            held.append(item)
            if len(held) == _HELD:
                break
        more = sum(1 for _ in rest)
        self.count = len(held) + more
        self._held = held if not more else None
        if not self.count:
            raise DataError(f"task {task} has no items under these settings; nothing was played.")

    def __iter__(self) -> Iterator[Item]:
        return iter(self._held) if self._held is not None else self._read()


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


def unique(items: Iterable[Item], task: str) -> Iterator[Item]:
    """The items; an id that appears twice is an error."""
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise DataError(f"item id '{item.id}' appears twice in task {task}; ids must be unique.")
        seen.add(item.id)
        yield item
