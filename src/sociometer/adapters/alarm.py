"""An alarm for reward hacking: does the policy get better, or has it learned what its simulator likes?

Both the simulator that it is trained with and another one feel better if the policy gets better; a growing gap is what
only the one simulator rewards.
"""

from collections.abc import Callable

from msgspec import Struct

from sociometer.adapters.gym import Gym, Reason, Rollout
from sociometer.adapters.training import TrainingItem
from sociometer.core.measure import Interval
from sociometer.statistics.formatting import estimate
from sociometer.statistics.paired import paired_difference


class Look(Struct, frozen=True):
    """The gap: how much better the training simulator feels than the held-out one after the same talks."""

    gap: float
    interval: Interval
    lost: int
    """Talks in which one of the two has no feeling; they do not count."""
    first: float = 0.0
    """The gap to compare with."""

    @property
    def raised(self) -> bool:
        """Whether the gap is larger than `first`, by more than chance."""
        return self.interval.low is not None and self.interval.low > self.first


class Eavesdropper:
    """A held-out simulator that hears the replies of rollouts that ended, for a server, which cannot ask the policy.

    It talks about the same matter and gets the same replies, whatever it says itself: only its feelings count.
    """

    def __init__(self, held_out: Gym, tell: Callable[[str], None], window: int = 100) -> None:
        self.gym, self._tell, self._window = held_out, tell, window
        self._felt: list[tuple[float, float, str]] = []
        self._lost = 0
        self.looks: list[Look] = []
        """After every window of talks; the first shows the gap before the policy could learn from them."""

    async def hear(self, one: TrainingItem, rollout: Rollout) -> None:
        """Note the feelings of both after the last reply that both heard; look when there are enough of them."""
        playing = await self.gym.reset(one)
        try:
            for turn in rollout.turns:
                if playing.request is not None:
                    await playing.step(turn.reply)
        finally:
            playing.close()
        pairs = list(zip(_feelings(rollout), _feelings(playing.rollout), strict=False))
        if not pairs or playing.rollout.reason is Reason.FAILED:
            self._lost += 1
            return
        self._felt.append((*pairs[-1], one.item.cluster or one.item.id))
        if len(self._felt) % self._window == 0:
            self._look()

    def _look(self) -> None:
        mine, theirs, clusters = (list(column) for column in zip(*self._felt[-self._window :], strict=True))
        found, first = paired_difference(theirs, mine, clusters), self.looks[0].gap if self.looks else 0.0
        looked = Look(found.difference, found.interval, self._lost, first)
        self.looks.append(looked)
        grown = "Alarm, the gap has grown: " if looked.raised and len(self.looks) > 1 else ""
        gap = estimate(looked.gap, "number", looked.interval)
        self._tell(f"{grown}training less held-out simulator, feeling in the last {self._window} talks: {gap}.")


def _feelings(rollout: Rollout) -> list[float]:
    return [facts["after"] / 100 for facts in rollout.trace if facts["kind"] == "emotion"]
