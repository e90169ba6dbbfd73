"""Before each request: this process still holds the run, and nobody else has played it meanwhile."""

import asyncio

from sociometer.engine.budget import Budget
from sociometer.store.holding import LostRun, RunHold
from sociometer.store.journal import Journal


class Fence:
    """Lets requests through while the run is held."""

    def __init__(self, held: RunHold, journal: Journal, run: str, budget: Budget) -> None:
        self._held = held
        self._journal = journal
        self._run = run
        self._budget = budget
        self._confirming = asyncio.Lock()
        self._is_in_doubt = False
        """Whether the holder is being asked: until it has answered, nothing is sent."""
        self._was_free = False
        """Whether the run was free for a while, and it is not known yet that no other process played it."""
        self._lost: LostRun | None = None

    async def check(self) -> None:
        """Raise LostRun if another process holds the run, or may have sent requests of it."""
        if self._is_sure():
            return
        async with self._confirming:
            if self._is_sure():
                return
            self._is_in_doubt = True
            try:
                was_held_all_along = await asyncio.to_thread(self._held.confirm)
                self._was_free = self._was_free or not was_held_all_along
                if self._was_free:
                    await self._require_no_other()
                    self._was_free = False
            except LostRun as lost:
                self._lost = lost
                raise
            self._is_in_doubt = False

    def _is_sure(self) -> bool:
        if self._lost is not None:
            raise self._lost
        return not self._is_in_doubt and self._held.is_sure()

    async def _require_no_other(self) -> None:
        """The store must have as many requests of the run as this process has stored."""
        # Both lines without a wait between them: whatever is settled is queued, and is written before this is read.
        ours = self._budget.settled_requests
        stored = self._journal.count_requests(self._run)
        if await stored != ours:
            raise LostRun(
                f"while the database was away, another process played run {self._run}, so nothing more is sent here."
                " What was answered is stored; resume the run when no other process plays it."
            )
