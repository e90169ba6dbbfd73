"""One story, one reply: shown in its way of prompting, read, repaired, and put back in the item's order."""

import asyncio

import pytest

from sociometer.core.conversation import Noted
from sociometer.instruments.seceu import items


def play(made, place=0):
    item = list(items.scenarios(made.source()))[place]
    return item, asyncio.run(made.play("feelings", item))


def test_a_plain_reply_is_read_and_needs_no_repair(rehearse):
    _, played = play(rehearse("4, 3, 2, 1"))
    assert played.episode.outcome.points == (4, 3, 2, 1)
    assert (played.episode.outcome.rule, played.episode.outcome.repair) == ("in order", "none")
    assert Noted("read", {"rule": "in order"}) in played.events


def test_the_papers_example_of_negative_points_is_lifted(rehearse):
    _, played = play(rehearse("-4, -2, -2, 2"))
    assert played.episode.outcome.written == (-4, -2, -2, 2)
    assert played.episode.outcome.points == (0, 2, 2, 6)
    assert played.episode.outcome.repair == "lifted"


def test_an_unreadable_reply_is_null_and_counted(rehearse):
    _, played = play(rehearse("He would be sad."))
    assert played.episode.outcome.points == (0, 0, 0, 0)
    assert played.episode.outcome.written is None
    assert played.episode.score.unreadable == 1
    assert played.episode.score.values["null"] == 1


def test_a_written_null_answer_is_null_but_not_unreadable(rehearse):
    _, played = play(rehearse("0, 0, 0, 0"))
    assert played.episode.score.unreadable == 0
    assert played.episode.score.values["null"] == 1


def test_a_shuffled_order_is_shown_stored_and_undone(rehearse):
    made = rehearse("4, 3, 2, 1", shuffle=True)
    orders = set()
    for place in range(12):
        item, played = play(made, place)
        outcome = played.episode.outcome
        orders.add(outcome.order)
        shown = made.subject.requests[-1].answer_format.options
        assert shown == tuple(item.options[at] for at in outcome.order)
        for points, option in zip((4, 3, 2, 1), shown, strict=True):
            assert outcome.points[item.options.index(option)] == points
    assert len(orders) > 3


def test_the_oracle_is_undone_by_no_order(rehearse):
    assert rehearse("baseline/oracle", shuffle=True).summarise("feelings").measure("distance").value == 0


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("method", items.METHODS)
def test_every_prompt_shows_the_story_and_the_numbered_feelings(rehearse, language, method):
    made = rehearse("4, 3, 2, 1", language=language, prompting="all")
    item = next(item for item in items.scenarios(made.source()) if item.prompting == method)
    asyncio.run(made.play("feelings", item))
    request = made.subject.requests[-1]
    shown = request.messages[-1].content
    assert item.story in shown
    assert all(f"{option}" in shown for option in item.options)
    assert "10" in shown
    direct = method.startswith("direct")
    assert request.sampling.temperature == (0.1 if direct else 0)
    assert request.sampling.top_p == (1 if direct else 0.9)
    assert request.sampling.max_tokens == (1000 if direct else 2048)


def test_worked_examples_stand_only_in_the_two_shot_prompts(rehearse):
    for method in items.METHODS:
        made = rehearse("1, 2, 3, 4", prompting=method)
        play(made)
        content = made.subject.requests[-1].messages[-1].content
        assert content.count('"score"') == (8 if method.startswith("two-shot") else 0)


def test_the_worked_examples_are_none_of_the_items():
    for language in ("en", "zh"):
        prompt = (items.BUNDLED.parent.parent / "prompts" / language / "two-shot.md").read_text(encoding="utf-8")
        assert not any(item.story in prompt for item in items.bundled_scenarios(language))
