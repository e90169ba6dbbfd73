"""Testimony: hand-worked stories for every kind of evidence, and what the generator promises."""

from collections import Counter

import pytest

from sociometer.instruments.egosocial.stories.events import (
    Enter,
    Exit,
    Forget,
    Glimpse,
    Hear,
    Lose,
    Move,
    Place,
    Question,
    Send,
    Story,
    Tell,
)
from sociometer.instruments.egosocial.stories.mind import Oracle
from sociometer.instruments.egosocial.stories.scenes import generated_scenes
from sociometer.instruments.egosocial.stories.testimony import EVIDENCE

ROOMS = dict.fromkeys(("box", "tin", "jar"), "loft")
OPENING = (
    Enter("Ann", "loft"), Enter("Bo", "loft"), Enter("Cy", "loft"), Enter("Di", "loft"), Place("key", "box"),
    Exit("Ann", "loft"), Exit("Bo", "loft"),
)  # fmt: skip
"""Everybody has seen the key in the box; Ann and Bo have left, and everybody who stayed saw them leave."""


def believes(events, *chain):
    question = Question("belief", "key", chain)
    oracle = Oracle(Story((*OPENING, *events), ROOMS))
    assert oracle.settled(question)
    return oracle.answer(question)


def says(events, *chain, to):
    return Oracle(Story((*OPENING, *events), ROOMS)).answer(Question("say", "key", chain, to))


def test_a_lie_is_believed_by_the_listener_and_not_by_the_liar():
    lie = [Tell("Ann", "Bo", "key", "jar", honest=False)]
    assert believes(lie, "Bo") == "jar"
    assert believes(lie, "Ann") == "box"
    assert believes(lie, "Ann", "Bo") == "jar"
    assert believes(lie, "Bo", "Ann") == "jar"
    assert believes(lie, "Ann", "Bo", "Ann") == "jar"
    assert believes(lie, "Cy", "Bo") == "box"


def test_a_liar_sticks_to_the_lie_with_the_same_person_only():
    lie = [Tell("Ann", "Bo", "key", "jar", honest=False)]
    assert says(lie, "Ann", to="Bo") == "jar"
    assert says(lie, "Ann", to="Cy") == "box"
    assert says(lie, "Bo", to="Ann") == "jar"
    assert says(lie, "Bo", "Ann", to="Cy") == "jar"
    assert says(lie, "Cy", "Ann", to="Bo") == "box"


def test_mistaken_testimony_is_believed_though_nobody_lies():
    moved = [Move("Cy", "key", "tin"), Exit("Cy", "loft"), Move("Di", "key", "jar"), Tell("Cy", "Ann", "key", "tin")]
    assert believes(moved, "Ann") == "tin"
    assert believes(moved, "Di", "Cy") == "tin"
    assert believes(moved, "Di", "Ann") == "box"


def test_an_eavesdropper_learns_and_nobody_knows_it():
    heard = [Move("Cy", "key", "tin"), Exit("Cy", "loft"), Tell("Cy", "Bo", "key", "tin", hearers=("Ann",))]
    assert believes(heard, "Ann") == "tin"
    assert believes(heard, "Ann", "Bo") == "tin"
    assert believes(heard, "Bo", "Ann") == "box"
    assert believes(heard, "Cy", "Ann") == "box"


def test_who_overhears_a_lie_takes_the_liar_at_their_word():
    heard = [Tell("Ann", "Bo", "key", "jar", honest=False, hearers=("Cy",)), Exit("Cy", "loft")]
    inside = [Exit("Cy", "loft"), Tell("Ann", "Bo", "key", "jar", honest=False, hearers=("Cy",))]
    assert believes(inside, "Cy") == "jar" and believes(heard, "Cy", "Ann") == "jar"
    assert says(inside, "Cy", "Ann", to="Bo") == "jar"


def test_a_message_passed_on_is_known_to_all_three():
    sent = [
        Move("Cy", "key", "tin"), Exit("Cy", "loft"),
        Send("Cy", "Ann", "Bo", "key", "tin"), Tell("Ann", "Bo", "key", "tin", source="Cy"),
    ]  # fmt: skip
    assert believes(sent, "Bo") == believes(sent, "Ann") == "tin"
    assert believes(sent, "Bo", "Cy") == "tin"
    assert believes(sent, "Cy", "Bo") == "tin"
    assert believes(sent, "Di", "Bo") == "box"


def test_a_lost_message_is_supposed_to_have_arrived():
    lost = [Move("Cy", "key", "tin"), Exit("Cy", "loft"), Send("Cy", "Bo", "Ann", "key", "tin"), Lose("Bo", "Ann")]
    assert believes(lost, "Ann") == "box"
    assert believes(lost, "Cy", "Ann") == "tin"
    assert believes(lost, "Bo", "Ann") == "box"
    assert believes(lost, "Bo", "Cy", "Ann") == "tin"


def test_a_message_names_its_sender_in_every_mind():
    sent = [Move("Cy", "key", "tin"), Exit("Cy", "loft"), Send("Cy", "Bo", "Ann", "key", "tin")]
    lost, passed_on = [*sent, Lose("Bo", "Ann")], [*sent, Tell("Bo", "Ann", "key", "tin", source="Cy")]
    assert believes(lost, "Cy", "Ann", "Cy") == "tin"
    assert believes(lost, "Bo", "Cy", "Ann", "Cy") == "tin"
    assert believes(lost, "Ann", "Cy") == "box"
    assert believes(passed_on, "Bo", "Ann", "Cy") == "tin"
    assert believes(passed_on, "Ann", "Bo", "Ann", "Cy") == "tin"
    assert believes(passed_on, "Cy", "Bo", "Ann", "Cy") == "tin"


def test_a_correction_by_a_third_person_is_unknown_to_the_liar():
    put_right = [
        Tell("Ann", "Bo", "key", "jar", honest=False),
        Exit("Cy", "loft"),
        Tell("Cy", "Bo", "key", "box", corrects=True),
    ]
    assert believes(put_right, "Bo") == "box"
    assert believes(put_right, "Ann", "Bo") == "jar"
    assert believes(put_right, "Cy", "Bo") == "box"


def test_what_is_heard_through_the_wall_is_known_to_the_hearer_alone():
    heard = [Move("Cy", "key", "tin"), Hear("Bo", "Cy", "key", "tin")]
    assert believes(heard, "Bo") == "tin"
    assert believes(heard, "Bo", "Cy") == "tin"
    assert believes(heard, "Cy", "Bo") == "box"
    assert believes(heard, "Bo", "Ann") == "box"


def test_who_left_first_cannot_know_who_was_still_there():
    heard = Oracle(Story((*OPENING, Move("Cy", "key", "tin"), Hear("Ann", "Cy", "key", "tin")), ROOMS))
    assert not heard.settled(Question("belief", "key", ("Ann", "Bo")))


def test_a_glimpse_teaches_nothing():
    glimpsed = [Move("Cy", "key", "tin"), Glimpse("Ann", "Cy", "tin")]
    assert believes(glimpsed, "Ann") == "box"
    assert believes(glimpsed, "Ann", "Cy") == "box"


def test_who_forgets_believes_what_they_believed_before_and_nobody_knows():
    seen = [Move("Cy", "key", "tin"), Exit("Di", "loft"), Forget("Di", "key")]
    told = [Move("Cy", "key", "tin"), Exit("Cy", "loft"), Tell("Cy", "Ann", "key", "tin"), Forget("Ann", "key")]
    assert believes(seen, "Di") == believes(told, "Ann") == "box"
    assert believes(seen, "Cy", "Di") == believes(told, "Cy", "Ann") == "tin"


def test_whether_somebody_also_forgets_who_knew_the_place_is_not_asked():
    forgot = Oracle(Story((*OPENING, Move("Cy", "key", "tin"), Exit("Di", "loft"), Forget("Di", "key")), ROOMS))
    assert not forgot.settled(Question("belief", "key", ("Di", "Cy")))
    assert forgot.settled(Question("belief", "key", ("Di", "Ann")))


def test_who_has_nothing_to_fall_back_on_forgets_nothing():
    assert believes([Forget("Ann", "key")], "Ann") == "box"


@pytest.mark.parametrize("tier", ["told", "deep"])
def test_where_the_thing_really_is_answers_a_third_of_the_questions(tier):
    scenes = list(generated_scenes(11, 9, tiers=[tier]))
    real = Counter(scene.facets["belief"] for scene in scenes)
    assert abs(real["meets reality"] / len(scenes) - 1 / 3) < 0.05
    last = [scene.tellings[0] for scene in scenes]
    named_last = sum(max(t.options, key=t.story.rfind) == t.options[t.answer] for t in last)
    assert named_last / len(scenes) < 0.55


@pytest.mark.parametrize("tier", ["told", "deep"])
def test_every_kind_of_evidence_decides_some_question(tier):
    scenes = list(generated_scenes(11, 9, tiers=[tier]))
    assert set(EVIDENCE) <= {scene.facets["evidence"] for scene in scenes}
    assert {scene.facets["asked"] for scene in scenes} == {"look", "say"}
    assert all(len(scene.tellings[0].options) == 3 for scene in scenes)


def test_the_first_stories_of_a_tier_do_not_depend_on_how_many_are_made():
    few, many = (list(generated_scenes(11, count, tiers=["told"])) for count in (4, 9))
    assert few == many[: len(few)]


def test_tiers_and_languages_have_ids_of_their_own():
    scenes = [
        scene
        for language in ("en", "zh")
        for scene in generated_scenes(2, 1, tiers=("seen", "told", "deep"), language=language)
    ]
    assert len({scene.id for scene in scenes}) == len(scenes)
