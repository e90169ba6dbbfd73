"""A talk of the embedded model with a scripted person: real, offline, and no measure of anything."""

import asyncio
from pathlib import Path

import pytest

from sociometer.core.player import Player
from sociometer.models.registry import resolve


@pytest.mark.slow
def test_the_embedded_model_talks_with_a_person(rehearse, care_home, embedded_model):
    async def talk():
        async with resolve(f"local/{Path(embedded_model)}") as subject:
            show = rehearse({"turns": 2, "judge-last": True}, subject=Short(subject))
            return (await show.play("dialogue", care_home)).episode

    episode = asyncio.run(talk())
    assert episode.failure is None, episode.failure
    assert len(episode.outcome.turns) == 2
    assert all(turn.reply and turn.judgement for turn in episode.outcome.turns)
    assert episode.score.values["tokens"] > 0


class Short(Player):
    """The model, held to short replies."""

    def __init__(self, player):
        self._player = player
        self.identity = player.identity

    async def answer(self, request):
        import msgspec

        from sociometer.core.conversation import Sampling

        return await self._player.answer(msgspec.structs.replace(request, sampling=Sampling(max_tokens=16, seed=1)))
