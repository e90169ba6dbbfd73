import pytest

from sociometer.instruments.sage.person.emotion import says_farewell


@pytest.mark.parametrize(
    "words",
    [
        "Goodbye.",
        '"Goodbye."',
        "All right, bye!",
        "Thank you. Good-bye for now.",
        "Bye-bye, thanks.",
        "Thank you so much and goodbye.",
        "算了，再见。",
        "谢谢，拜拜～",
        "那就再见吧",
    ],
)
def test_taking_leave_is_a_farewell(words):
    assert says_farewell(words)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "I never got to say goodbye. He was gone.",
        "That was the last goodbye we had.",
        "It was a long goodbye.",
        "My brother's farewell was in May.",
        "It was at the choir's farewell evening.",
        "He bade me farewell.",
        'He said, "Goodbye" and left.',
        "You didn't even say goodbye.",
        "I don't want to say goodbye.",
        "I'll say goodbye now.",
        "I had to say goodbye to him.",
        "I have to say goodbye to my dog.",
        "I'll say goodbye tomorrow.",
        "If I have to say goodbye I cry.",
        "Should I say goodbye?",
        "By the way, she took the curtain.",
        "他走得急，连句话都没说再见。后来我就没睡好。其实我挺想他。",
        "我没跟他说再见。",
        "我还没跟你说再见",
        "我不想说再见。",
        "他说“再见”，就走了。",
    ],
)
def test_telling_of_a_farewell_is_none(words):
    assert not says_farewell(words)
