"""`data fetch` says for each file what its checksum was checked against."""

import hashlib
import json

import pytest
from msgspec import structs

from sociometer.cli import data
from sociometer.cli.main import run_command
from sociometer.engine.data import CheckedAgainst, Fetched
from sociometer.instruments import card_of

PINNED = hashlib.sha256(b"a").hexdigest()


@pytest.fixture
def fetch(tmp_path, monkeypatch, capsys):
    """Runs `data fetch` with some files, fetched as told, and gives what was printed."""
    monkeypatch.setenv("SOCIOMETER_DATA", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    card = card_of("sesi")

    def call(*files, more=()):
        kind = type(card.file[0])
        cards = tuple(kind(name, "o/n", "c", name, sha256) for name, _, sha256, _ in files)

        async def fetch_files(wanted, root, told):
            return [Fetched(name, str(root / name), status, 1, verified) for name, status, _, verified in files]

        monkeypatch.setattr(data, "card_of", lambda _: structs.replace(card, file=cards))
        monkeypatch.setattr(data, "fetch_files", fetch_files)
        assert run_command(["data", "fetch", "sesi", *more]) == 0
        return capsys.readouterr().out

    return call


FILES = (
    ("pinned.csv", "fetched", PINNED, CheckedAgainst.PINNED),
    ("new.csv", "fetched", "", CheckedAgainst.NOTHING),
    ("known.csv", "present", "", CheckedAgainst.FIRST_FETCH),
    ("there.csv", "present", "", CheckedAgainst.NOTHING),
)


def test_a_checksum_that_is_not_pinned_is_said_to_be_so(fetch):
    lines = {line.split()[0]: line for line in fetch(*FILES).splitlines() if line.strip()}
    assert lines["pinned.csv"].rstrip().endswith("matches the pinned checksum")
    assert lines["new.csv"].rstrip().endswith("not pinned: recorded now")
    assert lines["known.csv"].rstrip().endswith("not pinned: same as at the first fetch")
    assert lines["there.csv"].rstrip().endswith("not pinned: recorded now")


def test_the_note_explains_files_that_are_not_pinned_only_where_there_are_some(fetch):
    assert "knows no checksum of a file that is not pinned" in " ".join(fetch(*FILES).split())
    assert "not pinned" not in fetch(FILES[0])


def test_json_says_for_each_file_whether_its_checksum_is_pinned(fetch):
    told = json.loads(fetch(*FILES, more=["--json"]))
    assert [(one["name"], one["pinned"]) for one in told] == [
        ("pinned.csv", True), ("new.csv", False), ("known.csv", False), ("there.csv", False),
    ]  # fmt: skip
    assert {"path", "status", "bytes", "verified"} <= set(told[0])
