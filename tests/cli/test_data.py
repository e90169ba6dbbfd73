"""`get data` says for each file what its checksum was checked against."""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath

import pytest
from msgspec import structs

from sociometer.cli import get
from sociometer.cli.main import run_command
from sociometer.core.card import FileCard, ReleaseCard, ReleasedFile, ReleaseFolder
from sociometer.engine.data import CheckedAgainst, Fetched
from sociometer.instruments import card_of

PINNED = hashlib.sha256(b"a").hexdigest()


def with_files(card, files):
    """The card with these official files and no others."""
    releases = []
    for file in files:
        path, name = PurePosixPath(file.path), PurePosixPath(file.name)
        kept = ReleasedFile(path.name, name.name, file.sha256, file.git_blob, file.prompts)
        folder = ReleaseFolder((kept,), str(path.parent), str(name.parent), file.part)
        releases.append(ReleaseCard(file.repository, file.commit, (folder,)))
    made = structs.replace(card, release=tuple(releases))
    assert made.file == tuple(files)
    return made


@pytest.fixture
def fetch(tmp_path, monkeypatch, capsys):
    """Runs `get data` with some files, fetched as told, and gives what was printed."""
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    card = card_of("sesi")

    def call(*files, more=()):
        cards = [FileCard(name, "o/n", "c", name, sha256) for name, _, sha256, _ in files]

        async def fetch_files(wanted, root, told):
            return [Fetched(name, str(root / name), status, 1, verified) for name, status, _, verified in files]

        monkeypatch.setattr(get, "card_of", lambda _: with_files(card, cards))
        monkeypatch.setattr(get, "fetch_files", fetch_files)
        assert run_command(["get", "data", "sesi", *more]) == 0
        return capsys.readouterr().out

    return call


FILES = (
    ("pinned.csv", "fetched", PINNED, CheckedAgainst.PINNED),
    ("new.csv", "fetched", "", CheckedAgainst.NOTHING),
    ("known.csv", "present", "", CheckedAgainst.FIRST_FETCH),
    ("there.csv", "present", "", CheckedAgainst.UNKNOWN),
)


def test_a_checksum_that_is_not_pinned_is_said_to_be_so(fetch):
    lines = {line.split()[0]: line for line in fetch(*FILES).splitlines() if line.strip()}
    assert lines["pinned.csv"].rstrip().endswith("matches the pinned checksum")
    assert lines["new.csv"].rstrip().endswith("not pinned: checksum recorded now")
    assert lines["known.csv"].rstrip().endswith("not pinned: matches the checksum of the first fetch")
    assert lines["there.csv"].rstrip().endswith("not pinned: no checksum is known")


def test_the_note_explains_files_that_are_not_pinned_only_where_there_are_some(fetch):
    assert "has no checksum for them" in " ".join(fetch(*FILES).split())
    assert "not pinned" not in fetch(FILES[0])


def test_json_says_for_each_file_whether_its_checksum_is_pinned(fetch):
    told = json.loads(fetch(*FILES, more=["--json"]))
    assert [(one["name"], one["pinned"]) for one in told] == [
        ("pinned.csv", True), ("new.csv", False), ("known.csv", False), ("there.csv", False),
    ]  # fmt: skip
    assert {"path", "status", "bytes", "verified"} <= set(told[0])


@pytest.fixture
def home(monkeypatch, tmp_path):
    """A server with the files of the cards whose path does not contain a name; lists the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = b"x" * 10
            self.send_response(404 if "gemini2.0" in self.path else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path))
    monkeypatch.setenv("SOCIOMETER_DATA_HOME", f"http://127.0.0.1:{server.server_port}")
    yield asked
    server.shutdown()
    server.server_close()
    thread.join(5)


def test_the_released_dialogues_are_fetched_from_the_folders_of_the_release(home, tmp_path, monkeypatch, capsys):
    card = card_of("sage")
    unpinned = tuple(structs.replace(file, sha256="", git_blob="") for file in card.file)
    monkeypatch.setattr(get, "card_of", lambda _: with_files(card, unpinned))
    assert run_command(["get", "data", "sage"]) == 0
    assert len(home) == 3 and "/SAGE/profile/" in home[0]
    assert run_command(["get", "data", "sage", "--dialogues"]) == 4, "one file is not there"
    told = capsys.readouterr()
    assert "returned status 404" in told.err and "50 of 51 official files" in told.out
    wanted = "/SAGE/dataset/deepseek-v3-2024-1227_based_simulator/gpt-4.1_result.jsonl"
    assert any(path.endswith(wanted) for path in home)
    assert (tmp_path / "sage/dataset/gpt-4o-2024-0806_based_simulator/openai-o1_result.jsonl").is_file()


def test_a_released_dialogue_with_other_bytes_is_refused_by_its_git_blob_id(home, tmp_path, monkeypatch, capsys):
    card = card_of("sage")
    (first, *_) = (file for file in card.file if file.git_blob and not file.sha256)
    files = (structs.replace(first, part=""),)
    monkeypatch.setattr(get, "card_of", lambda _: with_files(card, files))
    assert run_command(["get", "data", "sage"]) != 0
    assert "has the wrong checksum" in capsys.readouterr().err
    assert not list((tmp_path / "sage").rglob("*.jsonl"))
    blob = hashlib.sha1(b"blob 10\0" + b"x" * 10, usedforsecurity=False).hexdigest()
    right = (structs.replace(files[0], git_blob=blob),)
    monkeypatch.setattr(get, "card_of", lambda _: with_files(card, right))
    assert run_command(["get", "data", "sage"]) == 0


def test_an_instrument_without_dialogues_says_which_have_them(capsys):
    assert run_command(["get", "data", "sesi", "--dialogues"]) == 2
    assert "these have: sage" in capsys.readouterr().err


def test_talks_of_people_are_fetched_into_a_folder_that_import_reads(tmp_path, monkeypatch, capsys):
    """From a loopback server; the checksum of `valid.txt` is pinned, that of the rejected talks is recorded."""
    served = {"valid.txt": b"not the released file", "FailedESConv.json": b"[]"}
    asked = []

    class Home(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = served[self.path.rsplit("/", 1)[1]]
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Home)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path))
    monkeypatch.setenv("SOCIOMETER_DATA_HOME", f"http://127.0.0.1:{server.server_port}")
    try:
        assert run_command(["get", "data", "esconv"]) != 0
        assert "wrong checksum" in " ".join(capsys.readouterr().err.split())
        assert asked == ["/lwgkzl/MultiESC/46834e134320253e51920a2f5d34f166335bd965/MultiESC/data/valid.txt"]
        pinned = next(file for file in card_of("sage").files("esconv") if file.sha256)
        assert pinned.name == "people/esconv/valid.txt"
        unpinned = [structs.replace(file, sha256="") for file in card_of("sage").files("esconv")]
        card = with_files(card_of("sage"), unpinned)
        monkeypatch.setattr(get, "cards", lambda: {"sage": card})
        assert run_command(["get", "data", "esconv"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "All 2 files of esconv are present" in shown and "sage import --people" in shown
        assert (tmp_path / "people" / "esconv" / "FailedESConv.json").read_bytes() == b"[]"
    finally:
        server.shutdown()
        server.server_close()


def test_talks_in_too_many_files_are_cloned(capsys):
    assert run_command(["get", "data", "recllmsim"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "git clone https://github.com/wzf2000/RecLLMSim" in said and "checkout d680f2f9" in said
    assert "sage import --people RecLLMSim/human_exp_V2" in said
