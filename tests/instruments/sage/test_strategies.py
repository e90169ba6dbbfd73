import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.instruments.sage.judges.strategies import (
    CAPABILITIES,
    STRATEGIES,
    LabelledReply,
    alignment_similarity,
    occurrences,
    repetition,
)

codes = st.lists(st.sampled_from(["A-1", "B-1", "B-3", "F-2"]), max_size=6).map(tuple)


def test_there_are_the_24_strategies_of_table_5_and_an_apology_of_ours():
    assert len(STRATEGIES) == 25
    assert [sum(code[0] == letter for code in STRATEGIES) for letter in "ABCDEFGH"] == [5, 3, 2, 3, 4, 5, 2, 1]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_judge_is_told_every_code(sage, language):
    prompt = (sage.folder / "prompts" / language / "strategies.md").read_text(encoding="utf-8")
    assert all(code in prompt for code in STRATEGIES)


def test_capabilities_are_those_of_table_6():
    assert [each.strategies for each in CAPABILITIES] == [
        ("B-2", "B-3", "C-1", "C-2"), ("E-1", "E-2", "E-3"), ("D-2", "D-3"), ("F-5",),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "similarity"),
    [
        (("B-1", "F-2"), ("B-1", "F-2"), 1.0),
        (("B-1", "F-2"), ("B-1", "F-4"), 1 / 2),
        # B-1 F-2 | B-1 D-1 F-2 align with one gap: two identities in three places
        (("B-1", "F-2"), ("B-1", "D-1", "F-2"), 2 / 3),
        (("B-1",), ("F-2",), 0.0),
        ((), ("B-1",), 0.0),
        # two replies without a label agree on nothing
        ((), (), 0.0),
        # A B C | B C D: shifting by one costs two gaps and wins two matches (score 0), no shift scores -3
        (("A-1", "B-1", "C-1"), ("B-1", "C-1", "D-1"), 2 / 4),
    ],
)
def test_alignment_by_hand(first, second, similarity):
    assert alignment_similarity(first, second) == pytest.approx(similarity)


@given(codes, codes)
def test_similarity_is_symmetric_bounded_and_one_only_for_equals(first, second):
    value = alignment_similarity(first, second)
    assert value == alignment_similarity(second, first)
    assert 0 <= value <= 1
    assert (value == 1) == (first == second and first != ())


def test_repetition_of_a_dialogue_by_hand():
    # similarities 1 and 1/2; a dialogue of one reply says nothing
    assert repetition([("B-1", "F-2"), ("B-1", "F-2"), ("B-1", "F-4")]) == pytest.approx(0.75)
    assert repetition([("A-1",), ("D-2",)]) == 0
    assert repetition([("A-1",)]) is None


def test_two_replies_without_a_label_repeat_nothing_and_are_left_out():
    assert repetition([(), (), ()]) is None
    # the pairs are and (A-1, nothing); the last pair has no label on either side
    assert repetition([("A-1",), ("A-1",), (), ()]) == pytest.approx(1 / 2)


def test_effectiveness_on_a_worked_example():
    replies = [
        LabelledReply(("B-3", "F-5"), 6, "advice"),
        LabelledReply(("F-5",), -4, "empathy"),
        LabelledReply(("F-5", "B-1"), 10, "advice"),
        LabelledReply(("F-5",), None, "advice"),
    ]
    assert [reply.change for reply in occurrences(replies, ["F-5"])] == [6, -4, 10]
    assert [reply.change for reply in occurrences(replies, ["F-5"], "advice")] == [6, 10]
    assert occurrences(replies, ["G-1"]) == []
    assert [reply.change for reply in occurrences(replies, ["B-3", "F-5"])] == [6, 6, -4, 10]
