"""A paid model in memory that counts what it is asked and fails as told, and an engine on the template with it."""

import asyncio
from collections import Counter

from msgspec import structs

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Identity, Reply, Usage
from sociometer.core.instrument import Instrument
from sociometer.core.player import Player
from sociometer.engine.engine import Engine
from sociometer.instruments import load


class Server(Player):
    """A paid model that counts what it is asked, and fails as told."""

    def __init__(self, text="A", certain=True, fail=None, revision="1"):
        self.identity = Identity("test", "server", "http://test", revision=revision, certain=certain)
        self.asked = Counter()
        self.total = 0
        self._text = text
        self._fail = fail or (lambda number, request: None)

    async def answer(self, request):
        self.total += 1
        self.asked[request.messages] += 1
        error = self._fail(self.total, request)
        await asyncio.sleep(0)
        if error:
            raise error
        return Reply(self._text, usage=Usage(10, 1))

    async def embed(self, texts):
        return tuple((float(len(text)),) for text in texts)

    async def close(self):
        pass


def engine_with(store, server):
    template = load("_template")
    instrument = Instrument(template.folder, list(template.tasks.values()), players={"server": lambda: server})
    return Engine(store, lambda name: instrument)


def config(**changes):
    return RunConfig(**{"instrument": "_template", "subject": "server", **changes})


def change_task(monkeypatch, **changes):
    """Gives the template's task other functions; engines made from now on have them."""
    tasks = load("_template").tasks
    monkeypatch.setitem(tasks, "questions", structs.replace(tasks["questions"], **changes))
