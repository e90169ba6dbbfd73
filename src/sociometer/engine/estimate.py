"""Estimates requests, tokens and cost before anything is sent, by playing a few items with stand-ins."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from statistics import fmean
from typing import Any

from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT, Exchange, Reply, Request, Usage
from sociometer.core.errors import MachineryError, StoreError
from sociometer.core.player import Abilities, Player, RulePlayer
from sociometer.core.task import Item, Score, Task, sample
from sociometer.core.words import counted
from sociometer.engine.plan import Plan, ReadPlan
from sociometer.engine.prices import price_of
from sociometer.engine.progress import TaskWork, effort_of
from sociometer.engine.runner import play_episode
from sociometer.models.registry import resolve
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store

_REHEARSED = 12
_TIMED = 6
"""How many items of a task are played before a run, to tell the time that it takes."""
_ASCII_CHARACTERS_A_TOKEN = 4.0
_REPLY_TOKENS = 120
_MOST_RUNS, _MOST_READ = 20, 1_000
"""How many stored runs the length of a reply is taken from, and among how many, the newest ones."""


class RoleEstimate(Struct, frozen=True):
    """The estimate for one role, for a subject that succeeds; `cost` is None if the price is unknown.

    `fewest_requests` are those of a subject that guesses. The most are made if every question is asked again and every
    reply reaches its limit; None if there is no limit.
    """

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
    fewest_requests: int = 0
    most_requests: int = 0
    most_output_tokens: int | None = None
    most_cost: float | None = None
    replies_from: str = ""
    """Where the length of a reply is taken from."""


def estimate(plan: ReadPlan, store: Store | None = None) -> list[RoleEstimate]:
    """Calls, tokens and cost for each task and role; replies are as long as those of stored runs like it."""
    rows: list[RoleEstimate] = []
    config = plan.config
    for task in plan.tasks:
        items = plan.lists[task.name]
        rehearsed = list(sample(items.__iter__, _REHEARSED, 0))
        guessing, able = _StandIn(resolve("baseline/random")), _StandIn(resolve("baseline/oracle"))
        guessed, asked = (
            [exchange for one in asyncio.run(rehearse(plan, task, rehearsed, stand_in)) for exchange in one]
            for stand_in in (guessing, able)
        )
        for role, binding in plan.bindings.items():
            if mine := [exchange for exchange in asked if exchange.role == role]:
                length, replies_from = _reply_length(plan, store, task.name, role)
                scale = items.count * plan.repeats(task.name) / len(rehearsed)
                read = sum(_tokens(message.content) for exchange in mine for message in exchange.messages)
                counts = (len(mine), sum(exchange.role == role for exchange in guessed))
                limits = [limit for one in (guessing, able) for name, limit in one.limits if name == role]
                written = len(mine) * min(binding.sampling.max_tokens or length, length)
                most = max(counts) * (2 if config.asks_again(task.first_replies is not None) else 1) * scale
                price = price_of(plan.prices, binding)
                usage = Usage(round(read * scale), round(written * scale))
                longest = None if not limits else max(limit or (price and price.max_output) or 0 for limit in limits)
                at_most = round(most * longest) if longest else None
                row = RoleEstimate(
                    task=task.name,
                    role=role,
                    model=config.subject_label if role == SUBJECT else binding.label,
                    items=items.count,
                    repeats=plan.repeats(task.name),
                    requests=round(len(mine) * scale),
                    input_tokens=round(read * scale),
                    output_tokens=round(written * scale),
                    cost=price.of(usage) if price else None,
                    prices_as_of=str(price.as_of) if price and binding.player.identity.base_url else "",
                    fewest_requests=round(min(counts) * scale),
                    most_requests=round(most),
                    most_output_tokens=at_most,
                    most_cost=price.of(Usage(round(read * most / len(mine)), at_most)) if price else None,
                    replies_from=replies_from,
                )
                rows.append(row)
    return rows


def how_estimated(rows: Iterable[RoleEstimate]) -> str:
    """How the numbers of a plan were found, in words."""
    lengths = "; ".join(dict.fromkeys(row.replies_from for row in rows))
    return (
        "Expected for a subject that succeeds; at most: every reply is as long as its limit, and every question is"
        f" asked again where the run allows it. Length of a reply: {lengths}."
    )


def _reply_length(plan: Plan, store: Store | None, task: str, role: str) -> tuple[float, str]:
    """The mean number of tokens of this model's replies in this role and task in the newest runs, or an assumption."""
    instrument, name, lengths, runs = plan.config.instrument, plan.bindings[role].player.identity.name, list[int](), 0
    search = RunSearch(instrument=instrument, limit=_MOST_READ)
    for record in store.runs.found(search) if store and store.path.exists() else ():
        player = record.manifest.roles.get(role) if task in record.manifest.config.tasks else None
        if store and player and player.identity.name == name and runs < _MOST_RUNS:
            with suppress(StoreError):  # a damaged run does not prevent a plan
                items = list(store.episodes.repeats(record.id, task))
                heard = store.episodes.replies(record.id, task, items[:: len(items) // _REHEARSED + 1]).values()
                found = [one.usage.output_tokens for _, said in heard for who, one in said if who == role]
                lengths, runs = [*lengths, *filter(None, found)], runs + any(found)
    if not lengths:
        return _REPLY_TOKENS, f"{_REPLY_TOKENS} tokens, assumed because no stored run has that model, role and task"
    told = f"the mean of {counted(runs, 'stored run')} of {name} as {role} in {instrument}/{task}"
    return fmean(lengths), f"{counted(round(fmean(lengths)), 'token')}, {told}"


class _StandIn(RulePlayer):
    """A baseline in place of a model, which guesses where it has no answer, and keeps the limit of each reply."""

    abilities = Abilities(continues_text=True)

    def __init__(self, baseline: Player) -> None:
        super().__init__(baseline.identity)
        self._baseline, self._guesser = baseline, resolve("baseline/random")
        self.limits: list[tuple[str, int | None]] = []

    async def answer(self, request: Request) -> Reply:
        """The reply of the baseline."""
        self.limits.append((request.role, request.sampling.max_tokens))
        try:
            return await self._baseline.answer(request)
        except MachineryError:
            return await self._guesser.answer(request)


async def rehearse(
    plan: Plan, task: Task[Any, Any], items: list[Item], stand_in: Player | None = None
) -> list[list[Exchange]]:
    """The requests of each of these items, played with a stand-in (by default one that guesses) for every model."""
    stand_in = stand_in or resolve("baseline/random")
    bindings = {
        role: structs.replace(binding, player=stand_in) if binding.player.journaled else binding
        for role, binding in plan.bindings.items()
    }
    # A stand-in is told of tools in words, so that their definitions are among what it reads.
    config = structs.replace(plan.config, tools="told") if plan.config.tools else plan.config
    rehearsed = structs.replace(plan, bindings=bindings, config=config)
    task = structs.replace(task, score=lambda item, outcome: Score(values={}))  # scores are not looked at
    asked: list[list[Exchange]] = []
    for item in items:
        played = await play_episode(rehearsed, task, item)
        # A stand-in cannot always play to the end; what was asked until then still counts.
        if played.error is not None and not isinstance(played.error, MachineryError):
            raise played.error
        asked.append([event for event in played.events if isinstance(event, Exchange)])
    return asked


async def work_of(plan: ReadPlan) -> dict[str, TaskWork]:
    """The episodes of each task, and the effort of one, from a few items that a stand-in plays."""
    work = {}
    for task in plan.tasks:
        items, asked = plan.lists[task.name], list[list[Exchange]]()
        some = list(sample(items.__iter__, _TIMED, plan.config.seed))
        with suppress(Exception):  # an item that cannot be played fails in the run itself, and alone
            asked = await rehearse(plan, task, some)
        effort = effort_of((one for exchanges in asked for one in exchanges), plan.bindings) / max(len(asked), 1)
        work[task.name] = TaskWork(items.count * plan.repeats(task.name), max(effort, 1.0))
    return work


def _tokens(text: str) -> float:
    ascii_characters = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return ascii_characters / _ASCII_CHARACTERS_A_TOKEN + (len(text) - ascii_characters) + 4
