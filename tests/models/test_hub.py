"""`models pull` from a hub: a real server on loopback that is right, slow, wrong, changing, or somewhere else."""

import asyncio
import hashlib
import json
import signal
import subprocess
import sys
import threading
import time
from collections import namedtuple

import pytest
from aiohttp import web

from sociometer.cli.main import run_command
from sociometer.core.errors import MachineryError, UsageError
from sociometer.models import hub, hub_download
from sociometer.models.hub import CheckedAgainst, HubModel, fetch
from sociometer.models.local_files import file_of, remove_file, verified_file
from sociometer.models.registry import describe, resolve

WEIGHTS = b"GGUF" + bytes(range(256)) * 8000
OTHER = b"GGUF" + bytes(reversed(range(256))) * 8000
SUM = hashlib.sha256(WEIGHTS).hexdigest()
COMMIT = "c0ffee" * 6 + "abcd"
MODEL = HubModel("a model", "owner/name", "weights q4.gguf", "MIT")
PATH = "/owner/name/resolve/{}/weights q4.gguf"


class Server:
    """Serves one file as a hub does, and misbehaves as told."""

    def __init__(self):
        self.body = WEIGHTS
        self.mode = "right"
        self.asked = []
        self.elsewhere = ""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self):
        asyncio.set_event_loop(self._loop)
        app = web.Application()
        app.router.add_get("/{path:.*}", self._handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        self._loop.run_until_complete(runner.setup())
        self._loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", 0).start())
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    async def _handle(self, request):
        start = int(request.headers.get("Range", "bytes=0-")[6:-1])
        self.asked.append((request.path, start))
        sha256 = hashlib.sha256(self.body).hexdigest()
        about = {"X-Repo-Commit": COMMIT, "X-Linked-Etag": f'"{sha256}"'}
        if self.mode == "status":
            return web.Response(status=self.status)
        if self.elsewhere:
            return web.Response(status=302, headers={"Location": self.elsewhere, **about})
        if self.mode == "bare":
            about = {"ETag": f'"{sha256[:8]}"'}
        if self.mode == "lying":
            about["X-Linked-Etag"] = '"' + "0" * 64 + '"'
        if start and self.mode == "range ignored":
            start = 0
        if start >= len(self.body):
            return web.Response(status=416, headers={"Content-Range": f"bytes */{len(self.body)}", **about})
        part = self.body[start:]
        about |= {"Content-Length": str(len(part))}
        if start:
            first = start + 7 if self.mode == "another part" else start
            about["Content-Range"] = f"bytes {first}-{len(self.body) - 1}/{len(self.body)}"
        if self.mode == "huge":
            about["Content-Length"] = str(1 << 40)
        response = web.StreamResponse(status=206 if start else 200, headers=about)
        await response.prepare(request)
        if self.mode == "truncated":
            await response.write(part[:600_000])
            request.transport.close()
            return response
        if self.mode == "stalling":
            await response.write(part[:600_000])
            await asyncio.sleep(30)
        await response.write(part)
        return response


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SOCIOMETER_DATA_STALL_SECONDS", "1")
    monkeypatch.setitem(hub.HUB_MODELS, "pretend", MODEL)
    with Server() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url + "/")
        yield running


def pull(told=lambda name, done, total: None):
    return asyncio.run(fetch("pretend", told))


def part_of(tmp_path):
    return tmp_path / "cache" / "models" / (MODEL.file + ".part")


def leftovers(tmp_path):
    kept = ("hub.json", "checksums.json")
    return sorted(path.name for path in (tmp_path / "cache" / "models").iterdir() if path.name not in kept)


def test_the_first_fetch_records_commit_and_checksum_and_later_ones_keep_to_them(server, tmp_path):
    seen = []
    got = pull(lambda *facts: seen.append(facts))
    assert got.path.read_bytes() == WEIGHTS
    assert (got.sha256, got.commit, got.verified) == (SUM, COMMIT, CheckedAgainst.HUB)
    assert seen[-1] == ("pretend", len(WEIGHTS), len(WEIGHTS))
    assert verified_file("pretend") == got.path
    assert leftovers(tmp_path) == [got.path.name]
    assert pull().verified is CheckedAgainst.FIRST_FETCH
    assert len(server.asked) == 1, "what is there is not fetched again"
    remove_file("pretend")
    assert pull().path.read_bytes() == WEIGHTS
    assert [path for path, _ in server.asked] == [PATH.format("main"), PATH.format(COMMIT)]


def test_a_server_without_a_hubs_headers_is_checked_against_nothing_at_first(server):
    server.mode = "bare"
    assert pull().verified is CheckedAgainst.NOTHING
    remove_file("pretend")
    server.body = OTHER
    with pytest.raises(UsageError, match="wrong checksum"):
        pull()
    assert file_of("pretend") is None


def test_a_pinned_checksum_is_kept_to(server, monkeypatch, tmp_path):
    monkeypatch.setitem(hub.HUB_MODELS, "pretend", HubModel("a model", "owner/name", MODEL.file, "MIT", sha256=SUM))
    assert pull().verified is CheckedAgainst.PINNED
    remove_file("pretend")
    server.body = OTHER
    with pytest.raises(UsageError, match="wrong checksum"):
        pull()
    assert leftovers(tmp_path) in ([], [MODEL.file + ".part.json"])


def test_a_checksum_that_the_hub_gives_is_verified(server):
    server.mode = "lying"
    with pytest.raises(UsageError, match="wrong checksum"):
        pull()
    assert file_of("pretend") is None


def test_damaged_weights_are_refused_and_fetched_again(server):
    path = pull().path
    path.write_bytes(b"GGUF damaged")
    with pytest.raises(UsageError, match="sociometer models pull pretend"):
        resolve("local/pretend")
    assert pull().path.read_bytes() == WEIGHTS


@pytest.mark.parametrize("mode", ["truncated", "stalling"])
def test_an_interrupted_download_continues(server, tmp_path, mode):
    server.mode = mode
    with pytest.raises(MachineryError, match="Repeat the command"):
        pull()
    assert file_of("pretend") is None
    kept = part_of(tmp_path).stat().st_size
    server.mode = "right"
    assert pull().path.read_bytes() == WEIGHTS
    assert server.asked[-1][1] == kept > 0, "only the rest was fetched"


@pytest.mark.parametrize("mode", ["range ignored", "another part"])
def test_a_server_that_sends_something_else_than_the_rest_is_asked_for_all_of_it(server, mode):
    server.mode = "truncated"
    with pytest.raises(MachineryError):
        pull()
    server.mode = mode
    assert pull().path.read_bytes() == WEIGHTS


def test_a_file_that_changed_meanwhile_is_never_mixed(server):
    server.mode = "truncated"
    with pytest.raises(MachineryError):
        pull()
    server.mode, server.body = "right", OTHER
    assert pull().path.read_bytes() == OTHER
    assert [start > 0 for _, start in server.asked] == [False, True, False]


def test_a_file_that_became_shorter_meanwhile_is_fetched_anew(server):
    server.mode = "truncated"
    with pytest.raises(MachineryError):
        pull()
    server.mode, server.body = "right", OTHER[:1000]
    assert pull().path.read_bytes() == OTHER[:1000]


def test_a_complete_download_that_was_not_yet_kept_is_not_fetched_again(server, tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "_require_weights", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        pull()
    monkeypatch.undo()
    monkeypatch.setenv("SOCIOMETER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setitem(hub.HUB_MODELS, "pretend", MODEL)
    seen = []
    assert pull(lambda *facts: seen.append(facts)).path.read_bytes() == WEIGHTS
    assert seen == []


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [(404, UsageError, "does not exist"), (403, UsageError, "not public"), (503, MachineryError, "Repeat the command")],
)
def test_a_refusal_is_told(server, status, error, said):
    server.mode, server.status = "status", status
    with pytest.raises(error, match=said):
        pull()
    assert file_of("pretend") is None


def test_a_page_in_place_of_the_weights_is_not_kept(server):
    server.body = b"<html>please log in</html>"
    with pytest.raises(UsageError, match="not a GGUF file"):
        pull()
    assert file_of("pretend") is None


def test_a_redirect_to_another_host_is_followed_and_the_hubs_checksum_counts(server):
    with Server() as other:
        server.elsewhere = other.url.replace("127.0.0.1", "localhost") + "/signed/path"
        other.mode = "bare"
        got = pull()
        assert (got.sha256, got.commit, got.verified) == (SUM, COMMIT, CheckedAgainst.HUB)
        assert other.asked == [("/signed/path", 0)]


def test_a_download_from_another_host_continues_there(server):
    with Server() as other:
        server.elsewhere = other.url + "/signed/path"
        other.mode = "truncated"
        with pytest.raises(MachineryError):
            pull()
        other.mode = "right"
        assert pull().path.read_bytes() == WEIGHTS
        assert [start > 0 for _, start in other.asked] == [False, True]


@pytest.mark.parametrize("where", ["http://models.example/file", "ftp://models.example/file", "file:///etc/passwd"])
def test_a_redirect_to_an_unsafe_address_is_refused(server, where):
    server.elsewhere = where
    with pytest.raises(UsageError, match="HTTPS only"):
        pull()


def test_a_hub_without_tls_is_refused(server, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://mirror.example")
    with pytest.raises(UsageError, match="HF_ENDPOINT"):
        pull()


def test_endless_redirects_end(server):
    server.elsewhere = "/again"
    with pytest.raises(MachineryError, match="redirected more than 5 times"):
        pull()


def test_a_file_that_is_too_large_or_does_not_fit_is_not_begun(server, monkeypatch):
    server.mode = "huge"
    with pytest.raises(UsageError, match="larger than"):
        pull()
    server.mode = "right"
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(hub_download.shutil, "disk_usage", lambda _: usage(10, 10, 1000))
    with pytest.raises(UsageError, match="free some space"):
        pull()


def test_what_sends_more_than_the_limit_is_stopped(server, monkeypatch):
    monkeypatch.setattr(hub_download, "_MOST_BYTES", 1 << 20)
    with pytest.raises(UsageError, match="larger than"):
        pull()


def test_two_processes_do_not_fetch_one_file_at_once(server, tmp_path):
    part = part_of(tmp_path)
    with hub_download._locked(part), pytest.raises(UsageError, match="another process"):
        pull()


def test_a_pull_that_was_killed_continues(server, tmp_path):
    code = (
        "import sys; from sociometer.models import hub; from sociometer.cli.main import run_command;"
        f" hub.HUB_MODELS['pretend'] = hub.HubModel('a model', 'owner/name', {MODEL.file!r}, 'MIT');"
        " sys.exit(run_command(['models', 'pull', 'pretend', '--json']))"
    )
    command = [sys.executable, "-c", code]
    server.mode = "stalling"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        part = part_of(tmp_path)
        deadline = time.monotonic() + 60
        while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    kept = part.stat().st_size
    assert 0 < kept < len(WEIGHTS)
    server.mode = "right"
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    facts = json.loads(done.stdout)
    assert facts["sha256"] == SUM
    assert server.asked[-1][1] == kept


def test_the_commands_list_and_remove_models(server, capsys):
    pull()
    assert run_command(["models", "list", "--json"]) == 0
    listed = {one["model"]: one for one in json.loads(capsys.readouterr().out)}
    assert listed["local/pretend"]["bytes"] == len(WEIGHTS)
    assert listed["local/qwen2.5-7b"]["bytes"] is None
    assert {one.spec: one.ready for one in describe()}["local/pretend"]
    assert run_command(["models", "remove", "pretend"]) == 0
    assert "2 MB freed" in capsys.readouterr().out
    assert run_command(["models", "remove", "pretend"]) == 2
    assert "not on this machine" in capsys.readouterr().err
    assert run_command(["models", "pull", "pretent"]) == 2
    assert "pretend" in capsys.readouterr().err


def test_a_model_of_the_hub_is_a_subject_not_a_stand_in(server):
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    pull()
    identity = resolve("local/pretend").identity
    assert identity.revision == SUM
    assert not identity.stand_in
