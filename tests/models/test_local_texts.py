"""The embedded model continues plain texts and scores letters; really run, with short texts."""

import asyncio

import pytest

from sociometer.core.conversation import Request, Sampling, text, user
from sociometer.models.registry import resolve

pytestmark = pytest.mark.slow
FRUIT = "Which is a fruit?\nA. stone\nB. apple\nAnswer:"


@pytest.fixture(scope="module")
def heard(embedded_model):
    async def all_of_it():
        player = resolve("local/smollm2-135m")
        await player.open()
        greedy = Sampling(temperature=0, max_tokens=6, stop=("\n",))
        try:
            return {
                "text": await player.answer(Request("s", (text("The capital of France is"),), sampling=greedy)),
                "chat": await player.answer(Request("s", (user(FRUIT),), continuations=("A", "B", "apple pie"))),
                "scored text": await player.answer(Request("s", (text(FRUIT),), continuations=(" A", " B"))),
                "again": await player.answer(Request("s", (text(FRUIT),), continuations=(" A", " B"))),
            }
        finally:
            await player.close()

    return asyncio.run(all_of_it())


def test_a_plain_text_is_continued_until_a_stop_sequence(heard):
    assert heard["text"].text.startswith(" Paris")
    assert "\n" not in heard["text"].text
    assert heard["text"].usage.input_tokens == 5


def test_letters_are_scored_and_nothing_is_written(heard):
    reply = heard["chat"]
    assert reply.text == ""
    first, second, phrase = reply.likelihoods
    assert first.listed and second.listed
    assert first.logprob < 0 and second.logprob < 0
    assert not phrase.listed


def test_letters_after_a_plain_text_are_scored_the_same_each_time(heard):
    assert [one.text for one in heard["scored text"].likelihoods] == [" A", " B"]
    assert heard["scored text"].likelihoods == heard["again"].likelihoods
