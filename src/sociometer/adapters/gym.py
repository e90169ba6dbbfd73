"""Training without a framework: `reset` and `step` for one rollout, `play` for a whole one, many at once.

A trainer of any kind (verl, TRL, OpenRLHF, a loop of your own) asks its policy and hands in the replies; the
instrument's own `play` runs beside it. The other roles are asked as in a run: within the limits of their servers, and
again after a failure that may pass. A rollout that fails for such a reason has no reward.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from enum import StrEnum
from functools import cached_property
from typing import Any
from weakref import WeakSet

from msgspec import Struct, structs

from sociometer.adapters.training import Choices, TrainingItem, environment_named, other_players, training_plan
from sociometer.core.config import Caps
from sociometer.core.conversation import (
    SUBJECT,
    Event,
    Exchange,
    Identity,
    Message,
    Noted,
    Reply,
    Request,
    Sampling,
    Schema,
    Usage,
)
from sociometer.core.errors import Stopped
from sociometer.core.player import Player, RulePlayer
from sociometer.core.session import Answer, DrawnRequest, RoleBinding
from sociometer.core.task import Episode, Item
from sociometer.engine.budget import Budget
from sociometer.engine.progress import Progress
from sociometer.engine.replies import Answered, PendingRequest, Retried, RetryPolicy, StopSwitch, Throttled
from sociometer.engine.runner import failed, play_episode
from sociometer.store.records import Charge

Policy = Callable[[Sequence[Message]], Awaitable[str]]
_RETRIES = 12


class Reason(StrEnum):
    """Why a rollout is over."""

    GOES_ON = ""
    FINISHED = "finished"
    TURN_LIMIT = "turn limit"
    FAILED = "failed"
    """Something failed that is not the policy's doing."""
    GIVEN_UP = "given up"
    IDLE = "idle"
    """No reply of the policy came in time."""


class Observation(Struct, frozen=True, omit_defaults=True):
    """What the policy is asked, as a run would ask it."""

    messages: tuple[Message, ...]
    schema: dict[str, Any] | None = None
    """The JSON schema of the reply, if the instrument asks for one."""
    sampling: Sampling = Sampling()
    """What the instrument asks for, such as `max_tokens`; the trainer's own sampling may replace it."""

    @classmethod
    def of(cls, request: Request) -> "Observation":
        """The part of a request that is sent to a model."""
        form = request.answer_format
        return cls(request.messages, form.schema if isinstance(form, Schema) else None, request.sampling)


def new_text(before: Observation | None, after: Observation) -> str:
    """What the policy reads for the first time, for trainers that keep the conversation themselves."""
    known = before.messages if before is not None else ()
    goes_on = known and after.messages[: len(known)] == known
    return "\n\n".join(one.content for one in (after.messages[len(known) + 1 :] if goes_on else after.messages))


class Action(Struct, frozen=True, omit_defaults=True):
    """A reply of the policy, and what the trainer wants to keep with it."""

    reply: str
    tokens: tuple[int, ...] = ()
    mask: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()


class Turn(Action, frozen=True, kw_only=True):
    """An action, and what the policy was asked before it."""

    observation: Observation


class Step(Struct, frozen=True):
    """What happened since the last reply of the policy."""

    observation: Observation | None
    """What the policy is asked next; None once the rollout is over."""
    reward: float | None
    """0 until the rollout is over, then its reward; None if it has none. The sum over the steps is the reward."""
    part: float
    """The part of the reward that is known already: by how much the person's feeling (0 to 1) changed."""
    facts: tuple[dict[str, Any], ...]
    """What the instrument noted since the last step."""
    terminated: bool = False
    truncated: bool = False
    """Whether the rollout was ended from outside: the last turn, a failure, or nobody who went on."""
    reason: Reason = Reason.GOES_ON
    failure: str = ""


class Rollout(Struct, frozen=True):
    """A rollout; without a reward if it is not over, or if something failed that is not the policy's doing."""

    item: str
    seed: int
    reward: float | None
    values: dict[str, float]
    """Every score of the instrument; the parts of the reward are among them. Until the end, what is known."""
    unreadable: int
    turns: tuple[Turn, ...]
    """The policy's trace: what it was asked and what it replied, turn by turn."""
    others: tuple[Exchange, ...]
    """The trace of the other roles: everything that the simulated person and the judge were asked and replied."""
    trace: tuple[dict[str, Any], ...]
    """What happened between the turns, such as the person's feeling after each reply."""
    reason: Reason
    failure: str = ""


class _Policy(RulePlayer):
    """Hands each request out and waits for the reply."""

    journaled = True

    def __init__(self) -> None:
        super().__init__(Identity("gym", "policy"))
        self.asked: asyncio.Queue[Request] = asyncio.Queue()
        self.replies: asyncio.Queue[Reply] = asyncio.Queue()

    async def answer(self, request: Request) -> Reply:
        """The reply that `step` hands in."""
        self.asked.put_nowait(request)
        return await self.replies.get()


class _NeverStopped(StopSwitch):
    """A failure ends its own rollout and no other: trainers go on for days."""

    def stop(self, reason: Stopped) -> None:
        """Nothing is stopped."""


class _Asked:
    """Asks the player; nothing is charged or stored."""

    async def send(self, asked: PendingRequest) -> Answered:
        """The player's answer."""
        return Answered(await asked.attempt(), Usage(), Charge(None))


class TrainingReplies:
    """The reply source of training: the policy is asked directly, the other roles with retries and a throttle."""

    def __init__(self, gym: "Gym") -> None:
        progress = Progress("training", Budget(Caps()), 0)
        switch = _NeverStopped()
        throttled = Throttled(_Asked(), gym.plan, progress, switch)
        self._inside = Retried(throttled, RetryPolicy(_RETRIES), progress, switch)

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

    def __init__(self, environment: str, choices: Choices | None = None, **chosen: Any) -> None:
        """`chosen` are the fields of `Choices`: seed, settings, data, simulator, judge."""
        self.environment = environment_named(environment)
        choices = choices or Choices(**chosen)
        made = training_plan(environment, choices)
        self.plan = structs.replace(made, bindings=other_players(environment, choices, made))
        self._replies = TrainingReplies(self)
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
        return map(self.item, range(self.count if count is None else count))

    @property
    def count(self) -> int:
        """How many items there are."""
        return len(self._items)

    def item(self, place: int) -> TrainingItem:
        """The item at a place; behind the last one they begin again with another seed."""
        again, nth = divmod(place, len(self._items))
        return TrainingItem(self._items[nth], self.plan.config.seed + again)

    @cached_property
    def _items(self) -> list[Item]:
        return list(self.plan.items(self.plan.tasks[0]))

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

    async def episode(self, player: Player, one: TrainingItem, events: list[Event]) -> Episode[Any, Any]:
        """The episode with a player in the policy's place; the first one opens the other players."""
        while self._closed_players:
            await self._players.enter_async_context(self._closed_players.pop())
        task = self.plan.tasks[0]
        bindings = {**self.plan.bindings, SUBJECT: RoleBinding(player, "policy", "policy")}
        plan = structs.replace(self.plan, bindings=bindings, config=structs.replace(self.plan.config, seed=one.seed))
        try:
            return (await play_episode(plan, task, one.item, replies=self._replies, events=events)).episode
        except Stopped as stopped:
            return failed(one.item, 0, stopped)


class Playing:
    """A rollout that is being played."""

    def __init__(self, gym: Gym, one: TrainingItem) -> None:
        self._gym, self._one, self._policy = gym, one, _Policy()
        self._events: list[Event] = []
        self._turns: list[Turn] = []
        self._seen, self._known, self._given_up = 0, gym.environment.known(()), Reason.GOES_ON
        self._played = asyncio.create_task(gym.episode(self._policy, one, self._events))
        self.request: Request | None = None
        """What the policy is asked now; None once the rollout is over."""
        self.last: Step
        """What `reset` or the last `step` gave."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the policy is asked now; empty once the rollout is over."""
        return self.request.messages if self.request else ()

    async def step(self, reply: str | Reply | Action) -> Step:
        """Hand in the policy's reply; what happened until the next question."""
        said = Reply(reply) if isinstance(reply, str) else Reply(reply.reply) if isinstance(reply, Action) else reply
        if not isinstance(said, Reply):
            raise TypeError(f"a policy's reply is a text, not {type(reply).__name__}")
        if self.request is None:
            raise RuntimeError("this rollout is over; begin another with reset")
        kept = structs.asdict(reply) if isinstance(reply, Action) else {"reply": said.text}
        self._turns.append(Turn(observation=Observation.of(self.request), **kept))
        self._policy.replies.put_nowait(said)
        return await self.advance()

    async def advance(self) -> Step:
        """Wait for the next question to the policy, or for the end."""
        asked = asyncio.create_task(self._policy.asked.get())
        self.request = None
        try:
            await asyncio.wait((asked, self._played), return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                self.request = asked.result()
        finally:
            asked.cancel()
        return self.ended()

    def ended(self) -> Step:
        """What happened since the last step; for a rollout that was given up, its end."""
        found = self.rollout
        facts, known = found.trace[self._seen :], self._gym.environment.known(found.trace)
        part = sum(known.values()) - sum(self._known.values())
        self._seen, self._known = len(found.trace), known
        if self.request is not None:
            self.last = Step(Observation.of(self.request), 0.0, part, facts)
        else:
            ended = found.reason is Reason.FINISHED
            self.last = Step(None, found.reward, part, facts, ended, not ended, found.reason, found.failure)
        return self.last

    @property
    def rollout(self) -> Rollout:
        """The rollout as far as it was played."""
        trace = tuple({"kind": one.kind, **one.facts} for one in self._events if isinstance(one, Noted))
        others = tuple(one for one in self._events if isinstance(one, Exchange) and one.role != SUBJECT)
        environment = self._gym.environment
        reward, unreadable, values, why = None, 0, environment.known(trace), ""
        reason = self._given_up
        if self._played.done() and not self._played.cancelled():
            episode = self._played.result()
            if episode.score is None:
                reason, why = Reason.FAILED, episode.failure.message if episode.failure else "no score"
            else:
                reward, unreadable = environment.reward(episode.score.values), episode.score.unreadable
                values, limit = dict(episode.score.values), any(facts.get("ending") == "turns" for facts in trace)
                reason = Reason.TURN_LIMIT if limit else Reason.FINISHED
        item, seed, turns = self._one.item.id, self._one.seed, tuple(self._turns)
        return Rollout(item, seed, reward, values, unreadable, turns, others, trace, reason, why)

    def close(self, reason: Reason = Reason.GIVEN_UP) -> None:
        """Give the rollout up, if it is not over."""
        self.request = None
        if not self._played.done():
            self._given_up = reason
            self._played.cancel()
