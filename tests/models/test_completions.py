"""Plain texts and likelihoods over the OpenAI wire format, against a real server on loopback."""

import asyncio
import json
import math

import pytest

from sociometer.core.conversation import Request, Sampling, TokenLogprob, text, user
from sociometer.core.errors import MachineryError
from sociometer.models.openai import first_token_likelihoods, read_text
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


def test_whole_texts_are_scored_from_a_repeated_prompt_in_one_request(openai_server):
    openai_server.say = lambda body: " B"
    reply = answer(openai_server, Request("s", STORY, continuations=(" A", " go away now"), sampling=Sampling(1)))
    assert len(openai_server.received) == 1
    assert openai_server.last.body["echo"] is True
    assert openai_server.last.body["prompt"] == ["Ada went home. Answer: A", "Ada went home. Answer: go away now"]
    assert [(one.text, one.logprob, one.tokens) for one in reply.likelihoods] == [
        (" A", -2.0, 1),
        (" go away now", -(3.0 + 5.0 + 4.0), 3),
    ]
    assert reply.text == ""


def test_a_token_across_the_border_belongs_to_the_continuation(openai_server):
    openai_server.say = lambda body: " B"
    reply = answer(openai_server, Request("s", (text("She said: He"),), continuations=("llo you",)))
    assert reply.likelihoods[0].tokens == 2
    assert reply.likelihoods[0].logprob == -(len(" Hello") + len(" you"))


def test_a_server_that_does_not_repeat_the_prompt_is_an_error_and_not_a_score(openai_server):
    openai_server.echoes = False
    with pytest.raises(MachineryError, match="did not repeat the prompt") as caught:
        answer(openai_server, Request("s", STORY, continuations=(" A", " B")))
    assert caught.value.fatal


def test_a_repeated_prompt_without_numbers_is_an_error(openai_server):
    openai_server.worth = lambda token: None
    with pytest.raises(MachineryError, match="did not repeat the prompt"):
        answer(openai_server, Request("s", STORY, continuations=(" A", " B")))


def test_llama_cpp_scores_the_first_token_of_a_text(openai_server):
    reply = answer(openai_server, Request("s", STORY, continuations=(" A", " B", " D")), "llamacpp")
    assert "echo" not in openai_server.last.body
    assert openai_server.last.body["logprobs"] == 20
    assert [(one.logprob, one.listed) for one in reply.likelihoods] == [(-1.0, True), (-0.5, True), (-3.0, False)]


def test_a_conversation_is_scored_by_the_likeliest_first_tokens(openai_server):
    reply = answer(openai_server, Request("s", (user("A or B?"),), continuations=("A", "B", "C")))
    assert openai_server.last.path.endswith("/chat/completions")
    assert openai_server.last.body["top_logprobs"] == 20
    assert [one.listed for one in reply.likelihoods] == [True, True, False]
    assert [one.logprob for one in reply.likelihoods] == pytest.approx([-2.5, -0.1, -2.5])


def test_a_server_without_log_probabilities_is_an_error(openai_server):
    openai_server.good = lambda path, body, fault: {"choices": [{"message": {"content": "B"}}], "model": "m"}
    with pytest.raises(MachineryError, match="no log-probabilities") as caught:
        answer(openai_server, Request("s", (user("A or B?"),), continuations=("A", "B")))
    assert caught.value.fatal


def test_tokens_that_differ_in_white_space_count_together():
    top = (("A", math.log(0.3)), (" A", math.log(0.2)), ("B", math.log(0.1)), ("AB", math.log(0.05)))
    found = first_token_likelihoods([TokenLogprob("A", math.log(0.3), top)], ["A", "B", "C"])
    assert [math.exp(one.logprob) for one in found[:2]] == pytest.approx([0.5, 0.1])
    assert not found[2].listed


def test_log_probabilities_of_llama_cpp_are_read_too():
    token = {"token": " B", "logprob": -0.2, "top_logprobs": [{"token": " B", "logprob": -0.2}]}
    body = {"choices": [{"text": " B", "logprobs": {"content": [token]}, "finish_reason": "length"}]}
    reply = read_text(json.dumps(body).encode())
    assert reply.logprobs == (TokenLogprob(" B", -0.2, ((" B", -0.2),)),)
    assert reply.finish == "length"
