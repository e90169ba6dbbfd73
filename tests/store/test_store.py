import asyncio
import sqlite3
from contextlib import closing

import msgspec
import pytest

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Exchange, Identity, Noted, Reply, Usage, assistant, system, user
from sociometer.core.errors import StoreError, UsageError
from sociometer.core.measure import Measure, Summary
from sociometer.core.task import Episode, Failure, Item, Score, Task
from sociometer.store.lock import RunLock
from sociometer.store.records import Charge, JournalEntry, Manifest
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


def test_a_kept_reply_is_found_by_another_process_at_once(store, tmp_path):
    keep(store, entry())
    with closing(sqlite3.connect(tmp_path / "s.db")) as other:
        assert other.execute("SELECT count(*) FROM journal").fetchone() == (1,)
    with Store(tmp_path / "s.db") as second:
        assert second.journal.lookup(b"k" * 16) == b"reply"
        assert second.journal.asked(b"k" * 16)[0] == (system("be kind"), user("hello"))


def test_spending_is_summed_and_the_unknown_is_counted_not_taken_for_zero(store):
    keep(store, entry(), entry(b"l" * 16, usage=Usage(None, 4), charge=Charge(None)))
    spent = store.journal.spent("r")
    assert (spent.requests, spent.input_tokens, spent.output_tokens, spent.cost) == (2, 3, 8, 0.5)
    assert (spent.unpriced, spent.unmetered) == (1, 1)


def test_equal_texts_are_stored_once(store, tmp_path):
    keep(store, *(entry(bytes([number]) * 16) for number in range(20)))
    with closing(sqlite3.connect(tmp_path / "s.db")) as other:
        assert other.execute("SELECT count(*) FROM text").fetchone() == (2,)


@pytest.mark.parametrize("body", [b"", b"x", b"ab" * 500, bytes(range(256)) * 3])
def test_packed_bodies_come_back(body):
    assert unpack(pack(body)) == body


def test_a_long_repetitive_body_is_stored_small():
    assert len(pack(b"social " * 1000)) < 200


def test_an_episode_comes_back_with_item_outcome_score_and_transcript(store):
    run = store.runs.create(manifest(), "hash")
    keep(store, entry(text=msgspec.msgpack.encode(Reply("said"))))
    letter = Letter(id="a", text="dear")
    store.runs.add_item(run.id, "post", 0, letter)
    episode = Episode(letter, 0, Reply("done"), Score(values={"kind": 1.0}, facets={"tone": "warm"}), None)
    events = [
        Exchange("subject", "m", (user("hello"),), Reply("x"), key=b"k" * 16),
        Noted("mood", {"level": 3}),
        Exchange("judge", "rule", (user("q"), assistant("a")), Reply("free"), "/b"),
    ]
    store.episodes.add(run.id, "post", episode, events)
    store.flush()
    assert list(store.episodes.walk(run.id, POST)) == [episode]
    told = store.episodes.transcript(run.id, "post", "a", 0)
    assert [type(event) for event in told] == [Exchange, Noted, Exchange]
    assert told[0].reply.text == "said"
    assert told[2].messages == (user("q"), assistant("a"))
    assert told[2].branch == "/b"


def test_a_failure_is_kept_without_outcome_and_replaced_when_played_again(store):
    run = store.runs.create(manifest(), "hash")
    letter = Letter(id="a", text="dear")
    store.runs.add_item(run.id, "post", 0, letter)
    store.episodes.add(run.id, "post", Episode(letter, 0, None, None, Failure("timeout", "too slow")), [])
    store.flush()
    assert store.episodes.failures(run.id) == {"timeout": 1}
    assert store.episodes.finished(run.id, "post") == set()
    store.episodes.add(run.id, "post", Episode(letter, 0, Reply("ok"), Score(values={}), None), [])
    store.flush()
    assert store.episodes.failures(run.id) == {}
    assert store.episodes.finished(run.id, "post") == {("a", 0)}


def test_runs_are_found_by_id_beginning_and_last(store):
    first = store.runs.create(manifest(), "one")
    second = store.runs.create(manifest(config=RunConfig(instrument="sage", subject="m", name="mine")), "two")
    assert store.runs.get(first.id).id == first.id
    assert store.runs.get(second.id[:7]).id == second.id
    assert store.runs.get("last").id == second.id
    assert store.runs.get("mine").id == second.id
    assert store.runs.with_config("one").id == first.id
    with pytest.raises(UsageError, match=r"unknown run 'nothing'.*sociometer runs"):
        store.runs.get("nothing")
    with pytest.raises(UsageError, match="unknown run"):
        store.runs.get("%")


def test_a_summary_survives(store):
    run = store.runs.create(manifest(), "hash")
    summary = Summary((Measure("accuracy", 0.5, {"ability": "empathy"}, items=3),), notes=("few",))
    store.runs.set_summary(run.id, "post", summary)
    store.flush()
    assert store.runs.summary(run.id, "post") == summary


def test_a_damaged_file_is_named_and_what_to_do_said(tmp_path):
    path = tmp_path / "broken.db"
    path.write_bytes(b"this is not a database" * 100)
    with pytest.raises(StoreError, match=r"broken\.db: the store is damaged.*recover"):
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
        store._open().writer._connection.execute("PRAGMA max_page_count = 40")
        with pytest.raises(StoreError, match="disk is full"):
            for number in range(2000):
                keep(store, entry(number.to_bytes(16, "big"), text=number.to_bytes(8, "big") * 200))
        assert store.journal.lookup(b"k" * 16) == b"reply"
        with pytest.raises(StoreError, match="disk is full"):
            store.flush()
        store._open().writer._broken = None


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="--store"):
        Store(tmp_path / "file" / "s.db").flush()


def test_a_store_of_the_first_schema_is_brought_up_to_date(tmp_path):
    with Store(tmp_path / "s.db") as store:
        keep(store, entry())
    with closing(sqlite3.connect(tmp_path / "s.db", isolation_level=None)) as other:
        other.execute("DROP TABLE attempt")
        other.execute("DROP TABLE allowance")
        other.execute("DROP TABLE provider_batch")
        other.execute("DROP INDEX run_name")
        other.execute("ALTER TABLE run DROP COLUMN name")
        other.execute("PRAGMA user_version = 1")
    with Store(tmp_path / "s.db") as store:
        assert store.journal.lookup(b"k" * 16) == b"reply"
        assert store.journal.spent("run").requests >= 0


def test_nothing_is_made_before_the_first_use(tmp_path):
    with Store(tmp_path / "s.db"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_two_processes_may_write_one_store(store, tmp_path):
    with Store(tmp_path / "s.db") as second:
        keep(store, entry(b"a" * 16))
        keep(second, entry(b"b" * 16))
        keep(store, entry(b"c" * 16))
        assert all(second.journal.lookup(key * 16) for key in (b"a", b"b", b"c"))


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
    path = tmp_path / "s.db.locks" / "sesi-abc.lock"
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


def test_two_processes_that_start_the_same_command_share_one_run(store, tmp_path):
    with Store(tmp_path / "s.db") as second:
        one = store.runs.create(manifest(), "hash", only=True)
        two = second.runs.create(manifest(), "hash", only=True)
        assert one.id == two.id
        assert len(list(store.runs.all())) == 1
        assert second.runs.create(manifest(), "hash").id != one.id


def test_an_attempt_to_which_nothing_came_back_is_neither_priced_nor_unpriced(store):
    run = store.runs.create(manifest(), "hash")
    store.journal.count_attempt(run.id, None, Charge(None))
    store.journal.count_attempt(run.id, Usage(5, 2), Charge(0.25))
    store.journal.count_attempt(run.id, Usage(5, None), Charge(None, 7))
    store.flush()
    spent = store.journal.spent(run.id)
    assert (spent.requests, spent.priced, spent.unpriced, spent.unmetered) == (3, 1, 1, 1)
    assert (spent.cost, spent.charged_tokens) == (0.25, 7)
