"""Models whose replies follow from what they are asked alone: a loopback server, and functions.

A reply has the format that is asked for, so that most of them can be read. Which answer it gives
depends on a digest of the request, so that a changed prompt changes what follows too.
"""

import json
import re
from hashlib import sha256
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver

from assistants import RECORD
from servers.anthropic import AnthropicServer
from servers.openai import OpenAIServer

HOST = "models.test"
"""What requests are sent to: journal keys have the address of a server, so it may have no port."""
_OPTION = re.compile(r"^\(?([A-H])[.):] ?\S", re.MULTILINE)
_FEELING = re.compile(r"[（(]\d[)）] ?([^;；\n（(]+)")
_LEGAL = re.compile(r"(?:holding one of|legal answers are): ([\w, -]+)\.")
_FORM = re.compile(r'form \{"(\w+)"')
_TOLD_TOOL = re.compile(r'^(\w+)[:：].*\n\{"type":"object"', re.MULTILINE)


def digest(*words: object) -> int:
    """A number from 0 to 255."""
    return sha256("\n".join(map(str, words)).encode()).digest()[0]


def short(value: object) -> str:
    """A short digest of a value that JSON can hold, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:10]


def meet(schema: dict[str, Any], text: str) -> Any:
    """A value that meets a JSON schema; which one depends on the text."""
    if "enum" in schema:
        return schema["enum"][digest(text) % len(schema["enum"])]
    match schema.get("type"):
        case "object":
            named = schema.get("properties", {})
            return {name: meet(inner, f"{text}/{name}") for name, inner in named.items()}
        case "array":
            count = schema.get("minItems", 1)
            return [meet(schema["items"], f"{text}/{place}") for place in range(count)]
        case "integer" | "number":
            low = schema.get("minimum", -10)
            return low + digest(text) % int(schema.get("maximum", 10) - low + 1)
        case "boolean":
            return digest(text) % 2 == 0
    if schema.get("maxLength", 100) <= 20:
        return f"{digest(text) % 101}%"
    return f"They see what she means, number {digest(text)}."


def reply_to(messages: list[dict[str, Any]]) -> str:
    """A reply in words to a conversation; some first replies have no answer."""
    asked = "\n".join(_said(message) for message in messages)
    number = digest(asked)
    small_talk = f"I see what you mean. Number {number}."
    if len(messages) < 3 and number % 8 == 0:
        return small_talk
    tools = _TOLD_TOOL.findall(asked)
    if tools:
        return small_talk if number % 2 else json.dumps(call_of(tools, asked))
    legal = _LEGAL.findall(asked)
    if legal:
        form = _FORM.findall(asked)
        options = legal[-1].split(", ")
        return json.dumps({form[-1] if form else "action": options[number % len(options)]})
    letters = sorted(set(_OPTION.findall(asked)))
    if letters:
        return f"Answer: {letters[number % len(letters)]}"
    feelings = _FEELING.findall(asked)[-4:]
    if len(feelings) == 4:
        points = [number % 5, number % 3, 1, 0]
        points[3] = 10 - sum(points)
        shares = zip(feelings, points, strict=True)
        return "\n".join(f"{feeling.strip(' .。')}: {share}" for feeling, share in shares)
    return small_talk


def _said(message: dict[str, Any]) -> str:
    content = message["content"] or ""
    return content if isinstance(content, str) else json.dumps(content, sort_keys=True)


def call_of(tools: list[str], asked: str) -> dict[str, Any]:
    """A call of one of the tools, about the first record that is named."""
    record = RECORD.findall(asked)[0]
    return {"tool": tools[digest(asked) // 2 % len(tools)], "arguments": {"record": record}}


def text_of(body: dict[str, Any]) -> str:
    """All that a request says."""
    return json.dumps(body.get("messages") or body.get("prompt"), ensure_ascii=False, sort_keys=True)


class Server(OpenAIServer):
    """The server of all roles, in both wire formats; each reply names the digest of its request."""

    def __init__(self) -> None:
        super().__init__()
        self.say = self._say
        self.calls = self._calls

    def good(self, path: str, body: dict, fault: Any) -> dict:
        if path.endswith("/messages"):
            answer = AnthropicServer.good(self, path, body, fault)
        else:
            answer = super().good(path, body, fault)
        # Of chat completions the fingerprint is stored, of other replies the name of the model.
        name = "system_fingerprint" if path.endswith("/chat/completions") else "model"
        return {**answer, name: request_digest(path, body)}

    def _say(self, body: dict) -> str:
        text = text_of(body)
        wanted = body.get("response_format", {}).get("json_schema", {}).get("schema")
        if body.get("tool_choice", {}) not in ({}, "auto") and body["tool_choice"].get("type") == "tool":
            wanted = body["tools"][0]["input_schema"]
        if wanted:
            return json.dumps(meet(wanted, text + body["model"]))
        if "prompt" in body:
            return " " + "ABCD"[digest(text) % 4]
        if body.get("tools") and self._calls(body):
            return ""
        return reply_to(body["messages"])

    def _calls(self, body: dict) -> list[tuple[str, str, Any]]:
        asked = text_of(body)
        if digest(asked) % 2 or not RECORD.search(asked):
            return []
        is_anthropic = "input_schema" in body["tools"][0]
        named = body["tools"] if is_anthropic else [tool["function"] for tool in body["tools"]]
        called = call_of([tool["name"] for tool in named], asked)
        given = called["arguments"]
        return [("call", called["tool"], given if is_anthropic else json.dumps(given))]


def request_digest(path: str, body: dict) -> str:
    """What a server is asked: its path and body."""
    return short([path, body])


class ToLoopback(AbstractResolver):
    """Finds `HOST` at a port of this machine."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[dict[str, Any]]:
        assert host == HOST, f"a golden command asked {host}"
        found = {"hostname": host, "host": "127.0.0.1", "port": self.port}
        return [{**found, "family": 2, "proto": 0, "flags": 0}]

    async def close(self) -> None:
        """Nothing is open."""


def connector_to(port: int) -> type[aiohttp.TCPConnector]:
    """aiohttp's connector, which finds `HOST` there."""

    class Connector(aiohttp.TCPConnector):
        def __init__(self, **options: Any) -> None:
            super().__init__(**{**options, "resolver": ToLoopback(port)})

    return Connector


def by_digest(messages: list[dict[str, str]]) -> str:
    """A user's function."""
    return reply_to(messages)


async def at_once(messages: list[dict[str, str]]) -> str:
    """Another one, which is asynchronous."""
    return reply_to([*messages[:-1], {"role": "user", "content": messages[-1]["content"] + "!"}])
