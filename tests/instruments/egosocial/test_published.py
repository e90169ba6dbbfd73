import json
from html import unescape

import sociometer as sm
from rehearsal import Rehearsal
from sociometer.cli.main import run_command
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
    found = [(figure.where, figure.finding, figure.recomputed) for figure in granularity()]
    assert found == [("Table 2", True, "18 of 18"), ("Table 3", True, "10 of 10"), ("Table 3", True, "10 of 10")]


def test_table_1_sizes_are_those_of_the_official_files(official):
    source = Rehearsal(load("egosocial"), {}, data=official).source()
    assert [(f.printed, f.recomputed, f.match) for f in data_volumes(source)] == [(999, 999, True), (2860, 2860, True)]


def test_claims_about_kinds_of_models_are_computed_from_the_tables():
    found = {claim.what.partition(":")[0]: claim for claim in claims()}
    assert found["scale"].match and found["scale"].recomputed == "+4.3 points; higher in 7, lower in 3 of 10"
    assert found["instruction tuning"].match
    assert not found["open against API models, newworld"].match
    assert found["open against API models, counterfactual"].recomputed == "-0.4 points"
    guess = found["ToMBench, All"]
    assert guess.finding and guess.recomputed == "5 of 9", "a guess of ours is no claim of the paper"


def test_claims_of_the_ledger_are_tested_on_the_printed_tables():
    found = {figure.what: figure for figure in sm.reproduce("egosocial").figures if figure.claim}
    assert found["ToMi: every model is better in the first than in the third person"].recomputed == "9 of 9"
    assert found["number guessing: o1-preview is at least as good as people"].match
    assert (
        found["API models but GPT-3.5-Turbo are above open ones in general, ToMi first person"].recomputed == "4 of 4"
    )


def test_items_that_replace_the_papers_are_called_so_wherever_their_score_is(tmp_path, capsys):
    store = str(tmp_path / "s.db")
    for model in ("baseline/random", "baseline/oracle"):
        args = ["run", "egosocial", "--task", "holdem", "--official", "--limit", "12", "--data", str(tmp_path)]
        assert run_command([*args, "--model", model, "--store", store]) == 0
    why = "substitute items: opponents and hands are ours, because the authors' were not released"
    assert f"holdem has {why}." in capsys.readouterr().out
    for args in (["show", "last"], ["check", "store"], ["compare", "egosocial"]):
        assert run_command([*args, "--format", "wide", "--store", store]) == 0
    told = capsys.readouterr().out
    assert told.count(why) == 2 and f"Ranked on {why}." in told and "no findings" in told, told
    assert run_command(["show", "last", "--json", "--store", store]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["items"] == "substitute" and why in shown["summaries"]["holdem"]["notes"][0]
    page = tmp_path / "page.html"
    assert run_command(["report", "all", "--evidence", "0", "--to", str(page), "--store", store]) == 0
    text = unescape(page.read_text(encoding="utf-8"))
    assert "12 substitute items" in text and why in text and "official items" not in text
