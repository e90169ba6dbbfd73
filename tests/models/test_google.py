"""What is particular to the Google wire format; what all formats share is in contract/test_providers.py."""

import asyncio
import json

import msgspec
import pytest

from sociometer.core.conversation import Request, Sampling, Schema, Usage, assistant, system, user
from sociometer.models.google import content_body, read_answer
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

HELLO = (user("hi"),)


def sent(request):
    return json.loads(msgspec.json.encode(content_body(request)))


def test_speakers_have_the_names_of_the_format():
    body = sent(Request("s", (system("Brief."), user("a"), assistant("b"), user("c"))))
    assert [(one["role"], one["parts"][0]["text"]) for one in body["contents"]] == [
        ("user", "a"),
        ("model", "b"),
        ("user", "c"),
    ]
    assert body["systemInstruction"] == {"parts": [{"text": "Brief."}]}


def test_system_text_alone_becomes_the_question():
    body = sent(Request("s", (system("Speak."),)))
    assert body["contents"] == [{"role": "user", "parts": [{"text": "Speak."}]}]
    assert "systemInstruction" not in body


def test_all_options_have_their_names():
    drawn = Sampling(0.5, 0.9, 7, 3, ("END",), "low", 5)
    config = sent(Request("s", HELLO, Schema({"type": "object"}), drawn))["generationConfig"]
    assert config == {
        "temperature": 0.5,
        "topP": 0.9,
        "maxOutputTokens": 7,
        "seed": 3,
        "stopSequences": ["END"],
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"},
        "responseLogprobs": True,
        "logprobs": 5,
        "thinkingConfig": {"thinkingLevel": "low", "includeThoughts": True},
    }


@pytest.mark.parametrize(
    ("effort", "config"), [("none", {"thinkingBudget": 0}), ("512", {"thinkingBudget": 512, "includeThoughts": True})]
)
def test_effort_may_be_a_budget(effort, config):
    asked = sent(Request("s", HELLO, sampling=Sampling(reasoning_effort=effort)))
    assert asked["generationConfig"]["thinkingConfig"] == config


def test_thoughts_count_as_written():
    answer = {
        "candidates": [{"content": {"parts": [{"text": "B"}]}}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 40},
    }
    assert read_answer(json.dumps(answer).encode()).usage == Usage(5, 42)


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT"])
def test_a_withheld_candidate_is_a_filtered_reply(reason):
    reply = read_answer(json.dumps({"candidates": [{"finishReason": reason}]}).encode())
    assert (reply.text, reply.finish) == ("", "content_filter")


def test_a_blocked_prompt_is_a_filtered_reply():
    reply = read_answer(json.dumps({"promptFeedback": {"blockReason": "SAFETY"}}).encode())
    assert (reply.text, reply.finish) == ("", "content_filter")


def test_log_probabilities_path_and_header(google_server, key):
    async def ask():
        player = resolve("google/gemini-x", ModelOptions(base_url=google_server.url))
        try:
            return await player.answer(Request("s", HELLO, sampling=Sampling(logprobs=1)))
        finally:
            await player.close()

    (token,) = asyncio.run(ask()).logprobs
    assert (token.token, token.logprob, token.top) == ("B", -0.1, (("B", -0.1),))
    assert google_server.last.path == "/v1beta/models/gemini-x:generateContent"
    assert google_server.last.headers["x-goog-api-key"] == key
