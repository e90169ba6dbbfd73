import asyncio
import io

import pytest

from sociometer.core.conversation import Allocation, Choice, Free, Request, Schema, assistant, system, user
from sociometer.core.errors import Stopped
from sociometer.models.human import Human
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve


class Keyboard:
    def __init__(self, *lines):
        self.lines = list(lines)
        self.prompts = []

    def __call__(self, prompt):
        self.prompts.append(prompt)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)


def ask(person, *requests):
    async def all_of_them():
        try:
            return [(await person.answer(request)).text for request in requests]
        finally:
            await person.close()

    return asyncio.run(all_of_them())


def test_a_person_sees_the_question_and_types_the_answer(capsys):
    keyboard = Keyboard("  b \n")
    asked = Request("subject", (system("Be honest."), user("Who is sad? [bold]A[/bold]")), Choice(("Ada", "Ben")))
    assert ask(Human(read_line=keyboard), asked) == ["b"]
    shown = capsys.readouterr().err
    assert "Be honest." in shown
    assert "[bold]A[/bold]" in shown, "text of an item is shown as it is, never as markup"
    assert keyboard.prompts == ["[A/B] "]


def test_the_prompt_says_what_kind_of_answer_is_wanted():
    keyboard = Keyboard("4 6", "2", "3")
    forms = (Allocation(("joy", "fear"), 10), Schema({}, name="mood"), Free())
    ask(Human(read_line=keyboard), *(Request("s", (user("?"),), answer_format) for answer_format in forms))
    assert keyboard.prompts == ["[share 10 points among joy, fear] ", "[mood, as JSON] ", "> "]


def test_an_empty_line_is_asked_again():
    keyboard = Keyboard("", "   ", "A")
    assert ask(Human(read_line=keyboard), Request("s", (user("?"),))) == ["A"]


def test_points_may_be_given_in_one_line_or_one_line_for_each_option():
    answer_format = Allocation(("calm", "angry", "sad", "proud"), 10)
    request = Request("subject", (user("Share ten points."),), answer_format)
    many = Keyboard("calm: 4", "angry: 3", "", "sad: 2")
    assert ask(Human(read_line=Keyboard("4 3 2 1")), request) == ["4 3 2 1"]
    assert ask(Human(read_line=Keyboard("calm: 4", "angry: 3", "sad: 2", "proud: 1")), request) == [
        "calm: 4\nangry: 3\nsad: 2\nproud: 1"
    ]
    assert ask(Human(read_line=many), request) == ["calm: 4\nangry: 3"]
    assert "empty line ends it" in many.prompts[1]
    assert ask(Human(read_line=Keyboard("5,3,1,1", "next")), request) == ["5,3,1,1"]
    assert ask(Human(read_line=Keyboard("a 2,5", "b 4,5", "c 1", "d 2")), request) == ["a 2,5\nb 4,5\nc 1\nd 2"]


def test_in_a_dialogue_only_what_is_new_is_shown(capsys):
    person = Human(read_line=Keyboard("hello", "bye"))
    first = (user("I lost my job."),)
    ask(person, Request("s", first), Request("s", (*first, assistant("hello"), user("It hurts."))))
    shown = capsys.readouterr().err
    assert shown.count("I lost my job.") == 1
    assert "It hurts." in shown


def test_the_end_of_input_stops_the_run_cleanly():
    with pytest.raises(Stopped):
        ask(Human(read_line=Keyboard()), Request("s", (user("?"),)))


def test_a_person_types_at_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("C\n"))
    assert ask(resolve("human"), Request("s", (user("?"),))) == ["C"]


def test_people_are_told_apart_by_a_revision():
    assert not resolve("human").identity.certain
    assert resolve("human", ModelOptions(revision="anna")).identity.certain
