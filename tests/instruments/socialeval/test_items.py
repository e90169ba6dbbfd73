"""Trees, ability questions and crossroads as items, bundled and official."""

import json

import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.socialeval.abilities import ABILITIES
from sociometer.instruments.socialeval.items import (
    BUNDLED,
    UNMAPPED,
    ability_questions,
    asks_ability,
    crossroads,
    read_question_file,
    story_to,
    tree_items,
)
from sociometer.instruments.socialeval.worldtree import ORIENTATIONS, solve
from tools.cues import readers, take


def test_bundled_are_seven_trees_one_for_each_orientation_in_both_languages(bundled):
    assert sorted((tree.orientation, tree.language) for tree in bundled) == sorted(
        (known.name, language) for known in ORIENTATIONS for language in ("en", "zh")
    )


def test_bundled_trees_keep_what_the_builder_guarantees(bundled):
    for tree in bundled:
        solution = solve(tree)
        episodes = [node for node in tree.nodes if node.choices]
        assert 5 <= len(episodes) <= 8
        assert all(2 <= len(node.choices) <= 3 for node in episodes)
        assert solution.best == 2
        assert 0 < solution.random < 0.30
        assert {node.goal for node in tree.nodes if node.kind == "ending"} == {0, 1, 2}
        for node in episodes:
            for choice in node.choices:
                assert len(choice.distractors) == 3
                assert choice.stance is not None
                assert len({choice.text, *choice.distractors}) == 4


def test_bundled_questions_cover_all_32_abilities(source):
    questions = list(ability_questions(source()))
    assert {name for question in questions for name in question.abilities} == set(ABILITIES)
    assert len(questions) == 238


@pytest.mark.parametrize("cue", readers())
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_surface_cue_answers_ability_questions_near_chance(source, cue, language):
    """The best cue, commas in English, earns 38 %."""
    questions = list(ability_questions(source(language=language)))
    right = sum(take(readers()[cue](question.question, question.options))[0] for question in questions)
    assert right / len(questions) <= 0.38


def test_a_language_can_be_asked_for_alone(source):
    assert {item.tree.language for item in tree_items(source(language="zh"))} == {"zh"}
    assert {question.language for question in ability_questions(source(language="en"))} == {"en"}


def test_twins_share_a_cluster_and_only_they(source):
    items = list(tree_items(source()))
    assert len({item.cluster for item in items}) == 7
    assert all(sum(other.cluster == item.cluster for other in items) == 2 for item in items)


def test_halves_of_a_merged_entry_share_a_cluster_though_one_of_them_was_changed(tmp_path, source):
    entries = []
    for number, zh in enumerate(sorted(BUNDLED.glob("*_cn_*.json"))):
        en = zh.with_name(zh.name.replace("_cn_", "_en_"))
        halves = {"cn_data": json.loads(zh.read_text("utf-8")), "en_data": json.loads(en.read_text("utf-8"))}
        entries.append({"data_id": number, **halves})
    ending = next(node for node in entries[3]["cn_data"]["interactive_plot"] if node.get("goal achievement") == 0)
    ending["goal achievement"] = 1
    (tmp_path / "worldtree_data.json").write_text(json.dumps(entries), encoding="utf-8")
    items = list(tree_items(source(tmp_path)))
    assert (len(items), len({item.cluster for item in items})) == (14, 7)
    assert len({question.cluster for question in ability_questions(source(tmp_path))}) == 7


def test_the_story_tells_what_was_said_on_the_way_and_who_entered(bundled):
    tree = next(tree for tree in bundled if tree.id == "cooperation-night-market-en")
    stories = story_to(tree)
    at_three = stories[3]
    assert at_three.lines[: len(tree.root.lines)] == tree.root.lines
    said = at_three.lines[len(tree.root.lines)]
    assert (said.speaker, said.text) == ("Wen-chi", tree.root.choices[2].text)
    assert [person.name for person in at_three.people] == ["Wen-chi", "Uncle Hsu", "Ms Kuo"]
    assert [person.name for person in stories[1].people] == ["Wen-chi", "Uncle Hsu"]


def test_crossroads_are_the_nodes_with_a_choice(source, bundled):
    found = list(crossroads(source()))
    assert len(found) == sum(bool(node.choices) for tree in bundled for node in tree.nodes) == 98
    assert all(len(item.candidates) in (2, 3) for item in found)


def test_official_trees_and_questions_are_items(source, official_folder):
    items = list(tree_items(source(official_folder)))
    assert len(items) == 56
    assert list(tree_items(source(official_folder / "socialeval"))) == items
    # 25 pairs of translations share a cluster, 3 English and 3 Chinese trees stand alone
    assert len({item.cluster for item in items}) == 31
    questions = list(ability_questions(source(official_folder)))
    assert len({question.id for question in questions}) == len(questions) > 900
    assert sum(question.abilities == (UNMAPPED,) for question in questions) < 10
    assert {len(question.options) for question in questions} <= {3, 4}


def test_a_choice_that_is_no_utterance_makes_no_question(official):
    choices = [choice for tree in official for node in tree.nodes for choice in node.choices]
    asked = [choice for choice in choices if asks_ability(choice)]
    assert len(choices) - len(asked) == 12 + sum(
        choice.text.startswith(("(", "（")) and len(choice.text) < 12 for choice in choices if not choice.situation
    )


def entry(language, right="I will wait."):
    chinese = language == "zh"
    return {
        "profile": [{"name": "安" if chinese else "An", "public profile": "x", "orientation": [1, -1]}, {"name": "Bo"}],
        "content": [{"role": "Bo", "content": "你好" if chinese else "Hello"}],
        "question": {"text": "#question# Which?", "skills": ["Anger  Management "]},
        "choices": [
            {"type": "confusion", "content": {"role": "An", "content": "No!"}},
            {"type": "skill choice", "content": {"role": "An", "content": right}},
            {"type": "confusion", "content": {"role": "An", "content": "Go!"}},
        ],
    }


def test_the_merged_ability_file_gives_questions_in_both_languages(tmp_path, source):
    folder = tmp_path / "socialeval"
    folder.mkdir()
    entries = [{"data_id": "q7", "cn_data": entry("zh"), "en_data": [entry("en"), entry("en", "I see.")]}]
    (folder / "interpersonal_abilities_data.json").write_text(json.dumps(entries), encoding="utf-8")
    questions = list(ability_questions(source(tmp_path)))
    assert [(question.id, question.language) for question in questions] == [
        ("q7-zh", "zh"),
        ("q7-en", "en"),
        ("q7.2-en", "en"),
    ]
    first = questions[1]
    assert (first.abilities, first.orientation, first.category) == (("anger management",), "competition", "proself")
    assert first.options == ("I will wait.", "No!", "Go!")
    assert {question.cluster for question in questions} == {"An: "}


def test_the_ability_file_of_one_language_is_read_too(tmp_path):
    old = entry("en")
    old["choice"] = old.pop("choices")
    old["question"] = [{"question": ["Which?"], "skill": ["Task Management"]}]
    path = tmp_path / "en_interpersonal_abilities_data.json"
    path.write_text(json.dumps([old]))
    (question,) = read_question_file(path)
    assert (question.language, question.abilities) == ("en", ("task management",))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e.update(question="?"), "entry 0 has no question"),
        (lambda e: e.update(choices=e["choices"][:1]), "entry 0 has 0 right and 1 wrong choices"),
    ],
)
def test_a_bad_ability_question_is_refused_with_its_place(tmp_path, change, message):
    bad = entry("en")
    change(bad)
    path = tmp_path / "abilities.json"
    path.write_text(json.dumps([bad]))
    with pytest.raises(DataError, match=message):
        list(read_question_file(path))


def test_a_folder_without_trees_is_refused(tmp_path, source):
    (tmp_path / "socialeval").mkdir()
    (tmp_path / "socialeval" / "notes.json").write_text("{}")
    with pytest.raises(DataError, match="no world tree in this folder"):
        list(tree_items(source(tmp_path)))


def copied(folder, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes((BUNDLED / name).read_bytes())


@pytest.mark.parametrize("place", [".", "socialeval", "worldtree_data"])
def test_any_folder_of_trees_is_data(tmp_path, source, place):
    copied(tmp_path / place, "[1,0]_en_sixty-hives.json", "[0,1]_cn_letter-desk.json")
    (tmp_path / place / "1-characters.json").write_text('{"all": {"people": []}}')
    (tmp_path / place / "origins.json").write_text("{}")
    assert [item.id for item in tree_items(source(tmp_path))] == [
        "assistance-letter-desk-zh",
        "negotiation-sixty-hives-en",
    ]
    assert len(list(ability_questions(source(tmp_path)))) == 33


def test_a_part_of_the_merged_list_under_another_name_is_data(tmp_path, source):
    tree = json.loads((BUNDLED / "[1,0]_en_sixty-hives.json").read_text("utf-8"))
    (tmp_path / "part.json").write_text(json.dumps([{"data_id": 3, "en_data": tree}]), encoding="utf-8")
    (item,) = tree_items(source(tmp_path))
    assert item.id == "negotiation-3-en"


def test_the_two_merged_files_are_found_in_the_folders_of_the_release(tmp_path, source):
    tree = json.loads((BUNDLED / "[1,0]_en_sixty-hives.json").read_text("utf-8"))
    for name, entries in (
        ("worldtree_data", [{"data_id": 3, "en_data": tree}]),
        ("interpersonal_abilities_data", [{"data_id": "q7", "en_data": entry("en")}]),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.json").write_text(json.dumps(entries), encoding="utf-8")
    assert [item.id for item in tree_items(source(tmp_path))] == ["negotiation-3-en"]
    assert [question.id for question in ability_questions(source(tmp_path))] == ["q7-en"]


def test_an_ability_file_under_any_name_gives_the_questions(tmp_path, source):
    (tmp_path / "en_questions.json").write_text(json.dumps([entry("en")]), encoding="utf-8")
    assert [question.id for question in ability_questions(source(tmp_path))] == ["0-en"]
    with pytest.raises(DataError, match=r"no world tree in this folder.*get data socialeval"):
        list(tree_items(source(tmp_path)))
