"""`get data` against a loopback server: right, truncated, wrong checksum, 404, slow, none at all."""

import asyncio
import hashlib
import subprocess
import sys
import threading
import time

import pytest
from aiohttp import web

from sociometer.core.card import FileCard
from sociometer.core.errors import DataError, MachineryError
from sociometer.engine import data
from sociometer.engine.data import fetch_files

BODY = bytes(range(256)) * 2000
SUM = hashlib.sha256(BODY).hexdigest()
PATH = "/owner/name/abc/data/a file.csv"


class Home:
    """Serves one file, and misbehaves as told; counts the bytes it sent."""

    def __init__(self):
        self.mode = "right"
        self.requests = []
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
        self.requests.append((request.path, start))
        if self.mode == "404" or request.path != PATH:
            return web.Response(status=404)
        if self.mode == "wrong":
            return web.Response(body=b"something else")
        if self.mode == "slow":
            await asyncio.sleep(3)
        if self.mode == "beyond":
            return web.Response(status=416)
        part = BODY[start:]
        response = web.StreamResponse(status=206 if start else 200, headers={"Content-Length": str(len(part))})
        await response.prepare(request)
        if self.mode == "truncated":
            await response.write(part[:100_000])
            request.transport.close()
            return response
        if self.mode == "pausing":
            await response.write(part[:200_000])
            await asyncio.sleep(30)
        await response.write(part)
        return response


@pytest.fixture
def home(monkeypatch):
    with Home() as server:
        monkeypatch.setenv("SOCIOMETER_DATA_HOME", server.url)
        yield server


def fetch(root, sha256=SUM, name="sesi/a.csv"):
    file = FileCard(name, "owner/name", "abc", "data/a file.csv", sha256)
    return asyncio.run(fetch_files([file], root, lambda *_: None))[0]


def test_a_file_is_fetched_verified_and_not_fetched_again(home, tmp_path):
    first = fetch(tmp_path)
    assert (first.status, first.verified) == ("fetched", "pinned checksum")
    assert (tmp_path / "sesi/a.csv").read_bytes() == BODY
    assert fetch(tmp_path).status == "present"
    assert len(home.requests) == 1


def test_a_broken_download_is_continued_where_it_stopped(home, tmp_path):
    home.mode = "truncated"
    with pytest.raises(MachineryError, match="Repeat the command to continue"):
        fetch(tmp_path)
    assert not (tmp_path / "sesi/a.csv").exists()
    home.mode = "right"
    assert fetch(tmp_path).status == "resumed"
    assert home.requests[-1][1] == 100_000
    assert (tmp_path / "sesi/a.csv").read_bytes() == BODY


def test_a_wrong_checksum_keeps_nothing(home, tmp_path):
    home.mode = "wrong"
    with pytest.raises(DataError, match="has the wrong checksum"):
        fetch(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_damaged_copy_is_fetched_anew(home, tmp_path):
    fetch(tmp_path)
    (tmp_path / "sesi/a.csv").write_bytes(b"damaged")
    assert fetch(tmp_path).status == "fetched"
    assert (tmp_path / "sesi/a.csv").read_bytes() == BODY


def test_without_a_pinned_checksum_the_first_fetch_is_recorded_and_verified_after(home, tmp_path):
    assert "recorded now" in fetch(tmp_path, "").verified
    assert fetch(tmp_path, "").verified == "checksum of the first fetch"
    (tmp_path / "sesi/a.csv").unlink()
    home.mode = "wrong"
    with pytest.raises(DataError, match="has the wrong checksum"):
        fetch(tmp_path, "")


def test_nothing_is_written_into_a_folder_that_has_every_file(home, tmp_path):
    target = tmp_path / "sesi" / "a.csv"
    target.parent.mkdir()
    target.write_bytes(BODY)
    for known in ("", SUM):
        assert fetch(tmp_path, known).status == "present"
    assert fetch(tmp_path, "").verified == "nothing: no checksum is known"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [target] and not home.requests


def test_a_server_that_never_stops_sending_is_stopped(home, tmp_path, monkeypatch):
    monkeypatch.setattr(data, "_MOST_BYTES", 100_000)
    with pytest.raises(MachineryError, match="is larger than 100,000 bytes"):
        fetch(tmp_path, SUM)
    assert not sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())


def test_a_missing_file_is_said(home, tmp_path):
    home.mode = "404"
    with pytest.raises(MachineryError, match="returned status 404"):
        fetch(tmp_path)


def test_a_server_that_stalls_is_given_up(home, tmp_path, monkeypatch):
    home.mode = "slow"
    monkeypatch.setenv("SOCIOMETER_DATA_STALL_SECONDS", "0.3")
    with pytest.raises(MachineryError, match="cannot fetch"):
        fetch(tmp_path)


def test_without_a_network_the_next_step_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_DATA_HOME", "http://127.0.0.1:9")
    with pytest.raises(MachineryError, match="set SOCIOMETER_DATA"):
        fetch(tmp_path)


@pytest.mark.parametrize("name", ["", ".", "a\0b", "n" * 300])
def test_a_name_that_no_file_can_have_is_refused(home, tmp_path, name):
    with pytest.raises(DataError):
        fetch(tmp_path, name=name)
    assert home.requests == []


@pytest.mark.parametrize("name", ["../escape.csv", "/etc/escape.csv", "sesi/../../escape.csv", "link/escape.csv"])
def test_no_name_leads_out_of_the_data_folder(home, tmp_path, name):
    outside, root = tmp_path / "outside", tmp_path / "data"
    outside.mkdir()
    root.mkdir()
    (root / "link").symlink_to(outside)
    with pytest.raises(DataError, match="outside the data folder"):
        fetch(root, name=name)
    assert home.requests == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_killed_during_a_download_it_continues_where_it_stopped(home, tmp_path):
    home.mode = "pausing"
    script = (
        "import asyncio, pathlib, sys; from sociometer.core.card import FileCard; "
        "from sociometer.engine.data import fetch_files; "
        f"file = FileCard('sesi/a.csv', 'owner/name', 'abc', 'data/a file.csv', {SUM!r}); "
        "asyncio.run(fetch_files([file], pathlib.Path(sys.argv[1]), lambda *_: None))"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    partial = tmp_path / "sesi/a.csv.part"
    # A block reaches the disk when the next one does not fit into the file's buffer, or later: wait for some of it.
    deadline = time.monotonic() + 60
    while not (partial.exists() and partial.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.wait(10)
    kept = partial.stat().st_size
    assert 0 < kept < len(BODY)
    assert partial.read_bytes() == BODY[:kept]
    assert not (tmp_path / "sesi/a.csv").exists()
    home.mode = "right"
    assert fetch(tmp_path).status == "resumed"
    assert home.requests[-1][1] == kept
    assert (tmp_path / "sesi/a.csv").read_bytes() == BODY


def test_a_file_that_is_whole_but_not_yet_in_place_is_not_sent_again(home, tmp_path):
    """As after a kill between the last block and the checksum: the server has nothing beyond the end to send."""
    (tmp_path / "sesi").mkdir()
    (tmp_path / "sesi/a.csv.part").write_bytes(BODY)
    home.mode = "beyond"
    assert fetch(tmp_path).status == "resumed"
    assert (tmp_path / "sesi/a.csv").read_bytes() == BODY


def test_what_is_left_of_another_file_is_given_up_by_its_checksum_and_the_next_try_starts_anew(home, tmp_path):
    (tmp_path / "sesi").mkdir()
    (tmp_path / "sesi/a.csv.part").write_bytes(b"x" * 1000)
    with pytest.raises(DataError, match="has the wrong checksum"):
        fetch(tmp_path)
    assert fetch(tmp_path).status == "fetched"
