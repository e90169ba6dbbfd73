"""Numbers as commands print them: no certainty that is none, no nought where the count is unknown."""

from sociometer.cli.output import measure_rows
from sociometer.core.measure import Interval, Measure


def test_a_measure_without_variation_has_no_bounds():
    flat = Measure("leaks", 0.0, interval=Interval(0.0, 0.0, method="no variation", clusters=24), items=24)
    few = Measure("won", 0.5, interval=Interval(None, None, clusters=3))
    wide = Measure("right", 0.5, interval=Interval(0.25, 0.75))
    assert [row[3] for row in measure_rows([flat, few, wide])] == [
        "the same on every item",
        "too few (3)",
        "[0.25, 0.75]",
    ]


def test_errors_of_a_group_are_a_dash_where_nobody_knows_them():
    overall = Measure("accuracy", 0.5, items=10, errors=3)
    groups = [Measure("accuracy", 0.5, {"ability": name}, items=5) for name in ("tact", "wit")]
    assert [row[6] for row in measure_rows([overall, *groups])] == [3, None, None]
    assert [row[6] for row in measure_rows(groups)] == [0, 0]
