"""Items that are one request and one reply, for tools that ask once: what is asked, and the score of a given reply."""

import asyncio
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT, AnswerFormat, Identity, Message, Reply, Request, Sampling
from sociometer.core.errors import SociometerError, UsageError, hint
from sociometer.core.player import Player, RulePlayer
from sociometer.core.session import RoleBinding
from sociometer.core.task import Item, Score
from sociometer.engine.plan import Plan, make_plan
from sociometer.engine.run_options import make_config
from sociometer.engine.runner import play_episode
from sociometer.instruments import card_of, load


class _Asked(Exception):
    """The first request of an item; raising it ends the play."""

    def __init__(self, request: Request) -> None:
        super().__init__("asked")
        self.request = request


class _Listener(RulePlayer):
    """Raises the request that it gets instead of answering it."""

    async def answer(self, request: Request) -> Reply:
        raise _Asked(request)


class _OneReply(RulePlayer):
    """Answers once."""

    def __init__(self, text: str) -> None:
        super().__init__(Identity("scripted", "one reply"))
        self._left: str | None = text

    async def answer(self, request: Request) -> Reply:
        text, self._left = self._left, None
        if text is None:
            raise UsageError(
                f"the item asks more than once; play it with Inspect or {hint('run INSTRUMENT --model MODEL')}"
            )
        return Reply(text)


class OneTurn(Struct, frozen=True):
    """An item and the one request that it makes."""

    item: Item
    messages: tuple[Message, ...]
    sampling: Sampling
    answer_format: AnswerFormat


def one_turns(plan: Plan) -> Iterator[OneTurn]:
    """The items of a plan's only task with their requests; an item that asks another role does not fit."""
    for item in plan.items(plan.tasks[0]):
        listening = _with(plan, _Listener(Identity("scripted", "listener")))
        error = asyncio.run(play_episode(listening, plan.tasks[0], item)).error
        if not isinstance(error, _Asked):
            raise error or SociometerError(f"item '{item.id}' asks nothing.")
        request = error.request
        if request.role != SUBJECT:
            raise UsageError(f"{plan.instrument.card.name}/{plan.tasks[0].name} also asks the role '{request.role}'.")
        yield OneTurn(item, request.messages, request.sampling, request.answer_format)


def score_reply(plan: Plan, item: Item, text: str) -> Score:
    """The score of an item for one reply, as the engine plays it."""
    played = asyncio.run(play_episode(_with(plan, _OneReply(text)), plan.tasks[0], item))
    if played.error is not None:
        raise played.error
    episode = played.episode
    if episode.score is None:
        raise SociometerError(episode.failure.message if episode.failure else f"item '{item.id}' has no score.")
    return episode.score


def _with(plan: Plan, player: Player) -> Plan:
    binding = RoleBinding(player, player.identity.name, player.identity.name)
    roles = plan.instrument.card.roles_of(plan.tasks[0].name)
    return structs.replace(plan, bindings={role.name: binding for role in roles})


@cache
def plan_of(
    instrument: str,
    task: str,
    settings: bytes,
    official: bool = False,
    data: str = "",
    seed: int = 0,
    base: bool = False,
) -> Plan:
    """The plan of one task under settings (a JSON object); a reply without an answer is not asked about again."""
    chosen: dict[str, Any] = msgspec.json.decode(settings)
    config = make_config(
        card_of(instrument),
        "baseline/random",
        tasks=(task,),
        settings=chosen,
        official=official,
        data=data,
        seed=seed,
        second_question=False,
        base=base,
    )
    return make_plan(config, load(instrument), bindings={})
