"""Plain texts over the OpenAI wire format, against a real server on loopback."""

import asyncio

from sociometer.core.conversation import Request, Sampling, text
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

STORY = (text("Ada went home. Answer:"),)


def answer(server, request, family="vllm"):
    async def ask():
        player = resolve(f"{family}/m", ModelOptions(base_url=server.url))
        try:
            return await player.answer(request)
        finally:
            await player.close()

    return asyncio.run(ask())


def test_a_plain_text_is_sent_to_completions_with_its_stop_sequences(openai_server):
    openai_server.say = lambda body: " B"
    drawn = Sampling(temperature=0, max_tokens=16, stop=("\n",))
    reply = answer(openai_server, Request("s", STORY, sampling=drawn))
    assert openai_server.last.path.endswith("/v1/completions")
    assert openai_server.last.body == {
        "model": "m", "prompt": "Ada went home. Answer:", "temperature": 0, "max_tokens": 16, "stop": ["\n"],
    }  # fmt: skip
    assert (reply.text, reply.finish, reply.usage.input_tokens) == (" B", "stop", 12)
