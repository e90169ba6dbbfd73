from rehearsal import Rehearsal
from sociometer.instruments import load
from sociometer.instruments.egosocial.published.reproduce import claims, data_volumes, granularity, published


def test_both_tables_hold_nine_models_and_people():
    for table in ("table2", "table3"):
        rows = published(table)
        assert len(rows) == 10
        assert rows[-1]["model"] == "Human"
        assert all(
            0 <= float(value) <= 100 for row in rows for key, value in row.items() if key not in ("model", "kind")
        )


def test_the_cells_tell_how_many_questions_were_asked():
    """231 questions of ToMi (people's two cells do not fit), 30 of New World, 100 counterfactual ones."""
    found = [(figure.where, figure.printed, figure.recomputed) for figure in granularity()]
    assert found == [("Table 2", 18, 18), ("Table 3", 10, 10), ("Table 3", 10, 10)]


def test_table_1_sizes_are_those_of_the_official_files(official):
    source = Rehearsal(load("egosocial"), {}, data=official).source()
    assert [(f.printed, f.recomputed, f.match) for f in data_volumes(source)] == [(999, 999, True), (2860, 2860, True)]


def test_claims_about_kinds_of_models_are_computed_from_the_tables():
    found = {claim.what.partition(":")[0]: claim for claim in claims()}
    assert found["ToMi"].recomputed == 9 and found["ToMi"].match
    assert found["number guessing"].recomputed == 3 and found["number guessing"].match
    assert found["scale"].match and found["scale"].recomputed == "+4.3 points; higher in 7, lower in 3 of 10"
    assert found["instruction tuning"].match
    assert not found["open against API models, newworld"].match
    assert found["open against API models, counterfactual"].recomputed == "-0.4 points"
    assert found["API models except GPT-3.5-Turbo above every open one, ToMi first person"].match
    assert (found["ToMBench, All"].printed, found["ToMBench, All"].recomputed) == (9, 5)
