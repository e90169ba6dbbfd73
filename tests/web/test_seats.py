"""The seats of a study: the player that waits for forms."""

import asyncio
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from open_study import OpenStudy
from person import Form
from serving import Client

from sociometer.core.conversation import Request, user
from sociometer.store.studies import book_path, identity_of
from sociometer.web.seats import FormPlayer
from sociometer.web.study import SEATS


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


def test_an_answer_is_taken_when_the_engine_says_that_it_is_on_disk(tmp_path):
    """While another process writes to the store, the answer waits; nobody asks the database for it meanwhile."""
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "3") as opened:
        person = opened.person().join()
        person.page()
        seats, one = opened.served.app[SEATS], opened.book.with_code("spring", person.code)
        (seat,), asked = seats._seats.values(), []
        with closing(sqlite3.connect(opened.path, isolation_level=None)) as other, ThreadPoolExecutor(1) as pool:
            other.execute("BEGIN IMMEDIATE")
            opened.store.reader.set_trace_callback(asked.append)
            sent = pool.submit(opened.served.do, seats.give(one, opened.study, 0, "A", 6.0, "A", ""))
            while seat.player.question is not None:
                opened.served.do(asyncio.sleep(0))
            for _ in range(20):
                opened.served.do(asyncio.sleep(0.01))  # the server has time to look, if it wants to
            assert not sent.done() and not seat.playing.done()
            assert not [statement for statement in asked if "count(*) FROM journal" in statement]
            opened.store.reader.set_trace_callback(None)
            other.execute("ROLLBACK")
            assert sent.result() is True
            assert other.execute("SELECT count(*) FROM journal WHERE run = ?", (seat.run,)).fetchone() == (1,)


def test_an_answer_that_was_not_stored_is_not_taken():
    async def play():
        player = FormPlayer("p-1", 0)
        asked = asyncio.create_task(player.answer(Request("subject", (user("Well?"),))))
        await player.asked()
        stored = player.give(0, "yes")
        await asked
        assert not stored.done()
        player.reply_stored()
        assert stored.done()

    asyncio.run(play())


def test_nobody_waits_for_a_file_that_another_process_has_locked(tmp_path):
    """The study's file is locked: an answer waits for it, other requests do not."""
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "3") as opened, ThreadPoolExecutor(1) as pool:
        person = opened.person().join()
        person.answer()  # that somebody has answered at all is in the study's file before the answer
        fields = person.filled(Form(person.page().text, "/take"))
        (one,) = opened.book.participants("spring")
        with closing(sqlite3.connect(book_path(opened.path), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            sent = pool.submit(person.post, "/take", fields)
            while opened.store.journal.count_replies(one.run, identity_of(one.id)) < 2:
                time.sleep(0.01)
            assert Client(opened.served.url).get("/static/style.css").status == 200
            assert Client(opened.served.url).get("/nowhere").status == 404
            assert not sent.done()
            other.execute("ROLLBACK")
        assert sent.result(30).status == 303
        assert [one.question for one in opened.book.timings("spring")] == [0, 1]


def test_who_leaves_and_comes_back_is_asked_every_question_once(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "3") as opened:
        person, seats = opened.person().join(), opened.served.app[SEATS]
        while person.answer():
            assert person.page().status == 200, "the next question waits for an answer"
            opened.served.do(seats.leave(*(one.id for one in opened.book.participants("spring"))))
        assert sum(opened.store.episodes.counts(opened.run_of(person))) == 3


def test_whoever_has_finished_begins_no_second_run(tmp_path):
    """A request that was sent before the end may ask for a question after it."""
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened:
        person = opened.person().join()
        person.answer_all()
        seats, (one,) = opened.served.app[SEATS], opened.book.participants("spring")
        assert opened.served.do(seats.question(one, opened.study, 6.0)) is None
        assert opened.served.do(seats.give(one, opened.study, 1, "A", 6.0, "A", "")) is False
        assert len(list(opened.store.runs.all())) == 1
