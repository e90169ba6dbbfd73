"""The search finds the episodes that have the words, whatever their language, and reads stores of version 0.3."""

import asyncio
import random
import sqlite3
from contextlib import closing
from hashlib import blake2b

import msgspec
import pytest

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Exchange, Identity, Reply, Usage, user
from sociometer.core.errors import StoreError
from sociometer.core.task import Episode, Failure, Item, Score
from sociometer.store import database, searching
from sociometer.store.records import Charge, JournalEntry, Manifest
from sociometer.store.store import Store

TASK = "post"
ALPHABETS = ("abcdeABCDE \"'%_\\", "她觉得朋友误解", "ßÄÖİıΣσς", "кириллица", "한국어", "مرحبا", "🙂é\u0301\x00\ud800")


class Letter(Item, frozen=True, kw_only=True):
    text: str


def some_text(lots, most):
    return "".join(lots.choice(lots.choice(ALPHABETS)) for _ in range(lots.randrange(most)))


def new_run(store, name="r"):
    config = RunConfig(instrument="sesi", subject="m", tasks=(TASK,), name=name)
    facts = ("1", {}, {TASK: 1}, "", {}, {}, "", "", "")
    return store.runs.create(Manifest(config, *facts), name).id


def add(store, run, place, text, replies, repeat=0):
    """An episode, of whose replies every second one is in the journal."""
    item = Letter(id=f"i{place}", text=text.encode("utf-8", "replace").decode())
    events = []

    async def keep():
        for number, said in enumerate(replies):
            key = b"" if number % 2 else blake2b(f"{run}/{place}/{repeat}/{number}/{said}".encode()).digest()[:16]
            reply, asked = Reply(said, usage=Usage(1, 1)), (user("hello"),)
            if key:
                body = msgspec.msgpack.encode(reply)
                who = Identity("openai", "m", "http://x/v1")
                await store.journal.keep(JournalEntry(key, who, run, asked, body, Usage(1, 1), Charge(0.0)))
            events.append(Exchange("subject", "m", asked, reply, key=key))

    asyncio.run(keep())
    store.runs.add_item(run, TASK, place, item)
    outcome, failure = (None, Failure("timeout", "late")) if place % 5 == 4 else (Reply("x"), None)
    store.episodes.add(
        run, TASK, Episode(item, repeat, outcome, Score(values={}) if outcome else None, failure), events
    )
    store.flush()
    return (item.id, repeat), f"{item.id} {msgspec.json.encode(item).decode()} {' '.join(replies)}"


def with_words(texts, words):
    """What a search must find, said in one line."""
    wanted = [searching.searchable(word) for word in words.split()]
    return [place for place, text in texts if all(word in searching.searchable(text) for word in wanted)]


def test_random_texts_in_many_languages_are_found(place, monkeypatch):
    lots = random.Random(63)
    with Store(place) as store:
        run, other = new_run(store), new_run(store, "other")
        monkeypatch.setattr(database, "_AT_ONCE", 7)
        texts = []
        for number in range(20):
            said = [some_text(lots, 30).replace("\ud800", "") for _ in range(lots.randrange(4))]
            asked = some_text(lots, 40)
            texts += [add(store, run, number, asked, said[repeat:], repeat) for repeat in range(1 + number % 2)]
            add(store, other, number, some_text(lots, 40), said)
        every = "".join(ALPHABETS) + "i0 {"
        searches = ["", "  ", "i1", "友", "朋友", "ΣΣ", "{", "zz"]
        searches += ["".join(lots.choices(every, k=lots.randrange(1, 4))) for _ in range(30)]
        searches += [" ".join(lots.choice(texts)[1].split()[-2:])[:60] for _ in range(10)]
        searches += [" ".join(every) * 2]
        found = [store.search.found(run, TASK, words) for words in searches]
        assert found == [with_words(texts, words) for words in searches]
        assert 0 < sum(map(bool, found)) < len(found)


def test_what_is_stored_later_is_found_and_what_is_replaced_is_not(place):
    with Store(place) as store:
        run = new_run(store)
        add(store, run, 4, "question", ["an early heron"])
        assert store.search.found(run, TASK, "heron") == [("i4", 0)]
        with Store(place) as another:
            add(another, run, 4, "question", ["a late swan"])
            add(another, run, 1, "question", ["Heron"])
        assert store.search.found(run, TASK, "heron") == [("i1", 0)]
        assert store.search.found(run, TASK, "question") == [("i1", 0), ("i4", 0)]


def test_a_read_only_database_is_searched(postgres):
    import psycopg

    with Store(postgres) as store:
        run = new_run(store)
        add(store, run, 0, "heron", [])
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute("ALTER DATABASE " + server.info.dbname + " SET default_transaction_read_only = on")
    with Store(postgres) as store:
        assert store.search.found(run, TASK, "heron") == [("i0", 0)]


COPY = """CREATE TABLE searched (
  run TEXT NOT NULL,
  task TEXT NOT NULL,
  position INTEGER NOT NULL,
  repeat INTEGER NOT NULL,
  item TEXT NOT NULL,
  created REAL NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (run, task, position, repeat, item, created)
)"""


def tables(store):
    return {name for (name,) in store.reader.execute("SELECT name FROM sqlite_master").fetchall()}


def test_the_copy_of_the_texts_in_a_store_of_version_0_3_is_ignored_and_dropped(tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        run = new_run(store)
        add(store, run, 0, "heron", [])
    with closing(sqlite3.connect(path)) as file:
        file.execute(COPY)
        file.execute("INSERT INTO searched VALUES (?, ?, 0, 0, 'i0', 0, 'words of somebody who withdrew')", (run, TASK))
        file.commit()
    with Store(path) as store:
        assert store.search.found(run, TASK, "heron") == [("i0", 0)] and "searched" in tables(store)
        add(store, run, 1, "heron", [])
    with Store(path) as store:
        assert store.search.found(run, TASK, "heron") == [("i0", 0), ("i1", 0)] and "searched" not in tables(store)


def test_a_damaged_episode_is_an_error_as_it_was(tmp_path):
    path = tmp_path / "s.db"
    with Store(path) as store:
        run = new_run(store)
        add(store, run, 0, "heron", [])
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE episode SET events = x'020202'")
        file.commit()
    with Store(path) as store, pytest.raises(StoreError, match="damaged"):
        store.search.found(run, TASK, "heron")
