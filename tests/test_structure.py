"""The plan of the source: nothing is loose at its root, and no file reaches into another room by path."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "sociometer"
ROOMS = (
    "adapters", "cli", "core", "engine", "instruments", "models", "reading", "reporting", "results", "statistics",
    "store", "web",
)  # fmt: skip
FILES = sorted(SOURCE.rglob("*.py"))


def test_only_the_api_is_loose_at_the_root():
    assert {path.name for path in SOURCE.glob("*.py")} == {"__init__.py", "__main__.py", "api.py"}
    assert {path.parent.name for path in SOURCE.glob("*/__init__.py")} == set(ROOMS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_file_reaches_into_another_room_by_path(path):
    depth = len(path.relative_to(SOURCE).parts) - 1  # folders between the root and the file
    for climb in re.findall(r"Path\(__file__\)((?:\.parent\b|\.parents\[\d\])+)", path.read_text(encoding="utf-8")):
        levels = climb.count(".parent") - climb.count(".parents")
        levels += sum(int(number) + 1 for number in re.findall(r"parents\[(\d)\]", climb))
        assert levels <= depth, f"{climb} leaves the room"


def test_no_module_of_ours_is_hidden_from_types_and_import_rules():
    hidden = [path for path in FILES if re.search(r"""lazy\(["']sociometer""", path.read_text(encoding="utf-8"))]
    assert hidden == []


def test_the_tour_names_files_that_exist():
    page = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:[\w]+/)+[\w]+\.(?:py|toml))`", page))
    places = [SOURCE, SOURCE / "instruments", SOURCE / "instruments" / "egosocial"]
    missing = [name for name in sorted(named) if not any((place / name).exists() for place in places)]
    assert len(named) > 25
    assert missing == []
