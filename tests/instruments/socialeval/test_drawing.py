"""Drawings hold every node and way, and nothing that could be executed."""

import xml.etree.ElementTree as ElementTree

import msgspec

from sociometer.instruments.socialeval.drawing import draw_tree, places
from sociometer.instruments.socialeval.worldtree import Line


def classes(svg):
    return [element.get("class") for element in ElementTree.fromstring(svg).iter() if element.get("class")]


def test_every_bundled_tree_is_drawn_whole(bundled):
    for tree in bundled:
        found = classes(draw_tree(tree, ()))
        assert sum(name.startswith("way") for name in found) == sum(len(node.choices) for node in tree.nodes)
        episodes = sum(bool(node.choices) for node in tree.nodes)
        assert found.count("box") == episodes
        assert found.count("full") - 1 == sum(node.goal == 2 for node in tree.nodes)


def test_no_two_nodes_stand_on_each_other(bundled):
    for tree in bundled:
        found = places(tree)
        spots = [(place.x, round(place.y)) for place in found.values()]
        assert len(set(spots)) == len(tree.nodes)
        for node in tree.nodes:
            assert all(found[choice.target].x > found[node.id].x for choice in node.choices)


def test_taken_ways_are_marked(draw, at):
    tree = draw(at(0, 1, 2), at(1, goal=2), at(2, goal=0))
    assert classes(draw_tree(tree, {(0, 1)})).count("taken") == 2, "the way and the legend"
    assert classes(draw_tree(tree, ())).count("taken") == 1


def test_a_taken_way_leaves_the_best_in_sight(draw, at):
    tree = draw(at(0, 1, 2, 3), at(1, goal=2), at(2, goal=0), at(3, goal=0))
    svg = ElementTree.fromstring(draw_tree(tree, {(0, 0)}))
    best = next(group for group in svg.iter() if any(each.get("class") == "way best" for each in group))
    assert [path.get("class") for path in best][1:] == ["taken", "way best"], "the best way is painted last"


def test_words_of_a_tree_are_escaped(draw, at):
    hostile = "</title><script>alert(1)</script>"
    ending = msgspec.structs.replace(at(1, goal=2), lines=(Line("x", hostile),))
    tree = msgspec.structs.replace(draw(at(0, 1, 2), ending, at(2, goal=0)), id=hostile)
    whole = draw_tree(tree, ())
    assert "<script>" not in whole
    ElementTree.fromstring(whole)


def test_a_faulty_tree_is_drawn_too(draw, at):
    tree = draw(at(0, 1, 9), at(1, 0, 2), at(2), at(5, goal=0))
    assert classes(draw_tree(tree, ())).count("open") == 2
