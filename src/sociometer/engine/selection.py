"""Which items are played: all, or a sample that is the same for every subject."""

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from typing import TypeVar

from sociometer.core.errors import DataError
from sociometer.core.task import Item

AnyItem = TypeVar("AnyItem", bound=Item)


def select(items: Iterable[AnyItem], limit: int | None, seed: int) -> Iterable[AnyItem]:
    """The items, or `limit` of them drawn by a seeded order of their ids, in the order they came.

    Holds no more than `limit` items at once.
    """
    if limit is None:
        return items
    heap: list[tuple[int, int, AnyItem]] = []
    for position, item in enumerate(items):
        rank = int.from_bytes(hashlib.blake2b(f"{seed}/{item.id}".encode(), digest_size=8).digest(), "big")
        entry = (-rank, -position, item)
        if len(heap) < limit:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)
    return [item for _, _, item in sorted(heap, key=lambda entry: -entry[1])]


def unique(items: Iterable[AnyItem], task: str) -> Iterator[AnyItem]:
    """The items, refusing an id that stands twice."""
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise DataError(f"item id '{item.id}' stands twice in task {task}; ids must be unique.")
        seen.add(item.id)
        yield item
