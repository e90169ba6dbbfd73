"""The parts of a paper: an empty one says what it needs, an illustration shows no result, reasons are for one cell."""

import re

import pytest

from sociometer.core.measure import Figure, PublishedFigure
from sociometer.core.paper import Estimate, PaperInput, PrintedFigure, Replication
from sociometer.instruments import cards, load
from sociometer.instruments._paper import PaperParts, replication_plan, with_reasons

PARTS = """
["Fig. 1"]
title = "At a glance"

["Table 1"]
title = "Scores"
how = "Means of {who}."
needs = "It needs a run."
"""


@pytest.fixture
def parts(tmp_path):
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "parts.toml").write_text(PARTS, encoding="utf-8")
    return PaperParts(tmp_path)


def test_an_empty_part_says_what_it_needs(parts):
    assert parts.part("Table 1", who="all").missing == "It needs a run."
    assert parts.part("Table 1", missing="No norm.", who="all").missing == "No norm."


def test_a_filled_part_is_missing_nothing_and_says_how(parts):
    found = parts.part("Table 1", figures=(Figure("scores", "Scores"),), who="all")
    assert (found.title, found.how, found.missing) == ("Scores", "Means of all.", "")


def test_all_parts_are_in_the_order_of_the_file_and_those_not_made_are_illustrations(parts):
    first, second = parts.all(parts.part("Table 1", who="all"))
    assert (first.label, second.label) == ("Fig. 1", "Table 1")
    assert "illustrates the method" in first.missing


@pytest.mark.parametrize("instrument", [name for name in cards() if load(name).paper])
def test_each_sign_of_a_table_of_a_paper_is_explained_below_it(instrument):
    for part in load(instrument).paper(PaperInput(())):
        if part.table is None:
            continue
        texts = [column.title for column in part.table.columns]
        cells = [cell for row in part.table.rows for cell in row.cells]
        texts += [cell.mark if isinstance(cell, Estimate) else str(cell) for cell in cells]
        signs = {found[0] for text in texts if (found := re.search(r"[*#]+$", text))}
        signs |= set(re.findall(r"(?:^|\s)([*#]+)(?=:? )", part.how))
        below = {text.rstrip(":") for text in part.table.note.split()}
        assert signs <= below, (part.label, part.table.note)


def test_a_reason_is_for_one_cell_with_two_values(tmp_path):
    (tmp_path / "reasons.csv").write_text("what,printed,recomputed,reason\nr,0.6,0.8,a slip\n", encoding="utf-8")
    figures = [PublishedFigure("T", "r", 0.6, value, value == 0.6) for value in (0.8, 0.7, 0.6)]
    assert [figure.reason for figure in with_reasons(figures, tmp_path)] == ["a slip", "", ""]


def test_rows_without_a_model_are_not_replicated(tmp_path):
    (tmp_path / "models.csv").write_text("row,model\nA,openai/a\n", encoding="utf-8")
    (tmp_path / "remarks.txt").write_text("One.\nTwo.\n", encoding="utf-8")
    runs = [Replication(row, "questions", (PrintedFigure("T", "accuracy", 0.5, 0.1),)) for row in ("A", "Human")]
    plan = replication_plan(tmp_path, runs)
    assert ([run.row for run in plan.runs], plan.remarks) == (["A"], ("One.", "Two."))


def test_a_figure_without_a_value_is_not_written_and_its_part_says_why(parts):
    lines = [{"data": {"values": [{"at": 0.4, "name": "threshold"}]}, "mark": "rule"}]
    empty = Figure("repetition", "t", chart={"data": {"values": []}, "layer": lines})
    part = parts.part("Table 1", figures=(empty,), who="all")
    assert not part.filled and part.missing == "No label could be read. It needs a run."
    drawn = Figure("repetition", "t", chart={"data": {"values": [{"label": "owl"}]}, "layer": lines})
    assert parts.part("Table 1", figures=(empty, drawn), who="all").figures == (drawn,)
