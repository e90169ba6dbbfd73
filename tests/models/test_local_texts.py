"""The embedded model continues plain texts; really run, with a short text."""

import asyncio

import pytest

from sociometer.core.conversation import Request, Sampling, text
from sociometer.models.registry import resolve

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def heard(embedded_model):
    async def all_of_it():
        player = resolve("local/smollm2-135m")
        await player.open()
        greedy = Sampling(temperature=0, max_tokens=6, stop=("\n",))
        try:
            return await player.answer(Request("s", (text("The capital of France is"),), sampling=greedy))
        finally:
            await player.close()

    return asyncio.run(all_of_it())


def test_a_plain_text_is_continued_until_a_stop_sequence(heard):
    assert heard.text.startswith(" Paris")
    assert "\n" not in heard.text
    assert heard.usage.input_tokens == 5
