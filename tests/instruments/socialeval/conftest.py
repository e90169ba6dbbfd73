"""Small trees drawn by hand, the bundled ones, and the official ones where the machine has them."""

import os
from pathlib import Path

import pytest

from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.instruments import FOLDER
from sociometer.instruments.socialeval.items import BUNDLED, read_tree_file, tree_files_in
from sociometer.instruments.socialeval.worldtree import Choice, Line, Node, Person, Question, Tree


def node(number, *targets, goal=None, kind=None, abilities=(), stances=()):
    """A node by where its choices lead; without any it is an ending."""
    choices = tuple(
        Choice(
            target=target,
            text=f"say {number}.{i}",
            abilities=(abilities[i],) if i < len(abilities) else ("persuasive skill",),
            stance=stances[i] if i < len(stances) else None,
            question=Question("who?", (abilities[i],) if i < len(abilities) else ("persuasive skill",)),
            distractors=("x", "y", "z"),
        )
        for i, target in enumerate(targets)
    )
    kind = kind or ("ending" if not targets else "beginning" if number == 0 else "choice")
    lines = (Line("Ada", f"Here we are at {number}."),)
    return Node(id=number, kind=kind, lines=lines, choices=choices, goal=-1 if goal is None else goal)


def tree(*nodes, orientation="cooperation", language="en", name="drawn"):
    """A tree of such nodes."""
    people = (Person("Ada", "a baker", "owes rent", "keep the shop"), Person("Bo", "a miller"))
    twin = f"{orientation}-{name}"
    return Tree(f"{twin}-{language}", twin, language, f"{name}.json", orientation, people, "a shop", nodes)


@pytest.fixture
def draw():
    return tree


@pytest.fixture
def at():
    return node


@pytest.fixture(scope="session")
def bundled():
    return [one for path in sorted(BUNDLED.glob("*.json")) for one in read_tree_file(path)]


@pytest.fixture(scope="session")
def official_folder() -> Path:
    folder = Path(os.environ.get("SOCIOMETER_DATA", "nowhere"))
    if not (folder / "socialeval").is_dir():
        pytest.skip("official data not found; set SOCIOMETER_DATA to the folder that holds socialeval/")
    return folder


@pytest.fixture(scope="session")
def official(official_folder):
    return [one for path in tree_files_in(official_folder / "socialeval") for one in read_tree_file(path)]


@pytest.fixture
def source():
    """Makes a source with settings, over a folder of official files where one is given."""

    def make(folder=None, **settings):
        chosen = Settings({"language": "both", **settings})
        prompts = Prompts(FOLDER / "socialeval" / "prompts")
        return Source(chosen, prompts, official=folder is not None, folders=(folder,) if folder else ())

    return make
