"""`hf/OWNER/NAME` loads a model by its name on a hub; the hub here is a real server on loopback with a small model."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sociometer.store.store import Store

COMMIT = "c0ffee" + "0" * 34


@contextmanager
def hub(folder):
    """A hub with one model, `owner/tiny`; gives its address and the requests it got."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            asked.append(self.path)
            parts = self.path.partition("?")[0].strip("/").split("/")
            known = parts[:3] == ["owner", "tiny", "resolve"] and parts[3] in ("main", COMMIT)
            if known and (folder / parts[4]).is_file():
                content = (folder / parts[4]).read_bytes()
                self.reply(200, content, {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": COMMIT})
            elif parts[:2] == ["owner", "down"]:
                self.reply(503, b"", {})
            elif parts[:4] == ["api", "models", "owner", "tiny"]:
                self.reply(200, b"[]", {})
            else:
                code = {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}
                self.reply(404, b"", code if known else {"X-Error-Code": "RepoNotFound"})

        do_HEAD = do_GET

        def reply(self, status, content, headers):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def run(tmp_path, address, model, *more):
    words = ["run", "sesi", "--model", model, "--limit", "2", "-o", "reply-tokens=2", "--no-second-question", "--json"]
    # The package of the hub reads its address when it is imported: a process of its own.
    environment = {**os.environ, "HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hf"), "SOCIOMETER_DEVICE": "cpu"}
    environment.pop("HF_HUB_OFFLINE", None)
    return subprocess.run(
        [sys.executable, "-m", "sociometer.cli.main", *words, "--store", str(tmp_path / "s.db"), *more],
        env=environment, capture_output=True, text=True, timeout=180,
    )  # fmt: skip


@pytest.mark.slow
def test_a_name_on_the_hub_is_fetched_once_and_known_by_its_commit(tiny_model, tmp_path):
    with hub(tiny_model) as (address, asked):
        done = run(tmp_path, address, "hf/owner/tiny")
        assert done.returncode == 0, done.stderr
        first = json.loads(done.stdout)[0]
        assert any(path.endswith(f"/resolve/{COMMIT}/model.safetensors") for path in asked)
    # From here on nobody answers at that address: what was fetched is used, and so are the stored answers.
    again = run(tmp_path, address, "hf/owner/tiny", "--seed", "1")
    assert again.returncode == 0, again.stderr
    with Store(tmp_path / "s.db") as store:
        revisions = [run.manifest.roles["subject"].identity.revision for run in store.runs.all()]
    assert first["sent"] == 2
    assert revisions == [f"{COMMIT} float32"] * 2


def test_a_name_that_the_hub_does_not_have_is_refused(tiny_model, tmp_path):
    with hub(tiny_model) as (address, _):
        done = run(tmp_path, address, "hf/owner/unknown")
    assert done.returncode == 2
    assert "owner/unknown" in done.stdout + done.stderr


def test_a_hub_that_does_not_answer_is_asked_once(tiny_model, tmp_path):
    with hub(tiny_model) as (address, asked):
        done = run(tmp_path, address, "hf/owner/down")
    assert done.returncode == 2
    assert len([path for path in asked if "down" in path]) == 1
