"""Talks with tools: a call is checked, run and answered, until the model speaks without calling one.

A model that cannot be given tools is told of them in words and calls one by a JSON object (`-o tools=told`). A call
that cannot be run is answered with what is wrong and counted; after `MOST_BAD` of them the talk is over. What a model
writes is never executed: a tool is a pure function of the item and its state.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import structs

from sociometer.core.conversation import Free, Message, Reply, assistant, result, spoken, system, user
from sociometer.core.session import Session
from sociometer.core.tools import Tool, ToolCall, read_content
from sociometer.reading.asking import shared_prompt
from sociometer.reading.structured import bracketed, json_values, read_schema

MOST_BAD = 5
"""How many calls that cannot be run end a talk."""
MOST_CALLS = 8
"""How many calls a model may make before it speaks."""
LONGEST = 10_000
"""The most characters of a call's name and arguments; a longer one ends the talk, so that it is never sent back."""
_LONGEST_READ = 100_000
_MEANT = re.compile(r'\{\s*"(?:tool|name)"\s*:')
_FENCES = re.compile(r"```(?:json)?|</?tool_call>")
_NAMED = {"name", "arguments"}
"""The keys of a call as models write it that were trained to."""
_NOTHING_SAID = "…"


class Toolbox:
    """The tools of one talk, and how they were used."""

    def __init__(
        self, session: Session, tools: Sequence[Tool], run: Callable[[str, Mapping[str, Any]], str], language: str
    ) -> None:
        """`run` gives the result of a call whose arguments fit the tool's schema."""
        self._session, self._run, self._language = session, run, language
        self._tools = {tool.name: tool for tool in tools}
        self.bad: Counter[str] = Counter()
        """Calls that could not be run, by what was wrong."""
        self.over = False
        """Whether the talk is over because of bad calls."""

    async def speak(self, role: str, talk: list[Message], key: Callable[[], str | None]) -> str:
        """What the role says next, after its calls; the talk grows by its replies and the results.

        Words beside a call are said as well. `key` is the right reply at this point, for players that are programs.
        """
        said, used = list[str](), 0
        while True:
            reply = await self._ask(role, talk, Free(key=key()))
            said.append(reply.text.strip())
            if not reply.calls:
                talk.append(spoken(structs.replace(reply, text=said[-1] or _NOTHING_SAID), talk))
                break
            talk.append(spoken(reply, talk))
            ids: set[str] = set()
            for call, received in zip(read_content(talk[-1].content).calls, reply.calls, strict=True):
                if self.over:
                    self.bad["after the end"] += 1  # not answered: nothing more is sent
                    continue
                used += 1
                talk.append(result(call, self._answer(call, used, repeated=received.id in ids)))
                ids |= {received.id} - {""}
            if self.over:
                break
        return "\n\n".join(filter(None, said))

    def _answer(self, call: ToolCall, used: int, *, repeated: bool) -> str:
        """The result of a call, or what is wrong with it."""
        tool = self._tools.get(call.name)
        if len(call.name) + len(call.arguments) > LONGEST:
            self.over = True
            return self._refuse("too long", f"a call has at most {LONGEST:,} characters.")
        if repeated:
            return self._refuse("repeated id", "its id is that of another call.")
        if tool is None:
            known = ", ".join(self._tools)
            return self._refuse("unknown tool", f"there is no tool '{call.name[:40]}'; the tools are: {known}.")
        if used > MOST_CALLS:
            return self._refuse("too many", f"after {MOST_CALLS} calls you must answer in words.")
        found = read_schema(call.arguments, tool.schema, language=self._language)
        if not isinstance(found.value, dict):
            return self._refuse("arguments", found.problem)
        return self._run(call.name, found.value)

    def _refuse(self, kind: str, problem: str) -> str:
        self.bad[kind] += 1
        self.over = self.over or self.bad.total() >= MOST_BAD
        return self._words("tool-refused", problem=problem)

    async def _ask(self, role: str, talk: Sequence[Message], wanted: Free) -> Reply:
        if self._session.tools == "called":
            return await self._session.ask(role, talk, wanted, tools=tuple(self._tools.values()))
        return read_told(await self._session.ask(role, self._told(talk), wanted))

    def _told(self, talk: Sequence[Message]) -> list[Message]:
        """The talk as a model without tools sees it: definitions and results in words, calls as it wrote them."""
        tools = "\n\n".join(
            f"{tool.name}: {tool.description}\n{msgspec.json.encode(tool.schema).decode()}"
            for tool in self._tools.values()
        )
        told = [system(f"{talk[0].content}\n\n{self._words('tools', tools=tools)}")]
        for message in talk[1:]:
            if message.role == "calls":
                told.append(assistant(read_content(message.content).echo))
            elif message.role == "result":
                found = read_content(message.content)
                text = self._words("tool-result", tool=found.calls[0].name, result=found.text)
                before = f"{told.pop().content}\n\n" if told[-1].role == "user" else ""
                told.append(user(before + text))
            else:
                told.append(message)
        return told

    def _words(self, prompt: str, **values: str) -> str:
        return shared_prompt(self._session, prompt, self._language, **values)


def read_told(reply: Reply) -> Reply:
    """The reply of a model that was told of its tools, with the calls in its text; the rest is what it said."""
    whole = _encodable(reply.text)
    text = whole[-_LONGEST_READ:]
    objects = [one for one in json_values(text) if isinstance(one, dict) and ("tool" in one or one.keys() >= _NAMED)]
    calls = tuple(
        ToolCall(_encodable(str(one.get("tool") or one.get("name"))), json.dumps(one.get("arguments")))
        for one in objects
    )
    if not calls and _MEANT.search(text):
        calls = (ToolCall("", text),)  # meant as a call, and cannot be read
    if not calls:
        return structs.replace(reply, text=whole)
    words = whole if objects else whole[: whole.find("{")]
    for part in bracketed(text):
        words = words.replace(part, "", 1) if "tool" in part or "arguments" in part else words
    return structs.replace(reply, text=_FENCES.sub("", words).strip(), calls=calls, echo=whole)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
