import pytest

from sociometer.instruments.egosocial.stories import Enter, Move, Place, Question, Remark, Tell
from sociometer.instruments.egosocial.tomi import parse_question, parse_sentence, question_text, sentence


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


def test_tomi_has_no_words_for_what_only_our_stories_tell():
    with pytest.raises(ValueError, match="ToMi has no sentence"):
        sentence(Tell("Uma", "Ravi", "key", "hat_box"))


@pytest.mark.parametrize(
    ("chain", "ego", "text"),
    [
        (("Uma",), None, "Where will Uma look for the key?"),
        (("Uma",), "Uma", "Where will you look for the key?"),
        (("Uma", "Ravi"), None, "Where does Uma think that Ravi searches for the key?"),
        (("Uma", "Ravi"), "Uma", "Where do you think that Ravi searches for the key?"),
        (("Uma", "Ravi"), "Ravi", "Where does Uma think that you search for the key?"),
    ],
)
def test_questions_nest_with_verbs_that_fit(chain, ego, text):
    assert question_text(Question("belief", "key", chain), ego) == text


def test_questions_are_read_back():
    for chain in ((), ("Uma",), ("Uma", "Ravi")):
        kind = "belief" if chain else "reality"
        question = Question(kind, "key", chain)
        assert parse_question(question_text(question)) == question


@pytest.mark.parametrize("text", ["", "Uma danced.", "Uma ate the mango", "The key sleeps.", "Where?"])
def test_unknown_sentences_are_not_guessed(text):
    assert parse_sentence(text) is None
    assert parse_question(text) is None
