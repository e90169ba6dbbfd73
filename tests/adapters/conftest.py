"""The other tools' own commands, and ours, on a store of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sociometer.cli.main import run_command


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Runs a command of ours; gives its JSON with --json, else all it said."""
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        capsys.readouterr()
        got = run_command([str(word) for word in words])
        out, err = capsys.readouterr()
        assert got == code, err + out
        return json.loads(out) if "--json" in words else out + err

    return call


@pytest.fixture(scope="session")
def command():
    """Runs a command of another tool to its end, without a network and outside the repository."""

    def call(*words, folder, code=0, **more):
        hidden = {name for name in os.environ if name.endswith("_API_KEY") or name.startswith("INSPECT_")}
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        environment |= {
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_OFFLINE": "1",
            "HF_HOME": str(folder / "hf"),
            "NO_COLOR": "1",
        }
        program = Path(sys.executable).parent / words[0]
        done = subprocess.run(
            [program, *map(str, words[1:])],
            cwd=folder,
            env=environment | more,
            capture_output=True,
            text=True,
            timeout=900,
        )
        assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout + done.stderr

    return call


@pytest.fixture(scope="session")
def script():
    """Writes a script that answers each text with a reply of its own, whoever asks."""

    def write(path, replies, otherwise="A"):
        lines = [{"match": re.escape(text), "reply": reply} for text, reply in replies.items()]
        path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, {"match": ".", "reply": otherwise}]))
        return path

    return write
