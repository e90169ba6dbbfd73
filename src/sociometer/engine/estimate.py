"""The plan in numbers, before anything is sent: a few items are rehearsed with stand-ins to count calls and tokens."""

import asyncio
import contextlib
from collections import Counter
from random import Random

from msgspec import Struct

from sociometer.core.errors import MachineryError
from sociometer.core.task import Item
from sociometer.engine.draw import Draw
from sociometer.engine.plan import Plan
from sociometer.engine.rehearsal import Direct
from sociometer.engine.session import Heard, PlaySession, Seat
from sociometer.models.registry import resolve

_REHEARSED = 12
_CHARACTERS_A_TOKEN = {"ascii": 4.0, "other": 1.0}
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
        count, sample = _sample(plan, task.name)
        heard = asyncio.run(_rehearse(plan, task.name, sample))
        calls = Counter(event.role for event in heard)
        repeats = plan.repeats(task.name)
        for role, seat in plan.seats.items():
            if calls[role] and sample:
                scale = count * repeats / len(sample)
                rows.append(_row(plan, task.name, role, seat, count, heard, scale))
    return rows


def _sample(plan: Plan, task: str) -> tuple[int, list[Item]]:
    """The number of items, and a few of them drawn evenly."""
    rng = Random(0)
    count = 0
    kept: list[Item] = []
    for item in plan.items(plan.instrument.task(task)):
        count += 1
        if len(kept) < _REHEARSED:
            kept.append(item)
        elif (place := rng.randrange(count)) < _REHEARSED:
            kept[place] = item
    return count, kept


async def _rehearse(plan: Plan, task: str, items: list[Item]) -> list[Heard]:
    stand_in = resolve("baseline/random")
    seats = {
        role: seat if not seat.player.journaled else Seat(stand_in, seat.label, seat.sampling)
        for role, seat in plan.seats.items()
    }
    card = plan.instrument.card
    heard: list[Heard] = []
    for item in items:
        draw = Draw(card.name, card.version, task, item.id, 0, plan.config.seed)
        session = PlaySession(Direct(), seats, draw, plan.settings, plan.prompts)
        # A stand-in cannot always play to the end; what was asked until then still counts.
        with contextlib.suppress(MachineryError):
            await plan.instrument.task(task).play(item, session)
        heard += [event for event in session.events if isinstance(event, Heard)]
    return heard


def _row(plan: Plan, task: str, role: str, seat: Seat, items: int, heard: list[Heard], scale: float) -> RoleEstimate:
    mine = [event for event in heard if event.role == role]
    read = sum(_tokens(message.content) for event in mine for message in event.messages)
    written = len(mine) * min(seat.sampling.max_tokens or _REPLY_TOKENS, _REPLY_TOKENS)
    price = plan.prices.of(seat.player.identity, seat.label)
    input_tokens, output_tokens = round(read * scale), round(written * scale)
    return RoleEstimate(
        task=task,
        role=role,
        model=seat.label,
        items=items,
        repeats=plan.repeats(task),
        calls=round(len(mine) * scale),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost=None if price is None else (input_tokens * price.input + output_tokens * price.output) / 1e6,
        prices_as_of="" if price is None or not seat.player.identity.base_url else str(price.as_of),
    )


def _tokens(text: str) -> float:
    ascii_characters = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    others = len(text) - ascii_characters
    return ascii_characters / _CHARACTERS_A_TOKEN["ascii"] + others / _CHARACTERS_A_TOKEN["other"] + 4
