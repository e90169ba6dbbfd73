"""What is particular to the OpenAI wire format; what all formats share is in contract/test_providers.py."""

import asyncio
import json

import msgspec
import pytest

from servers.faults import Fault
from sociometer.core.conversation import Message, Request, Sampling, Schema, Usage, result, spoken, user
from sociometer.core.errors import MachineryError
from sociometer.core.tools import Tool, ToolCall, read_content
from sociometer.models.openai import chat_body, read_completion, read_vectors
from sociometer.models.presets import ModelOptions, presets
from sociometer.models.registry import resolve

HELLO = (user("你好"),)


def completion(message, finish="stop", **more):
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], **more}).encode()


def sent(family, request):
    return json.loads(msgspec.json.encode(chat_body("m", request, presets()[family])))


def test_a_bare_request_holds_the_model_and_the_messages_only():
    assert sent("vllm", Request("s", HELLO)) == {"model": "m", "messages": [{"role": "user", "content": "你好"}]}


def test_all_options_have_their_names():
    drawn = Sampling(0.5, 0.9, 7, 3, ("END",), "low")
    body = sent("vllm", Request("s", HELLO, sampling=drawn))
    del body["model"], body["messages"]
    assert body == {
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 7,
        "seed": 3,
        "stop": ["END"],
        "reasoning_effort": "low",
    }


def test_openai_itself_calls_the_limit_by_its_new_name():
    body = sent("openai", Request("s", HELLO, sampling=Sampling(max_tokens=7)))
    assert body["max_completion_tokens"] == 7
    assert "max_tokens" not in body


def test_a_schema_is_strict_only_where_it_may_be():
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    for schema, strict in ((closed, True), ({**closed, "required": []}, None), ({"type": "object"}, None)):
        asked = sent("openai", Request("s", HELLO, Schema(schema, name="r")))["response_format"]
        assert asked["type"] == "json_schema"
        assert asked["json_schema"].get("strict") is strict
        assert asked["json_schema"]["schema"] == schema


def test_a_server_without_schemas_is_asked_for_any_json():
    assert sent("deepseek", Request("s", HELLO, Schema({})))["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "B", "reasoning_content": "hm"}, "B", "hm"),
        ({"content": "B", "reasoning": "hm"}, "B", "hm"),
        ({"content": "<think>hm</think>B"}, "B", "hm"),
        ({"content": [{"type": "text", "text": "B"}]}, "B", ""),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                    {"type": "text", "text": "B"},
                ]
            },
            "B",
            "hm",
        ),
        ({"content": None, "refusal": "I will not."}, "I will not.", ""),
    ],
)
def test_answers_and_thoughts_are_found_wherever_servers_put_them(message, text, reasoning):
    reply = read_completion(completion(message))
    assert (reply.text, reply.reasoning) == (text, reasoning)


def test_a_refusal_is_marked_as_one():
    assert read_completion(completion({"content": None, "refusal": "No."})).finish == "refusal"


@pytest.mark.parametrize("broken", [b"", b"null", b"[]", b"{}", b'{"choices": [{}]}', b"\xff", b"<html>", b"{" * 10000])
def test_what_is_no_completion_is_no_reply(broken):
    with pytest.raises((msgspec.DecodeError, RecursionError)):
        read_completion(broken)


def test_no_choices_is_an_empty_reply():
    with pytest.raises(MachineryError) as caught:
        read_completion(b'{"choices": []}')
    assert caught.value.kind == "empty reply"


def test_silence_is_a_reply():
    assert read_completion(completion({"content": ""})).text == ""
    assert read_completion(completion({"content": None})).text == ""


def test_reasoning_that_only_the_total_counts_is_written():
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 47}
    assert read_completion(completion({"content": "B"}, usage=usage)).usage == Usage(5, 42)


def test_google_is_asked_at_its_openai_endpoint(key):
    assert resolve("google/m").identity.base_url == "https://generativelanguage.googleapis.com/v1beta/openai"


def test_negative_counts_are_unknown():
    reply = read_completion(completion({"content": "B"}, usage={"prompt_tokens": -1, "completion_tokens": 2}))
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (None, 2)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"code": 429, "message": "slow down"}, "rate limit"),
        ({"code": "odd", "message": "upstream"}, "server error"),
        ("just text", "server error"),
    ],
)
def test_an_error_in_an_answer_of_status_200_is_an_error(openai_server, error, kind):
    openai_server.faults.append(Fault(raw=json.dumps({"error": error}).encode()))

    async def ask():
        player = resolve("vllm/m", ModelOptions(base_url=openai_server.url))
        try:
            await player.answer(Request("s", HELLO))
        finally:
            await player.close()

    with pytest.raises(MachineryError) as caught:
        asyncio.run(ask())
    assert (caught.value.kind, caught.value.retryable) == (kind, True)


def test_missing_vectors_are_noticed():
    with pytest.raises(ValueError, match="1 vectors for 2 texts"):
        read_vectors(b'{"data": [{"embedding": [1.0]}]}', 2)


def test_no_key_no_header(openai_server, monkeypatch):
    monkeypatch.delenv("VLLM_API_KEY", raising=False)

    async def ask():
        player = resolve("vllm/m", ModelOptions(base_url=openai_server.url))
        try:
            await player.answer(Request("s", (Message("user", "hi"),)))
        finally:
            await player.close()

    asyncio.run(ask())
    assert "Authorization" not in openai_server.last.headers
    assert openai_server.last.path == "/v1/chat/completions"


def test_a_key_set_between_two_requests_is_used_at_once(openai_server, monkeypatch):
    async def ask():
        player = resolve("vllm/m", ModelOptions(base_url=openai_server.url))
        try:
            for key in ("first-key", "second-key"):
                monkeypatch.setenv("VLLM_API_KEY", key)
                await player.answer(Request("s", HELLO))
        finally:
            await player.close()

    asyncio.run(ask())
    assert [one.headers["Authorization"] for one in openai_server.received] == ["Bearer first-key", "Bearer second-key"]


LOOK = Tool("look_up", "Shows a record.", {"type": "object", "properties": {"record": {"type": "string"}}})
CALL = {"id": "theirs", "type": "function", "function": {"name": "look_up", "arguments": '{"record":"R1"}'}}


def talk(reply):
    """A talk in which a reply has been answered."""
    said = spoken(reply, HELLO)
    return (*HELLO, said, *(result(call, "Guest: Ann") for call in read_content(said.content).calls))


def test_tools_are_functions_and_one_is_called_at_a_time_where_the_server_can_be_told_so():
    function = {"name": "look_up", "description": "Shows a record.", "parameters": LOOK.schema}
    for family, told in (("openai", False), ("mistral", False), ("vllm", None), ("deepseek", None)):
        body = sent(family, Request("s", HELLO, tools=(LOOK,)))
        assert body["tools"] == [{"type": "function", "function": function}]
        assert body.get("parallel_tool_calls") is told
    body = chat_body("o3-mini", Request("s", HELLO, tools=(LOOK,)), presets()["openai"])
    assert "parallel_tool_calls" not in body


def test_calls_and_results_go_back_as_the_server_wants_them():
    reply = read_completion(completion({"content": None, "tool_calls": [CALL, CALL]}), tools=True)
    messages = sent("openai", Request("s", talk(reply), tools=(LOOK,)))["messages"][1:]
    assert [message["role"] for message in messages] == ["assistant", "tool", "tool"]
    assert messages[0]["content"] is None
    assert messages[0]["tool_calls"] == [{**CALL, "id": f"call0000{n}"} for n in (0, 1)]
    assert messages[2] == {"role": "tool", "tool_call_id": "call00001", "content": "Guest: Ann"}


def test_calls_are_read_only_where_tools_were_offered():
    called = {"id": "t", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
    received = completion({"content": "One moment.", "tool_calls": [called]}, "tool_calls")
    assert read_completion(received).calls == ()
    reply = read_completion(received, tools=True)
    assert (reply.text, reply.calls, reply.finish) == ("One moment.", (ToolCall("look_up", "{}", "t"),), "tool_calls")


def test_arguments_may_be_an_object():
    called = {"id": "t", "function": {"name": "look_up", "arguments": {"record": "R1"}}}
    (call,) = read_completion(completion({"tool_calls": [called]}), tools=True).calls
    assert json.loads(call.arguments) == {"record": "R1"}


def test_reasoning_and_signatures_of_a_reply_with_tools_are_sent_back():
    signed = {"google": {"thought_signature": "s1"}}
    called = {"id": "t", "function": {"name": "look_up", "arguments": "{}"}, "extra_content": signed}
    other = {"id": "u", "function": {"name": "look_up", "arguments": "{}"}}
    details = [{"type": "reasoning.text", "text": "Hm."}]
    message = {"content": None, "reasoning_content": "", "reasoning_details": details, "tool_calls": [called, other]}
    reply = read_completion(completion(message), tools=True)
    back = sent("deepseek", Request("s", talk(reply), tools=(LOOK,)))["messages"][1]
    assert back["reasoning_content"] == ""
    assert back["reasoning_details"] == details
    assert [call.get("extra_content") for call in back["tool_calls"]] == [signed, None]
    plain = read_completion(completion({"content": "Hello.", "reasoning_content": "Hm."}), tools=True)
    back = sent("deepseek", Request("s", (*HELLO, spoken(plain, HELLO)), tools=(LOOK,)))["messages"][1]
    assert back == {"role": "assistant", "content": "Hello.", "reasoning_content": "Hm."}


@pytest.mark.parametrize("calls", [{"a": 1}, "look_up", [3], [{"function": 3}]])
def test_calls_of_another_shape_are_no_reply(calls):
    with pytest.raises(msgspec.DecodeError):
        read_completion(completion({"content": "x", "tool_calls": calls}), tools=True)


def test_a_server_without_tools_is_told_how_to_go_on(openai_server):
    message = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    openai_server.faults.append(Fault(400, message=message))
    player = resolve("vllm/m", ModelOptions(base_url=openai_server.url))

    async def once():
        async with player:
            await player.answer(Request("s", HELLO, tools=(LOOK,)))

    with pytest.raises(MachineryError, match="-o tools=told") as caught:
        asyncio.run(once())
    assert caught.value.fatal
