"""The plan in numbers, before anything is sent: a few items are rehearsed with stand-ins to count calls and tokens."""

import asyncio
from functools import partial

from msgspec import Struct, structs

from sociometer.core.conversation import Exchange
from sociometer.core.errors import MachineryError
from sociometer.core.session import RoleBinding
from sociometer.core.task import Item
from sociometer.engine.episode import play_episode
from sociometer.engine.items import ItemList, sample
from sociometer.engine.plan import Plan
from sociometer.engine.prices import price_of
from sociometer.models.registry import resolve

_REHEARSED = 12
_ASCII_CHARACTERS_A_TOKEN = 4.0
_REPLY_TOKENS = 120


class RoleEstimate(Struct, frozen=True):
    """What a role will be asked; `cost` is None where the price is unknown."""

    task: str
    role: str
    model: str
    items: int
    repeats: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    prices_as_of: str = ""


def estimate(plan: Plan) -> list[RoleEstimate]:
    """Calls, tokens and cost for each task and role."""
    rows: list[RoleEstimate] = []
    for task in plan.tasks:
        items = ItemList(task.name, partial(plan.items, task))
        rehearsed = list(sample(items.__iter__, _REHEARSED, 0))
        asked = asyncio.run(_rehearse(plan, task.name, rehearsed))
        for role, binding in plan.bindings.items():
            mine = [exchange for exchange in asked if exchange.role == role]
            if mine:
                scale = items.count * plan.repeats(task.name) / len(rehearsed)
                rows.append(_row(plan, task.name, role, binding, items.count, mine, scale))
    return rows


async def _rehearse(plan: Plan, task: str, items: list[Item]) -> list[Exchange]:
    stand_in = resolve("baseline/random")
    bindings = {
        role: structs.replace(binding, player=stand_in) if binding.player.journaled else binding
        for role, binding in plan.bindings.items()
    }
    rehearsed = structs.replace(plan, bindings=bindings)
    asked: list[Exchange] = []
    for item in items:
        played = await play_episode(rehearsed, plan.instrument.task(task), item)
        # A stand-in cannot always play to the end; what was asked until then still counts.
        if played.error is not None and not isinstance(played.error, MachineryError):
            raise played.error
        asked += [event for event in played.events if isinstance(event, Exchange)]
    return asked


def _row(
    plan: Plan, task: str, role: str, binding: RoleBinding, items: int, asked: list[Exchange], scale: float
) -> RoleEstimate:
    read = sum(_tokens(message.content) for exchange in asked for message in exchange.messages)
    written = len(asked) * min(binding.sampling.max_tokens or _REPLY_TOKENS, _REPLY_TOKENS)
    price = price_of(plan.prices, binding.player.identity, binding.spec)
    input_tokens, output_tokens = round(read * scale), round(written * scale)
    return RoleEstimate(
        task=task,
        role=role,
        model=binding.label,
        items=items,
        repeats=plan.repeats(task),
        calls=round(len(asked) * scale),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost=None if price is None else (input_tokens * price.input + output_tokens * price.output) / 1e6,
        prices_as_of="" if price is None or not binding.player.identity.base_url else str(price.as_of),
    )


def _tokens(text: str) -> float:
    ascii_characters = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return ascii_characters / _ASCII_CHARACTERS_A_TOKEN + (len(text) - ascii_characters) + 4
