"""The seats of a study: the player that waits for forms."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from open_study import OpenStudy
from person import Form

from sociometer.core.conversation import Request, user
from sociometer.web.seats import FormPlayer


def test_an_answer_to_another_question_is_not_taken():
    async def play():
        player = FormPlayer("p-1", 3)
        asked = asyncio.create_task(player.answer(Request("subject", (user("Well?"),))))
        await player.asked()
        assert player.question.number == 3
        assert not player.give(2, "too late") and not player.give(4, "too early")
        assert player.give(3, "yes")
        assert not player.give(3, "yes, again")
        return (await asked).text

    assert asyncio.run(play()) == "yes"


def test_the_same_form_sent_many_times_at_once_counts_once(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "3") as opened:
        person = opened.person().join()
        fields = person.filled(Form(person.page().text, "/take"))
        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(lambda _: person.post("/take", fields).status, range(8)))
        assert statuses == [303] * 8
        assert Form(person.page().text, "/take").hidden["number"] == "1"
