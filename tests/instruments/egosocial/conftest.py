"""The official data, where the machine has it."""

import os
from pathlib import Path

import pytest

from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.instruments import load


@pytest.fixture(scope="session")
def official() -> Path:
    folder = Path(os.environ.get("SOCIOMETER_DATA", "nowhere"))
    if not (folder / "tomi").is_dir():
        pytest.skip("official data not found; set SOCIOMETER_DATA to the folder that holds tomi/ and tombench/")
    return folder


@pytest.fixture(scope="session")
def source():
    """Where scenes come from: a folder of official files, and a seed."""
    prompts = load("egosocial").prompts()
    return lambda *folders, seed=0: Source(Settings(), prompts, "egosocial", folders=folders, seed=seed)
