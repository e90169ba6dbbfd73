"""Talks with tools: what is run, what is answered instead, and how models write calls that were only told of tools."""

import asyncio
import json

import pytest

from sociometer.core.conversation import Identity, Reply, system, user
from sociometer.core.player import Abilities, Player
from sociometer.core.prompts import Prompts
from sociometer.core.session import DirectReplies, Draw, RoleBinding, Session
from sociometer.core.settings import Settings
from sociometer.core.tools import Tool, ToolCall
from sociometer.instruments import FOLDER
from sociometer.reading.calling import MOST_BAD, MOST_CALLS, Toolbox, read_told

SCHEMA = {"type": "object", "properties": {"record": {"type": "string"}}, "required": ["record"]}
TOOLS = (Tool("look_up", "Shows a record.", SCHEMA), Tool("refund", "Refunds a booking.", SCHEMA))
PROMPTS = Prompts(FOLDER / "sage" / "prompts", shared=FOLDER.parent / "core" / "shared_prompts")
RIGHT = '{"record": "R1"}'


class Model(Player):
    """Replies from a list, the last one again and again; keeps what it was asked."""

    identity = Identity("test", "model")
    abilities = Abilities(calls_tools=True)

    def __init__(self, *replies):
        self.replies, self.asked = list(replies), []

    async def answer(self, request):
        self.asked.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return Reply(reply) if isinstance(reply, str) else reply


def calls(*made, text=""):
    return Reply(text, calls=tuple(ToolCall(*one) for one in made))


class Spoken:
    """One turn of a model with tools."""

    def __init__(self, *replies, tools="called", language="en"):
        self.model, self.ran = Model(*replies), []
        binding = RoleBinding(self.model, "m", "m")
        session = Session(
            DirectReplies(), {"subject": binding}, Draw("helpdesk", "1", "cases", "i"), Settings(), PROMPTS, tools=tools
        )
        self.box = Toolbox(session, TOOLS, self.run, language)
        self.talk = [system("Duty."), user("Refund it.")]
        self.text = asyncio.run(self.box.speak("subject", self.talk, lambda: None))
        self.results = [message.shown for message in self.talk if message.role == "result"]

    def run(self, name, arguments):
        self.ran.append((name, arguments["record"]))
        return f"{name} ran"


def test_calls_are_run_and_answered_until_words_come():
    turn = Spoken(calls(("look_up", RIGHT), text="One moment."), calls(("refund", RIGHT)), "Done.")
    assert turn.ran == [("look_up", "R1"), ("refund", "R1")]
    assert turn.results == ["look_up ran", "refund ran"]
    assert turn.text == "One moment.\n\nDone."
    assert [message.role for message in turn.talk[2:]] == ["calls", "result", "calls", "result", "assistant"]
    assert all(request.tools == TOOLS for request in turn.model.asked)
    assert not turn.box.bad


def test_every_one_of_several_calls_is_answered():
    turn = Spoken(calls(("look_up", RIGHT, "a"), ("refund", RIGHT, "b")), "Done.")
    assert turn.results == ["look_up ran", "refund ran"]


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (("delete_everything", RIGHT), "unknown tool", "the tools are: look_up, refund"),
        (("", RIGHT), "unknown tool", "there is no tool"),
        (("look_up", "{}"), "arguments", "no 'record'"),
        (("look_up", '{"record": {"a": 1}}'), "arguments", "must be a text"),
        (("look_up", "not JSON"), "arguments", "no complete JSON object"),
        (("look_up", ""), "arguments", "empty"),
        (("look_up", "null"), "arguments", ""),
        (("look_up", "[" * 9000), "arguments", ""),
        (("look_up", '{"record":' * 900), "arguments", ""),
    ],
)
def test_a_bad_call_is_answered_with_what_is_wrong_and_counted(call, kind, said):
    turn = Spoken(calls(call), "I see.")
    assert turn.box.bad == {kind: 1}
    assert said in turn.results[0]
    assert turn.results[0].startswith("This call was not run: ")
    assert not turn.ran
    assert not turn.box.over
    assert turn.text == "I see."


def test_an_id_that_repeats_in_one_reply_is_a_bad_call_and_the_same_id_in_the_next_is_not():
    turn = Spoken(calls(("look_up", RIGHT, "a"), ("refund", RIGHT, "a")), calls(("refund", RIGHT, "a")), "Done.")
    assert turn.box.bad == {"repeated id": 1}
    assert turn.ran == [("look_up", "R1"), ("refund", "R1")]


def test_bad_calls_end_the_talk_after_a_stated_number_of_them():
    turn = Spoken(calls(("nothing", RIGHT)))
    assert turn.box.over
    assert turn.box.bad == {"unknown tool": MOST_BAD}
    assert len(turn.model.asked) == MOST_BAD


def test_calls_in_a_reply_that_has_ended_the_talk_are_not_run():
    turn = Spoken(calls(*[("nothing", RIGHT)] * MOST_BAD, ("refund", RIGHT), ("refund", RIGHT)))
    assert turn.box.bad == {"unknown tool": MOST_BAD, "after the end": 2}
    assert not turn.ran
    assert len(turn.results) == MOST_BAD


def test_a_model_that_only_calls_is_stopped():
    turn = Spoken(calls(("look_up", RIGHT)))
    assert turn.box.over
    assert len(turn.ran) == MOST_CALLS
    assert turn.box.bad == {"too many": MOST_BAD}


def test_a_megabyte_of_arguments_ends_the_talk_and_is_never_sent_back():
    turn = Spoken(calls(("look_up", json.dumps({"record": "x" * 1_000_000}))))
    assert turn.box.over
    assert turn.box.bad == {"too long": 1}
    assert len(turn.model.asked) == 1


def test_ten_thousand_calls_are_counted_and_few_are_run():
    turn = Spoken(calls(*[("look_up", RIGHT)] * 10_000))
    assert len(turn.ran) == MOST_CALLS
    assert turn.box.bad.total() == 10_000 - MOST_CALLS


def test_who_says_nothing_is_heard_as_silent():
    turn = Spoken("")
    assert (turn.text, turn.talk[-1].content) == ("", "…")


def test_a_model_without_tools_is_told_of_them_in_words():
    call = '{"tool": "look_up", "arguments": {"record": "R1"}}'
    turn = Spoken(call, "It is not due.", tools="told")
    first, second = turn.model.asked
    assert turn.ran == [("look_up", "R1")]
    assert turn.text == "It is not due."
    assert not first.tools
    assert first.messages[0].content.startswith("Duty.\n\nYou have these tools")
    for tool in TOOLS:
        assert f"{tool.name}: {tool.description}\n" in first.messages[0].content
    assert [message.role for message in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[2].content == call
    assert second.messages[3].content == "[Result of look_up; not words of the person]\nlook_up ran"


def test_words_between_told_calls_are_heard():
    one, two = (json.dumps({"tool": tool.name, "arguments": {"record": "R1"}}) for tool in TOOLS)
    assert Spoken(f"{one}\nThe code is X7.\n{two}", "Done.", tools="told").text == "The code is X7.\n\nDone."


def test_several_told_calls_are_answered_in_one_message():
    both = "\n".join(json.dumps({"tool": tool.name, "arguments": {"record": "R1"}}) for tool in TOOLS)
    turn = Spoken(both, "Done.", tools="told", language="zh")
    assert turn.ran == [("look_up", "R1"), ("refund", "R1")]
    assert turn.model.asked[1].messages[-1].content.count("的结果，不是对方说的话】") == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"tool": "look_up", "arguments": {"record": "R1"}}', ""),
        ('One moment.\n```json\n{"tool": "look_up", "arguments": {"record": "R1"}}\n```', "One moment."),
        ('<tool_call>\n{"name": "look_up", "arguments": {"record": "R1"}}\n</tool_call>', ""),
        ("{'tool': 'look_up', 'arguments': {'record': 'R1'}}", ""),
        ('{"tool": "look_up", "arguments": {"record": "R1"}} I will see {you}.', "I will see {you}."),
    ],
)
def test_calls_are_read_as_models_write_them(text, words):
    reply = read_told(Reply(text))
    assert [(call.name, json.loads(call.arguments)) for call in reply.calls] == [("look_up", {"record": "R1"})]
    assert (reply.text, reply.echo) == (words, text)


@pytest.mark.parametrize(
    "text", ["", "No.", "Your record {R1} is fine.", '{"answer": "no"}', "The tool is called look_up."]
)
def test_words_are_no_call(text):
    assert read_told(Reply(text)) == Reply(text)


@pytest.mark.parametrize("text", ['{"tool": "look_up", "arguments": {"record": "R1', '{"tool": ' + "[" * 50_000])
def test_a_call_that_cannot_be_read_is_a_bad_one(text):
    turn = Spoken(text, "Sorry.", tools="told")
    assert turn.box.bad.total() == 1
    assert not turn.ran


@pytest.mark.parametrize(
    "text", ['{"tool": "\ud800", "arguments": {"record": "\ud800"}}', r'{"tool": "\ud800", "arguments": "\ud800"}']
)
def test_half_a_letter_in_a_told_call_breaks_nothing(text):
    turn = Spoken(text, "Sorry.", tools="told")
    assert turn.box.bad == {"unknown tool": 1}
    assert turn.text == "Sorry."


def test_a_name_alone_is_a_call_without_arguments():
    assert Spoken('{"tool": "look_up"}', "Sorry.", tools="told").box.bad == {"arguments": 1}
