import asyncio
import json
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sociometer.core.conversation import Allocation, Choice, Free, Request, Schema, Usage, user
from sociometer.core.errors import MachineryError
from sociometer.models.baselines import baseline, baselines
from sociometer.reading import read_allocation, read_choice

CHOICE = Choice(("walk away", "say sorry at once and mean it", "laugh"), key=1)
SHARE = Allocation(("joy", "fear", "calm"), 10, key=(1.5, 8.5, 0))
MOOD = Schema(
    {
        "type": "object",
        "properties": {
            "mood": {"enum": ["glad", "sad", "mad"]},
            "change": {"type": "integer", "minimum": -10, "maximum": 10},
            "sure": {"type": "number", "minimum": 0, "maximum": 1},
            "why": {"type": "string"},
            "seen": {"type": "array", "items": {"type": "boolean"}, "minItems": 2},
            "who": {"$ref": "#/$defs/person"},
        },
        "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}}},
    },
    key={"mood": "sad"},
)


def said(name, answer_format, seed=0, text="Hello."):
    request = Request("subject", (user(text),), answer_format, rng=Random(seed))
    return baseline(name).write(request)


@pytest.mark.parametrize(("name", "label"), [("first", "A"), ("last", "C"), ("longest", "B"), ("oracle", "B")])
def test_each_rule_takes_its_option(name, label):
    assert said(name, CHOICE) == label


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("first", (10, 0, 0)),
        ("last", (0, 0, 10)),
        ("longest", (0, 10, 0)),
        ("even", (10 / 3,) * 3),
        ("oracle", (1.5, 8.5, 0)),
    ],
)
def test_each_rule_shares_in_its_way_and_is_read_back(name, shares):
    assert read_allocation(said(name, SHARE), SHARE.options).values == pytest.approx(shares, abs=1e-6)


def test_the_guesser_takes_each_option_equally_often():
    taken = Counter(said("random", CHOICE, seed) for seed in range(3000))
    assert set(taken) == {"A", "B", "C"}
    assert all(900 < count < 1100 for count in taken.values())


@given(st.integers(), st.integers(2, 6), st.sampled_from([1, 7, 10, 100]))
def test_the_guesser_shares_out_the_whole_total(seed, parts, total):
    answer_format = Allocation(tuple(f"o{n}" for n in range(parts)), total)
    shares = [float(line.split(": ")[1]) for line in said("random", answer_format, seed).splitlines()]
    assert min(shares) >= 0
    assert sum(shares) == pytest.approx(total)


def test_every_way_to_share_two_points_is_equally_likely():
    # Two points over two options: (2,0), (1,1), (0,2).
    taken = Counter(said("random", Allocation(("a", "b"), 2), seed) for seed in range(3000))
    assert len(taken) == 3
    assert all(900 < count < 1100 for count in taken.values())


@pytest.mark.parametrize("name", ["random", "first", "last", "longest", "even"])
def test_a_schema_is_filled_within_its_bounds(name):
    for seed in range(20):
        filled = json.loads(said(name, MOOD, seed))
        assert filled["mood"] in ("glad", "sad", "mad")
        assert -10 <= filled["change"] <= 10
        assert 0 <= filled["sure"] <= 1
        assert len(filled["seen"]) == 2
        assert len(filled["who"]["name"]) <= 3


def test_the_oracle_gives_the_key_of_each_form():
    assert json.loads(said("oracle", MOOD)) == {"mood": "sad"}
    assert said("oracle", Free("Thank you, Ama.")) == "Thank you, Ama."


@pytest.mark.parametrize("answer_format", [Choice(("a", "b")), Allocation(("a", "b")), Schema({}), Free()])
def test_the_oracle_says_that_there_is_no_key(answer_format):
    with pytest.raises(MachineryError, match="no ideal answer") as caught:
        said("oracle", answer_format)
    assert caught.value.kind == "no key"


def test_an_answer_costs_no_tokens():
    reply = asyncio.run(baseline("first").answer(Request("subject", (user("Hi"),), CHOICE)))
    assert (reply.text, reply.usage) == ("A", Usage(0, 0))


def test_a_refusal_is_unreadable_as_a_choice():
    assert read_choice(said("refuse", CHOICE), CHOICE.options, CHOICE.labels).index is None


def test_free_words_come_in_the_language_that_was_spoken():
    assert any("\u4e00" <= letter <= "\u9fff" for letter in said("random", Free(), text="你好，我今天很难过。"))
    assert said("random", Free(), text="I feel low today.").isascii()


@pytest.mark.parametrize("name", baselines())
def test_the_same_seed_gives_the_same_answer_and_two_equal_options_are_no_trouble(name):
    twins = Choice(("same", "same", "same"), key=2)
    assert said(name, twins, 5) == said(name, twins, 5)


@pytest.mark.parametrize("name", baselines())
def test_a_baseline_is_a_stand_in_that_needs_no_journal(name):
    player = baseline(name)
    assert player.identity.stand_in
    assert not player.journaled
    with pytest.raises(MachineryError, match="no embeddings"):
        asyncio.run(player.embed(["a"]))
