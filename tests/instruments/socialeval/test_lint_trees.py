"""Every kind of finding is made where it should be, and nowhere in our own trees."""

import json
from collections import Counter

import msgspec
import pytest
from click.testing import CliRunner

from sociometer.instruments.socialeval.items import BUNDLED, question
from sociometer.instruments.socialeval.worldtree import Line, Person, Question, is_utterance, pair_twins
from tools.lint_trees import MEANINGS, command, cyclic, lint_tree, lint_trees, reachable


def kinds(tree):
    return {finding.kind for finding in lint_tree(tree)}


def changed(node, **fields):
    return msgspec.structs.replace(node, **fields)


def first_choice(node, **fields):
    return changed(node, choices=(changed(node.choices[0], **fields), *node.choices[1:]))


def test_a_sound_tree_has_no_findings(draw, at):
    assert not kinds(draw(at(0, 1, 2), at(1, goal=2), at(2, goal=0)))


def test_bundled_trees_have_no_findings(bundled):
    assert lint_trees(bundled) == []


@pytest.mark.parametrize(
    ("nodes", "kind", "node"),
    [
        (lambda at: (at(0, 1, 9), at(1, goal=2)), "missing-target", 0),
        (lambda at: (at(0, 1, 1), at(1, goal=2), at(7, goal=0)), "unreachable", 7),
        (lambda at: (at(0, 1, 2), at(1, 0, 2), at(2, goal=2)), "cycle", 1),
        (lambda at: (at(0, 1, 2), at(1, goal=2), at(2)), "ending-without-goal", 2),
        (lambda at: (at(0, 1, 2), at(1, goal=2), at(2, kind="choice")), "choice-node-without-choices", 2),
        (lambda at: (at(0, 1, 2), at(1, goal=1), at(2, goal=0)), "no-success", None),
        (lambda at: (at(0, 1, 1), at(1, goal=2), at(1, goal=0)), "duplicate-node", 1),
        (lambda at: (at(0, 1, 1), changed(at(1, goal=2), lost_join="3")), "lost-join", 1),
        (lambda at: (at(0, 1, 2), at(1, goal=2), changed(at(2, kind="choice"), lost_join="3")), "lost-join", 2),
    ],
)
def test_a_fault_of_the_structure_is_found_at_its_node(draw, at, nodes, kind, node):
    found = [finding for finding in lint_tree(draw(*nodes(at))) if finding.kind == kind]
    assert node in {finding.node for finding in found}
    assert all(finding.source == "drawn.json" for finding in found)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"distractors": ()}, "choice-without-distractors"),
        ({"text": "（1，-1，0）"}, "choice-without-words"),
        ({"abilities": ()}, "ability-missing"),
        ({"question": Question("who?", ("persuasive skill",), ("#skill#Persuasive Skill",))}, "mark-in-question"),
        ({"distractors": ("x", "Say 0.0.", "z")}, "option-twice"),
        ({"distractors": ("x", "y", "y ")}, "option-twice"),
        ({"abilities": ("Persuasive Skil",)}, "ability-spelling"),
        ({"abilities": ("charm",)}, "ability-unknown"),
        ({"abilities": ("teamwork skill",)}, "ability-differs-from-question"),
    ],
)
def test_a_fault_of_a_choice_is_found(draw, at, fields, kind):
    tree = draw(first_choice(at(0, 1, 2), **fields), at(1, goal=2), at(2, goal=0))
    found = [finding for finding in lint_tree(tree) if finding.kind == kind]
    assert [finding.node for finding in found] == [0]
    assert "choice 1" in found[0].detail


def test_what_a_walk_cannot_be_told_or_scored_without_is_found(draw, at):
    sound = draw(at(0, 1, 2), at(1, goal=2), at(2, goal=0))
    nobody = changed(sound, people=(changed(sound.people[0], goal=""), sound.people[1]))
    assert kinds(nobody) == {"no-goal"}
    silent = draw(at(0, 1, 2), changed(at(1, goal=2), lines=()), at(2, goal=0))
    assert [(one.kind, one.node) for one in lint_tree(silent)] == [("no-dialogue", 1)]
    stranger = draw(at(0, 1, 2), changed(at(1, goal=2), lines=(Line("Cy", "Hello."),)), at(2, goal=0))
    assert [(one.kind, one.node, one.detail) for one in lint_tree(stranger)] == [("unknown-speaker", 1, "Cy")]
    here = changed(stranger.nodes[0], enters=(Person("Cy"),))
    assert not kinds(changed(stranger, nodes=(here, *stranger.nodes[1:])))
    alike = draw(first_choice(at(0, 1, 2), text="Say 0.1"), at(1, goal=2), at(2, goal=0))
    assert [(one.kind, one.node) for one in lint_tree(alike)] == [("choice-twice", 0)]


@pytest.mark.parametrize("text", ["#skill#Charm Who?", "#skillCharm", "skill#Charm", "Who? #Skill Charm"])
def test_a_mark_that_names_the_ability_is_removed_and_found(text):
    asked = question({"question": text})
    assert "Charm" not in asked.text and asked.marks
    assert asked.abilities[0].startswith("Charm")


def test_a_choice_node_that_marks_a_join_is_not_called_empty(draw, at):
    tree = draw(at(0, 1, 2), at(1, goal=2), changed(at(2, kind="choice"), lost_join="3"))
    assert kinds(tree) == {"lost-join"}


def test_a_choice_node_with_a_mark_and_choices_is_sound(draw, at):
    tree = draw(at(0, 1, 2), at(1, goal=2), changed(at(2, 1, 3), lost_join="3"), at(3, goal=0))
    assert not kinds(tree)


def test_a_situation_choice_needs_no_ability_and_no_distractors(draw, at):
    root = first_choice(at(0, 1, 2), situation=True, abilities=(), distractors=(), question=None)
    assert not kinds(draw(root, at(1, goal=2), at(2, goal=0)))


def test_twins_of_different_shape_are_found_with_the_true_twin(draw, at):
    short = (at(0, 1, 2), at(1, goal=2), at(2, goal=0))
    long = (at(0, 1, 2), at(1, 3, 4), at(2, goal=0), at(3, goal=2), at(4, goal=0))
    trees = [
        draw(*short, name="one", language="en"),
        draw(*long, name="one", language="zh"),
        draw(*long, name="two", language="en"),
        draw(*short, name="two", language="zh"),
    ]
    found = [finding for finding in lint_trees(trees) if finding.kind == "twin-shape"]
    assert len(found) == 2
    assert "its shape is that of two.json" in found[0].detail
    assert [(en.twin, zh.twin) for en, zh in pair_twins(trees)] == [
        ("cooperation-one", "cooperation-two"),
        ("cooperation-two", "cooperation-one"),
    ]


def test_halves_of_one_entry_are_twins_whatever_their_shape(draw, at):
    short = (at(0, 1, 2), at(1, goal=2), at(2, goal=0))
    long = (at(0, 1, 2), at(1, 3, 4), at(2, goal=0), at(3, goal=2), at(4, goal=0))

    def half(nodes, name, language):
        return changed(draw(*nodes, name=name, language=language), entry=f"merged.json/{name}")

    trees = [
        half(short, "one", "en"),
        half(long, "one", "zh"),
        half(long, "two", "en"),
        half(short, "two", "zh"),
        half(short, "three", "en"),
    ]
    assert [(en.twin, zh.twin) for en, zh in pair_twins(trees)] == [
        ("cooperation-one", "cooperation-one"),
        ("cooperation-two", "cooperation-two"),
    ]
    found = [finding for finding in lint_trees(trees) if finding.kind == "twin-shape"]
    assert len(found) == 2
    assert all("one entry differ" in finding.detail for finding in found)


def test_reachable_and_cyclic_on_a_graph_with_a_tail(draw, at):
    tree = draw(at(0, 1), at(1, 2, 3), at(2, 1), at(3, goal=2))
    assert reachable(tree) == {0, 1, 2, 3}
    assert sorted(cyclic(tree)) == [1, 2]


def test_a_state_vector_is_no_utterance():
    assert not any(map(is_utterance, ("(1, -1, 0)", "(0,-1,0)", "", "（-1，0，0）")))
    assert is_utterance("(1, -1, 0) is what I feel")


def test_findings_on_the_official_files_are_those_the_readme_lists(official):
    counts = Counter(finding.kind for finding in lint_trees(official))
    assert counts == {
        "ending-without-goal": 54,
        "lost-join": 32,
        "no-success": 5,
        "choice-node-without-choices": 3,
        "choice-without-words": 20,
        "no-dialogue": 22,
        "unknown-speaker": 339,
        "ability-missing": 51,
        "mark-in-question": 44,
        "ability-spelling": 118,
        "ability-unknown": 2,
        "ability-differs-from-question": 76,
        "twin-shape": 9,
    }
    assert set(counts) <= set(MEANINGS)
    assert len(pair_twins(official)) == 25


def test_the_command_passes_our_trees_and_fails_a_broken_one(tmp_path):
    assert CliRunner().invoke(command, [str(BUNDLED)]).output == "14 trees, no findings.\n"
    broken = json.loads((BUNDLED / "[1,1]_en_night-market.json").read_text(encoding="utf-8"))
    broken["interactive_plot"][0]["choices"][0]["cid"] = 99
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    found = CliRunner().invoke(command, [str(tmp_path / "broken.json")])
    assert found.exit_code == 1 and "1 trees, " in found.output
    assert "a choice leads to 99" in found.output
