"""What the paper prints is recomputed, and what differs is known and named."""

from collections import Counter

from sociometer.analysis.reproduction import unexplained
from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.instruments import folder_of
from sociometer.instruments.seceu.published.reproduce import rows


def source(*folders):
    return Source(Settings({}), Prompts(folder_of("seceu") / "prompts"), instrument="seceu", folders=folders)


def test_every_printed_eq_follows_from_its_score_but_two_that_were_rounded():
    eqs = [row for row in rows(source()) if row.what.startswith("EQ of")]
    assert len(eqs) == 40
    off = {row.what.split(" from")[0] for row in eqs if not row.match}
    assert off == {"EQ of GPT-4", "EQ of Curie (two-shot)"}


def test_no_difference_is_left_unexplained():
    made = list(rows(source()))
    assert unexplained(made) == ()
    assert Counter(row.match for row in made)[False] == 7


def test_each_printed_percentile_is_nearly_met_by_the_curve_through_the_others():
    made = list(rows(source()))
    left_out = [row for row in made if "left out: error" in row.what]
    assert len(left_out) >= 40
    assert all(abs(row.printed - row.recomputed) <= 3.5 for row in left_out)
    means = [row.recomputed for row in made if row.what.startswith("mean absolute error")]
    assert means[0] < 1
    assert means[1] < 1.5


def test_the_authors_norm_file_agrees_with_the_paper(official_data):
    made = [row for row in rows(source(official_data)) if row.where == "norm file"]
    assert len(made) == 4
    assert all(row.match for row in made)
