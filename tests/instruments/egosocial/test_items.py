import json

import pytest

from rehearsal import Rehearsal
from sociometer.core.errors import DataError
from sociometer.instruments import load
from sociometer.instruments.egosocial.published.reproduce import published
from sociometer.instruments.egosocial.tombench.first_person import shipped
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve
from tests.instruments.egosocial.stories.names import names_left

INSTRUMENT = load("egosocial")


def show(settings=None, data=None, seed=0):
    players = {"subject": resolve("baseline/random", ModelOptions())}
    return Rehearsal(INSTRUMENT, players, settings, data=data, seed=seed)


def scenes(task, settings=None, data=None, seed=0):
    return list(INSTRUMENT.task(task).items(show(settings, data, seed).source()))


@pytest.mark.parametrize("task", ["tomi", "tombench", "counterfactual-official"])
def test_official_scenarios_say_how_to_get_their_files(task, tmp_path):
    with pytest.raises(DataError, match="sociometer get data egosocial"):
        scenes(task, data=tmp_path)


@pytest.mark.parametrize("task", ["generated", "counterfactual", "worlds"])
def test_no_two_options_are_the_same(task):
    for scene in scenes(task, {"stories": 3}):
        for telling in scene.tellings:
            assert len(set(telling.options)) == len(telling.options), scene.id


def test_another_seed_gives_other_stories_and_wordings():
    assert scenes("counterfactual", seed=1) != scenes("counterfactual", seed=2)
    assert scenes("worlds", seed=1) == scenes("worlds", seed=2)


def test_the_authors_file_is_found_below_the_data_folder(tmp_path):
    (tmp_path / "egosocialarena").mkdir()
    row = {
        "Story": "Here paper sinks and iron floats.",
        "Question": "A nail?",
        "Option": ["floats", "sinks"],
        "Answer": "A",
    }
    (tmp_path / "egosocialarena" / "counterfact.jsonl").write_text(json.dumps(row))
    (scene,) = scenes("counterfactual-official", data=tmp_path)
    assert scene.tellings[0].answer == 0


def test_the_first_person_alone_is_asked_only_where_there_is_one(official):
    ours = scenes("tombench", {"perspective": "first"}, official)
    assert len(ours) == len(shipped("en")) - 1 > 400
    assert {telling.name for scene in ours for telling in scene.tellings} == {"third", "first"}
    assert len(scenes("tombench", {"perspective": "first", "language": "zh"}, official)) == len(shipped("zh")) > 400
    everything = scenes("tombench", {"perspective": "third"}, official)
    assert len(everything) == 2860
    assert sum(scene.facets["measures"] == "not converted" for scene in everything) == 2860 - len(ours)


def test_new_world_is_the_whole_file_of_tombench_in_the_first_person(official):
    """The paper's Fig. 3 shows line 2 of the file; its nine cells of Table 3 are multiples of 1/30."""
    found = scenes("newworld", data=official)
    assert [scene.id for scene in found] == [f"newworld-{number:03d}" for number in range(1, 31)]
    assert all(len(scene.tellings) == 1 and len(scene.tellings[0].options) == 4 for scene in found)
    assert all("you" in scene.tellings[0].question.lower() for scene in found)
    assert not any(names_left(scene.tellings[0].story, scene.ego) for scene in found)
    assert [scene.id for scene in found if scene.facets["release"] == "garbled"] == ["newworld-027"]
    for row in published("table3"):
        assert abs(30 * float(row["newworld"]) / 100 - round(30 * float(row["newworld"]) / 100)) < 0.02
