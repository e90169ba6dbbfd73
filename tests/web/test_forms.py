"""The forms of a study: the reply that a filled-in form makes, and what no form shows."""

import json
import shutil
import subprocess
from importlib.resources import files

import pytest

from sociometer.core.conversation import Allocation, Choice, Free, Schema
from sociometer.web.errors import BadForm
from sociometer.web.forms import PeopleTexts, fields_of, reply_of
from sociometer.web.rendering import texts

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
WHOLE = "“Cards”: enter a whole number from 1 to 9."


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
        (Allocation(("joy", "fear")), {"points-0": "3.3", "points-1": "6.7"}),
        (Allocation(("joy", "fear")), {"points-0": "3.5", "points-1": "6"}),
        (GUESS, {"part-why": "x", "part-move": "double", "part-count": "4"}),
        (GUESS, {"part-why": "x", "part-move": "hit", "part-count": "0"}),
        (GUESS, {"part-why": "x", "part-move": "hit", "part-count": "4.5"}),
        (Free(), {"answer": " \n "}),
        (Free(), {"answer": "x" * 20_001}),
    ],
)
def test_a_form_that_makes_no_answer_is_refused_with_a_sentence(wanted, given):
    with pytest.raises(BadForm) as refused:
        reply_of(wanted, given)
    assert str(refused.value) in texts("study", "en")


@pytest.mark.parametrize(
    ("wanted", "given", "said"),
    [
        (Allocation(("joy", "fear")), {"points-0": "11"}, "“joy”: enter a number from 0 to 10."),
        (GUESS, {"part-why": "x", "part-move": "hit", "part-count": "4.5"}, WHOLE),
        (GUESS, {"part-why": "x", "part-move": "hit", "part-count": "ten"}, WHOLE),
    ],
)
def test_a_wrong_number_is_told_its_field_and_range(wanted, given, said):
    with pytest.raises(BadForm) as refused:
        reply_of(wanted, given, PeopleTexts({"count": "Cards"}))
    assert texts("study", "en")[str(refused.value)].format_map(refused.value.values) == said


def test_points_are_whole_or_half_as_the_page_says():
    wanted, said = Allocation(("joy", "fear", "anger", "calm")), texts("study", "en")["must sum"]
    assert said.format(total=10) == "The points must add up to 10, in whole or half points."
    assert reply_of(wanted, {"points-0": "2.5", "points-2": "7.5"}) == "joy: 2.5\nfear: 0\nanger: 7.5\ncalm: 0"
    with pytest.raises(BadForm, match="must sum"):
        reply_of(wanted, {"points-0": "3.3", "points-1": "3.3", "points-2": "3.4", "points-3": "0"})


_PAGE = """
const left = {dataset: {left: "left {points}", over: "over {points}", step: ", not half"}};
const fields = POINTS.map((value) => ({value, addEventListener() {}}));
const form = {dataset: {total: "10"}, querySelectorAll: () => fields};
globalThis.document = {querySelector: () => form, getElementById: () => left};
SCRIPT
console.log(left.textContent);
"""


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (["3.3", "3.3", "3.4", "0"], "left 0, not half"),
        (["2.5", "7.5", "", ""], "left 0"),
        (["4", "3", "2", "1.3"], "over 0.3, not half"),
        (["4", "", "", ""], "left 6"),
    ],
)
def test_the_counter_of_points_says_which_points_the_server_accepts(points, said):
    if (node := shutil.which("node")) is None:
        pytest.skip("no Node.js here to run the script of the page")
    script = (files("sociometer.web") / "static/points.js").read_text("utf-8")
    page = _PAGE.replace("POINTS", json.dumps(points)).replace("SCRIPT", script)
    assert subprocess.run([node, "-e", page], capture_output=True, text=True, check=True).stdout.strip() == said


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
