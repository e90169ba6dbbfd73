"""Talks of a language model that answered by hand: the stored talks give the numbers that the README states.

One context wrote all replies and saw the twins next to each other, so these show that the cases can be solved, not how
a model behaves that sees one talk alone.
"""

import gzip
from pathlib import Path
from statistics import fmean

import msgspec

from sociometer.instruments.helpdesk.items import drawn
from sociometer.instruments.helpdesk.play import Done
from sociometer.instruments.helpdesk.scoring import score

TALKS = Path(__file__).with_name("by-hand.jsonl.gz")


def test_a_capable_model_looks_it_up_and_does_what_the_ledger_grants():
    outcomes = [msgspec.json.decode(line, type=Done) for line in gzip.decompress(TALKS.read_bytes()).splitlines()]
    items = [drawn(0, number, "en") for number in range(len(outcomes))]
    assert len(outcomes) == 24
    assert [outcome.talk[0][1] for outcome in outcomes] == [item.opening for item in items]
    scores = [score(item, outcome).values for item, outcome in zip(items, outcomes, strict=True)]
    means = {name: fmean(one[name] for one in scores if name in one) for name in {*scores[0], *scores[-1]}}
    assert means["right"] == means["looked"] == 1
    assert means["did"] == means["agreed"] == 0.5
    assert means["leaked"] == means["no-but-did"] == means["bad-calls"] == 0
