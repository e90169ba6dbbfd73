"""Lengths and single items are checked."""

import msgspec
import pytest

from sociometer.instruments.sesi import items
from sociometer.instruments.sesi.build.checks import cohens_d, flags
from sociometer.reading import read_items

BUNDLED = list(read_items(items.BUNDLED, items.Question))


def test_cohens_d_is_worked_by_hand():
    """Means 2 and 4, both variances 1: d = -2."""
    assert cohens_d([1, 2, 3], [3, 4, 5]) == pytest.approx(-2.0)
    assert cohens_d([1, 1], [1, 1]) is None
    third = [0.7 / 3] * 7
    assert cohens_d([sum(third[:n]) / n for n in range(1, 8)], [0.9] * 6) is None, "rounding is no spread"


def test_links_names_and_duplicates_are_flagged():
    spoiled = msgspec.structs.replace(BUNDLED[0], id="x", question="What did Bob see at https://a.org?")
    what = [flag.what for flag in flags([BUNDLED[0], spoiled]) if flag.item == "x"]
    assert any(entry.startswith("link") for entry in what)
    assert any("Bob" in entry for entry in what)
    assert any("nearly the same" in entry for entry in what)
    first = msgspec.structs.replace(BUNDLED[1], situation="I waited for my aunt.")
    assert {flag.what for flag in flags([first])} >= {
        "the situation has 1 sentences, not three",
        "told in the first person",
    }
    told = msgspec.structs.replace(BUNDLED[1], situation="A person waits. A friend is late. They quarrel.")
    assert not [flag for flag in flags([told]) if "sentences" in flag.what or "first person" in flag.what]
