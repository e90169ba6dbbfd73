"""What is particular to the Anthropic wire format; what all formats share is in contract/test_providers.py."""

import asyncio
import json

import msgspec
import pytest
from msgspec import structs

from sociometer.core.conversation import Request, Sampling, Schema, Usage, assistant, result, spoken, system, user
from sociometer.core.errors import MachineryError
from sociometer.core.tools import Tool, read_content
from sociometer.models.anthropic import AnthropicPlayer, messages_body, read_answer
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

HELLO = (user("hi"),)


def sent(request):
    return json.loads(msgspec.json.encode(messages_body("m", request)))


def test_system_text_stands_apart_and_a_limit_is_always_given():
    body = sent(Request("s", (system("One."), user("a"), assistant("b"), system("Two."), user("c"))))
    assert body["system"] == "One.\n\nTwo."
    assert [message["content"] for message in body["messages"]] == ["a", "b", "c"]
    assert body["max_tokens"] == 4096
    assert set(body) == {"model", "messages", "max_tokens", "system"}


def test_system_text_alone_becomes_the_question():
    body = sent(Request("s", (system("Speak."),)))
    assert body["messages"] == [{"role": "user", "content": "Speak."}]
    assert "system" not in body


@pytest.mark.parametrize(
    ("effort", "thinking", "config"),
    [
        ("2000", {"type": "enabled", "budget_tokens": 2000}, None),
        ("none", {"type": "disabled"}, None),
        ("high", {"type": "adaptive"}, {"effort": "high"}),
    ],
)
def test_effort_is_a_budget_a_word_or_nothing(effort, thinking, config):
    body = sent(Request("s", HELLO, sampling=Sampling(reasoning_effort=effort)))
    assert body["thinking"] == thinking
    assert body.get("output_config") == config


def test_a_schema_is_a_tool_that_must_be_used_unless_the_model_thinks():
    answer_format = Schema({"type": "object"}, name="mood")
    assert sent(Request("s", HELLO, answer_format))["tool_choice"] == {"type": "tool", "name": "mood"}
    assert sent(Request("s", HELLO, answer_format, Sampling(reasoning_effort="low")))["tool_choice"] == {"type": "auto"}
    assert sent(Request("s", HELLO, answer_format))["tools"][0]["input_schema"] == {"type": "object"}


def test_what_the_format_lacks_is_known_and_never_sent():
    body = sent(Request("s", HELLO, sampling=Sampling(seed=1)))
    assert "seed" not in body
    assert AnthropicPlayer.lacks == {"seed"}


def test_a_top_p_of_one_is_left_out_beside_a_temperature():
    assert "top_p" not in sent(Request("s", HELLO, sampling=Sampling(temperature=0.1, top_p=1)))
    assert sent(Request("s", HELLO, sampling=Sampling(top_p=0.9)))["top_p"] == 0.9


def test_cached_tokens_count_as_read():
    usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 100, "cache_creation_input_tokens": None}
    answer = {"content": [{"type": "text", "text": "B"}], "stop_reason": "end_turn", "usage": usage}
    assert read_answer(json.dumps(answer).encode()).usage == Usage(105, 2)


def test_blocks_of_other_kinds_are_passed_over():
    blocks = [{"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "B"}, {"type": "text", "text": "."}]
    assert read_answer(json.dumps({"content": blocks}).encode()).text == "B."


def test_headers_and_path_are_those_of_the_format(anthropic_server, key):
    async def ask():
        player = resolve("anthropic/m", ModelOptions(base_url=anthropic_server.url + "/v1"))
        try:
            await player.answer(Request("s", HELLO))
        finally:
            await player.close()

    asyncio.run(ask())
    assert anthropic_server.last.path == "/v1/messages"
    assert anthropic_server.last.headers["x-api-key"] == key
    assert anthropic_server.last.headers["anthropic-version"] == "2023-06-01"


def test_there_are_no_embeddings(key):
    with pytest.raises(MachineryError, match="no embeddings"):
        asyncio.run(resolve("anthropic/m").embed(["a"]))


LOOK = Tool("look_up", "Shows a record.", {"type": "object", "properties": {"record": {"type": "string"}}})


def talk(reply):
    """A talk in which a reply has been answered."""
    said = spoken(reply, HELLO)
    return (*HELLO, said, *(result(call, "Guest: Ann") for call in read_content(said.content).calls))


def test_tools_are_offered_one_call_at_a_time():
    body = sent(Request("s", HELLO, tools=(LOOK,)))
    assert body["tools"] == [{"name": "look_up", "description": "Shows a record.", "input_schema": LOOK.schema}]
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}


def test_all_results_of_a_reply_are_one_message():
    used = {"type": "tool_use", "id": "theirs", "name": "look_up", "input": {"record": "R1"}}
    blocks = [{"type": "text", "text": "One moment."}, used, used]
    reply = read_answer(json.dumps({"content": blocks}).encode(), tools=True)
    messages = sent(Request("s", (*talk(reply), user("So?")), tools=(LOOK,)))["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "user"]
    assert messages[1]["content"] == [
        {"type": "text", "text": "One moment."}, {**used, "id": "call00000"}, {**used, "id": "call00001"},
    ]  # fmt: skip
    assert messages[2]["content"] == [
        {"type": "tool_result", "tool_use_id": f"call0000{n}", "content": "Guest: Ann"} for n in (0, 1)
    ]


def test_calls_are_read_only_where_tools_were_offered():
    block = {"type": "tool_use", "id": "t", "name": "look_up", "input": {"record": "R1"}}
    received = json.dumps({"content": [block], "stop_reason": "tool_use"}).encode()
    assert read_answer(received).calls == ()
    reply = read_answer(received, tools=True)
    assert (reply.text, reply.finish) == ("", "tool_calls")
    assert json.loads(reply.calls[0].arguments) == {"record": "R1"}


def test_thinking_goes_back_with_its_signature():
    thought, hidden = (
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
    )
    used = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {}}
    received = json.dumps({"content": [thought, hidden, {"type": "text", "text": ""}, used]}).encode()
    reply = read_answer(received, tools=True)
    (_, back, _) = sent(Request("s", talk(reply), tools=(LOOK,)))["messages"]
    assert back["content"] == [thought, hidden, {**used, "id": "call00000"}]


def test_a_reply_that_only_thought_goes_back_with_a_text():
    received = json.dumps({"content": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}]}).encode()
    reply = read_answer(received, tools=True)
    said = spoken(structs.replace(reply, text="…"), HELLO)
    back = sent(Request("s", (*HELLO, said), tools=(LOOK,)))["messages"][1]
    assert back["content"][1:] == [{"type": "text", "text": "…"}]


@pytest.mark.parametrize("given", [None, [1], "R1"])
def test_an_input_that_is_no_object_goes_back_as_an_empty_one(given):
    block = {"type": "tool_use", "id": "t", "name": "look_up", "input": given}
    reply = read_answer(json.dumps({"content": [block]}).encode(), tools=True)
    assert sent(Request("s", talk(reply), tools=(LOOK,)))["messages"][1]["content"][0]["input"] == {}
