from rehearsal import Rehearsal
from sociometer.instruments import load
from sociometer.instruments.egosocial.published.reproduce import data_volumes, granularity, published


def test_both_tables_hold_nine_models_and_people():
    for table in ("table2", "table3"):
        rows = published(table)
        assert len(rows) == 10
        assert rows[-1]["model"] == "Human"
        assert all(
            0 <= float(value) <= 100 for row in rows for key, value in row.items() if key not in ("model", "kind")
        )


def test_first_person_figures_exceed_third_person_ones_for_every_model_as_the_paper_says():
    for row in published("table2")[:-1]:
        assert float(row["tomi_first"]) > float(row["tomi_third"])


def test_table_3_fits_thirty_new_worlds_and_a_hundred_counterfactual_questions():
    assert [(figure.printed, figure.match) for figure in granularity()] == [(10, True), (10, True)]


def test_table_1_sizes_are_those_of_the_official_files(official):
    source = Rehearsal(load("egosocial"), {}, data=official).source()
    assert [(f.printed, f.recomputed, f.match) for f in data_volumes(source)] == [(999, 999, True), (2860, 2860, True)]
