"""A talk of the embedded model with a scripted person: real, offline, and no measure of anything."""

import asyncio
from pathlib import Path

import pytest

from sociometer.core.player import Player
from sociometer.models.registry import resolve


@pytest.mark.slow
def test_the_embedded_model_talks_with_a_person(rehearse, care_home, embedded_model):
    subject = resolve(f"local/{Path(embedded_model)}")
    show = rehearse({"turns": 2, "judge-last": True}, subject=Short(subject))
    episode = asyncio.run(show.play("dialogue", care_home)).episode
    asyncio.run(subject.close())
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
