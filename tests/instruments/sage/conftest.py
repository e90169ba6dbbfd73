import os
from pathlib import Path

import pytest

from rehearsal import Rehearsal
from scripted_simulator import ScriptedSimulator
from sociometer.instruments import load
from sociometer.instruments.sage.dialogue import read_dialogues
from sociometer.instruments.sage.items import bundled


@pytest.fixture(scope="session")
def sage():
    return load("sage")


@pytest.fixture(scope="session")
def official() -> Path:
    where = os.environ.get("SOCIOMETER_DATA", "")
    folder = Path(where) / "sage"
    if not where or not folder.is_dir():
        pytest.skip("official SAGE files absent: set SOCIOMETER_DATA to the folder that holds sage/")
    return folder


@pytest.fixture(scope="session")
def released_talks(official):
    """The released dialogues that are here: file, scenario and dialogue."""
    paths = sorted(official.glob("transcripts*/*_result.jsonl"))
    return [(path, scenario, dialogue) for path in paths for scenario, dialogue in read_dialogues(path)]


@pytest.fixture(scope="session")
def rehearse(sage):
    def make(settings=None, data=None, **players):
        if "simulator" not in players:
            players["simulator"] = ScriptedSimulator()
        return Rehearsal(sage, players, settings, data=data)

    return make


@pytest.fixture(scope="session")
def care_home():
    return next(scenario for scenario in bundled("en") if scenario.id == "en-care-home")
