import json
from collections import Counter

import msgspec
import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.sage.build import (
    accepted,
    briefs,
    likeness,
    mentions,
    person_problem,
    read_schema,
    read_seeds,
)
from sociometer.instruments.sage.items import bundled

from .people import Chair, InTurn, Says

PERSONA = {
    "name": "Ola",
    "gender": "woman",
    "occupation": "baker",
    "habits": "up at three",
    "hobbies": ["a", "b", "c"],
    "style": "dry",
}
SCENE = {
    "background": "The oven broke on Monday, and the dough was lost.",
    "goal": "To tell of it.",
    "details": ["oven", "dough", "Monday"],
}
REACTIONS = {"rises": ["x", "y"], "falls": ["x", "y"], "calm": "c", "uneasy": "u", "raw": "r"}
OPENING = {"first_words": "The oven. Of all days."}


class Builder(Chair):
    """Writes the same person again and again."""

    def __init__(self, **steps):
        super().__init__("builder")
        self._steps = {
            "PersonaStep": PERSONA,
            "SceneStep": SCENE,
            "ReactionStep": REACTIONS,
            "OpeningStep": OPENING,
        } | steps

    def say(self, request):
        return json.dumps(self._steps[request.answer_format.name])


def some(count, language="en", seed=0):
    return list(briefs(count, language, read_schema(None, language), read_seeds(language), seed))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_briefs_draw_three_traits_three_remarks_an_age_and_a_theme(language):
    drawn = some(16, language)
    assert Counter(brief.intention for brief in drawn) == dict.fromkeys({b.intention for b in drawn}, 2)
    for brief in drawn:
        assert len(set(brief.traits)) == len(set(brief.remarks)) == 3
        assert brief.theme and brief.age
    assert drawn == some(16, language) and drawn != some(16, language, seed=1)
    assert len({brief.id for brief in drawn}) == 16


def test_a_scenario_is_built_in_four_steps(rehearse):
    builder = Builder()
    run = rehearse(builder=builder).play_all("build", some(1))
    [(brief, built, _)] = run.scored()
    assert [request.answer_format.name for request in builder.asked] == [
        "PersonaStep",
        "SceneStep",
        "ReactionStep",
        "OpeningStep",
    ]
    assert built.scenario.first_words == OPENING["first_words"]
    assert built.scenario.intention == brief.intention and built.scenario.source == "built"
    assert "Ola" in built.scenario.persona and "baker" in builder.asked[1].messages[1].content
    assert msgspec.json.decode(msgspec.json.encode(built.scenario), type=type(built.scenario)) == built.scenario


def only_failure(rehearse, brief, **steps):
    [episode] = rehearse(builder=Builder(**steps)).play_all("build", [brief]).episodes()
    return episode.failure.message


def test_first_words_that_give_it_away_are_rejected(rehearse):
    brief = next(each for each in some(8) if each.intention == "advice")
    opening = {"first_words": "Can you give me advice?"}
    assert "give the hidden hope away (plea)" in only_failure(rehearse, brief, OpeningStep=opening)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"details": ["oven", "violin", "Monday"]}, "does not contain: violin"),
        ({"background": "My oven broke on Monday, and the dough was lost."}, "'My' is not the third person"),
        ({"background": "You saw the oven break on Monday; the dough was lost."}, "'You' is not the third person"),
        ({"goal": "I want to tell of it."}, "'I' is not the third person"),
    ],
)
def test_a_scene_with_a_fault_is_rejected_with_the_reason(rehearse, change, reason):
    assert reason in only_failure(rehearse, some(1)[0], SceneStep=SCENE | change)


def test_a_goal_that_states_the_hidden_hope_is_rejected(rehearse):
    brief = some(1)[0]
    assert "the goal states the hidden hope" in only_failure(rehearse, brief, SceneStep=SCENE | {"goal": brief.hidden})


def test_a_fault_is_told_to_the_builder_who_may_mend_it(rehearse):
    bad = SCENE | {"details": ["oven", "violin", "Monday"]}
    builder = InTurn(*map(json.dumps, (PERSONA, bad, SCENE, REACTIONS, OPENING)))
    [(_, built, _)] = rehearse(builder=builder).play_all("build", some(1)).scored()
    assert built.scenario.details == tuple(SCENE["details"])
    assert "violin" in builder.asked[2].messages[-1].content


def test_extra_keys_are_dropped(rehearse):
    builder = Builder(PersonaStep=PERSONA | {"mood": "low"}, SceneStep=SCENE | {"notes": ["x"]})
    [(_, built, _)] = rehearse(builder=builder).play_all("build", some(1)).scored()
    assert built.scenario.background == SCENE["background"] and len(builder.asked) == 4, "nothing is asked again"


def test_a_scenario_that_is_already_in_the_set_is_rejected():
    first, second, *_ = bundled("en")
    again = msgspec.structs.replace(first, id="again")
    kept, rejected = accepted([again, second], [first])
    assert kept == [second]
    assert rejected == [("again", f"too similar: shares 100% of its three-word sequences with {first.id}")]
    kept, rejected = accepted([first, again], [])
    assert kept == [first] and len(rejected) == 1


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("She said 'I'm not angry, you know' and left.", False),
        ("He never says “you are right” to anybody in the US.", False),
        ("她说你别管我，然后走了。", False),
        ("他心想：我再也不去了。", False),
        ("我再也不去了。", True),
        ("你每天三点起床。", True),
        ("Gets up at three. Your days are long.", True),
        ("Mayor of a town with two mines; weeds the garden.", False),
    ],
)
def test_only_what_is_not_speech_must_be_in_the_third_person(text, wrong):
    assert bool(person_problem(text)) == wrong


@pytest.mark.parametrize(
    ("detail", "found"),
    [("Oven", True), ("smiling", True), ("the old dough", True), ("smiles", True), ("violin", False), ("烤箱", False)],
)
def test_a_detail_may_have_another_ending(detail, found):
    assert mentions("The old oven broke, the dough was lost, and she smiled.", detail) == found


def test_an_unreadable_builder_is_an_error(rehearse):
    [episode] = rehearse(builder=Says("Once upon a time")).play_all("build", some(1)).episodes()
    assert episode.failure.kind == "unreadable builder"


def test_a_step_with_too_few_hobbies_is_asked_for_again(rehearse):
    builder = InTurn(json.dumps(PERSONA | {"hobbies": ["a"]}), *map(json.dumps, (PERSONA, SCENE, REACTIONS, OPENING)))
    [(_, built, _)] = rehearse(builder=builder).play_all("build", some(1)).scored()
    assert built.scenario.goal == SCENE["goal"] and len(builder.asked) == 5


def test_the_bundled_scenarios_are_far_apart():
    ours = list(bundled("en"))
    assert accepted(ours, [])[1] == []
    assert likeness(ours[0], ours[0]) == 1


def test_another_kind_of_talk_comes_from_another_schema(tmp_path):
    path = tmp_path / "haggle.toml"
    path.write_text(
        'name = "haggle"\n[about]\nen = "Two people haggle."\n[scene]\nen = ["what is for sale"]\n'
        '[intention.cheap]\nen = "You want it for less."\n[intention.respect]\nen = "You want to be taken seriously."\n'
    )
    schema = read_schema(path, "en")
    drawn = list(briefs(4, "en", schema, read_seeds("en"), 0))
    assert [brief.intention for brief in drawn] == ["cheap", "respect", "cheap", "respect"]
    assert drawn[0].about == "Two people haggle." and drawn[0].id == "haggle-en-0-0001"
    with pytest.raises(DataError, match="no entry for language 'zh'; available: en"):
        read_schema(path, "zh")


def test_a_bad_schema_is_refused_by_name(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text("name = 1")
    with pytest.raises(DataError, match="not a dialogue schema"):
        read_schema(path, "en")
