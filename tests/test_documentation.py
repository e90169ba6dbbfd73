"""The documentation names what is there: files, commands, examples that run."""

import re
from pathlib import Path

import sociometer as sm

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "sociometer"
ON_THE_PATH = ("core", "engine", "store")


def blocks(path, language):
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def test_the_tour_names_every_file_once_and_none_that_is_not_there():
    tour = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = [name for name in re.findall(r"`([a-z_/0-9]+\.py)`", tour) if "/" in name or (SOURCE / name).exists()]
    assert sorted(name for name in set(named) if named.count(name) > 1) == []
    assert [name for name in named if not (SOURCE / name).exists()] == []
    rooms = [path for room in ON_THE_PATH for path in (SOURCE / room).glob("*.py")]
    wanted = {path.relative_to(SOURCE).as_posix() for path in [*rooms, *SOURCE.glob("*.py")] if path.stem != "__init__"}
    assert sorted(wanted - set(named)) == []


def test_the_example_of_contributing_runs(tmp_path, monkeypatch, capsys):
    (code,) = blocks(ROOT / "CONTRIBUTING.md", "python")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert "value=1.0" in capsys.readouterr().out


def test_the_tables_of_contributing_name_files_that_are_there():
    for name in ("core/card.py", "core/conversation.py", "models/options.py", "models/presets.py"):
        assert (SOURCE / name).exists()
    assert sm.CommandContext.__module__.replace(".", "/").removeprefix("sociometer/") == "engine/command_context"
