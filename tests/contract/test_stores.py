"""The contract of a store: the same on SQLite and on PostgreSQL."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Exchange, Identity, Noted, Reply, Usage, assistant, system, user
from sociometer.core.errors import MachineryError, StoreError, UsageError
from sociometer.core.measure import Measure, Summary
from sociometer.core.task import Episode, Failure, Item, Score, Task
from sociometer.instruments import load
from sociometer.store import database
from sociometer.store.erasing import erase_person
from sociometer.store.records import Charge, JournalEntry, Manifest
from sociometer.store.resolver import Resolver
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store

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
def store(place):
    with Store(place) as opened:
        yield opened


def entry(key=b"k" * 16, text=b"reply", run="r", **changes):
    facts = {"usage": Usage(3, 4), "charge": Charge(0.5), **changes}
    return JournalEntry(key, MODEL, run, (system("be kind"), user("hello")), text, **facts)


def keep(store, *entries):
    async def play():
        for one in entries:
            await store.journal.keep(one)

    asyncio.run(play())


def test_a_kept_reply_is_found_by_another_process_at_once(store, place):
    keep(store, entry())
    with Store(place) as second:
        assert second.journal.lookup(b"k" * 16) == b"reply"
        assert second.journal.asked(b"k" * 16)[0] == (system("be kind"), user("hello"))


def test_spending_is_summed_and_the_unknown_is_counted_not_taken_for_zero(store):
    keep(store, entry(), entry(b"l" * 16, usage=Usage(None, 4), charge=Charge(None)))
    spent = store.journal.spent("r")
    assert (spent.requests, spent.input_tokens, spent.output_tokens, spent.cost) == (2, 3, 8, 0.5)
    assert (spent.unpriced, spent.unmetered) == (1, 1)


def test_equal_texts_are_stored_once(store, place):
    keep(store, *(entry(bytes([number]) * 16) for number in range(20)))
    with closing(store.database.connect(writable=False)) as other:
        assert other.execute("SELECT count(*) FROM text").fetchone() == (2,)


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
    assert list(store.episodes.walk(run.id, POST.name, POST)) == [episode]
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


def test_runs_are_found_by_id_beginning_name_and_last(store):
    first = store.runs.create(manifest(), "one")
    named = manifest(config=RunConfig(instrument="sage", subject="m", name="mine"), subject="mine")
    second = store.runs.create(named, "two")
    assert store.runs.get(first.id).id == first.id
    words = Resolver(store, load)
    assert words.record(second.id[:7]).id == second.id
    assert words.record("last").id == second.id
    assert words.record("mine").id == second.id
    assert words.record("m").id == first.id
    assert store.runs.with_config("one").id == first.id
    with pytest.raises(UsageError, match=r"unknown run 'nothing'.*sociometer runs"):
        words.record("nothing")
    with pytest.raises(UsageError, match="unknown run"):
        words.record("%")
    for number in range(12):
        store.runs.create(manifest(), f"more {number}")
    with pytest.raises(
        UsageError, match=r"^unknown run 'nothing'\. If it is in another store, give --store\. To see all"
    ):
        words.record("nothing")


def test_a_summary_survives(store):
    run = store.runs.create(manifest(), "hash")
    summary = Summary((Measure("accuracy", 0.5, {"ability": "empathy"}, items=3),), notes=("few",))
    store.runs.set_summary(run.id, "post", summary)
    store.flush()
    assert store.runs.summary(run.id, "post") == summary


def test_two_processes_may_write_one_store(store, place):
    with Store(place) as second:
        keep(store, entry(b"a" * 16))
        keep(second, entry(b"b" * 16))
        keep(store, entry(b"c" * 16))
        assert all(second.journal.lookup(key * 16) for key in (b"a", b"b", b"c"))


def test_two_processes_that_start_the_same_command_share_one_run(store, place):
    with Store(place) as second:
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


def test_of_two_replies_to_one_draw_the_first_counts_for_both(store, place):
    with Store(place) as second:

        async def play():
            first = await store.journal.keep(entry(text=b"mine"))
            late = await second.journal.keep(entry(text=b"yours"))
            same = await asyncio.gather(*(second.journal.keep(entry(b"x" * 16, text=text)) for text in (b"1", b"2")))
            return first, late, same

        assert asyncio.run(play()) == (None, b"mine", [None, b"1"])
        assert second.journal.lookup(b"k" * 16) == b"mine"
        assert store.journal.lookup(b"x" * 16) == b"1"


def test_a_reply_is_found_while_other_work_goes_on(store):
    keep(store, *(entry(bytes([number]) * 16, text=b"%d" % number) for number in range(50)))

    async def find():
        return await asyncio.gather(*(store.journal.find(bytes([number]) * 16) for number in range(60)))

    assert asyncio.run(find()) == [b"%d" % number for number in range(50)] + [None] * 10


def test_a_late_failure_does_not_replace_an_outcome(store):
    run = store.runs.create(manifest(), "hash")
    letter = Letter(id="a", text="dear")
    store.runs.add_item(run.id, "post", 0, letter)
    store.episodes.add(run.id, "post", Episode(letter, 0, Reply("ok"), Score(values={}), None), [])
    store.flush()
    store.episodes.add(run.id, "post", Episode(letter, 0, None, None, Failure("timeout", "too late")), [])
    store.flush()
    assert store.episodes.finished(run.id, "post") == {("a", 0)}
    assert store.episodes.failures(run.id) == {}


def test_many_episodes_come_back_in_order_page_by_page(store, monkeypatch):
    monkeypatch.setattr(database, "_PAGE", 7)
    run = store.runs.create(manifest(), "hash")
    for position in range(10):
        letter = Letter(id=f"i{9 - position}", text="dear")
        store.runs.add_item(run.id, "post", position, letter)
        for repeat in range(3):
            store.episodes.add(run.id, "post", Episode(letter, repeat, Reply("ok"), Score(values={}), None), [])
    store.flush()
    found = [(episode.item.id, episode.repeat) for episode in store.episodes.walk(run.id, POST.name, POST)]
    assert found == [(f"i{9 - position}", repeat) for position in range(10) for repeat in range(3)]
    assert [one.item for one in store.episodes.scored(run.id, "post", page=(3, 3))] == ["i8"] * 3


def test_a_search_finds_words_of_any_case(store):
    run = store.runs.create(manifest(config=RunConfig(instrument="sesi", subject="Qwen_2", tasks=("post",))), "hash")
    store.runs.create(manifest(), "other")
    assert [one.id for one in store.runs.found(RunSearch(words="QWEN_2"))] == [run.id]
    assert store.runs.count(RunSearch(words="qwen%2")) == 0
    assert store.runs.count(RunSearch(status="stopped")) == 2
    assert store.runs.count(RunSearch(status="playing")) == 0


def test_a_run_is_held_by_one_process_at_a_time(store, place):
    run = store.runs.create(manifest(), "hash").id
    with Store(place) as second:
        with store.hold(run):
            assert second.database.is_played(run)
            with pytest.raises(StoreError, match=f"{run} is in progress in (another )?process"), second.hold(run):
                pass
        assert not second.database.is_played(run)
        with second.hold(run):
            pass


def test_what_a_person_said_is_deleted_and_what_others_share_stays(store):
    person, run = Identity("human", "p1"), store.runs.create(manifest(), "hash").id
    mine = JournalEntry(b"p" * 16, person, run, (user("hello"), user("my secret")), b"x", Usage(), Charge(None))
    keep(store, entry(), mine)
    erase_person(store.database, (run,), person, store.forget)
    with closing(store.database.connect(writable=False)) as other:
        assert other.execute("SELECT count(*) FROM text").fetchone() == (2,)
        assert other.execute("SELECT count(*) FROM journal").fetchone() == (1,)
        assert other.execute("SELECT count(*) FROM model").fetchone() == (1,)
    assert list(store.runs.all()) == []


def test_a_person_leaves_no_bytes_and_no_analysis_behind(store, place):
    """Judges' runs on the person's words go too; another person's own run stays, even with the same sentence."""
    secret = "Zwiebelturm im Regen, sagte sie"
    person, other = Identity("human", "p1"), Identity("human", "p2")
    run, kept = (store.runs.create(manifest(), name).id for name in ("one", "two"))
    judged = store.runs.create(manifest(given_items=True), "three").id
    reply = msgspec.msgpack.encode(Reply(secret))
    question = (user("How was it?"),)
    keep(
        store,
        JournalEntry(b"p" * 16, person, run, question, reply, Usage(), Charge(None)),
        JournalEntry(b"q" * 16, other, kept, (*question, user(f"{secret}, and more")), b"x", Usage(), Charge(None)),
        JournalEntry(b"j" * 16, MODEL, judged, (user(f"Is this kind? {secret}!"),), b"yes", Usage(), Charge(None)),
        JournalEntry(b"i" * 16, MODEL, judged, (user("Is this kind? Something else."),), b"no", Usage(), Charge(None)),
    )
    store.runs.add_item(judged, "post", 0, Letter(id="a", text=f"She said: {secret}"))
    # Many rows between them, so that pages are split and hold old copies.
    keep(store, *(entry(number.to_bytes(16, "little"), run=run) for number in range(1000)))
    store.flush()
    if store.database.remote:  # the server does this by itself from time to time, and keeps samples of the values
        with closing(store.database.connect()) as connection:
            connection.execute("ANALYZE")
    erased = erase_person(store.database, (run,), person, store.forget)
    assert (erased.answers, erased.analyses) == (1, 1)
    assert [one.id for one in store.runs.all()] == [kept]
    assert store.journal.lookup(b"i" * 16) == b"no" and store.journal.lookup(b"j" * 16) is None
    assert store.journal.asked(b"q" * 16)[0][1].content.startswith(secret)
    erase_person(store.database, (kept,), other, store.forget)
    bodies = b"".join(path.read_bytes() for path in files_of(store, place))
    assert bodies and secret.encode() not in bodies and run.encode() not in bodies and kept.encode() not in bodies


def files_of(store, place):
    """Every file that holds the store's tables; PostgreSQL's own log is out of our reach."""
    if isinstance(store.path, Path):
        return [path for path in store.path.parent.rglob("*") if path.is_file()]
    with closing(store.database.connect()) as connection:
        connection.execute("CHECKPOINT")
        folder = Path(connection.execute("SHOW data_directory").fetchone()[0])
        number = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()[0]
    if not (folder / "base").is_dir():
        pytest.skip("the server's files are on another machine")
    return [path for path in (folder / "base" / str(number)).rglob("*") if path.is_file()]


def test_a_value_that_cannot_be_stored_fails_alone(store):
    async def play():
        good = store.journal.keep(entry())
        bad = store.journal.keep(entry(b"b" * 16, usage=Usage(1 << 70, 1)))
        also = store.journal.keep(entry(b"c" * 16))
        return await asyncio.gather(good, bad, also, return_exceptions=True)

    good, bad, also = asyncio.run(play())
    assert (good, also) == (None, None)
    assert isinstance(bad, MachineryError)
    assert store.journal.lookup(b"c" * 16) == b"reply"


def test_a_text_with_a_zero_in_it_is_kept(store):
    run = store.runs.create(manifest(), "hash")
    letter = Letter(id="a", text="de\0ar")
    store.runs.add_item(run.id, "post", 0, letter)
    store.episodes.add(run.id, "post", Episode(letter, 0, None, None, Failure("odd", "a\0b")), [])
    store.flush()
    (episode,) = store.episodes.walk(run.id, POST.name, POST)
    assert episode.item.text == "de\0ar"
    assert episode.failure.message in ("a\0b", "a\ufffdb")
    assert episode.failure.kind == "odd"


def test_a_store_is_created_by_many_at_once(place):
    start = threading.Barrier(6)

    def create(number):
        start.wait()
        with Store(place) as store:
            return store.runs.create(manifest(), f"hash {number}").id

    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(create, range(6)))
    with Store(place) as store:
        assert {run.id for run in store.runs.all()} == set(made)
