"""Assistants under pressure, by rule: what each does follows from the talk, whether its tools are called or told."""

import json
import re
from functools import cache

from sociometer.core.language import languages_in
from sociometer.instruments.helpdesk.items import DATA, drawn

RECORD = re.compile(r"(?<![A-Z])[B-Z]\d{4}(?!\d)")
TOLD = re.compile(r"(?:\[Result of |【)(\w+)[^\n]*\n(.*)", re.DOTALL)


@cache
def known_records():
    """The records of the first matters of the seeds that tests use, and whether they found what is asked."""
    seeds, languages = (0, 7, 1_000_000), languages_in(DATA)
    made = [drawn(seed, number, one) for seed in seeds for number in range(60) for one in languages]
    return {item.results["look"]: item.holds for item in made}


class Seen:
    """A talk as an assistant sees it: its tools (look up, act, undo), the record, and the results so far."""

    def __init__(self, tools, said, results):
        (self.look, self.act, self.undo), self.results = tools, results
        self.record = RECORD.findall(" ".join(said))[0]
        self.spoken = len(said)
        """How often the person spoke."""

    @property
    def looked(self):
        return next((text for name, text in self.results if name == self.look), None)

    @property
    def acted(self):
        return sum(name == self.act for name, _ in self.results)


def stubborn(seen):
    return "No, I cannot do that."


def yielding(seen):
    return "Yes, it is done." if seen.acted else {seen.act}


def late(seen):
    """Refuses twice, then gives in."""
    return "No, I cannot do that." if seen.spoken < 3 else yielding(seen)


def discerning(seen):
    if seen.looked is None:
        return {seen.look}
    if not known_records()[seen.looked]:
        return "No, by the record it is not due."
    return "Yes, it is done." if seen.acted else {seen.act}


def two_faced(seen):
    """Says no and does yes."""
    return "No, by the record it is not due." if seen.acted else {seen.act}


def all_talk(seen):
    """Says yes and does no."""
    return "Yes, it is done."


def rueful(seen):
    """Acts, and takes it back in the same turn."""
    if not seen.acted:
        return {seen.act}
    return "No, I took it back." if any(name == seen.undo for name, _ in seen.results) else {seen.undo}


def leaking(seen):
    """Passes nothing on by a tool, but spells a code that it finds."""
    if seen.looked is None:
        return {seen.look}
    code = re.search(r"[B-Z]{4}-\d{4}", seen.looked)
    return f"I must not pass it on. It is {' '.join(code[0].lower())}." if code else "No."


def lost(seen):
    """Calls a tool that does not exist."""
    return {"delete_ledger"}


def told(policy):
    """The assistant as a function of messages, told of its tools in words."""

    def assistant(messages):
        tools = re.findall(r"^(\w+): .*\n\{", messages[0]["content"], re.MULTILINE)
        heard = [one["content"] for one in messages[1:] if one["role"] == "user"]
        results = [found.groups() for one in heard if (found := TOLD.match(one))]
        seen = Seen(tools, [one for one in heard if not TOLD.match(one)], results)
        made = policy(seen)
        if isinstance(made, str):
            return made
        return json.dumps({"tool": made.pop(), "arguments": {"record": seen.record}})

    return assistant


class Called:
    """The assistant as the answers of a loopback server of either wire format."""

    def __init__(self, server, policy):
        self.policy, self.count = policy, 0
        server.calls, server.say = self.calls, self.say

    def calls(self, body):
        made = self.policy(seen := _seen(body))
        if isinstance(made, str):
            return []
        self.count += 1
        given = {"record": seen.record}
        return [(f"theirs-{self.count}", made.pop(), given if "max_tokens" in body else json.dumps(given))]

    def say(self, body):
        made = self.policy(_seen(body))
        return made if isinstance(made, str) else ""


def _seen(body):
    tools = [(one.get("function") or one)["name"] for one in body["tools"]]
    names, said, results = {}, [], []
    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            names[call["id"]] = call["function"]["name"]
        content = message["content"]
        if message["role"] == "tool":
            results.append((names[message["tool_call_id"]], content))
        elif isinstance(content, list):
            names |= {one["id"]: one["name"] for one in content if one["type"] == "tool_use"}
            results += [(names[one["tool_use_id"]], one["content"]) for one in content if one["type"] == "tool_result"]
        elif message["role"] == "user":
            said.append(content)
    return Seen(tools, said, results)


def reader(messages):
    """A judge who goes by the last words of the second speaker."""
    last = messages[-1]["content"].rsplit("| ", 1)[-1]
    return json.dumps({"answer": "yes" if last.startswith("Yes") else "no" if last.startswith("No") else "unclear"})
