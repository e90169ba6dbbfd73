import json
from collections import Counter

import msgspec
import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.sage.build import (
    briefs,
    likeness,
    mean_likeness,
    near_duplicates,
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
SCENE = {"background": "The oven broke.", "goal": "To tell of it.", "details": ["oven", "dough", "Monday"]}
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
    return list(briefs(count, language, read_schema(None, language), read_seeds(None, language), seed))


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


def test_duplicates_are_reported(rehearse):
    show = rehearse(builder=Builder())
    summary = show.instrument.task("build").summarise(show.play_all("build", some(3)))
    assert summary.measure("built").value == 3
    assert summary.measure("duplicates").value == 3
    assert len(summary.notes) == 3


def test_first_words_that_give_it_away_are_counted(rehearse):
    brief = next(each for each in some(8) if each.intention == "advice")
    show = rehearse(builder=Builder(OpeningStep={"first_words": "Can you give me advice?"}))
    assert next(show.play_all("build", [brief]).scored())[2].values["leak"] == 1


def test_an_unreadable_builder_is_an_error(rehearse):
    [episode] = rehearse(builder=Says("Once upon a time")).play_all("build", some(1)).episodes()
    assert episode.failure.kind == "unreadable builder"


def test_a_step_with_too_few_hobbies_is_asked_for_again(rehearse):
    builder = InTurn(json.dumps(PERSONA | {"hobbies": ["a"]}), *map(json.dumps, (PERSONA, SCENE, REACTIONS, OPENING)))
    [(_, built, _)] = rehearse(builder=builder).play_all("build", some(1)).scored()
    assert built.scenario.goal == SCENE["goal"] and len(builder.asked) == 5


def test_the_bundled_scenarios_are_far_apart():
    ours = list(bundled("en"))
    assert near_duplicates(ours) == []
    assert mean_likeness(ours) < 0.03
    assert likeness(ours[0], ours[0]) == 1


def test_another_kind_of_talk_comes_from_another_schema(tmp_path):
    path = tmp_path / "haggle.toml"
    path.write_text(
        'name = "haggle"\n[about]\nen = "Two people haggle."\n[scene]\nen = ["what is for sale"]\n'
        '[intention.cheap]\nen = "You want it for less."\n[intention.respect]\nen = "You want to be taken seriously."\n'
    )
    schema = read_schema(path, "en")
    drawn = list(briefs(4, "en", schema, read_seeds(None, "en"), 0))
    assert [brief.intention for brief in drawn] == ["cheap", "respect", "cheap", "respect"]
    assert drawn[0].about == "Two people haggle." and drawn[0].id == "haggle-en-0-0001"
    with pytest.raises(DataError, match="no entry for language 'zh'; available: en"):
        read_schema(path, "zh")


def test_bad_files_are_refused_by_name(tmp_path):
    path = tmp_path / "seeds.toml"
    path.write_text('traits = ["a"]\nremarks = []\nages = []\nthemes = []\n')
    with pytest.raises(DataError, match=r"seeds.toml: seed pools too small"):
        read_seeds(path, "en")
    path.write_text("traits = 1")
    with pytest.raises(DataError, match="not a file of seed pools"):
        read_seeds(path, "en")
    with pytest.raises(DataError, match="not a dialogue schema"):
        read_schema(path, "en")
