"""Overlap, matching and the verdict, worked by hand; the verdict keeps its level where nothing is known."""

import random

import pytest

from sociometer.core.settings import Settings
from sociometer.core.task import Episode, RunView, Score
from sociometer.instruments._recall import (
    Passage,
    Recalled,
    RecallItem,
    contrasts,
    halves,
    length_of,
    read_order,
    recalled,
    summarise,
    tokens,
    verbatim_share,
    verdict,
)


def test_only_long_runs_count_and_they_count_as_a_share():
    true = "she put the old red kettle back on the stove and left"
    assert verbatim_share("Then she put the old red kettle away.", true) == pytest.approx(6 / 12)
    assert verbatim_share("he put the old red pan on the stove", true) == 0, "four words in a row are no memory"
    assert verbatim_share(f"Sure! “{true.upper()}.”", true) == 1
    assert verbatim_share("", true) == verbatim_share("anything", "") == 0


def test_chinese_is_counted_by_characters():
    assert tokens("他说：don’t！") == ("他", "说", "don't")
    true = "他把水壶放回炉子上，然后就走了"
    assert verbatim_share("他把水壶放回炉子上面", true) == 0, "nine characters are no memory"
    assert verbatim_share(true, true) == 1
    assert halves("一二三四五六", 4) == ("一二", "三四") and length_of("一二三") == 3


@pytest.mark.parametrize(
    "text, order",
    [
        ("C, A, D, B", (2, 0, 3, 1)),
        ("CADB", (2, 0, 3, 1)),
        ("I first thought of A, B, C, D. The published order is D > C > B > A.", (3, 2, 1, 0)),
        ("A、B、D、C", (0, 1, 3, 2)),
        ("A, A, B, C", ()),
        ("A bad guess", ()),
        ("", ()),
    ],
)
def test_the_last_whole_order_is_read(text, order):
    assert read_order(text, 4) == order


def passages(name, abilities, lengths):
    return [
        Passage(f"{name}{n}", "w " * length, ("a", "b"), ability)
        for n, (ability, length) in enumerate(zip(abilities, lengths, strict=True))
    ]


def test_pairs_share_their_ability_and_are_near_in_length():
    public = passages("p", "xxyy", (10, 30, 10, 40))
    unseen = passages("u", "xyz", (28, 12, 5))
    pairs, asked = recalled(public, unseen, 10, 0)
    assert {(pair.public.id, pair.unseen.id) for pair in pairs} == {("p1", "u0"), ("p2", "u1")}
    assert len(asked) == 8 and len({item.id for item in asked}) == 8
    cut = {length_of(item.shown) + length_of(item.hidden) for item in asked if item.asked == "completion"}
    assert cut == {28, 10}, "both of a pair are cut to the shorter one"


def view(values, say=lambda number, origin: f"continuation {number} of the {origin} text"):
    """A run with these (asked, public, unseen) values, one pair each; `say` gives the text of a completion."""
    episodes = []
    for number, (asked, *both) in enumerate(values):
        for origin, value in zip(("public", "unseen"), both, strict=True):
            item = RecallItem(
                id=f"{asked}{origin}{number}", cluster=f"pair{number}", asked=asked, origin=origin,
                options=("a", "b", "c", "d") if asked == "order" else (),
            )  # fmt: skip
            score = Score(values={asked: value}, facets={"items": origin})
            episodes.append(Episode(item, 0, Recalled(text=say(number, origin)), score, None))
    return RunView(episodes.__iter__, Settings({}))


def test_an_order_must_beat_the_unseen_items_too():
    guessable = contrasts(view([("order", 1.0, 1.0)] * 20))
    assert not guessable[0].found, "an order that anybody can guess is no memory"
    nearly = [("order", 1.0, 1.0)] * 19 + [("order", 1.0, 0.0)]
    assert not contrasts(view(nearly))[0].found, "far above chance, but not above the unseen items"
    assert contrasts(view([("order", 1.0, 0.0)] * 20))[0].found


def test_a_difference_of_shares_is_at_most_a_hundred_points():
    (found,) = contrasts(view([("completion", 1.0, 0.0)] * 20 + [("completion", 0.7, 0.0)]))
    assert found.interval.low < found.difference < found.interval.high == 1.0


def test_nine_pairs_are_too_few():
    assert "too few" in verdict(contrasts(view([("completion", 0.0, 0.0)] * 9)))


@pytest.mark.parametrize(
    "say",
    [
        lambda number, origin: "I would rather not say.",
        lambda number, origin: f"I’m sorry, but I can't recite text {number} ({origin}).",
        lambda number, origin: f"Sorry! As an AI, I have not seen story {number}, which is {origin}.",
        lambda number, origin: "ABCD"[number % 4],
        lambda number, origin: "…",
    ],
)
def test_completions_that_decline_or_repeat_one_text_tell_nothing(say):
    found = contrasts(view([("completion", 0.0, 0.0)] * 40, say))
    assert found[0].blind and found[0].unreadable == 80 and found[0].detectable is None
    assert "cannot tell" in verdict(found)


def test_a_story_in_which_somebody_is_sorry_is_a_completion():
    said = 'waited at the door for a long while, until at last Anna opened it and looked at all of them. "I\'m sorry"'
    found = contrasts(view([("completion", 0.0, 0.0)] * 40, lambda number, origin: f"{origin} {number} {said}"))
    assert not found[0].blind and found[0].unreadable == 0


def test_what_is_known_by_heart_is_found_though_the_rest_is_declined():
    known = [("completion", 1.0, 0.0)] * 12 + [("completion", 0.0, 0.0)] * 28
    declined = view(known, lambda number, origin: "I cannot." if number > 11 else f"{number} {origin}")
    found, notes = contrasts(declined), " ".join(summarise(declined).notes)
    assert found[0].found and "recalls public items" in verdict(found)
    assert "56 of 80 replies" in notes and "the verdict rests on the others" in notes and "nothing could" not in notes


def test_more_pairs_find_less():
    few, many = (contrasts(view([("completion", 0.0, 0.0)] * count))[0].detectable for count in (40, 150))
    assert few == pytest.approx(9 / 40) and many < 0.08


def test_what_is_called_detectable_is_found_four_times_of_five():
    rng, count = random.Random(4), 60
    share = contrasts(view([("completion", 0.0, 0.0)] * count))[0].detectable
    found = sum(
        contrasts(view([("completion", float(rng.random() < share), 0.0) for _ in range(count)]
                       + [("order", 0.0, 0.0)] * count))[0].found
        for _ in range(60)
    )  # fmt: skip
    assert found >= 42


def test_where_nothing_is_known_the_verdict_is_rarely_wrong():
    rng, wrong = random.Random(7), 0
    for _ in range(80):
        guessed = [("order", float(rng.random() < 1 / 24), float(rng.random() < 1 / 24)) for _ in range(40)]
        fluent = [("completion", 0.4 * (rng.random() < 0.1), 0.4 * (rng.random() < 0.1)) for _ in range(40)]
        wrong += any(one.found for one in contrasts(view([*guessed, *fluent])))
    assert wrong <= 80 * 0.05
