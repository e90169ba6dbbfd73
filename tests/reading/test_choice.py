"""Lettered choices are read as a person would read them, in English and Chinese."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sociometer.core.conversation import Choice
from sociometer.reading import read_choice, render_options

OPTIONS = ["Apologise to her", "Wait for a better moment", "Ask what happened", "Say nothing"]
LABELS = ["A", "B", "C", "D"]
HAN_OPTIONS = ["向她道歉", "等一个更好的时机", "问问发生了什么", "什么都不说"]

READ_AS_B = [
    "I think the answer is A... wait, no, it's B.",
    "My answer is A. On reflection, B.",
    "The answer is A. Oops, B.",
    "A. No, B.",
    "A\nWait, B is better.",
    "我觉得答案是A，不对，应该是B。",
    "First I thought A. Actually, the answer is B.",
    "Wait, A is also possible. Still, the answer is B.",
    "Is it A? No. It is kinder to ask. The answer is B.",
    "A不对，C不对，答案是B",
    "其实A和C都可以考虑，但答案是B。",
    "The answer is B. Wait, A would hurt her.",
    "B. No one would choose A.",
    "The answer is B. Actually, A is wrong because it is rude.",
    "Answer: B. There is no reason to prefer A.",
    "B",
    "b",
    "(b)",
    "(B)",
    "[B]",
    "B.",
    "B)",
    "B:",
    "**B**",
    "**B.**",
    "`B`",
    '"B"',
    " B \n",
    "Ｂ",
    "（Ｂ）",
    "Answer: B",
    "answer: b",
    "**Answer:** B",
    "Answer: (B)",
    "Answer - B",
    "ANSWER: B.",
    "The answer is B",
    "The answer is (B).",
    "The correct answer is **B**.",
    "The best option is B.",
    "The most likely answer is B because she needs time.",
    "I would choose B.",
    "I'd go with option B.",
    "I choose B, as A would be too early.",
    "My choice is B.",
    "My final answer is B",
    "Final answer: B",
    "Final Answer: **B. Wait for a better moment**",
    "Option B",
    "Option B.",
    "option b",
    "Choice: B",
    r"\boxed{B}",
    r"So the result is $\boxed{\text{B}}$.",
    r"\boxed{B. Wait for a better moment}",
    "<answer>B</answer>",
    '{"answer": "B"}',
    '{"answer": "b", "confidence": 0.9}',
    '```json\n{"answer": "B"}\n```',
    '{"reason": "A is too early", "choice": "B. Wait for a better moment"}',
    '{"answer": "Wait for a better moment"}',
    '{"answer": ["B"]}',
    "B. Wait for a better moment",
    "B) Wait for a better moment.",
    "(B) Wait for a better moment",
    "B: Wait for a better moment",
    "B - Wait for a better moment",
    "Wait for a better moment",
    "wait for a better moment.",
    "She should wait for a better moment.",
    "I think the fitting reply is: Wait for a better moment.",
    "B, because she is still angry.",
    "B. She is still upset and A would come too soon.",
    "B\n\nExplanation: A would come too soon and C would pry.",
    "A is too early. C pries. D is cold. So B.",
    "A comes too soon, D is cold, and that leaves B.",
    "Let's think. A is wrong. C is wrong. D is wrong.\n\nB",
    "Not A. B.",
    "It is not A, C or D; it is B.",
    "A lot of people would say sorry at once, but it is too early here. B",
    "The tension is high, so B is best.",
    "I can rule out A and C. The answer is B.",
    "First I thought the answer is A. Final answer: B",
    "A) too early\nC) prying\nD) cold\nAnswer: B",
    "A. too early\nB. fitting\nC. prying\nD. cold\n\nSo it must be B.",
    "<think>A? no. C? no.</think>B",
    "<think>Maybe the answer is A.</think>\nThe answer is B.",
    "The second option.",
    "I prefer the second one",
    "Option 2",
    "2",
    "As an AI I have no feelings, but the answer is B.",
    "答案：B",
    "答案:B",
    "答案：Ｂ",
    "答案是B",
    "答案是B。",
    "答案为（B）",
    "正确答案是B",
    "正确选项为B。",
    "选B",
    "选B。",
    "我选B",
    "我选择B",
    "选择（B）",
    "选择B，因为现在太早了。",
    "我会选择B选项",
    "应该选B。",
    "因此选B。",
    "故选B",
    "最终答案：B",
    "最合适的选项是B。",
    "B选项",
    "B。",
    "B、",
    "（B）",
    "【B】",
    "我选第二个",
    "第二个",
    "第2个选项",
    "选项二",
    "不选A，选B。",
    "A太早，C太冒昧，D太冷淡，所以B最好。",
    "排除A、C、D，答案是B。",
    '{"答案": "B"}',
    "**答案：B**",
    "综合考虑，我认为答案应该是 B。",
]

UNREADABLE = [
    ("", "empty"),
    ("   \n", "empty"),
    ("...", "empty"),
    ("<think>The answer is B", "empty"),
    ("A. B.", "two answers"),
    ("A or B", "two answers"),
    ("A and B", "two answers"),
    ("Answer: A or C", "two answers"),
    ("Answer: A, B", "two answers"),
    ("Answer: A/B", "two answers"),
    ("The answer is A. The answer is B.", "two answers"),
    ("Both A and D are good.", "two answers"),
    ("A\nB", "two answers"),
    (r"\boxed{A} or \boxed{B}", "two answers"),
    ('{"answer": "A"} {"answer": "B"}', "two answers"),
    ('{"answer": ["A", "B"]}', "two answers"),
    ("A. Apologise to her\nB. Wait for a better moment\nC. Ask what happened\nD. Say nothing", "no answer"),
    ("She could apologise to her, or say nothing.", "two answers"),
    ("选A或B", "two answers"),
    ("答案是A和C", "two answers"),
    ("选A。选B。", "two answers"),
    ("A还是B都可以", "two answers"),
    ("I'm sorry, but I can't help with that.", "refused"),
    ("As an AI language model I do not make such choices.", "refused"),
    ("I cannot choose between A and B.", "refused"),
    ("抱歉，我无法回答这个问题。", "refused"),
    ("作为一个人工智能，我没有感情。", "refused"),
    ("A good friend would listen to her first.", "no answer"),
    ("The answer is a difficult one.", "no answer"),
    ("It depends on a great many things.", "no answer"),
    ("I think she is hurt.", "no answer"),
    ("E", "no answer"),
    ("Answer: F", "no answer"),
    ("She needs plan B here.", "no answer"),
    ("这要看情况。", "no answer"),
    ("7", "no answer"),
]


@pytest.mark.parametrize("reply", READ_AS_B)
def test_the_second_option_is_read(reply: str) -> None:
    assert read_choice(reply, OPTIONS, LABELS).index == 1


@pytest.mark.parametrize(("reply", "reason"), UNREADABLE)
def test_no_choice_is_read_and_the_reason_is_given(reply: str, reason: str) -> None:
    reading = read_choice(reply, OPTIONS, LABELS)
    assert reading.index is None
    assert reading.rule == reason


@pytest.mark.parametrize(
    ("reply", "index"),
    [
        ("等一个更好的时机", 1),
        ("我觉得应该等一个更好的时机。", 1),
        ("B. 等一个更好的时机", 1),
        ("向她道歉或者什么都不说", None),
        ("D：什么都不说", 3),
        ("最后一个", 3),
    ],
)
def test_chinese_options_are_read_by_their_own_words(reply: str, index: int | None) -> None:
    assert read_choice(reply, HAN_OPTIONS, LABELS).index == index


@pytest.mark.parametrize(
    ("reply", "index"),
    [
        ("A", 0),
        ("Answer: A", 0),
        ("The answer is A because it is honest.", 0),
        ("A.", 0),
        ("a)", 0),
        ("I choose A.", 0),
        ("Answer: A lot depends on her mood.", None),
        ("A friend would ask.", None),
        ("I would pick a moment later in the day.", None),
        ("A. Apologise to her", 0),
        ("A Apologise to her", 0),
        ("选A", 0),
    ],
)
def test_the_english_article_is_not_the_first_option(reply: str, index: int | None) -> None:
    assert read_choice(reply, OPTIONS, LABELS).index == index


def test_the_pronoun_i_is_not_the_ninth_option() -> None:
    labels = list(string.ascii_uppercase[:10])
    options = [f"thing number {place}" for place in range(10)]
    assert read_choice("Answer: I would go with B", options, labels).index == 1
    assert read_choice("I think so", options, labels).index is None
    assert read_choice("Answer: I", options, labels).index == 8
    assert read_choice("I", options, labels).index == 8


def test_yes_and_no_are_read_from_the_opening_of_a_reply() -> None:
    assert read_choice("Yes, because he saw it.", ["Yes", "No"], ["A", "B"]).index == 0
    assert read_choice("No. He left before it moved.", ["Yes", "No"], ["A", "B"]).index == 1
    assert read_choice("Yes and no.", ["Yes", "No"], ["A", "B"]).index is None


def test_a_label_beside_another_options_words_is_unreadable() -> None:
    assert read_choice("B. Say nothing", OPTIONS, LABELS).index is None


def test_numbered_labels_are_read() -> None:
    labels = ["1", "2", "3", "4"]
    assert read_choice("3", OPTIONS, labels).index == 2
    assert read_choice("Answer: 3", OPTIONS, labels).index == 2
    assert read_choice("(3)", OPTIONS, labels).index == 2
    assert read_choice("答案：3", OPTIONS, labels).index == 2


def test_options_are_shown_one_a_line_behind_their_labels() -> None:
    assert render_options(Choice(("yes", "no"))) == "A. yes\nB. no"


@pytest.mark.parametrize("count", [1, 27])
def test_a_choice_has_two_to_twenty_six_options(count: int) -> None:
    with pytest.raises(ValueError, match="2 to 26"):
        read_choice("A", ["x"] * count, [str(place) for place in range(count)])


def test_repeated_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="repeat"):
        render_options(Choice(("x", "y"), ("A", "a")))


@given(count=st.integers(2, 26), data=st.data())
def test_every_label_alone_is_read_as_its_option(count: int, data: st.DataObject) -> None:
    labels = list(string.ascii_uppercase[:count])
    options = [f"choice text {place:02}" for place in range(count)]
    index = data.draw(st.integers(0, count - 1))
    shape = data.draw(st.sampled_from(["{}", "({})", "{}.", "**{}**", "Answer: {}", "答案：{}", '{{"answer": "{}"}}']))
    assert read_choice(shape.format(labels[index]), options, labels).index == index


PIECES = st.sampled_from(
    [
        "A",
        "B",
        " ",
        "\n",
        "(",
        ")",
        "{",
        "}",
        '"',
        "answer",
        ":",
        "is",
        "选",
        "答案",
        "not",
        "option",
        "\\boxed{",
        "*",
        "or",
        "，",
        "。",
        "1",
    ]
)


@settings(max_examples=200)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join)))
def test_no_text_crashes_the_reading(reply: str) -> None:
    reading = read_choice(reply, OPTIONS, LABELS)
    assert reading.index is None or 0 <= reading.index < 4
    assert reading.rule


@pytest.mark.parametrize(
    "piece", ["A ", "{", "(", '{"answer":', "not ", "答案", "\\boxed{", "I would ", "- ", "A, ", "B\n\n", "wait, no, "]
)
def test_a_long_hostile_reply_is_read_in_reasonable_time(piece: str) -> None:
    assert read_choice(piece * 4_000, OPTIONS, LABELS).rule
