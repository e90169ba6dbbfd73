"""Calls and their results as messages: every part of the system that keeps texts keeps them."""

from sociometer.core.conversation import Exchange, Message, Reply, assistant, result, spoken, user, with_new_messages
from sociometer.core.tools import ToolCall, read_content

LOOK = ToolCall("look_up", '{"record":"R1"}', "theirs")


def test_a_reply_without_calls_is_a_message_as_before():
    assert spoken(Reply("hi"), ()) == assistant("hi")
    assert Reply("hi").shown == "hi"


def test_calls_get_ids_of_ours_that_run_through_the_talk():
    first = spoken(Reply("Let me see.", calls=(LOOK, LOOK)), [user("a")])
    assert first.role == "calls"
    assert [call.id for call in read_content(first.content).calls] == ["call00000", "call00001"]
    answered = [result(call, "nothing") for call in read_content(first.content).calls]
    assert read_content(answered[1].content).calls[0].id == "call00001"
    again = spoken(Reply("", calls=(LOOK,)), [user("a"), first, *answered])
    assert read_content(again.content).calls[0].id == "call00002"


def test_a_transcript_shows_calls_and_results_in_words():
    reply = Reply("Let me see.", calls=(LOOK,))
    assert reply.shown == 'Let me see.\n→ look_up {"record":"R1"}' == spoken(reply, ()).shown
    assert result(LOOK, "Guest: Ann").shown == "Guest: Ann"
    assert Message("calls", "not JSON").shown == "not JSON"
    assert Message("result", "[[]]").shown == "[[]]"


def test_messages_with_calls_are_not_repeated_in_a_transcript():
    asked, reply = (user("a"),), Reply("", calls=(LOOK,))
    more = (*asked, spoken(reply, asked), result(LOOK, "Guest: Ann"))
    events = [Exchange("subject", "m", asked, reply), Exchange("subject", "m", more, Reply("Hello Ann."))]
    assert [len(new) for _, new in with_new_messages(events)] == [1, 1]


def test_half_a_letter_does_not_break_a_message():
    assert read_content(spoken(Reply("\ud800", calls=(LOOK,)), ()).content).text == "?"
