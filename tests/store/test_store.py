import asyncio
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Identity, Reply, Usage, system, user
from sociometer.core.errors import StoreError
from sociometer.core.measure import Summary
from sociometer.core.task import Item, Score, Task
from sociometer.store import postgresql, sqlite
from sociometer.store.place import parse_place
from sociometer.store.records import Charge, JournalEntry, Manifest
from sociometer.store.sqlite import RunLock, SqliteDatabase, lock_path
from sociometer.store.store import Store
from sociometer.store.texts import pack, unpack

MODEL = Identity("openai", "m", "http://x/v1")


class Letter(Item, frozen=True, kw_only=True):
    text: str


POST = Task(
    "post",
    Letter,
    Reply,
    play=lambda item, session: None,
    score=lambda item, outcome: Score(values={}),
    summarise=lambda run: Summary(()),
)


def manifest(**changes):
    facts = {
        "config": RunConfig(instrument="sesi", subject="m", tasks=("post",)), "instrument_version": "1", "roles": {},
        "repeats": {"post": 1}, "prompts_digest": "", "data_files": {}, "norms": {}, "sociometer_version": "",
        "python_version": "", "platform": "",
    }  # fmt: skip
    return Manifest(**{**facts, **changes})


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "s.db") as opened:
        yield opened


def entry(key=b"k" * 16, text=b"reply", run="r", **changes):
    facts = {"usage": Usage(3, 4), "charge": Charge(0.5), **changes}
    return JournalEntry(key, MODEL, run, (system("be kind"), user("hello")), text, **facts)


def keep(store, *entries):
    async def play():
        for one in entries:
            await store.journal.keep(one)

    asyncio.run(play())


@pytest.mark.parametrize("body", [b"", b"x", b"ab" * 500, bytes(range(256)) * 3])
def test_packed_bodies_come_back(body):
    assert unpack(pack(body)) == body


def test_a_long_repetitive_body_is_stored_small():
    assert len(pack(b"social " * 1000)) < 200


def test_a_damaged_file_is_named_and_what_to_do_said(tmp_path):
    path = tmp_path / "broken.db"
    path.write_bytes(b"this is not a database" * 100)
    with pytest.raises(StoreError, match=r"broken\.db: not a store, or a damaged one.*recover"):
        Store(path).flush()


def test_a_store_from_the_future_is_refused(tmp_path):
    with Store(tmp_path / "s.db") as store:
        store.flush()
    with closing(sqlite3.connect(tmp_path / "s.db")) as other:
        other.execute("PRAGMA user_version = 999")
    with pytest.raises(StoreError, match="newer Sociometer"):
        Store(tmp_path / "s.db").flush()


@pytest.mark.parametrize("body", [b"this is not a database" * 100, None])
def test_a_file_that_cannot_be_used_as_a_store_is_closed_again(tmp_path, monkeypatch, body):
    path = tmp_path / "s.db"
    if body is not None:
        path.write_bytes(body)
    else:
        with closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA user_version = 999")
    opened, really_connect = [], sqlite3.connect

    def connect(*args, **options):
        opened.append(really_connect(*args, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", connect)
    with pytest.raises(StoreError):
        Store(path).flush()
    assert opened
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
            connection.total_changes  # noqa: B018


def test_a_full_disk_is_a_clear_error_and_what_was_stored_stays(tmp_path):
    with Store(tmp_path / "s.db") as store:
        keep(store, entry())
        store.writer._connection.execute("PRAGMA max_page_count = 40")
        with pytest.raises(StoreError, match="disk is full"):
            for number in range(2000):
                keep(store, entry(number.to_bytes(16, "big"), text=number.to_bytes(8, "big") * 200))
        assert store.journal.lookup(b"k" * 16) == b"reply"
        with pytest.raises(StoreError, match="disk is full"):
            store.flush()
        store.writer._broken = None


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="--store"):
        Store(tmp_path / "file" / "s.db").flush()


@pytest.mark.parametrize(("schema", "told"), [(6, "a development version"), (99, "a newer Sociometer")])
def test_a_store_of_another_schema_is_refused_with_one_sentence(tmp_path, schema, told):
    with Store(tmp_path / "s.db") as store:
        keep(store, entry())
    with closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other:
        other.execute(f"PRAGMA user_version = {schema}")
    with Store(tmp_path / "s.db") as store, pytest.raises(StoreError, match=told):
        store.flush()


def test_nothing_is_made_before_the_first_use(tmp_path):
    with Store(tmp_path / "s.db"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_being_played_says_by_whom(tmp_path):
    with (
        RunLock(tmp_path / "s.db", "sesi-abc"),
        pytest.raises(StoreError, match=r"sesi-abc is in progress in process \d+"),
    ):
        RunLock(tmp_path / "s.db", "sesi-abc").__enter__()
    with RunLock(tmp_path / "s.db", "sesi-abc"):
        pass


def test_a_lock_leaves_no_file_behind(tmp_path):
    with RunLock(tmp_path / "s.db", "sesi-abc"):
        assert len(list((tmp_path / "s.db.locks").iterdir())) == 1
    assert list((tmp_path / "s.db.locks").iterdir()) == []


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    path = lock_path(tmp_path / "s.db", "sesi-abc")
    opened = []

    class Slow(RunLock):
        def _open(self):
            handle = super()._open()
            if not opened:
                path.unlink()
            opened.append(handle)
            return handle

    with Slow(tmp_path / "s.db", "sesi-abc"):
        assert len(opened) == 2
        with pytest.raises(StoreError, match="is in progress"):
            RunLock(tmp_path / "s.db", "sesi-abc").__enter__()


@pytest.mark.parametrize("size", [10, 119, 120, 4_096, 4_097, 100_000])
def test_a_text_of_any_size_comes_back_as_it_was(size):
    body = ("Rivers run to the sea. 河流入海。" * size).encode()[:size]
    assert unpack(pack(body)) == body
    assert len(pack(body)) <= size + 1


def test_a_store_that_another_process_makes_meanwhile_is_opened(place, monkeypatch):
    module = postgresql if "://" in place else sqlite
    look = module._schema

    def made_by_another(connection):  # between the look at the tables and that at their version
        monkeypatch.setattr(module, "_schema", look)
        with Store(parse_place(place)) as other:
            other.runs.create(manifest(), "")
        return look(connection)

    monkeypatch.setattr(module, "_schema", made_by_another)
    with Store(parse_place(place)) as store:
        assert [run.instrument for run in store.runs.all()] == ["sesi"]


def test_threads_that_write_first_at_once_share_one_writer(tmp_path, monkeypatch):
    """With two writers, closing ended one of them and waited for the other for ever."""
    path = tmp_path / "s.db"
    with Store(path) as made:
        made.writer.queue(lambda _: None)  # so that opening it to read starts no writer
    connect, all_ready = SqliteDatabase.connect, threading.Barrier(4)

    def slowly(database, *, writable=True):
        if writable:
            time.sleep(0.2)
        return connect(database, writable=writable)

    monkeypatch.setattr(SqliteDatabase, "connect", slowly)
    before = sum(thread.name == "store-writer" for thread in threading.enumerate())
    store, written = Store(path), []

    def write(number):
        all_ready.wait()
        store.writer.queue(lambda _: written.append(number))
        store.flush()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert sorted(written) == [0, 1, 2, 3]
    assert sum(thread.name == "store-writer" for thread in threading.enumerate()) == before + 1
    store.close()
