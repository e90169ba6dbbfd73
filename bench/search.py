"""Time of a search in one run with many episodes, before and after its index is there.

Run: python bench/search.py [--episodes 100000] [--store PLACE] (a store that is there is used again)
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import structs

from sociometer.core.config import RunConfig
from sociometer.core.conversation import Exchange, Identity, Message, Reply, Usage
from sociometer.core.instrument import Instrument
from sociometer.core.source import Source
from sociometer.core.task import Episode, Item, Score
from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.instruments._template.items import Question
from sociometer.store.records import Charge, JournalEntry, RunStatus
from sociometer.store.store import Store
from sociometer.web.browsing import ViewedStore, read_items

WORDS = tuple("".join(random.Random(n).choices("abcdefghijklmnopqrstuvwxyz", k=2 + n % 9)) for n in range(4_000))
CHINESE = "她觉得自己被朋友误解了可是不知道该怎么开口解释这件事情的经过于是沉默很久"
REPLY_WORDS = 120
SEARCHES = ("number", "q054321", "朋友", "心碎", "heartbroken", "ab", "e", "nothing-of-the-kind")


def question(number: int) -> Question:
    lots = random.Random(number)
    moment = f"Number {number}: " + " ".join(lots.choices(WORDS, k=60))
    options = tuple(" ".join(lots.choices(WORDS, k=8)) for _ in range(4))
    return Question(
        id=f"q{number:06d}", topic="keys", cluster=f"c{number // 5:05d}", moment=moment, options=options,
        question="What does Ines feel?", answer=number % 4,
    )  # fmt: skip


def one_item() -> Instrument:
    given = load("_template")
    task = next(iter(given.tasks.values()))

    def items(source: Source) -> Iterator[Item]:
        yield question(0)

    return Instrument(given.folder, [structs.replace(task, items=items)])


def said(number: int) -> str:
    lots = random.Random(-number - 1)
    words = [*lots.choices(WORDS, k=REPLY_WORDS), "".join(lots.choices(CHINESE, k=60))]
    if number % 5_000 == 7:
        words[40:40] = ["Heartbroken", "心碎"]
    return " ".join(words)


def build(store: Store, count: int) -> None:
    """A run of so many episodes, each of its own item and with a reply in the journal."""
    first = Engine(store, lambda name: one_item()).run(RunConfig(instrument="_template", subject="baseline/random"))
    task = first.run.tasks[0]
    outcome, model = next(iter(first.run.episodes())).outcome, Identity("bench", "bench")
    record = store.runs.create(first.run.manifest, "many")
    asyncio.run(fill(store, record.id, task, outcome, model, count))
    store.runs.set_status(record.id, RunStatus.FINISHED)
    store.flush()


async def fill(store: Store, run: str, task: str, outcome: object, model: Identity, count: int) -> None:
    for number in range(count):
        item, key = question(number), number.to_bytes(16)
        messages = (Message("user", item.moment),)
        reply = Reply(said(number), usage=Usage(1, 1))
        entry = JournalEntry(key, model, run, messages, msgspec.msgpack.encode(reply), Usage(1, 1), Charge(0.0))
        store.runs.add_item(run, task, number, item)
        kept = store.journal.keep(entry)
        event = Exchange("subject", "bench", messages, reply, key=key)
        store.episodes.add(run, task, Episode(item, 0, outcome, Score(values={"correct": 1.0}), None), [event])
        if number % 1_000 == 999:
            await kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--store", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = options.store or str(Path(folder) / "bench.db")
        with Store(place) as store:
            if not any(one.manifest.episodes for one in store.runs.all()):
                build(store, options.episodes)
            record = max(store.runs.all(), key=lambda one: sum(store.episodes.counts(one.id)))
            place_ = store.path
        viewed = ViewedStore(place_, load, {})
        task = record.manifest.config.tasks[0]
        for words in SEARCHES[:1] + SEARCHES:
            began = time.perf_counter()
            found = read_items(viewed, record.id, task, "", words, 1)
            print(f"{words!r}: {found.count:,} episodes, {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
