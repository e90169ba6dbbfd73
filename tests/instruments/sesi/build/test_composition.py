"""The tables of a set count what Fig. 5 counts."""

from sociometer.instruments.sesi import items
from sociometer.instruments.sesi.build.composition import set_tables
from sociometer.reading import read_items

BUNDLED = list(read_items(items.BUNDLED, items.Question))


def test_statistics_count_what_figure_5_counts():
    tables = {table.name: table for table in set_tables(BUNDLED)}
    for name in ("abilities", "situations", "relations"):
        assert sum(row[1] for row in tables[name].rows) == len(BUNDLED)
