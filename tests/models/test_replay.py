import asyncio

import pytest

from sociometer.core.conversation import Exchange, Reply, Request, user
from sociometer.core.errors import MachineryError
from sociometer.models.recorded import Replay
from sociometer.models.registry import resolve

QUESTION = (user("Who lied?"),)


def recording(*texts, role="subject"):
    return Replay("run-7", [Exchange(role, "m", QUESTION, Reply(text)) for text in texts])


def answer(player, role="subject", messages=QUESTION):
    return asyncio.run(player.answer(Request(role, messages)))


def test_what_was_said_is_said_again_each_draw_once():
    player = resolve("replay/run-7", recorded=recording("B", "C"))
    assert [answer(player).text, answer(player).text] == ["B", "C"]
    with pytest.raises(MachineryError, match="has no") as caught:
        answer(player)
    assert caught.value.kind == "not recorded"


def test_another_role_or_another_question_was_not_recorded():
    player = resolve("replay/run-7", recorded=recording("B"))
    for role, messages in (("judge", QUESTION), ("subject", (user("Who lies?"),))):
        with pytest.raises(MachineryError, match="run-7"):
            answer(player, role, messages)
    assert answer(player).text == "B"
