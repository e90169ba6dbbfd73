import pytest

from sociometer.instruments.sage.person.emotion import find_leak

HIDDEN = "She wants the case for the home and the case against it laid side by side."


def test_quoting_the_hidden_intention_is_a_leak():
    assert find_leak("I want the case for the home and all that.", HIDDEN, "balance") == "wording"
    assert (
        find_leak("其实我希望有人把事情的几面都摆出来给我看", "她希望有人把事情的几面都摆出来", "balance") == "wording"
    )


@pytest.mark.parametrize(
    "words",
    [
        "My emotion score is 40 now.",
        "NPC的分析挺有道理。",
        "My hidden intention is praise.",
        "我的隐藏主题是倾听",
        '{"change": 5}',
    ],
)
def test_speaking_of_the_machinery_is_a_leak(words):
    assert find_leak(words, HIDDEN, "balance") == "machinery"


def test_asking_outright_is_a_plea_and_only_for_ones_own_intention():
    assert find_leak("Can you give me some advice?", HIDDEN, "advice") == "plea"
    assert find_leak("Can you give me some advice?", HIDDEN, "praise") == ""
    assert find_leak("能不能帮我分析一下他这么做的原因？", "x" * 20, "motives") == "plea"
    assert find_leak("Just listen to me, can you hear me out?", HIDDEN, "listening") == "plea"


def test_ordinary_talk_is_none():
    assert find_leak("My brother found a place for our mother, and I keep changing my mind.", HIDDEN, "balance") == ""
