"""Lengths and single items are checked."""

import msgspec

from sociometer.instruments.sesi import items
from sociometer.instruments.sesi.build.checks import flags
from sociometer.reading import read_items

BUNDLED = list(read_items(items.BUNDLED, items.Question))


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
