"""Estimates requests, tokens and cost before anything is sent, by playing a few items with stand-ins."""

import asyncio
from functools import partial
from typing import Any

from msgspec import Struct, structs

from sociometer.core.conversation import Exchange, Identity, Usage
from sociometer.core.errors import MachineryError
from sociometer.core.player import Speed
from sociometer.core.task import Item, Task
from sociometer.engine.batches.batches import batch_endpoints
from sociometer.engine.plan import ItemList, Plan, sample
from sociometer.engine.prices import price_of
from sociometer.engine.runner import play_episode
from sociometer.models.registry import resolve

_REHEARSED = 12
_ASCII_CHARACTERS_A_TOKEN = 4.0
_REPLY_TOKENS = 120


class RoleEstimate(Struct, frozen=True):
    """The estimate for one role; `cost` is None if the price is unknown."""

    task: str
    role: str
    model: str
    items: int
    repeats: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    prices_as_of: str = ""
    seconds: float | None = None
    """The time of a model in this process, at the speed measured now and without its cache; None for others."""
    first_reply_seconds: float | None = None


def estimate(plan: Plan) -> list[RoleEstimate]:
    """Calls, tokens and cost for each task and role."""
    rows: list[RoleEstimate] = []
    batched = batch_endpoints(plan)
    speeds = asyncio.run(_speeds(plan))
    for task in plan.tasks:
        items = ItemList(task.name, partial(plan.items, task))
        rehearsed = list(sample(items.__iter__, _REHEARSED, 0))
        asked = [exchange for one in asyncio.run(rehearse(plan, task, rehearsed)) for exchange in one]
        for role, binding in plan.bindings.items():
            if mine := [exchange for exchange in asked if exchange.role == role]:
                scale = items.count * plan.repeats(task.name) / len(rehearsed)
                read = sum(_tokens(message.content) for exchange in mine for message in exchange.messages)
                replies = sum(not exchange.reply.likelihoods for exchange in mine)
                written = replies * min(binding.sampling.max_tokens or _REPLY_TOKENS, _REPLY_TOKENS)
                speed, at_once = speeds.get(role), binding.player.most_in_flight or 1
                first = sum(_tokens(message.content) for message in mine[0].messages)
                price = price_of(plan.prices, binding)
                if price and binding.spec in batched:
                    price = price.batched()
                usage = Usage(round(read * scale), round(written * scale))
                row = RoleEstimate(
                    task=task.name,
                    role=role,
                    model=binding.label,
                    items=items.count,
                    repeats=plan.repeats(task.name),
                    requests=round(len(mine) * scale),
                    input_tokens=round(read * scale),
                    output_tokens=round(written * scale),
                    cost=price.of(usage) if price else None,
                    prices_as_of=str(price.as_of) if price and binding.player.identity.base_url else "",
                    seconds=speed.seconds(read * scale, written * scale) / at_once if speed else None,
                    first_reply_seconds=speed.seconds(first, written / len(mine)) if speed else None,
                )
                rows.append(row)
    return rows


def longest_wait(plan: Plan) -> str:
    """How long a run in batches takes at most, in a sentence; empty if it has none."""
    endpoints = batch_endpoints(plan)
    if not endpoints:
        return ""
    roles = {role for role, binding in plan.bindings.items() if binding.spec in endpoints}
    most = 0
    for task in plan.tasks:
        items = list(sample(partial(plan.items, task), _REHEARSED, 0))
        for asked in asyncio.run(rehearse(plan, task, items)):
            most = max(most, sum(exchange.role in roles for exchange in asked))
    hours = max(endpoint.hours for endpoint in endpoints.values())
    turns = "one request" if most == 1 else f"up to {most} requests one after another"
    return (
        f"Each batch takes up to {hours} h. An item makes {turns}, so the run takes up to {most * hours} h; a second"
        " question or a retry takes another batch. Replies are stored as they arrive, so you can stop it and resume."
    )


async def _speeds(plan: Plan) -> dict[str, Speed]:
    """The speed of each role whose model runs in this process, measured once for each model."""
    found: dict[Identity, Speed | None] = {}
    for binding in plan.bindings.values():
        player = binding.player
        if player.identity not in found:
            found[player.identity] = await player.measure_speed()
    speeds = {role: found.get(binding.player.identity) for role, binding in plan.bindings.items()}
    return {role: speed for role, speed in speeds.items() if speed is not None}


async def rehearse(plan: Plan, task: Task[Any, Any], items: list[Item]) -> list[list[Exchange]]:
    """The requests of each of these items, played with a stand-in in place of every model."""
    stand_in = resolve("baseline/random")
    bindings = {
        role: structs.replace(binding, player=stand_in) if binding.player.journaled else binding
        for role, binding in plan.bindings.items()
    }
    rehearsed = structs.replace(plan, bindings=bindings)
    asked: list[list[Exchange]] = []
    for item in items:
        played = await play_episode(rehearsed, task, item)
        # A stand-in cannot always play to the end; what was asked until then still counts.
        if played.error is not None and not isinstance(played.error, MachineryError):
            raise played.error
        asked.append([event for event in played.events if isinstance(event, Exchange)])
    return asked


def _tokens(text: str) -> float:
    ascii_characters = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return ascii_characters / _ASCII_CHARACTERS_A_TOKEN + (len(text) - ascii_characters) + 4
