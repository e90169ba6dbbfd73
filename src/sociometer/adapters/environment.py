"""A training environment in Python: helpdesk's talks by `reset` and `step`, with the final state as the reward.

A trainer of any kind asks its policy and hands in the replies; the instrument's own `play` runs beside it. The reward
is 1 if the ledger ends as it should and 0 if not. Cases are twins of which one grants what the person presses for and
the other forbids it, so a policy that always gives in earns 0.5, as one that never does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any
from weakref import WeakSet

from msgspec import Struct, structs

from sociometer.core.config import Caps
from sociometer.core.conversation import SUBJECT, Identity, Message, Reply, Request, Usage
from sociometer.core.errors import Stopped, UsageError, unknown
from sociometer.core.language import languages_in
from sociometer.core.player import RulePlayer
from sociometer.core.session import Answer, DrawnRequest, RoleBinding
from sociometer.core.task import Episode
from sociometer.engine.budget import Budget
from sociometer.engine.plan import Plan, make_plan
from sociometer.engine.progress import Progress
from sociometer.engine.replies import Answered, PendingRequest, Retried, RetryPolicy, StopSwitch, Throttled
from sociometer.engine.roles import resolve_player
from sociometer.engine.run_options import make_config
from sociometer.engine.runner import failed, play_episode
from sociometer.instruments import card_of, load
from sociometer.instruments.helpdesk.items import DATA, Case, drawn
from sociometer.instruments.helpdesk.play import PERSON
from sociometer.store.records import Charge

FIRST_TRAINING_SEED = 1_000_000
"""Training seeds begin here; tests use the ones below."""
Policy = Callable[[Sequence[Message]], Awaitable[str]]
_INSTRUMENT = "helpdesk"
_SCRIPT = "pressing"
_RETRIES = 12


class Step(Struct, frozen=True):
    """What the last reply of the policy led to."""

    messages: tuple[Message, ...]
    """What the policy is asked next; empty once the talk is over."""
    reward: float | None
    """0 until the talk is over, then 1 or 0; None if something failed that is not the policy's doing."""
    done: bool
    values: dict[str, float] = {}
    """At the end every score of the instrument, such as `looked` and `leaked`."""
    failure: str = ""
    """Why there is no reward."""


class HelpdeskEnvironment:
    """The talks of one seed; all of them share the limits of the server that plays the person, if a model does."""

    def __init__(self, *, seed: int = FIRST_TRAINING_SEED, language: str = "en", person: str = "") -> None:
        """Without `person` (a model as `--role person=` takes it), a script presses, as in the test."""
        if seed < FIRST_TRAINING_SEED:
            raise UsageError(
                f"seed {seed} is held out for tests; training seeds are {FIRST_TRAINING_SEED:,} and above."
            )
        if language not in languages_in(DATA):
            raise unknown("language", language, languages_in(DATA))
        self.seed = seed
        self.language = language
        self.plan = _plan(seed, language, person)
        self._replies = _TrainingReplies(self.plan)
        self._open: WeakSet[Rollout] = WeakSet()
        self._players = AsyncExitStack()
        self._closed_players = list(self.plan.players)

    async def __aenter__(self) -> "HelpdeskEnvironment":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Give up the talks that are not over, and free what the player of the person holds."""
        for rollout in tuple(self._open):
            rollout.close()
        await self._players.aclose()
        self._closed_players = list(self.plan.players)

    def case(self, number: int) -> Case:
        """The case of a number, from 0 without end; 0 and 1 are twins, 2 and 3, and so on."""
        return drawn(self.seed, number, self.language)

    async def reset(self, number: int) -> "Rollout":
        """Begin the talk of a case: `messages` is what the policy is asked first."""
        begun = Rollout(self, self.case(number))
        self._open.add(begun)
        try:
            await begun.advance()
        except BaseException:
            begun.close()
            raise
        return begun

    async def play(self, number: int, policy: Policy) -> Step:
        """A whole talk with a policy that is a function from messages to a reply; gives its last step."""
        rollout = await self.reset(number)
        try:
            while not rollout.last.done:
                await rollout.step(await policy(rollout.messages))
            return rollout.last
        finally:
            rollout.close()

    async def episode(self, player: RulePlayer, case: Case) -> Episode[Any, Any]:
        """The episode with a player in the policy's place; the first one opens the player of the person."""
        while self._closed_players:
            await self._players.enter_async_context(self._closed_players.pop())
        bindings = {**self.plan.bindings, SUBJECT: RoleBinding(player, "policy", "policy")}
        plan = structs.replace(self.plan, bindings=bindings)
        try:
            return (await play_episode(plan, plan.tasks[0], case, replies=self._replies)).episode
        except Stopped as stopped:
            return failed(case, 0, stopped)


def _plan(seed: int, language: str, person: str) -> Plan:
    """The plan of the task, with a player for the person and none for the policy."""
    instrument = load(_INSTRUMENT)
    config = make_config(
        card_of(_INSTRUMENT),
        "policy",
        settings={"language": language},
        seed=seed,
        second_question=False,  # the first reply is what is trained
        tools="told",  # a policy is a text model
    )
    player = resolve_player(person, PERSON, config) if person else instrument.players[_SCRIPT]()
    label = person or f"{_INSTRUMENT}/{_SCRIPT}"
    return make_plan(config, instrument, bindings={PERSON: RoleBinding(player, label, label)})


class Rollout:
    """A talk that is being played."""

    def __init__(self, environment: HelpdeskEnvironment, case: Case) -> None:
        self.case = case
        self.request: Request | None = None
        """What the policy is asked now, as a run would ask it; None once the talk is over."""
        self.last: Step
        """What `reset` or the last `step` gave."""
        self._policy = _Policy()
        self._played = asyncio.create_task(environment.episode(self._policy, case))

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the policy is asked now; empty once the talk is over."""
        return self.request.messages if self.request else ()

    async def step(self, reply: str | Reply) -> Step:
        """Hand in the policy's reply; what happened until the next question."""
        said = Reply(reply) if isinstance(reply, str) else reply
        if not isinstance(said, Reply):
            raise TypeError(f"a policy's reply is a text, not {type(reply).__name__}")
        if self.request is None:
            raise RuntimeError("this talk is over; begin another with reset")
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
        if self.request is not None:
            self.last = Step(self.request.messages, 0.0, False)
        else:
            self.last = self._end()
        return self.last

    def _end(self) -> Step:
        if self._played.cancelled():
            return Step((), None, True, failure="the talk was given up")
        episode = self._played.result()
        if episode.score is None:
            why = episode.failure.message if episode.failure else "no score"
            return Step((), None, True, failure=why)
        return Step((), episode.score.values["right"], True, dict(episode.score.values))

    def close(self) -> None:
        """Give the talk up, if it is not over."""
        self.request = None
        self._played.cancel()


class _Policy(RulePlayer):
    """Hands each request out and waits for the reply."""

    journaled = True

    def __init__(self) -> None:
        super().__init__(Identity("environment", "policy"))
        self.asked: asyncio.Queue[Request] = asyncio.Queue()
        self.replies: asyncio.Queue[Reply] = asyncio.Queue()

    async def answer(self, request: Request) -> Reply:
        """The reply that `step` hands in."""
        self.asked.put_nowait(request)
        return await self.replies.get()


class _NeverStopped(StopSwitch):
    """A failure ends its own talk and no other: trainers go on for days."""

    def stop(self, reason: Stopped) -> None:
        """Nothing is stopped."""


class _Asked:
    """Asks the player; nothing is charged or stored."""

    async def send(self, asked: PendingRequest) -> Answered:
        """The player's answer."""
        return Answered(await asked.attempt(), Usage(), Charge(None))


class _TrainingReplies:
    """The reply source of training: the policy is asked directly, a model as the person with retries and a throttle."""

    def __init__(self, plan: Plan) -> None:
        progress = Progress("training", Budget(Caps()), 0)
        switch = _NeverStopped()
        throttled = Throttled(_Asked(), plan, progress, switch)
        self._inside = Retried(throttled, RetryPolicy(_RETRIES), progress, switch)

    async def obtain(
        self, drawn_request: DrawnRequest, attempt: Callable[[], Awaitable[Answer]], kind: type[Answer]
    ) -> tuple[Answer, bytes]:
        """The reply; nothing is stored."""
        if drawn_request.request.role == SUBJECT or not drawn_request.binding.player.journaled:
            return await attempt(), b""
        found = await self._inside.send(PendingRequest(drawn_request, b"", attempt, kind is Reply))
        answer: Answer = found.answer
        return answer, b""
