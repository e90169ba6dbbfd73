"""Players for trying the games out: scripted subjects, and rehearsals with them in the chair."""

import asyncio

import pytest

from rehearsal import Rehearsal
from sociometer.core.conversation import Identity, Reply
from sociometer.core.player import RulePlayer
from sociometer.instruments import load
from sociometer.instruments.egosocial.games.players import SteadyOpponent
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve


class ScriptedPlayer(RulePlayer):
    """Answers from a list, over and over, or by a function of the request; keeps what it was asked."""

    def __init__(self, *replies, name="script"):
        self.identity = Identity("test", name)
        self._replies = replies
        self.asked = []

    async def answer(self, request):
        self.asked.append(request)
        reply = self._replies[(len(self.asked) - 1) % len(self._replies)]
        return Reply(reply(request) if callable(reply) else reply)


@pytest.fixture
def script():
    return ScriptedPlayer


@pytest.fixture
def baseline():
    return lambda name: resolve(f"baseline/{name}", ModelOptions())


@pytest.fixture
def rehearsal():
    def rehearse(subject, opponent=None, seed=0, **settings):
        seated = {"subject": subject, "opponent": opponent or SteadyOpponent()}
        return Rehearsal(load("egosocial"), seated, settings, seed=seed)

    return rehearse


@pytest.fixture
def first_item():
    return lambda task, show: next(iter(show.instrument.task(task).items(show.source())))


@pytest.fixture
def play(rehearsal, first_item):
    def play_first(task, subject, opponent=None, **settings):
        show = rehearsal(subject, opponent, **settings)
        return asyncio.run(show.play(task, first_item(task, show)))

    return play_first
