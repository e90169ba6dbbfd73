"""A choice read from probabilities: rotations, averages, ties, and what the score keeps of them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any

import pytest

from sociometer.core.conversation import Choice, Likelihood, Message, text, user
from sociometer.reading import ChoiceAnswer, ask_choice, ask_votes, forecasts, render_options, score_choice
from sociometer.reading.probability import Chances, most_likely, shares

OPTIONS = ("stay", "go", "ask")


class Desk:
    """A session that scores continuations by a rule, and keeps what it was asked."""

    answer = "probability"
    second_question = official = base = False

    def __init__(self, chance: Any, *, texts: bool = False) -> None:
        self.chance = chance
        self.texts = texts
        self.asked: list[tuple[Sequence[Message], tuple[str, ...]]] = []
        self.notes: list[dict[str, Any]] = []

    def scores_texts(self, role: str) -> bool:
        return self.texts

    async def score(
        self, role: str, messages: Sequence[Message], continuations: Sequence[str], choice: Choice
    ) -> tuple[Likelihood, ...]:
        self.asked.append((messages, tuple(continuations)))
        return tuple(self.chance(choice, continuation.strip()) for continuation in continuations)

    def note(self, kind: str, **facts: Any) -> None:
        self.notes.append({"kind": kind, **facts})


def messages(choice: Choice) -> list[Message]:
    return [user(f"What now?\n{render_options(choice)}")]


def by_option(chances: dict[str, float]) -> Any:
    """A model that sees what is behind each letter."""

    def chance(choice: Choice, continuation: str) -> Likelihood:
        option = choice.options[choice.labels.index(continuation)] if continuation in choice.labels else continuation
        return Likelihood(continuation, math.log(chances[option]), len(continuation.split()))

    return chance


def test_the_likeliest_option_is_picked_and_nothing_is_asked_again() -> None:
    desk = Desk(by_option({"stay": 0.2, "go": 0.5, "ask": 0.3}))
    vote = asyncio.run(ask_choice(desk, messages, OPTIONS))  # type: ignore[arg-type]
    assert vote.picked == 1
    assert vote.rule == "probability"
    assert vote.chances is not None
    assert vote.chances.letters == pytest.approx((0.2, 0.5, 0.3))
    assert vote.position is None


def test_every_option_is_at_every_place_once() -> None:
    desk = Desk(by_option({"stay": 0.2, "go": 0.5, "ask": 0.3}))
    asyncio.run(ask_choice(desk, messages, OPTIONS, order=(2, 0, 1)))  # type: ignore[arg-type]
    shown = [said[0].content.splitlines()[1:] for said, _ in desk.asked]
    assert len(shown) == 3
    for place in range(3):
        assert {lines[place].partition(". ")[2] for lines in shown} == set(OPTIONS)


def test_a_model_that_only_likes_a_place_gives_all_options_the_same_probability() -> None:
    def first(choice: Choice, continuation: str) -> Likelihood:
        return Likelihood(continuation, math.log(0.8 if continuation == "A" else 0.1))

    vote = asyncio.run(ask_choice(Desk(first), messages, OPTIONS))  # type: ignore[arg-type]
    assert vote.chances is not None
    assert vote.chances.letters == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert vote.chances.places == pytest.approx((0.8, 0.1, 0.1))
    assert vote.picked is None
    assert vote.rule == "equal probabilities"


def test_texts_are_compared_by_their_mean_per_token() -> None:
    def chance(choice: Choice, continuation: str) -> Likelihood:
        lengths = {"stay": (-3.0, 1), "go": (-4.0, 2), "ask": (-9.0, 3)}
        return Likelihood(continuation, *lengths.get(continuation, (-1.0, 1)))

    vote = asyncio.run(ask_choice(Desk(chance, texts=True), messages, OPTIONS))  # type: ignore[arg-type]
    assert vote.chances is not None
    whole = math.exp(-3) + math.exp(-2) + math.exp(-3)
    assert vote.chances.texts == pytest.approx((math.exp(-3) / whole, math.exp(-2) / whole, math.exp(-3) / whole))


def test_a_letter_that_the_server_does_not_list_has_no_probability() -> None:
    def chance(choice: Choice, continuation: str) -> Likelihood:
        return Likelihood(continuation, -1.0, listed=choice.options[choice.labels.index(continuation)] == "go")

    vote = asyncio.run(ask_choice(Desk(chance), messages, OPTIONS))  # type: ignore[arg-type]
    assert vote.chances is not None
    assert vote.chances.letters == (0.0, 1.0, 0.0)
    assert vote.chances.letter_mass == pytest.approx(math.exp(-1))


def test_without_any_listed_letter_the_answer_is_unreadable() -> None:
    desk = Desk(lambda choice, continuation: Likelihood(continuation, -9.0, listed=False))
    vote = asyncio.run(ask_choice(desk, messages, OPTIONS))  # type: ignore[arg-type]
    assert (vote.picked, vote.rule) == (None, "no letter listed")
    answer = ChoiceAnswer((vote,), vote.picked)
    assert score_choice(answer, 0).unreadable == 1
    (forecast,) = score_choice(answer, 0).forecasts
    assert (forecast.right, forecast.letter_mass) == (False, 0.0), "it stays in every denominator"
    assert forecast.brier == pytest.approx((2 / 3) ** 2 + 2 / 9)


def test_several_orders_are_one_vote_because_all_places_are_averaged_already() -> None:
    desk = Desk(by_option({"stay": 0.2, "go": 0.5, "ask": 0.3}))
    answer = asyncio.run(ask_votes(desk, messages, OPTIONS, [(0, 1, 2), (1, 2, 0), (2, 0, 1)]))  # type: ignore[arg-type]
    assert len(answer.votes) == 1
    assert answer.picked == 1
    assert len(desk.asked) == 3


@pytest.mark.parametrize(("ends", "gap"), [("Answer:", " "), ("答案：", "")])
def test_a_base_model_continues_with_a_space_but_not_after_a_chinese_colon(ends: str, gap: str) -> None:
    desk = Desk(by_option({"stay": 0.2, "go": 0.5, "ask": 0.3}))
    asyncio.run(ask_choice(desk, lambda choice: [text(ends)], OPTIONS))  # type: ignore[arg-type]
    assert desk.asked[0][1] == (gap + "A", gap + "B", gap + "C")


def test_the_forecast_of_a_score_by_hand() -> None:
    (made,) = forecasts(Chances((0.7, 0.2, 0.1), texts=(0.1, 0.6, 0.3), letter_mass=0.9), 0)
    assert made.right
    assert made.confidence == 0.7
    assert made.brier == pytest.approx(0.3**2 + 0.2**2 + 0.1**2)
    assert made.text_right is False
    assert made.text_brier == pytest.approx(0.9**2 + 0.6**2 + 0.3**2)


def test_shares_add_up_to_one_even_for_very_small_probabilities() -> None:
    assert sum(shares((-1000.0, -1001.0, -2000.0))) == pytest.approx(1)
    assert most_likely(shares((-1000.0, -1001.0, -2000.0))) == 0
    assert most_likely(()) is None
