"""The official data, where the machine has it."""

import os
from pathlib import Path

import pytest

from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.instruments import load
from sociometer.instruments.egosocial.tomi import read_archive, tomi_scenes


@pytest.fixture(scope="session")
def official() -> Path:
    folder = Path(os.environ.get("SOCIOMETER_DATA", "nowhere"))
    if not (folder / "tomi").is_dir():
        pytest.skip("official data not found; set SOCIOMETER_DATA to the folder that holds tomi/ and tombench/")
    return folder


@pytest.fixture(scope="session")
def tomi_questions(official):
    """The questions of the official test file."""
    return tuple(read_archive(official / "tomi" / "tomi_balanced_story_types.zip"))


@pytest.fixture(scope="session")
def official_scenes(tomi_questions):
    """All of them as scenes."""
    return tuple(tomi_scenes(tomi_questions, "all"))


@pytest.fixture(scope="session")
def source():
    """Where scenes come from: a folder of official files, and a seed."""
    prompts = load("egosocial").prompts()
    return lambda *folders, seed=0: Source(Settings(), prompts, "egosocial", folders=folders, seed=seed)
