"""The parts of a study by themselves: the player that waits for forms, the forms, and the book."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from open_study import OpenStudy
from person import Form

from sociometer.core.conversation import Allocation, Choice, Free, Request, Schema, user
from sociometer.core.errors import UsageError
from sociometer.store.studies import StudyBook, plain_code, shown_code
from sociometer.web.rendering import texts
from sociometer.web.study import BadAnswer, FormPlayer, PeopleTexts, fields_of, reply_of

GUESS = Schema(
    {
        "type": "object",
        "properties": {
            "why": {"type": "string"},
            "move": {"type": "string", "enum": ["hit", "stand"]},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
        },
    }
)


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


@pytest.mark.parametrize(
    ("wanted", "given", "reply"),
    [
        (Choice(("left", "right")), {"answer": "B"}, "B"),
        (Choice(("call", "fold"), labels=("call", "fold")), {"answer": "fold"}, "fold"),
        (Allocation(("joy", "fear")), {"points-0": "2.5", "points-1": "7.5"}, "joy: 2.5\nfear: 7.5"),
        (
            GUESS,
            {"part-why": "It\r\nis.", "part-move": "hit", "part-count": "4"},
            '{"why":"It\\nis.","move":"hit","count":4}',
        ),
        (Free(), {"answer": "  a word "}, "a word"),
    ],
)
def test_a_form_makes_the_reply(wanted, given, reply):
    assert reply_of(wanted, given) == reply


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        (Choice(("left", "right")), {}),
        (Choice(("left", "right")), {"answer": "C"}),
        (Allocation(("joy", "fear")), {"points-0": "inf", "points-1": "1"}),
        (Allocation(("joy", "fear")), {"points-0": "11", "points-1": "-1"}),
        (GUESS, {"part-why": "x", "part-move": "double", "part-count": "4"}),
        (GUESS, {"part-why": "x", "part-move": "hit", "part-count": "0"}),
        (GUESS, {"part-why": "x", "part-move": "hit", "part-count": "4.5"}),
        (Free(), {"answer": " \n "}),
        (Free(), {"answer": "x" * 20_001}),
    ],
)
def test_a_form_that_makes_no_answer_is_refused_with_a_sentence(wanted, given):
    with pytest.raises(BadAnswer) as refused:
        reply_of(wanted, given)
    assert str(refused.value) in texts("study", "en")


@pytest.mark.parametrize("pages", ["study", "rating"])
def test_both_languages_have_the_same_words(pages):
    english, chinese = texts(pages, "en"), texts(pages, "zh")
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert ("{" in text) == ("{" in chinese[key]), key


def test_a_chance_is_a_number_and_an_earlier_form_is_read_as_it_was_filled_in():
    wanted = Schema({"type": "object", "properties": {"own_bust_percent": {"type": "string"}}})
    assert fields_of(wanted)[0].kind == "number"
    said = reply_of(wanted, {"part-own_bust_percent": "31"})
    assert said == '{"own_bust_percent":"31 %"}'
    assert PeopleTexts({"own_bust_percent": "Chance"}).own(said) == "Chance: 31 %"
    assert PeopleTexts().own("{not a form") == "{not a form"


def test_the_key_of_a_format_is_in_no_form():
    for wanted in (Choice(("a", "b"), key=1), Allocation(("a", "b"), key=(1.0, 9.0)), Free(key="the ideal answer")):
        shown = repr(fields_of(wanted))
        assert "key" not in shown and "ideal" not in shown


def test_a_code_is_read_as_people_write_it():
    assert shown_code("abcd2345wxyz") == "abcd-2345-wxyz"
    assert plain_code(" ABCD 2345-wxyz ") == "abcd2345wxyz"


def test_a_study_has_a_name_of_its_own(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "1") as opened, pytest.raises(UsageError, match="already"):
        StudyBook(tmp_path / "s.db.studies").create(opened.study)


def test_the_same_form_sent_many_times_at_once_counts_once(tmp_path):
    with OpenStudy(tmp_path / "s.db", "sesi", "--limit", "3") as opened:
        person = opened.person().join()
        fields = person.filled(Form(person.page().text, "/take"))
        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(lambda _: person.post("/take", fields).status, range(8)))
        assert statuses == [303] * 8
        assert Form(person.page().text, "/take").hidden["number"] == "1"
