"""What the paper prints is recomputed, and what differs is known and named."""

from collections import Counter

import pytest

import sociometer as sm
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.instruments import FOLDER
from sociometer.instruments.seceu.norm import published_rows
from sociometer.instruments.seceu.published import reproduce
from sociometer.instruments.seceu.published.reproduce import TABLES, rows
from sociometer.results.published import unexplained


def source(*folders):
    return Source(Settings({}), Prompts(FOLDER / "seceu" / "prompts"), instrument="seceu", folders=folders)


def test_every_printed_eq_follows_from_its_score_which_is_rounded():
    eqs = [row for row in rows(source()) if row.what.startswith("EQ of")]
    assert len(eqs) == 40 and all(row.match for row in eqs)
    gpt = next(row for row in eqs if row.what.startswith("EQ of GPT-4"))
    assert (gpt.printed, gpt.recomputed) == (117, 116.4), "1.885 prints as 1.89 and gives 116.5"


def test_no_difference_is_left_unexplained():
    made = list(rows(source()))
    assert unexplained(made) == ()
    assert Counter(row.match for row in made if not row.claim)[False] == 2
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


def test_five_claims_of_the_text_conflict_with_the_tables_as_the_page_says():
    claims = [row for row in sm.reproduce("seceu").figures if row.claim]
    wrong = " ".join(row.reason for row in claims if not row.match and row.recomputed is not None)
    assert sum(not row.match and row.recomputed is not None for row in claims) == 5
    assert "Five claims of the text conflict with the tables" in (FOLDER / "seceu" / "README.md").read_text(
        encoding="utf-8"
    )
    direct = {row["model"]: row["eq"] for row in published_rows("table_s1")}
    ways = {(row["model"], row["prompting"]): row["eq"] for row in published_rows("table_s2")}
    assert f"text-davinci-003 an EQ of {direct['text-davinci-003']}" in wrong
    assert f"Curie {ways['Curie', 'two-shot']} with two examples and {ways['Curie', 'two-shot-steps']}" in wrong
    assert "text-davinci-001 105 to 107" in wrong and "text-davinci-002 an EQ of 91" in wrong


def test_the_numbers_of_both_supplementary_tables_are_counted_once():
    groups = {row.where: row.count for row in sm.reproduce("seceu").figures if row.what.startswith("scores, sim")}
    tables = {where: published_rows(TABLES[where]) for where in groups}
    assert groups == {where: 4 * sum(bool(row["score"]) for row in found) for where, found in tables.items()}


def test_the_authors_norm_file_agrees_with_the_paper(official_data):
    made = [row for row in rows(source(official_data)) if row.where == "norm file"]
    assert len(made) == 4
    assert all(row.match for row in made)
