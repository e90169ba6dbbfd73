import pytest

from sociometer.instruments.egosocial.stories.wording import (
    OFFICIAL,
    Wording,
    parse_question,
    parse_sentence,
    question_text,
    sentence,
)
from sociometer.instruments.egosocial.stories.world import (
    Enter,
    Move,
    Place,
    Question,
    Remark,
    Sight,
    Tell,
    Unwatch,
    Watch,
)

OURS = Wording("came into", "left", "put", "into", stop_after_remarks=True, spaces=True)


@pytest.mark.parametrize(
    ("event", "third", "first"),
    [
        (Enter("Uma", "back_room"), "Uma entered the back_room.", "You entered the back_room."),
        (Move("Uma", "key", "red_box"), "Uma moved the key to the red_box.", "You moved the key to the red_box."),
        (Place("key", "red_box"), "The key is in the red_box.", "The key is in the red_box."),
        (Remark("Uma", "dislikes", "mango"), "Uma dislikes the mango", "You dislike the mango"),
        (Remark("Uma", "loves", "mango"), "Uma loves the mango", "You love the mango"),
    ],
)
def test_official_sentences_in_both_persons(event, third, first):
    assert sentence(event) == third
    assert sentence(event, "Uma") == first
    assert parse_sentence(third) == event


@pytest.mark.parametrize(
    ("event", "first"),
    [
        (Tell("Uma", "Ravi", "gloves", "hat_box"), "You told Ravi in private that the gloves were in the hat box."),
        (Tell("Ravi", "Uma", "key", "hat_box"), "Ravi told you in private that the key was in the hat box."),
        (Move("Uma", "key", "hat_box"), "You put the key into the hat box."),
        (Place("gloves", "hat_box"), "The gloves are in the hat box."),
        (Watch("Uma", "loft"), "You began to watch the loft through a crack, unnoticed by anybody."),
        (Unwatch("Uma", "loft"), "You stopped watching the loft."),
        (Remark("Uma", "hates", "loft"), "You hate the loft."),
        (Sight((), ()), "Nobody else was there."),
        (Sight(("Ravi",), (("gloves", "hat_box"),)), "Ravi was there. The gloves were in the hat box."),
        (Sight(("Ravi", "Wei", "Noor"), ()), "Ravi, Wei and Noor were there."),
    ],
)
def test_our_own_sentences_agree_in_number_and_person(event, first):
    assert sentence(event, "Uma", OURS) == first


@pytest.mark.parametrize(
    ("chain", "ego", "text"),
    [
        (("Uma",), None, "Where will Uma look for the key?"),
        (("Uma",), "Uma", "Where will you look for the key?"),
        (("Uma", "Ravi"), None, "Where does Uma think that Ravi searches for the key?"),
        (("Uma", "Ravi"), "Uma", "Where do you think that Ravi searches for the key?"),
        (("Uma", "Ravi", "Uma"), "Uma", "Where do you think that Ravi thinks that you search for the key?"),
        (
            ("Uma", "Ravi", "Uma", "Ravi"),
            "Uma",
            "Where do you think that Ravi thinks that you think that Ravi searches for the key?",
        ),
    ],
)
def test_questions_nest_with_verbs_that_fit(chain, ego, text):
    assert question_text(Question("belief", "key", chain), ego, OFFICIAL) == text


def test_our_own_nested_questions_ask_where_one_will_look():
    question = Question("belief", "spare_key", ("Uma", "Ravi"))
    assert question_text(question, "Uma", OURS) == "Where do you think that Ravi will look for the spare key?"


def test_plural_things_take_plural_verbs_only_in_our_own_wording():
    assert question_text(Question("memory", "peas"), None, OFFICIAL) == "Where was the peas at the beginning?"
    assert question_text(Question("memory", "gloves"), None, OURS) == "Where were the gloves at the beginning?"
    assert question_text(Question("reality", "gloves"), None, OURS) == "Where are the gloves really?"


def test_questions_are_read_back():
    for chain in ((), ("Uma",), ("Uma", "Ravi")):
        kind = "belief" if chain else "reality"
        question = Question(kind, "key", chain)
        assert parse_question(question_text(question)) == question


@pytest.mark.parametrize("text", ["", "Uma danced.", "Uma ate the mango", "The key sleeps.", "Where?"])
def test_unknown_sentences_are_not_guessed(text):
    assert parse_sentence(text) is None
    assert parse_question(text) is None
