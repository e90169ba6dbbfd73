"""The items of a task: all, chosen ones, or a sample that is the same for every subject."""

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from sociometer.core.errors import DataError
from sociometer.core.task import Item

_HELD = 10_000
AnyItem = TypeVar("AnyItem", bound=Item)


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
    items: Iterable[AnyItem], limit: int | None, seed: int, *, whole_clusters: bool = False
) -> Iterable[AnyItem]:
    """The items, or those of `limit` ids drawn by a seeded order, in the order they came.

    With `whole_clusters` it is clusters that are counted and drawn, each with all its items. Holds no more at once
    than it gives back.
    """
    if limit is None:
        return items
    drawn: dict[str, list[tuple[int, AnyItem]]] = {}
    ranks: list[tuple[int, str]] = []
    for position, item in enumerate(items):
        name = item.cluster if whole_clusters and item.cluster else item.id
        if name in drawn:
            drawn[name].append((position, item))
            continue
        entry = (-_rank(name, seed), name)
        if len(ranks) < limit:
            heapq.heappush(ranks, entry)
        elif entry > ranks[0]:
            del drawn[heapq.heapreplace(ranks, entry)[1]]
        else:
            continue
        drawn[name] = [(position, item)]
    return [item for _, item in sorted((pair for pairs in drawn.values() for pair in pairs), key=lambda pair: pair[0])]


def _rank(name: str, seed: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest(), "big")


def unique(items: Iterable[AnyItem], task: str) -> Iterator[AnyItem]:
    """The items; an id that appears twice is an error."""
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise DataError(f"item id '{item.id}' appears twice in task {task}; ids must be unique.")
        seen.add(item.id)
        yield item
