"""Which items are played: all, or a sample that is the same for every subject."""

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from typing import TypeVar

from sociometer.core.errors import DataError
from sociometer.core.task import Item

AnyItem = TypeVar("AnyItem", bound=Item)


def select(
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
    """The items, refusing an id that stands twice."""
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise DataError(f"item id '{item.id}' stands twice in task {task}; ids must be unique.")
        seen.add(item.id)
        yield item
