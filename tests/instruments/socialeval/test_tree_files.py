"""Both released layouts load; what is not a tree is refused with its place."""

import json

import msgspec
import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.socialeval.items import (
    BUNDLED,
    guess_language,
    is_tree_file,
    question,
    read_tree_file,
    text_of,
    tree_from,
    whole_numbers,
)
from tools.lint_trees import lint_tree

SINGLE = sorted(BUNDLED.glob("*.json"))


def document(name="[1,1]_en_night-market.json"):
    return json.loads((BUNDLED / name).read_text(encoding="utf-8"))


def test_a_single_file_is_a_tree_with_its_protagonist_first():
    (tree,) = read_tree_file(BUNDLED / "[1,1]_en_night-market.json")
    assert (tree.id, tree.language, tree.orientation, tree.category) == (
        "cooperation-night-market-en",
        "en",
        "cooperation",
        "prosocial",
    )
    assert tree.protagonist.name == "Wen-chi"
    assert tree.protagonist.private
    assert tree.root.kind == "beginning"
    choice = tree.root.choices[0]
    assert choice.abilities == choice.question.abilities == ("teamwork skill",)
    assert len(choice.distractors) == 3
    assert choice.stance == (1, 1)
    assert not choice.question.text.startswith("#")


def test_narration_has_no_speaker_and_people_who_enter_are_met():
    (tree,) = read_tree_file(BUNDLED / "[1,1]_cn_night-market.json")
    assert tree.root.lines[0].speaker == ""
    assert [person.name for node in tree.nodes for person in node.enters] == ["郭管理员"]


def test_the_merged_list_gives_the_same_trees_as_single_files(tmp_path):
    pairs = [(one, one.with_name(one.name.replace("_cn_", "_en_"))) for one in SINGLE if "_cn_" in one.name]
    entries = [
        {"data_id": number, "cn_data": json.loads(zh.read_text("utf-8")), "en_data": json.loads(en.read_text("utf-8"))}
        for number, (zh, en) in enumerate(pairs)
    ]
    path = tmp_path / "worldtree_data.json"
    path.write_text(json.dumps(entries), encoding="utf-8")
    trees = read_tree_file(path)
    assert len(trees) == 14
    assert is_tree_file(entries)
    singles = {(t.orientation, t.language): t for file in SINGLE for t in read_tree_file(file)}
    for tree in trees:
        single = singles[tree.orientation, tree.language]
        assert (tree.nodes, tree.people, tree.scene) == (single.nodes, single.people, single.scene)
    assert len({tree.twin for tree in trees}) == 7
    assert len({tree.id for tree in trees}) == 14


def test_every_official_file_loads(official, official_folder):
    files = list((official_folder / "socialeval").glob("*.json"))
    assert len(official) == len(files) == 56
    assert len({tree.id for tree in official}) == 56
    assert sum(len(tree.nodes) for tree in official) == 1022
    assert sum(node.kind == "ending" for tree in official for node in tree.nodes) == 558


def test_trees_survive_json_and_back(bundled):
    for tree in bundled:
        assert msgspec.json.decode(msgspec.json.encode(tree), type=type(tree)) == tree


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("interactive_plot"), "no interactive_plot"),
        (lambda d: d.pop("predefined_profiles"), "no predefined_profiles"),
        (lambda d: d["predefined_profiles"][0].update(orientation=[0, 0]), "is not one of the seven"),
        (lambda d: d["interactive_plot"][0].update(cid="x"), "node 0 has no whole number as cid"),
        (lambda d: d["interactive_plot"][1].update(type="middle"), "type 'middle' is not one of beginning"),
        (
            lambda d: d["interactive_plot"][-1].update({"goal achievement": 3}),
            "goal achievement 3 is not one of 0, 1, 2",
        ),
        (lambda d: d["interactive_plot"][0]["choices"][0].pop("cid"), "a choice has no whole number as cid"),
    ],
)
def test_a_bad_tree_is_refused_naming_file_and_place(change, message):
    broken = document()
    change(broken)
    with pytest.raises(DataError, match=message) as error:
        tree_from(broken, source="broken.json", twin="x", language="en")
    assert "broken.json" in str(error.value)


def test_what_is_not_json_is_refused_with_its_name(tmp_path):
    path = tmp_path / "odd.json"
    path.write_text("{'python': 1}")
    with pytest.raises(DataError, match=r"odd\.json.*not JSON"):
        read_tree_file(path)
    path.write_text("[]")
    with pytest.raises(DataError, match="contains no world tree"):
        read_tree_file(path)
    path.write_text("7")
    with pytest.raises(DataError, match="no interactive_plot"):
        read_tree_file(path)
    path.write_text('[{"data_id": 1}]')
    with pytest.raises(DataError, match="neither cn_data nor en_data"):
        read_tree_file(path)


def test_untidy_fields_of_the_release_are_read():
    assert whole_numbers(["1 -1", 0]) == [1, -1, 0]
    assert whole_numbers(["esponsibility managemen"]) == []
    assert text_of([{"role": "A", "content": " hello "}, {"role": "state", "content": "(1, 1, 1)"}]) == "hello"
    assert text_of(None) == ""
    asked = question({"question": ["#question# How?", " #skill#Decision-Making skill"], "skill": []})
    assert (asked.text, asked.abilities) == ("How?", ("Decision-Making skill",))
    assert guess_language({"scenario": "夜市", "interactive_plot": []}) == "zh"


@pytest.mark.parametrize(
    ("strings", "skill", "text", "abilities"),
    [
        (["#question#How can he stay?    #skill#Capacity for Trust"], [], "How can he stay?", ("Capacity for Trust",)),
        (["#question# How? #skill# Task Management"], ["Time Management"], "How?", ("Time Management",)),
        (["#question#How?\r", "#state#(1，-1，1)\r"], ["Stress Regulation"], "How?", ("Stress Regulation",)),
        (["#question#How?", "##skill#Conversational Skill"], [], "How?", ("Conversational Skill",)),
        (["#question#How?", "Processing Skill"], ["Information "], "How?", ("Information Processing Skill",)),
        (["#question#他怎么说", "的想法？"], ["expressive skill"], "他怎么说 的想法？", ("expressive skill",)),
        ("Which?", "Task Management", "Which?", ("Task Management",)),
    ],
)
def test_an_authors_note_is_no_part_of_the_question(strings, skill, text, abilities):
    asked = question({"question": strings, "skill": skill})
    assert (asked.text, asked.abilities) == (text, abilities)
    assert not any(mark.strip("# ") in asked.text for mark in asked.marks)


def test_no_official_question_shows_a_note(official):
    asked = [c.question for tree in official for node in tree.nodes for c in node.choices if c.question]
    assert not [question.text for question in asked if "#" in question.text or question.text.endswith("Skill")]
    assert sum("skill#" in mark for question in asked for mark in question.marks) == 34
    assert sum("state#" in mark for question in asked for mark in question.marks) == 6


@pytest.mark.parametrize(
    "entry",
    [
        {"role": "fork-join: 8", "content": ""},
        {"role": "Fork-join：8", "content": "x"},
        {"role": "description", "content": "fork-join: 8"},
    ],
)
@pytest.mark.parametrize("kind", ["choice", "ending"])
def test_a_fork_join_mark_is_read_in_choice_nodes_and_endings_and_is_no_line(entry, kind):
    broken = document()
    node = broken["interactive_plot"][1]
    node.update(type=kind, choices=[], dialog=[{"role": "Uncle Hsu", "content": "Well."}, entry])
    tree = tree_from(broken, source="x.json", twin="x", language="en")
    marked = tree.by_id()[node["cid"]]
    assert (marked.lost_join, [line.text for line in marked.lines]) == ("8", ["Well."])
    found = {finding.kind for finding in lint_tree(tree) if finding.node == node["cid"]}
    assert "lost-join" in found
    assert "choice-node-without-choices" not in found
