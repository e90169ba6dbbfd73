"""Training without a framework: `reset` and `step` for one rollout, `play` for a whole one, many at once.

A trainer of any kind (verl, TRL, OpenRLHF, a loop of your own) asks its policy and hands in the replies; the
instrument's own `play` runs beside it. The other roles are asked as in a run: within the limits of their servers, and
again after a failure that may pass. A rollout that fails for such a reason has no reward.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any
from weakref import WeakSet

from msgspec import Struct, structs

from sociometer.adapters.training import (
    ENVIRONMENTS,
    Choices,
    TrainingItem,
    other_players,
    training_items,
    training_plan,
)
from sociometer.core.config import Caps
from sociometer.core.conversation import SUBJECT, Exchange, Identity, Message, Noted, Reply, Request, Usage
from sociometer.core.player import Player, RulePlayer
from sociometer.core.session import Answer, DrawnRequest, RoleBinding
from sociometer.engine.budget import Budget
from sociometer.engine.progress import Progress
from sociometer.engine.replies import Answered, PendingRequest, Retried, RetryPolicy, StopSwitch, Throttled
from sociometer.engine.runner import PlayedEpisode, play_episode
from sociometer.store.records import Charge

Policy = Callable[[Sequence[Message]], Awaitable[str]]


class Rollout(Struct, frozen=True):
    """A finished rollout; without a reward if something failed that is not the policy's doing."""

    item: str
    seed: int
    reward: float | None
    values: dict[str, float]
    """Every score of the instrument; the parts of the reward are among them."""
    unreadable: int
    turns: tuple[tuple[tuple[Message, ...], str], ...]
    """What the policy was asked and what it replied, turn by turn."""
    trace: tuple[dict[str, Any], ...]
    """What happened between the turns, such as the person's feeling after each reply."""
    failure: str = ""


class _Policy(RulePlayer):
    """Hands each request out and waits for the reply."""

    journaled = True

    def __init__(self) -> None:
        super().__init__(Identity("gym", "policy"))
        self.asked: asyncio.Queue[Request] = asyncio.Queue()
        self.replies: asyncio.Queue[str] = asyncio.Queue()

    async def answer(self, request: Request) -> Reply:
        """The reply that `step` hands in."""
        self.asked.put_nowait(request)
        return Reply(await self.replies.get())


class _Asked:
    """Asks the player; nothing is charged or stored."""

    async def send(self, asked: PendingRequest) -> Answered:
        """The player's answer."""
        return Answered(await asked.attempt(), Usage(), Charge(None))


class TrainingReplies:
    """The reply source of training: the policy is asked directly, the other roles with retries and a throttle."""

    def __init__(self, gym: "Gym", retries: int) -> None:
        progress = Progress("training", Budget(Caps()), 0)
        throttled = Throttled(_Asked(), gym.plan, progress, StopSwitch(), None)
        self._inside = Retried(throttled, RetryPolicy(retries), progress, StopSwitch(), None)

    async def obtain(
        self, drawn: DrawnRequest, attempt: Callable[[], Awaitable[Answer]], kind: type[Answer]
    ) -> tuple[Answer, bytes]:
        """The reply; nothing is stored."""
        if drawn.request.role == SUBJECT or not drawn.binding.player.journaled:
            return await attempt(), b""
        found = await self._inside.send(PendingRequest(drawn, b"", attempt, kind is Reply))
        answer: Answer = found.answer
        return answer, b""


class Gym:
    """The rollouts of one training environment; all of them share the limits of the other roles' servers."""

    def __init__(self, environment: str, choices: Choices | None = None, *, retries: int = 12, **chosen: Any) -> None:
        """`chosen` are the fields of `Choices`: seed, settings, data, simulator, judge."""
        self.name = environment
        choices = choices or Choices(**chosen)
        made = training_plan(environment, choices)
        self.plan = structs.replace(made, bindings=other_players(environment, choices, made))
        self._replies = TrainingReplies(self, retries)
        self._open: WeakSet[Playing] = WeakSet()
        self._players = AsyncExitStack()
        self._closed_players = list(self.plan.players)

    async def __aenter__(self) -> "Gym":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Give up the rollouts that are not over, and free what the players of the other roles hold."""
        for playing in tuple(self._open):
            playing.close()
        await self._players.aclose()
        self._closed_players = list(self.plan.players)

    def items(self, count: int | None = None) -> Iterator[TrainingItem]:
        """The items to play, over and over with new seeds if `count` is larger than their number."""
        return training_items(self.plan, count)

    async def reset(self, one: TrainingItem) -> "Playing":
        """Begin a rollout: `messages` is what the policy is asked first."""
        begun = Playing(self, one)
        self._open.add(begun)
        try:
            await begun.advance()
        except BaseException:
            begun.close()
            raise
        return begun

    async def play(self, one: TrainingItem, policy: Policy) -> Rollout:
        """A whole rollout with a policy that is a function from messages to a reply."""
        playing = await self.reset(one)
        try:
            while playing.messages:
                await playing.step(await policy(playing.messages))
            return playing.rollout
        finally:
            playing.close()

    async def play_with(self, player: Player, one: TrainingItem) -> PlayedEpisode:
        """The episode with a player in the policy's place; the first one opens the other players."""
        while self._closed_players:
            await self._players.enter_async_context(self._closed_players.pop())
        task = self.plan.tasks[0]
        bindings = {**self.plan.bindings, SUBJECT: RoleBinding(player, "policy", "policy")}
        plan = structs.replace(self.plan, bindings=bindings, config=structs.replace(self.plan.config, seed=one.seed))
        return await play_episode(plan, task, one.item, replies=self._replies)

    def rollout(self, one: TrainingItem, played: PlayedEpisode) -> Rollout:
        """What a played episode is worth."""
        episode = played.episode
        noted = (event for event in played.events if isinstance(event, Noted))
        trace = tuple({"kind": event.kind, **event.facts} for event in noted)
        asked = (event for event in played.events if isinstance(event, Exchange) and event.role == SUBJECT)
        turns = tuple((exchange.messages, exchange.reply.text) for exchange in asked)
        score = episode.score
        if score is None:
            why = episode.failure.message if episode.failure else "no score"
            return Rollout(one.item.id, one.seed, None, {}, 0, turns, trace, why)
        reward = ENVIRONMENTS[self.name].reward(score.values)
        return Rollout(one.item.id, one.seed, reward, dict(score.values), score.unreadable, turns, trace)


class Playing:
    """A rollout that is being played."""

    def __init__(self, gym: Gym, one: TrainingItem) -> None:
        self._gym, self._one, self._policy = gym, one, _Policy()
        self._played = asyncio.create_task(gym.play_with(self._policy, one))
        self.messages: tuple[Message, ...] = ()
        """What the policy is asked now; empty once the rollout is over."""

    async def step(self, reply: str) -> bool:
        """Hand in the policy's reply; whether the rollout goes on."""
        if not isinstance(reply, str):
            raise TypeError(f"a policy's reply is a text, not {type(reply).__name__}")
        if not self.messages:
            raise RuntimeError("this rollout is over; begin another with reset")
        self._policy.replies.put_nowait(reply)
        return await self.advance()

    async def advance(self) -> bool:
        """Wait for the next question to the policy, or for the end."""
        asked = asyncio.create_task(self._policy.asked.get())
        self.messages = ()
        try:
            await asyncio.wait((asked, self._played), return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                self.messages = asked.result().messages
                return True
        finally:
            asked.cancel()
        self._played.result()
        return False

    @property
    def rollout(self) -> Rollout:
        """The result, once the rollout is over."""
        if not self._played.done() or self._played.cancelled():
            raise RuntimeError("this rollout is not over, or was given up; it has no result")
        return self._gym.rollout(self._one, self._played.result())

    def close(self) -> None:
        """Give the rollout up, if it is not over."""
        self.messages = ()
        self._played.cancel()
