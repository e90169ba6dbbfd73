"""What workers share: an allowance that is being given back cannot be spent meanwhile."""

import asyncio
import time

from sociometer.core.config import Caps
from sociometer.core.conversation import Request, Usage, user
from sociometer.engine.workers.shared_limits import SharedBudget
from sociometer.store.records import Spent


class SlowRow:
    """The run's row in a database that takes its time, as the budget of one worker sees it."""

    def __init__(self, most):
        self.most = most
        self.allowed = 0

    def reserve(self, more, reserved, *, within_caps=True):
        time.sleep(0.02)
        if within_caps and self.allowed + more[0] > self.most:
            return False
        self.allowed += more[0]
        return True

    def at_most(self):
        return self.allowed, 0, 0.0

    def others_reserve(self):
        return False


def test_what_is_given_back_is_not_spent_at_the_same_time():
    row = SlowRow(10)

    async def play():
        budget = SharedBudget(Caps(max_requests=10), Spent(), None, row)
        first = await budget.reserve("m", Request("subject", (user("?"),)), None)
        budget.settle(first, Usage(1, 1), None)
        giving = asyncio.create_task(budget.give_back())
        await asyncio.sleep(0.005)
        await budget.reserve("m", Request("subject", (user("?"),)), None)
        await giving
        return budget

    budget = asyncio.run(play())
    assert min(budget._free) >= 0
    assert row.allowed == 2 + budget._free[0]
