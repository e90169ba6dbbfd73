"""The tables show both profiles of the best and worst stories, and how replies were read."""

from sociometer.statistics.formatting import estimate


def test_the_worst_and_best_items_show_both_profiles(rehearse):
    summary = rehearse("baseline/random").summarise("feelings")
    table = next(table for table in summary.tables if table.name == "items")
    assert len(table.rows) == 10
    distances = [row[1] for row in table.rows]
    assert distances == sorted(distances)
    assert "(" in table.rows[0][4]


def test_the_rules_that_read_and_repaired_are_counted(rehearse):
    summary = rehearse("40, 30, 10, 20").summarise("feelings")
    table = next(table for table in summary.tables if table.name == "readings")
    assert table.rows == (("in order", "scaled", 40),)


def test_a_distance_is_rounded_once_so_that_it_is_the_same_in_the_table_and_in_the_chart(rehearse):
    summary = rehearse("baseline/random").summarise("feelings")
    found = summary.measure("distance")
    assert summary.tables[0].records()[0]["distance"] == estimate(found.value, "number", found.interval)


def test_evenness_is_the_same_number_in_the_same_unit_in_the_table_and_as_a_measure(rehearse):
    summary = rehearse("baseline/random").summarise("feelings")
    found = summary.measure("evenness")
    assert summary.tables[0].records()[0]["evenness"] == estimate(found.value, "share", found.interval)
