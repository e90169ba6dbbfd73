"""Changes of meaning: each kind is found, and what a change of person needs is none."""

import pytest

from sociometer.instruments.egosocial.tombench.convert import failures
from sociometer.instruments.egosocial.tombench.release import Order, Wording

STORY = 'Oto sees Meifen put 3 plums in the jar. She leaves, and Oto does not move them. Oto says, "Look, Berg!"'
THIRD = Wording(STORY, "Where does Meifen think Oto looks?", ("In the jar", "Does not know", "Oto hates plums"))
ORDER = Order(
    id="x", language="en", ego="Oto", order=1, measures="", others=("Meifen", "Berg"), third=THIRD, answer=0,
)  # fmt: skip
GOOD = Wording(
    'You see Meifen put 3 plums in the jar. She leaves, and you do not move them. You say, "Look, Berg!"',
    "Where does Meifen think you look?",
    ("In the jar", "I do not know", "I hate plums"),
)


def found(story=GOOD.story, question=GOOD.question, options=GOOD.options):
    return list(failures(ORDER, Wording(story, question, options)))


def test_a_faithful_conversion_changes_nothing():
    assert found() == []


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("You see Meifen put", "Meifen sees you put", "story: words changed"),
        ("do not move", "move", "story: words changed"),
        ("3 plums", "4 plums", "story: words changed"),
        ("in the jar", "in the tin", "story: words changed"),
        ("You see Meifen put 3 plums in the jar. ", "", "story: words changed"),
        ("You say,", "Berg says,", "story: words changed"),
        ("move them", "move them, for the jar is full", "story: words changed"),
        ("you do not move", "she does not move", "story: people changed"),
    ],
)
def test_a_change_of_the_story_is_found(old, new, change):
    assert old in GOOD.story
    assert change in found(story=GOOD.story.replace(old, new))


def test_a_change_of_question_or_option_is_found():
    assert "question: words changed" in found(question="Where do you look?")
    assert "option: words changed" in found(options=("In the tin", "I do not know", "I hate plums"))
    assert "option: words changed" in found(options=("In the jar", "I know", "I hate plums"))


def test_a_pronoun_becomes_you_throughout_or_a_person_decides():
    third = Wording("Oto loses his hat, and he cries.", "Why?", ("a", "b"))
    order = Order(id="x", language="en", ego="Oto", order=1, measures="", others=(), third=third, answer=0)
    half = Wording("You lose your hat, and he cries.", "Why?", ("a", "b"))
    assert list(failures(order, half)) == ["pronoun left in the third person"]


def test_he_and_she_cannot_both_become_you():
    third = Wording("Oto and Meifen run. He falls, and she laughs.", "Why?", ("a", "b"))
    order = Order(id="x", language="en", ego="Oto", order=1, measures="", others=("Meifen",), third=third, answer=0)
    bad = Wording("You and Meifen run. You fall, and you laugh.", "Why?", ("a", "b"))
    assert "two people became you" in list(failures(order, bad))


@pytest.mark.parametrize(
    ("first", "change"),
    [
        ("你把三个李子放进罐子，陈默没有看见。", ""),
        ("你把三个李子放进罐子，陈默看见了。", "story: words changed"),
        ("你把两个李子放进罐子，陈默没有看见。", "story: words changed"),
        ("陈默把三个李子放进罐子，你没有看见。", "story: words changed"),
    ],
)
def test_chinese_texts_are_compared_by_character(first, change):
    third = Wording("苏晴把三个李子放进罐子，陈默没有看见。", "苏晴怎么想？", ("不知道", "苏晴饿了"))
    order = Order(id="x", language="zh", ego="苏晴", order=1, measures="", others=("陈默",), third=third, answer=0)
    assert list(failures(order, Wording(first, "你怎么想？", ("不知道", "我饿了")))) == ([change] if change else [])
