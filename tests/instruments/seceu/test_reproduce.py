"""What the paper prints is recomputed, and what differs is known and named."""

from collections import Counter

from sociometer.core.prompts import Prompts
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.instruments import FOLDER
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
    assert Counter(row.match for row in made if "curve" not in row.where)[False] == 7


def test_a_match_is_a_printed_figure_met_and_nothing_else():
    made = list(rows(source()))
    assert all(row.printed is not None for row in made), "what was never printed cannot be reproduced"
    curve = [row for row in made if "curve" in row.where]
    assert all(abs(row.printed - row.recomputed) <= 0.55 for row in curve if row.match)
    farthest = next(row for row in curve if row.what.startswith("percent at 0.24"))
    assert (farthest.printed, farthest.recomputed, farthest.match) == (59, 55.8, False)
    assert "3.5 points are allowed" in farthest.reason


def test_each_printed_percentile_is_nearly_met_by_the_curve_through_the_others():
    for where, most in (("scores", 1), ("similarities", 1.5)):
        left_out = [row for row in rows(source()) if row.where == f"percentile curve of {where}"]
        assert len(left_out) >= 20
        errors = [abs(row.printed - row.recomputed) for row in left_out]
        assert max(errors) <= 3.5
        assert sum(errors) / len(errors) < most


def test_the_authors_norm_file_agrees_with_the_paper(official_data):
    made = [row for row in rows(source(official_data)) if row.where == "norm file"]
    assert len(made) == 4
    assert all(row.match for row in made)
