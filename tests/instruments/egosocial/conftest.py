"""The official data, where the machine has it."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def official() -> Path:
    folder = Path(os.environ.get("SOCIOMETER_DATA", "nowhere"))
    if not (folder / "tomi").is_dir():
        pytest.skip("official data not found; set SOCIOMETER_DATA to the folder that holds tomi/ and tombench/")
    return folder
