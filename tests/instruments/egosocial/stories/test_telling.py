"""Fresh stories in words: the person, the number, and the same sentences in every telling."""

import re

import pytest

from sociometer.instruments.egosocial.stories.events import Enter, Exit, Move, Place, Question, Remark, Story
from sociometer.instruments.egosocial.stories.scenes import generated_scenes
from sociometer.instruments.egosocial.stories.telling import Voice, question_prose, story_prose, texts

GLOVES = Story(
    (Enter("Uma", "loft"), Place("gloves", "hat_box"), Move("Uma", "gloves", "blue_tin"), Exit("Uma", "loft")),
    {"hat_box": "loft", "blue_tin": "loft"},
)


@pytest.mark.parametrize(
    ("question", "voice", "text"),
    [
        (Question("memory", "gloves"), Voice(), "Where were the gloves at the beginning?"),
        (Question("reality", "spare_key"), Voice(), "Where is the spare key really?"),
        (Question("belief", "key", ("Uma",)), Voice("Uma"), "Where will you look for the key?"),
        (Question("belief", "key", ("Uma", "Ravi")), Voice(), "Where does Uma think that Ravi will look for the key?"),
        (
            Question("belief", "key", ("Uma", "Ravi", "Uma")),
            Voice("Uma"),
            "Where do you think that Ravi thinks that you will look for the key?",
        ),
        (Question("belief", "钥匙", ("苏晴", "林悦")), Voice("苏晴", language="zh"), "你认为林悦会去哪里找钥匙？"),
    ],
)
def test_questions_fit_the_person_and_the_number(question, voice, text):
    assert question_prose(question, voice) == text


def test_all_tellings_of_a_story_differ_in_the_person_alone():
    third = story_prose(GLOVES, "story", Voice())
    you = story_prose(GLOVES, "story", Voice("Uma"))
    assert "Uma" in third and "Uma" not in you
    assert re.sub(r"\b(?:You|you)\b", "Uma", you) == third


def test_a_sentence_that_begins_with_you_has_a_capital():
    liking = Story((Remark("Uma", "likes", "mango"),), {})
    assert story_prose(liking, "story", Voice("Uma")).startswith("You ")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_kind_of_event_has_several_sentences_in_both_languages(language):
    kinds = texts(language).sentences
    assert set(kinds) == set(texts("en").sentences)
    assert set(texts(language).questions) == set(texts("en").questions)
    once = {kind for kind, forms in kinds.items() if len(forms) < 2}
    assert once == set()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_slot_and_no_name_of_the_person_is_left_in_any_telling(language):
    scenes = generated_scenes(5, 4, language)
    for scene in scenes:
        for telling in scene.tellings:
            text = telling.story + telling.question
            assert "{" not in text and "_" not in text
            assert (scene.ego in text) == (telling.name == "third")


def test_no_chinese_name_is_part_of_another_word_of_the_vocabulary():
    words = texts("zh").words
    others = [
        *words.rooms,
        *words.containers,
        *words.things,
        *(f for forms in texts("zh").sentences.values() for f in forms),
    ]
    for name in words.people:
        assert sum(name in other for other in words.people) == 1
        assert not any(name in other for other in others)
