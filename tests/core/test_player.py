"""A player takes what it needs when it is opened, once, and gives it back with its last user."""

import asyncio

import pytest

from sociometer.core.conversation import Identity, Reply
from sociometer.core.player import Player, WrappedPlayer


class Counting(Player):
    """Notes when it is opened and closed."""

    def __init__(self, name="one", fails=False):
        self.identity = Identity("test", name)
        self.happened = []
        self._fails = fails

    async def answer(self, request):
        return Reply("A")

    async def open(self):
        self.happened.append("open")
        if self._fails:
            raise OSError("no memory")

    async def close(self):
        self.happened.append("close")


def test_it_is_opened_once_and_closed_by_its_last_user():
    player = Counting()

    async def use():
        async with player:
            async with player:
                pass
            assert player.happened == ["open"]
        assert player.happened == ["open", "close"]
        async with player:
            pass

    asyncio.run(use())
    assert player.happened == ["open", "close", "open", "close"]


def test_one_that_cannot_be_opened_is_not_held():
    player = Counting(fails=True)

    async def use():
        for _ in range(2):
            with pytest.raises(OSError, match="no memory"):
                async with player:
                    pytest.fail("it was opened")

    asyncio.run(use())
    assert player.happened == ["open", "open"]


def test_a_wrapped_player_is_opened_and_closed_with_its_wrapping():
    player = Counting()

    async def use():
        async with WrappedPlayer(player) as wrapped:
            assert (await wrapped.answer(None)).text == "A"

    asyncio.run(use())
    assert player.happened == ["open", "close"]
