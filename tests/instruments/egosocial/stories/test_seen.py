import random
from collections import Counter

import pytest

from sociometer.instruments.egosocial.stories.events import Enter, Exit, Move, Tell
from sociometer.instruments.egosocial.stories.mind import Oracle
from sociometer.instruments.egosocial.stories.scenes import generated_scenes
from sociometer.instruments.egosocial.stories.seen import STORY_TYPES, classify, generate


@pytest.mark.parametrize("story_type", STORY_TYPES)
def test_a_story_is_of_the_type_that_was_asked_for(story_type):
    for seed in range(15):
        made = generate(random.Random(seed), story_type)
        oracle, thing = Oracle(made.story), made.questions[0].thing
        movers = {e.person for e in made.story.events if isinstance(e, Move) and e.thing == thing}
        found = {classify(oracle, s, m, thing) for s in made.story.people() for m in movers if s != m}
        assert story_type in found


def test_every_question_is_settled_and_every_order_is_asked():
    for number, story_type in enumerate(STORY_TYPES * 5):
        made = generate(random.Random(number), story_type)
        assert [q.order for q in made.questions] == [0, 0, 1, 2, 3, 4]
        assert all(Oracle(made.story).settled(q) for q in made.questions)
        assert all(a != b for q in made.questions for a, b in zip(q.chain, q.chain[1:], strict=False))


def test_nobody_acts_from_where_they_are_not_or_tells_what_they_do_not_believe():
    for number in range(20):
        story = generate(random.Random(number), STORY_TYPES[number % 4]).story
        where = {}
        for position, event in enumerate(story.events):
            if isinstance(event, Enter):
                assert where.get(event.person) is None
                where[event.person] = event.room
            elif isinstance(event, Exit):
                assert where[event.person] == event.room
                where[event.person] = None
            elif isinstance(event, Move):
                assert where[event.person] == story.rooms[event.container]
            elif isinstance(event, Tell):
                past = Oracle(type(story)(story.events[:position], story.rooms))
                assert past.belief((event.teller,), event.thing) == event.container


def test_the_same_seed_gives_the_same_scenes_and_another_gives_others():
    first = list(generated_scenes(7, 8))
    assert first == list(generated_scenes(7, 8))
    assert first[:24] == list(generated_scenes(7, 4))
    assert not {s.tellings[0].story for s in first} & {s.tellings[0].story for s in generated_scenes(8, 8)}


def test_story_types_and_positions_are_balanced():
    scenes = list(generated_scenes(0, 40))
    assert set(Counter(s.facets["story type"] for s in scenes).values()) == {60}
    assert Counter(s.tellings[0].answer for s in scenes) == {0: 120, 1: 120}


def test_at_every_order_half_of_the_beliefs_miss_reality():
    seen = Counter()
    for scene in generated_scenes(3, 16):
        if "belief" in scene.facets:
            seen[scene.facets["order"], scene.facets["belief"]] += 1
    assert {order: seen[order, "misses reality"] for order in "1234"} == dict.fromkeys("1234", 8)


def test_the_container_named_last_is_no_answer_to_first_order_questions():
    right = []
    for scene in generated_scenes(4, 48):
        telling = scene.tellings[0]
        if scene.facets["order"] == "1":
            last = max(telling.options, key=telling.story.rfind)
            right.append(telling.options[telling.answer] == last)
    assert 0.35 < sum(right) / len(right) < 0.65


def test_an_unknown_story_type_names_the_known_ones():
    with pytest.raises(ValueError, match="true_belief"):
        generate(random.Random(0), "no_belief")
