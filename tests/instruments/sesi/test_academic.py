"""Social against academic scores: the paper's own table gives the correlations that FACTS and R give."""

import pytest

from sociometer.core.errors import UsageError
from sociometer.instruments.sesi import academic
from sociometer.instruments.sesi.published.reproduce import table
from sociometer.statistics.item_values import ItemValue


def published():
    rows = table("table1")
    names = [name for name in rows[0] if name not in ("model", "family")]
    values = {
        row["model"]: {"SESI" if name == "SI" else name: float(row[name]) for name in names if row[name]}
        for row in rows
    }
    return academic.Scores(values, {row["model"]: row["family"] for row in rows})


def pairs():
    return {frozenset((pair.first, pair.second)): pair for pair in academic.correlate(published())}


def test_table_1_gives_the_correlations_of_the_thirteen_models():
    cell = pairs()[frozenset(("DROP", "SESI"))].correlation
    assert cell.r == pytest.approx(0.75, abs=0.005)
    assert cell.n == 13
    assert cell.interval.low is None
    assert pairs()[frozenset(("MATH", "SESI"))].correlation.r == pytest.approx(0.58, abs=0.005)


def test_a_cell_that_one_model_carries_is_named():
    """Without davinci SI-DROP falls from .75 to .55."""
    pair = pairs()[frozenset(("DROP", "SESI"))]
    assert pair.note == "depends on davinci"


def test_the_test_of_the_difference_says_that_thirteen_models_are_few():
    said = academic.apart(published())
    assert said.startswith("SESI correlates with academic scores by 0.62 on average, these with each other by 0.74")
    assert said.endswith("(no interval: the models are of 4 families, 10 are needed)")


def test_the_same_id_with_another_text_is_another_item():
    one, other = (ItemValue("x", "x", 1.0, (1.0,), {}, content) for content in (b"here", b"elsewhere"))
    members = [academic.Member("m", "run-1", {"x": one}), academic.Member("n", "run-2", {"x": other})]
    with pytest.raises(UsageError, match="is not the same in runs run-1 and run-2"):
        academic.shared_accuracies(members)
