"""What the paper prints is recomputed, and what differs is known and named."""

from collections import Counter

import pytest

from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.instruments import FOLDER
from sociometer.instruments.seceu.norm import published_rows
from sociometer.instruments.seceu.published import reproduce
from sociometer.instruments.seceu.published.reproduce import rows
from sociometer.results.published import unexplained


def source(*folders):
    return Source(Settings({}), Prompts(FOLDER / "seceu" / "prompts"), instrument="seceu", folders=folders)


def test_every_printed_eq_follows_from_its_score_but_two_that_were_rounded():
    eqs = [row for row in rows(source()) if row.what.startswith("EQ of")]
    assert len(eqs) == 40
    off = {row.what.split(" from")[0] for row in eqs if not row.match}
    assert off == {"EQ of GPT-4", "EQ of Curie (two-shot)"}


def test_no_difference_is_left_unexplained():
    made = list(rows(source()))
    assert unexplained(made) == ()
    assert Counter(row.match for row in made if not row.claim)[False] == 7
    assert all(row.printed is not None for row in made), "what was never printed cannot be reproduced"
    assert not [row for row in made if "curve" in row.where], "our percentile curve is not a published figure"


@pytest.mark.parametrize("model", ["GPT-4", "Claude"])
def test_a_changed_value_is_not_excused_in_advance(monkeypatch, model):
    def changed(name):
        return [
            {**row, "score": "1.50"} if row["model"] == model and row["score"] else row for row in published_rows(name)
        ]

    monkeypatch.setattr(reproduce, "published_rows", changed)
    assert len(unexplained(list(rows(source())))) >= 2


def test_four_sentences_of_the_text_conflict_with_the_tables():
    claims = {row.what: row for row in rows(source()) if row.claim}
    assert len(claims) == 4 and not any(row.match for row in claims.values())
    assert "text-davinci-003 an EQ of 104" in claims["failed without prompts"].reason
    assert "Curie 100 with two examples and 102" in claims["not improved by thinking step by step"].reason
    assert "text-davinci-001 105 to 107" in claims["no higher EQ with steps added to two examples"].reason
    assert "text-davinci-002 an EQ of 91" in claims["EQ above average, pattern unlike people's"].reason


def test_the_authors_norm_file_agrees_with_the_paper(official_data):
    made = [row for row in rows(source(official_data)) if row.where == "norm file"]
    assert len(made) == 4
    assert all(row.match for row in made)
