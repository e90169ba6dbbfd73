"""Walking, answering and speaking, with players whose answers are known."""

import asyncio
import math

import pytest

from rehearsal import Rehearsal
from sociometer.core.conversation import Identity, Reply
from sociometer.core.player import RulePlayer
from sociometer.instruments import load
from sociometer.instruments.socialeval.items import TreeItem
from sociometer.instruments.socialeval.play import cosine
from sociometer.instruments.socialeval.worldtree import solve
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve


class Player(RulePlayer):
    """Answers by a function of the request; embeds a text as counts of its letters."""

    identity = Identity("test", "player")

    def __init__(self, rule):
        self.rule = rule
        self.seen = []

    async def answer(self, request):
        self.seen.append(request)
        return Reply(self.rule(request))

    async def embed(self, texts):
        return tuple(tuple(float(text.count(letter)) for letter in "abcdefghij") for text in texts)

    async def close(self):
        pass


def picking(text):
    """Picks the option that holds this text, wherever it stands."""
    return lambda request: request.answer_format.labels[
        next((i for i, option in enumerate(request.answer_format.options) if text in option), 0)
    ]


def rehearse(subject, data=None, seed=0, **settings):
    player = resolve(subject, ModelOptions()) if isinstance(subject, str) else subject
    players = {"subject": player, "embedder": player}
    return Rehearsal(load("socialeval"), players, settings, seed=seed, data=data)


def play(rehearsal, task, item, repeat=0):
    return asyncio.run(rehearsal.play(task, item, repeat))


def item_of(tree):
    return TreeItem(id=tree.id, cluster=tree.twin, tree=tree)


@pytest.fixture
def hilly(draw, at):
    return draw(at(0, 1, 2), at(1, 3, 4), at(2, goal=0), at(3, goal=2), at(4, goal=1))


def test_a_walk_follows_what_is_picked_whatever_the_order(hilly):
    for seed in range(6):
        outcome = play(rehearse(Player(picking("say 0.0")), seed=seed), "goals", item_of(hilly)).episode.outcome
        assert outcome.steps[0].picked == 0
        assert outcome.steps[0].node == 0


def test_unreadable_choices_are_drawn_counted_and_earn_nothing(hilly):
    for seed in range(8):
        episode = play(rehearse(Player(lambda request: "hm"), seed=seed), "goals", item_of(hilly)).episode
        assert episode.outcome.stopped == "ending"
        assert all(step.drawn for step in episode.outcome.steps)
        assert episode.score.unreadable == len(episode.outcome.steps)
        assert episode.score.values["missed"] == episode.score.values["left"] == 1.0


def test_majority_of_three_asks_three_times_in_different_orders(hilly):
    player = Player(picking("say 0.0"))
    outcome = play(rehearse(player, votes=3), "goals", item_of(hilly)).episode.outcome
    assert len(outcome.steps[0].votes) == 3
    assert outcome.steps[0].picked == 0
    assert len(player.seen) == 3 * len(outcome.steps)


def test_the_prompt_shows_own_secrets_and_only_public_sides_of_others(bundled):
    tree = next(tree for tree in bundled if tree.id == "altruism-three-nights-en")
    player = Player(lambda request: "A")
    play(rehearse(player), "goals", item_of(tree))
    words = player.seen[0].messages[0].content
    for text in (tree.protagonist.private, tree.protagonist.goal, tree.people[1].public, tree.root.lines[0].text):
        assert text in words
    assert tree.people[1].goal not in words
    assert all(choice.text in words for choice in tree.root.choices)


def test_later_prompts_hold_the_story_so_far(bundled):
    tree = next(tree for tree in bundled if tree.id == "cooperation-night-market-zh")
    player = Player(lambda request: request.answer_format.labels[request.answer_format.key])
    play(rehearse(player), "goals", item_of(tree))
    last = player.seen[-1].messages[0].content
    assert "文绮: " + tree.root.choices[0].text in last or "文绮: " + tree.root.choices[1].text in last
    assert "（旁白）" in last


def test_the_oracle_reaches_the_best_value_of_every_official_tree(official_folder):
    run = rehearse("baseline/oracle", data=official_folder).play_all("goals")
    for item, outcome, score in run.scored():
        assert outcome.level == solve(item.tree).best, item.id
        assert score.values["regret"] == score.values["left"] == 0.0


def guessed_equals_exact(rehearsal, repeats):
    run = rehearsal.play_all("goals", repeats=repeats)
    values, exact = [], []
    for item, _, score in run.scored():
        values.append(score.values["achieved"])
        exact.append(solve(item.tree).random)
    error = math.sqrt(sum(p * (1 - p) for p in exact)) / len(exact)
    assert abs(sum(values) / len(values) - sum(exact) / len(exact)) <= 4 * error


def test_the_guesser_matches_the_exact_random_value():
    guessed_equals_exact(rehearse("baseline/random"), repeats=30)


def test_the_guesser_matches_the_exact_random_value_of_the_official_trees(official_folder):
    guessed_equals_exact(rehearse("baseline/random", data=official_folder), repeats=4)


def test_always_picking_the_first_letter_gains_nothing():
    walks = rehearse("baseline/first").play_all("goals", repeats=20)
    exact = [solve(item.tree).random for item, _, _ in walks.scored()]
    achieved = [score.values["achieved"] for _, _, score in walks.scored()]
    error = math.sqrt(sum(p * (1 - p) for p in exact)) / len(exact)
    assert abs(sum(achieved) / len(achieved) - sum(exact) / len(exact)) <= 4 * error
    summary = rehearse("baseline/first").summarise("abilities")
    accuracy = summary.measure("accuracy").value
    assert abs(accuracy - 0.25) < 4 * math.sqrt(0.25 * 0.75 / 238)
    assert any("Position bias: picked A in 714 of 714 answers, where it is right in " in note for note in summary.notes)


def test_one_speaks_first_and_then_picks_the_nearest_or_not():
    show = rehearse(Player(lambda request: "abc" if not hasattr(request.answer_format, "labels") else "A"))
    item = next(iter(show.instrument.task("utterances").items(show.source())))
    rehearsed = play(show, "utterances", item)
    outcome = rehearsed.episode.outcome
    assert outcome.said == "abc"
    assert len(outcome.similarities) == len(item.candidates)
    nearest = max(range(len(item.candidates)), key=lambda i: outcome.similarities[i])
    assert rehearsed.episode.score.values["agrees"] == float(outcome.vote.picked == nearest)
    assert outcome.embedder == "player"


def test_an_english_embedder_is_refused_for_chinese_before_anything_is_asked():
    subject = Player(lambda request: "A")
    embedder = Player(lambda request: "A")
    embedder.identity = Identity("local", "all-MiniLM-L6-v2.gguf")
    show = Rehearsal(load("socialeval"), {"subject": subject, "embedder": embedder}, {"language": "zh"})
    item = next(iter(show.instrument.task("utterances").items(show.source())))
    played = play(show, "utterances", item)
    assert "made for English" in played.episode.failure.message
    assert not played.events


def test_cosine_of_right_angles_of_the_same_and_of_nothing():
    assert cosine((1, 0), (0, 1)) == 0
    assert cosine((1, 2), (2, 4)) == pytest.approx(1)
    assert cosine((0, 0), (1, 1)) == 0
