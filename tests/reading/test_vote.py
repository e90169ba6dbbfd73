"""A choice asked in several option orders: what is shown, what is read, and which option wins."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from sociometer.core.conversation import Choice, Message, Reply, Sampling, user
from sociometer.reading import (
    ChoiceAnswer,
    Vote,
    ask_choice,
    ask_votes,
    check_key,
    majority,
    most_votes,
    render_options,
    score_choice,
)

OPTIONS = ("stay", "go", "ask")


class Desk:
    """A session whose replies are given beforehand, and which keeps what it was asked."""

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, str, Choice, Sampling | None]] = []
        self.notes: list[dict[str, Any]] = []
        self.second_question = False

    async def ask(
        self, role: str, messages: Sequence[Message], choice: Choice, *, sampling: Sampling | None = None, view: None
    ) -> Reply:
        self.asked.append((role, messages[0].content, choice, sampling))
        return Reply(self.replies.pop(0))

    def note(self, kind: str, **facts: Any) -> None:
        self.notes.append({"kind": kind, **facts})


def messages(choice: Choice) -> list[Message]:
    return [user(f"What now?\n{render_options(choice)}")]


def vote(desk: Desk, **options: Any) -> Vote:
    return asyncio.run(ask_choice(desk, messages, OPTIONS, **options))  # type: ignore[arg-type]


def test_options_are_shown_in_the_given_order_and_the_pick_is_mapped_back() -> None:
    desk = Desk("A")
    found = vote(desk, order=(2, 0, 1), key=0)
    role, text, choice, sampling = desk.asked[0]
    assert (role, sampling) == ("subject", None)
    assert text == "What now?\nA. ask\nB. stay\nC. go"
    assert (choice.options, choice.key) == (("ask", "stay", "go"), 1)
    assert found == Vote((2, 0, 1), 2, "bare")
    assert found.position == 0


def test_without_an_order_options_are_shown_as_they_are_and_need_no_key() -> None:
    desk = Desk("C")
    assert vote(desk, role="builder", sampling=Sampling(seed=1)) == Vote((0, 1, 2), 2, "bare")
    role, _, choice, sampling = desk.asked[0]
    assert (role, choice.options, choice.key, sampling) == ("builder", OPTIONS, None, Sampling(seed=1))


def test_an_option_has_the_letters_under_which_it_was_shown() -> None:
    turned, straight = Vote((2, 0, 1), 2, "bare"), Vote((0, 1, 2), 2, "bare")
    assert [ChoiceAnswer((turned,), 2).letters(option) for option in range(3)] == ["B", "C", "A"]
    assert [ChoiceAnswer((turned, straight), 2).letters(option) for option in range(3)] == ["B, A", "C, B", "A, C"]


def test_the_rule_that_read_a_reply_is_noted_behind_the_callers_facts() -> None:
    desk = Desk("B")
    vote(desk, telling="first")
    assert list(desk.notes[0].items()) == [("kind", "read"), ("telling", "first"), ("rule", "bare")]


def test_an_unreadable_reply_is_a_vote_without_a_pick() -> None:
    found = vote(Desk("I would rather not say."), order=(2, 1, 0))
    assert (found.order, found.picked, found.position) == ((2, 1, 0), None, None)
    assert found.rule


def test_an_order_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no order of 3"):
        vote(Desk("A"), order=(0, 0, 1))


def answer(*replies: str, decide: Any = majority) -> ChoiceAnswer:
    orders = [(0, 1, 2), (1, 2, 0), (2, 0, 1)][: len(replies)]
    return asyncio.run(ask_votes(Desk(*replies), messages, OPTIONS, orders, key=1, decide=decide))  # type: ignore[arg-type]


def test_votes_are_asked_one_order_after_the_other_and_the_majority_counts() -> None:
    found = answer("B", "A", "A")
    assert [one.picked for one in found.votes] == [1, 1, 2]
    assert [one.position for one in found.votes] == [1, 0, 0]
    assert found.picked == 1


def test_a_tie_has_no_pick_by_majority_and_the_first_by_most_votes() -> None:
    assert answer("C", "A").picked is None
    assert answer("C", "A").tied
    assert answer("C", "A", decide=most_votes).picked == 2


def test_orders_are_drawn_only_when_they_are_asked() -> None:
    desk, drawn = Desk("A", "A"), list[int]()

    def orders() -> Any:
        for number in range(2):
            drawn.append(len(desk.asked))
            yield (number, 1 - number, 2)

    asyncio.run(ask_votes(desk, messages, OPTIONS, orders()))  # type: ignore[arg-type]
    assert drawn == [0, 1]


def test_an_answer_keeps_the_layout_of_stored_outcomes() -> None:
    stored = b'{"votes":[{"order":[1,0],"picked":null,"rule":"none"}],"picked":null}'
    found = msgspec.json.decode(stored, type=ChoiceAnswer)
    assert found == ChoiceAnswer((Vote((1, 0), None, "none"),), None)
    assert msgspec.json.encode(found) == stored


@pytest.mark.parametrize(
    ("votes", "winner"),
    [
        ([1, 1, 2], 1),
        ([1, 2], None),
        ([None, None, 3], 3),
        ([None, None], None),
        ([], None),
        ([0, 1, 2], None),
        ([0, 0, 1, 1, 2], None),
        ([0, 0, 0, 1, 1], 0),
    ],
)
def test_the_majority_wins_and_a_tie_decides_nothing(votes: list[int | None], winner: int | None) -> None:
    assert majority(votes) == winner


def test_on_a_tie_most_votes_takes_the_option_that_was_voted_for_first() -> None:
    assert most_votes([2, 1, 1]) == 1
    assert most_votes([2, 1, 0]) == 2
    assert most_votes([None, None, 3]) == 3
    assert most_votes([None]) is None
    assert most_votes([]) is None


def test_right_is_one_and_a_tie_or_an_unreadable_answer_is_wrong() -> None:
    right, wrong = answer("B", "A", "B"), answer("A")
    assert score_choice(right, 1, topic="x") == msgspec.convert(
        {"values": {"correct": 1.0}, "facets": {"topic": "x"}, "unreadable": 0}, type(score_choice(right, 1))
    )
    assert score_choice(wrong, 1).values == {"correct": 0.0}
    tie, unread = score_choice(answer("C", "A"), 1), score_choice(answer("?", "B"), 2)
    assert (tie.values["correct"], tie.unreadable) == (0.0, 0)
    assert (unread.values["correct"], unread.unreadable) == (1.0, 1)


@pytest.mark.parametrize("key", [-1, 3])
def test_a_key_that_is_no_option_is_refused_with_the_allowed_ones(key: int) -> None:
    check_key(2, OPTIONS)
    with pytest.raises(ValueError, match=f"answer {key} is not an option; allowed: 0 to 2"):
        check_key(key, OPTIONS)
