import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sociometer.instruments.egosocial.stories.events import (
    Enter,
    Exit,
    Move,
    Place,
    Question,
    Story,
    Tell,
    Unwatch,
    Watch,
)
from sociometer.instruments.egosocial.stories.mind import Oracle
from sociometer.instruments.egosocial.stories.seen import STORY_TYPES, generate

ROOMS = {"tin": "shed", "jar": "shed", "box": "shed"}
OPENING = (Enter("Ann", "shed"), Enter("Ben", "shed"), Place("key", "tin"))


def oracle(*events):
    return Oracle(Story((*OPENING, *events), ROOMS))


def test_sally_anne_is_a_false_belief():
    mind = oracle(Exit("Ann", "shed"), Move("Ben", "key", "jar"))
    assert mind.belief((), "key") == "jar"
    assert mind.belief(("Ann",), "key") == "tin"
    assert mind.belief(("Ben",), "key") == "jar"
    assert mind.belief(("Ben", "Ann"), "key") == "tin"


def test_memory_asks_for_the_first_place():
    mind = oracle(Move("Ben", "key", "jar"), Move("Ben", "key", "box"))
    assert mind.answer(Question("memory", "key")) == "tin"
    assert mind.answer(Question("reality", "key")) == "box"


def test_whoever_comes_back_sees_and_is_seen_to_see():
    mind = oracle(Exit("Ann", "shed"), Move("Ben", "key", "jar"), Enter("Ann", "shed"))
    for chain in (("Ann",), ("Ben", "Ann"), ("Ann", "Ben", "Ann"), ("Ben", "Ann", "Ben", "Ann")):
        assert mind.belief(chain, "key") == "jar"


def test_a_return_that_the_other_missed_is_a_second_order_false_belief():
    mind = oracle(Exit("Ann", "shed"), Move("Ben", "key", "jar"), Exit("Ben", "shed"), Enter("Ann", "shed"))
    assert mind.belief(("Ann",), "key") == "jar"
    assert mind.belief(("Ben", "Ann"), "key") == "tin"
    assert mind.settled(Question("belief", "key", ("Ben", "Ann")))


def test_a_move_found_on_return_does_not_settle_who_saw_it():
    mind = oracle(Exit("Ann", "shed"), Move("Ben", "key", "jar"), Exit("Ben", "shed"), Enter("Ann", "shed"))
    assert mind.belief(("Ann", "Ben"), "key", presume=True) == "jar"
    assert mind.belief(("Ann", "Ben"), "key", presume=False) == "tin"
    assert not mind.settled(Question("belief", "key", ("Ann", "Ben")))


def test_one_who_was_seen_leaving_before_is_not_presumed_to_have_seen():
    mind = oracle(
        Enter("Cem", "shed"), Exit("Cem", "shed"), Exit("Ann", "shed"), Move("Ben", "key", "jar"), Enter("Ann", "shed")
    )
    assert mind.belief(("Ann", "Cem"), "key") == "tin"


def test_what_is_told_in_private_is_known_to_the_two_alone():
    mind = oracle(
        Enter("Cem", "shed"), Exit("Ann", "shed"), Move("Ben", "key", "jar"), Tell("Cem", "Ann", "key", "jar")
    )
    assert mind.belief(("Ann",), "key") == "jar"
    assert mind.belief(("Cem", "Ann"), "key") == "jar"
    assert mind.belief(("Ann", "Cem", "Ann"), "key") == "jar"
    assert mind.belief(("Ben", "Ann"), "key") == "tin"


def test_a_mistaken_teller_makes_a_mistaken_listener():
    mind = oracle(Exit("Ann", "shed"), Move("Ben", "key", "jar"), Tell("Ann", "Cem", "key", "tin"))
    assert mind.belief(("Cem",), "key") == "tin"
    assert mind.belief((), "key") == "jar"


def test_watching_unseen_gives_a_third_order_false_belief():
    mind = oracle(
        Exit("Ann", "shed"),
        Watch("Ann", "shed"),
        Move("Ben", "key", "jar"),
        Unwatch("Ann", "shed"),
        Move("Ben", "key", "box"),
    )
    assert mind.belief(("Ann",), "key") == "jar"
    assert mind.belief(("Ann", "Ben"), "key") == "jar"
    assert mind.belief(("Ann", "Ben", "Ann"), "key") == "tin"
    assert mind.belief(("Ben", "Ann"), "key") == "tin"
    assert mind.belief(("Ben",), "key") == "box"


def test_somebody_who_never_saw_the_thing_has_no_belief():
    mind = oracle(Enter("Cem", "attic"))
    assert mind.belief(("Cem",), "key") is None
    assert not mind.settled(Question("belief", "key", ("Cem",)))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(STORY_TYPES))
def test_people_who_were_never_apart_share_every_nested_belief(seed, story_type):
    made = generate(random.Random(seed), story_type)
    thing = made.questions[0].thing
    people = made.story.people()
    room = made.story.rooms[made.story.containers_of(thing)[0]]
    doings = [e for e in made.story.events if isinstance(e, Place | Move)]
    mind = Oracle(Story((*(Enter(name, room) for name in people), *doings), made.story.rooms))
    for chain in ((a, b, c) for a in people for b in people for c in people if a != b != c):
        assert mind.belief(chain, thing) == mind.belief((), thing)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(STORY_TYPES))
def test_a_belief_is_always_a_place_where_the_thing_has_been(seed, story_type):
    made = generate(random.Random(seed), story_type)
    held = set(made.story.containers_of(made.questions[0].thing))
    for question in made.questions:
        assert Oracle(made.story).answer(question) in held


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_introspection_and_depth_do_not_change_a_common_sight(order):
    mind = oracle(Move("Ben", "key", "jar"))
    assert mind.belief(tuple(("Ann", "Ben")[i % 2] for i in range(order)), "key") == "jar"
