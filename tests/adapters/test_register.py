"""The entry for the register of inspect_evals names every instrument and a file that is there."""

from pathlib import Path

import yaml

from sociometer.instruments import cards

ROOT = Path(__file__).parents[2]


def test_the_entry_names_every_instrument_and_the_file_of_the_tasks():
    entry = yaml.safe_load((ROOT / "docs/adapters/inspect-evals-register.yaml").read_text(encoding="utf-8"))
    assert {task["name"] for task in entry["tasks"]} == set(cards())
    assert all((ROOT / task["task_path"]).is_file() for task in entry["tasks"])
    assert entry["title"]
    assert entry["description"]
