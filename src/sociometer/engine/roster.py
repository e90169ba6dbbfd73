"""The items of a task, read through once before anything is sent, so that a bad row is met before the run begins."""

from collections.abc import Callable, Iterator

from sociometer.core.errors import DataError
from sociometer.core.task import Item

_HELD = 10_000


class Roster:
    """Counts the items; holds them where they are few, and reads them again where they are many."""

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
