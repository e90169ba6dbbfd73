"""Peak memory of one run with many items: generated questions, a baseline as the subject, in a process of its own.

Run: python bench/many_items.py [--items 100000]
"""

import argparse
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from sociometer.core.config import RunConfig
from sociometer.core.instrument import Instrument
from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.engine.engine import Engine
from sociometer.instruments import load
from sociometer.instruments._template.items import Question
from sociometer.store.store import Store


def many(count: int) -> Instrument:
    """The template with so many questions of the usual length, each in a cluster of five."""
    given = load("_template")
    task = next(iter(given.tasks.values()))

    def items(source: Source) -> Iterator[Item]:
        for number in range(count):
            moment = f"Number {number}: " + "Ines and Tomas meet again after the argument about the keys. " * 8
            options = tuple(f"{moment[:60]} and then option {place}" for place in range(4))
            yield Question(
                id=f"q{number:06d}", topic="keys", cluster=f"c{number // 5:05d}", moment=moment, options=options,
                question="What does Ines feel?", answer=number % 4,
            )  # fmt: skip

    return Instrument(given.folder, [structs.replace(task, items=items)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    count = parser.parse_args().items
    before = peak()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "s.db") as store:
        played = Engine(store, lambda name: many(count)).run(
            RunConfig(instrument="_template", subject="baseline/random")
        )
        print(f"{played.progress.done:,} items, {played.ending.status}, {played.progress.elapsed_seconds:.0f} s")
        print(f"peak memory {peak():.0f} MB ({before:.0f} MB before the run)")
    return 0


def peak() -> float:
    """The most memory this process has had (MB)."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (1024 if sys.platform != "darwin" else 1024 * 1024)


if __name__ == "__main__":
    sys.exit(main())
