"""Lengths, tone and single items are checked."""

import msgspec
import pytest

from sociometer.core.errors import DataError
from sociometer.instruments.sesi import items
from sociometer.instruments.sesi.build.checks import cohens_d, flags, read_lexicon, tone_table
from sociometer.reading import read_items

BUNDLED = list(read_items(items.BUNDLED, items.Question))


def test_cohens_d_is_worked_by_hand():
    """Means 2 and 4, both variances 1: d = -2."""
    assert cohens_d([1, 2, 3], [3, 4, 5]) == pytest.approx(-2.0)
    assert cohens_d([1, 1], [1, 1]) is None
    third = [0.7 / 3] * 7
    assert cohens_d([sum(third[:n]) / n for n in range(1, 8)], [0.9] * 6) is None, "rounding is no spread"


def test_tone_is_compared_with_a_lexicon_in_the_nrc_format(tmp_path):
    path = tmp_path / "vad.txt"
    path.write_text("Word\tValence\tArousal\tDominance\nhelp\t0.9\t0.5\t0.5\nhurt\t0.1\t0.7\t0.3\n")
    lexicon = read_lexicon(path)
    assert lexicon["hurt"] == (0.1, 0.7, 0.3)
    table = tone_table(BUNDLED, lexicon)
    assert len(table.rows) == 6
    path.write_text("help\tgood\n")
    path.write_text("a\t1\t1\t1\nhelp\tgood\t1\t1\n")
    with pytest.raises(DataError, match=r"vad\.txt:2"):
        read_lexicon(path)


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
