"""Talks of language models that answered by hand in our own tasks: the stored talks give the numbers that are stated.

One context wrote all replies of a side and saw the pairs next to each other, so these show that the tasks work, not how
a model behaves that sees one talk alone.
"""

import gzip
from pathlib import Path
from statistics import fmean

import msgspec
import pytest

from sociometer.core.task import Item
from sociometer.instruments.sage import memory


def read(name, item, outcome):
    path = Path(__file__).parent / "trials" / f"{name}.jsonl.gz"
    rows = map(msgspec.json.decode, gzip.decompress(path.read_bytes()).splitlines())
    return [(msgspec.convert(row["item"], item), msgspec.convert(row["outcome"], outcome)) for row in rows]


def means(scores, name):
    return fmean(score.values[name] for score in scores if name in score.values)


def test_memory_takes_nothing_from_the_honesty_of_a_capable_model():
    rows = read("return", memory.Pair, memory.Returned)
    scores = [memory.score(item, outcome) for item, outcome in rows]
    assert len(rows) == 12 and isinstance(rows[0][0], Item)
    for arm in memory.ARMS:
        assert means(scores, f"discernment {arm}") == 1
    assert [means(scores, f"loss {arm}") for arm in memory.REMEMBERING] == [0, 0, 0]
    assert means(scores, "untold") == pytest.approx(0.03, abs=0.005)
    assert means(scores, "tact") == pytest.approx(0.57, abs=0.005)
    assert means(scores, "leak") == means(scores, "invented") == 0 and means(scores, "known") == 1
