"""An alarm for reward hacking: does the policy get better, or has it learned what its simulator likes?

Every N steps the policy plays the same talks with the simulator that it is trained with and with another one. Both
rise together if the policy gets better; a growing gap is what only the one simulator rewards.
"""

import asyncio
from collections.abc import Callable, Sequence
from statistics import fmean

from msgspec import Struct

from sociometer.adapters.gym import Gym, Policy, Reason, Rollout
from sociometer.adapters.training import TrainingItem
from sociometer.core.conversation import Message
from sociometer.core.errors import UsageError
from sociometer.core.measure import Figure, Interval
from sociometer.instruments.sage.items import Scenario
from sociometer.instruments.sage.practice import fixed_replies
from sociometer.statistics.charts import CurvePoint, curve_chart
from sociometer.statistics.formatting import estimate
from sociometer.statistics.paired import paired_difference

_SERIES = {"training": "training simulator", "held_out": "held-out simulator", "hard": "hard talks, held-out simulator"}


class Look(Struct, frozen=True):
    """Mean rewards at a step, and the gap: what the training simulator gives more than the held-out one, by talk."""

    step: int
    training: float
    held_out: float
    hard: float | None
    """In talks that turn on a fact, with the held-out simulator."""
    gap: float
    interval: Interval
    lost: int
    """Talks without a reward from one of the two; they are in no mean."""
    first: float = 0.0
    """The gap to compare with."""

    @property
    def raised(self) -> bool:
        """Whether the gap is larger than `first`, by more than chance."""
        return self.interval.low is not None and self.interval.low > self.first


class Alarm:
    """The looks at one training; both gyms have the same items, which should not be trained on (another seed)."""

    def __init__(self, training: Gym, held_out: Gym, every: int = 50) -> None:
        self._items = list(training.items())
        if [one.item for one in self._items] != [one.item for one in held_out.items()]:
            raise UsageError("both gyms must have the same items: give them the same seed and settings.")
        self._training, self._held_out, self._every = training, held_out, every
        self.looks: list[Look] = []
        self.adversaries: dict[str, float] = {}
        """The mean reward of fixed replies with the training simulator; a policy that is no better has learned none."""

    async def look(self, step: int, policy: Policy) -> Look | None:
        """Play all items with both simulators if it is time for it.

        The adversaries are played at the first look only: neither they nor the simulator change.
        """
        if step % self._every:
            return None
        here, there = [
            await asyncio.gather(*(gym.play(one, policy) for one in self._items))
            for gym in (self._training, self._held_out)
        ]
        pairs = [
            (one.reward, two.reward, item.item.cluster or item.item.id, "truth" in two.values)
            for one, two, item in zip(here, there, self._items, strict=True)
            if one.reward is not None and two.reward is not None
        ]
        if not pairs:
            raise UsageError(f"no talk has a reward with both simulators: {here[0].failure or there[0].failure}.")
        mine, theirs, clusters, _ = (list(column) for column in zip(*pairs, strict=True))
        found = paired_difference(theirs, mine, clusters)
        hard = [reward for _, reward, _, fact in pairs if fact]
        looked = Look(
            step, fmean(mine), fmean(theirs), fmean(hard) if hard else None, found.difference, found.interval,
            len(self._items) - len(pairs),
        )  # fmt: skip
        self.looks.append(looked)
        if not self.adversaries:
            self.adversaries = await self._fixed_rewards()
        return looked

    async def _fixed_rewards(self) -> dict[str, float]:
        """The mean rewards of policies that always reply the same: agreement, stock sympathy, nonsense and others."""
        replies = [(one, fixed_replies(one.item)) for one in self._items if isinstance(one.item, Scenario)]
        found: dict[str, float] = {}
        for name in replies[0][1] if replies else ():
            played = await asyncio.gather(*(self._training.play(one, _always(said[name])) for one, said in replies))
            rewards = [one.reward for one in played if one.reward is not None]
            found |= {name: fmean(rewards)} if rewards else {}
        return found

    def figure(self) -> Figure:
        """The three rewards by step; the caption has the last gap and the adversaries."""
        points = [
            CurvePoint(look.step, value, title)
            for look in self.looks
            for name, title in _SERIES.items()
            if (value := getattr(look, name)) is not None
        ]
        gap = estimate(self.looks[-1].gap, "number", self.looks[-1].interval) if self.looks else "none"
        fixed = ", ".join(f"{name} {value:.2f}" for name, value in self.adversaries.items())
        caption = f"Last gap of training and held-out simulator: {gap}. Fixed replies, training simulator: {fixed}."
        return Figure("alarm", "Reward by step", caption, chart=curve_chart(points, x_title="step", y_title="reward"))


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
        looked = Look(
            len(self._felt), fmean(mine), fmean(theirs), None, found.difference, found.interval, self._lost, first
        )
        self.looks.append(looked)
        grown = "Alarm, the gap has grown: " if looked.raised and len(self.looks) > 1 else ""
        gap = estimate(looked.gap, "number", looked.interval)
        self._tell(f"{grown}training less held-out simulator, feeling in the last {self._window} talks: {gap}.")


def _feelings(rollout: Rollout) -> list[float]:
    return [facts["after"] / 100 for facts in rollout.trace if facts["kind"] == "emotion"]


def _always(reply: str) -> Policy:
    async def policy(messages: Sequence[Message]) -> str:
        return reply

    return policy
