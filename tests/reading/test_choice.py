"""A choice is read where it is sure and not at all where it is not; the corpus says how often."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.core.conversation import Choice
from sociometer.reading import read_choice, render_options

CORPUS = Path(__file__).parents[1] / "corpus"
OPTIONS = ("in the glass cabinet", "in the cardboard box", "under the bed", "with her sister")
LABELS = tuple("ABCD")

SURE = [
    ("B", 1),
    ("(b)", 1),
    ("2", 1),
    ("B. in the cardboard box", 1),
    ("In the cardboard box.", 1),
    ("Because she left early.\n\nAnswer: B", 1),
    ("Some would say Answer: D would be right. It is not.\nAnswer: B", 1),
    ("**Final answer:** B because she never saw it.", 1),
    ("答案：B", 1),
    ("她没有看到。所以我选B。", 1),
    ("<think>A? B? C!</think>\nAnswer: B", 1),
    (r"So the result is $\boxed{\text{B}}$.", 1),
    ("<answer>B</answer>", 1),
    ('{"answer": "B", "why": "she left"}', 1),
    ("I would choose option B.", 1),
    ("The best answer is (B).", 1),
    ("B. She left before it was moved.", 1),
    ("**B** — she left before it was moved.", 1),
    ("She looks where she put it: B", 1),
    ("Answer: A\nWait, she was out of the room.\nAnswer: B", 1),
    ('final_answer = "B"', 1),
    ("A 🙂", 0),
    ("B it is.", 1),
    ("B. The bed (C) was never mentioned, and D is a guess.", 1),
    ("A is what he saw and C what he heard. But she left. So it's B.", 1),
    ("I would choose the second option.", 1),
    ("Well, thinking about it, the answer is (B).", 1),
    ("On reflection, the answer is [A].", 0),
    ("经过思考，答案是(B)。", 1),
    ("【答案】B【解析】她没有看到。", 1),
]
NOT_SURE = [
    "",
    "She'd say the glass cabinet, not the cardboard box",
    "Not B.",
    "A or B",
    "Answer: A and B",
    "It is either A or B, I cannot decide.",
    "If she saw it, I would choose B.",
    "She would say B, but I would rather not answer.",
    "B. in the glass cabinet",  # the letter of one option with the words of another
    "Answer: A\nAnswer: B",
    "The correct answer is B: in the glass cabinet.",
    "The answer is A. It lay there first.\n\nThe answer is C. That is where she sleeps.",
    "I'd pick B. Actually, no, it is something else.",
    "A. in the glass cabinet\nB. in the cardboard box\nC. under the bed\nD. with her sister",
    "I'm sorry, I can't help with that.",
    '{"a": {"a": {"a": 1}}}',
    "Someone might think the answer is B.",
    "B?",
    "B is out.",
    "Worst: B",
    "A good question!",
    "B was my first guess.",
    "B. Or C.",
    "B. C works too.",
    "A: no. B: no. C: yes. D: no.",
    "If she looked, it's B.",
    "所以先看B",
    "If I think about it, the answer is (A).",
    "Unless she saw it, the answer is (B).",
    "Leaving (B) aside, the answer is (A).",
    "On reflection, the answer is not (A).",
    "Thinking about it, the answer is (A). Wait, it is not.",
    "It is tempting to say it, the answer is (A).",
    "At first glance, the answer is B.",
    "To most people, the answer is B.",
    "Tom said, the answer is B.",
    "Thinking about it as a stranger would, the answer is B.",
    "Without the last sentence, the answer is B.",
    "The options are warm, kind, and B.",
    "The options are warm, kind, and (B).",
]


@pytest.mark.parametrize(("reply", "index"), SURE)
def test_a_plain_answer_is_read(reply, index):
    assert read_choice(reply, OPTIONS, LABELS).index == index


@pytest.mark.parametrize("reply", NOT_SURE)
def test_what_is_not_sure_is_not_read(reply):
    assert read_choice(reply, OPTIONS, LABELS).index is None


def test_an_oracle_that_denies_the_other_option_is_never_read_as_a_third():
    for place, option in enumerate(OPTIONS):
        other = OPTIONS[(place + 1) % 4]
        read = read_choice(f"The answer is {option}, not {other}.", OPTIONS, LABELS).index
        assert read in (None, place)


def test_a_reply_that_is_cut_off_counts_only_with_its_answer_in_a_place_made_for_it():
    assert read_choice("Answer: B\nShe left before", OPTIONS, LABELS, finish="length").index == 1
    cut = read_choice("I would choose option B", OPTIONS, LABELS, finish="length")
    assert (cut.index, cut.rule) == (None, "cut off")


@given(st.permutations(range(4)), st.integers(0, 3))
def test_the_order_of_the_options_changes_nothing(order, place):
    shown = [OPTIONS[at] for at in order]
    assert read_choice(f"Answer: {LABELS[place]}", shown, LABELS).index == place
    assert read_choice(shown[place], shown, LABELS).index == place


def test_what_is_shown_is_read_back():
    for place, line in enumerate(render_options(Choice(OPTIONS)).split("\n")):
        assert read_choice(line, OPTIONS, LABELS).index == place


@pytest.mark.parametrize(
    "filler", ["A\n\n", "A ", "(", "Answer: ", "B. ", "not ", "\\boxed{", '{"a":', "<answer>", "。", "A or B. "]
)
def test_only_the_two_ends_of_a_long_reply_are_read(filler):
    long = filler * (1_000_000 // len(filler))
    assert read_choice(f"{long}\nAnswer: C", OPTIONS, LABELS).index in (None, 2)


@pytest.mark.parametrize(("folder", "right", "wrong"), [("measured", 0.86, 0.002), ("", 0.76, 0.002)])
def test_the_corpus_is_read_as_well_as_measured(folder, right, wrong):
    entries = [
        json.loads(line)
        for path in sorted((CORPUS / folder).glob("choice*[0-9].jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    found = [read_choice(one["reply"], one["options"], one["labels"], finish=one["finish"]).index for one in entries]
    labels = [one["label"] for one in entries]
    pairs = list(zip(found, labels, strict=True))
    good = sum(read == label or (read is None and isinstance(label, str)) for read, label in pairs)
    bad = sum(read is not None and read != label for read, label in pairs)
    assert good >= right * len(entries)
    assert bad <= wrong * len(entries)
