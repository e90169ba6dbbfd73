"""Tables in LaTeX: no text of a model starts a command, intervals and caveats are in every table, rows are complete."""

import re
from random import Random

import pytest

from sociometer.core.measure import Interval
from sociometer.core.paper import Estimate, PaperColumn, PaperRow, PaperTable, printed
from sociometer.reporting.paper import document
from sociometer.reporting.paper_tables import table_in_latex
from sociometer.reporting.paper_texts import escaped

HEADING = ("Scores.", "tab:scores", ("from runs",))
COLUMNS = (PaperColumn("Model"), PaperColumn("Score", "All", 1), PaperColumn("Rank", "All"))


def made(*rows, note=""):
    return table_in_latex(PaperTable(COLUMNS, rows, note), *HEADING)


def test_special_characters_are_shown_as_they_are():
    assert escaped(r"50%_of {A} & #1 ~x^2 $y \z") == (
        r"50\%\_of \{A\} \& \#1 \textasciitilde{}x\textasciicircum{}2 \$y \textbackslash{}z"
    )


def test_no_text_starts_a_command_ends_a_cell_or_a_line():
    letters = [*map(chr, range(0x250)), *"\u2028\u2029\u200b\ufeff\ud800−×≥≤ρ±°–…情"]
    lots = Random(1)
    shown = "".join(escaped("".join(lots.choices(letters, k=40))) for _ in range(500)) + escaped("".join(letters))
    assert "\n" not in shown
    assert "\r" not in shown
    bare = re.sub(r"\\(text\w+|char34|ldots|times|geq|leq|rho|pm)(\{\})?|\\[{}$&%#_]|\$[^$]*\$|\{[-[]\}", "", shown)
    assert not re.search(r"[\\{}$&%#_~^]", bare)


def test_a_comment_stays_on_its_line():
    text = table_in_latex(PaperTable(COLUMNS, ()), "", "x", ("one\n\\input{secret}\u2028two",))
    assert text.splitlines()[0] == r"% one \input{secret} two"


def test_a_hostile_name_is_one_cell_and_one_row():
    text = made(PaperRow((r"a & b \\ \end{tabular}\input{/etc/passwd} %", Estimate(1.0), 2)))
    row = next(line for line in text.splitlines() if "passwd" in line)
    assert len(re.findall(r"(?<!\\)&", row)) == len(COLUMNS) - 1
    assert r"\input" not in text
    assert row.endswith(r"\\")


def test_a_value_has_its_interval_or_a_sign_that_it_has_none():
    text = made(
        PaperRow(("with", Estimate(61.25, Interval(54.21, 68.3)), 1)),
        PaperRow(("without", Estimate(10.0, Interval(None, None)), 2)),
    )
    assert r"\begin{tabular}{@{}c@{}}61.3\\{\scriptsize {[}54.2, 68.3]}\end{tabular}" in text
    assert r"without & 10.0$^{\circ}$ & 2 \\" in text
    assert r"$^{\circ}$ No interval could be given." in text


def test_remarks_are_letters_with_their_meaning_below():
    text = made(
        PaperRow(("a", Estimate(1.0), 1), remarks=("stand-in for a real model: simulator: x",)),
        PaperRow(("b", Estimate(1.0), 1), remarks=("not the paper's items",)),
    )
    assert r"a$^{\mathrm{a}}$" in text
    assert r"b$^{\mathrm{b}}$" in text
    assert r"$^{\mathrm{a}}$ stand-in for a real model: simulator: x." in text


def test_the_letters_of_a_row_are_in_alphabetical_order():
    text = made(
        PaperRow(("a", Estimate(1.0), 1), remarks=("first", "second")),
        PaperRow(("b", Estimate(1.0), 1), remarks=("third", "second", "first")),
    )
    assert r"b$^{\mathrm{a,b,c}}$" in text


def test_printed_rows_have_their_own_section_and_no_sign_for_a_missing_interval():
    text = made(printed("GPT-4", Estimate(54.4), 1))
    assert r"\multicolumn{3}{l}{\textit{Printed in the paper}} \\" in text
    assert r"\circ" not in text
    assert "printed in the paper." in text


def test_groups_of_columns_share_a_heading_with_a_rule():
    text = made(PaperRow(("a", Estimate(1.0), 1)))
    assert r" & \multicolumn{2}{c}{All} \\" in text
    assert r"\cmidrule(lr){2-3}" in text


@pytest.mark.parametrize(
    "text",
    [
        made(PaperRow(("a_b", Estimate(-1.0), None))),
        document("A & B", ["table-1.tex", "fig-2.pdf"], {"fig-2.pdf": "Fig. 2. Models & people"}),
    ],
)
def test_braces_and_environments_are_closed(text):
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    begun, ended = (re.findall(rf"\\{word}{{(\w+)}}", text) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended)


def test_a_table_of_long_texts_is_wrapped_within_the_line():
    columns = tuple(map(PaperColumn, ("Where", "Claim", "Rows")))
    wide = table_in_latex(PaperTable(columns, (PaperRow(("abstract", "long " * 20, "not these " * 9)),)), *HEADING)
    widths = [float(width) for width in re.findall(r"p\{([\d.]+)\\linewidth\}", wide)]
    assert len(widths) == 2
    assert sum(widths) < 0.95
    narrow = table_in_latex(
        PaperTable(columns, (PaperRow(("abstract", "a claim of some thirty letters", "3 of 4")),)), *HEADING
    )
    assert r"\begin{tabular}{llc}" in narrow


def test_a_column_without_any_value_is_left_out():
    text = made(PaperRow(("a", Estimate(1.0), None)), PaperRow(("b", Estimate(2.0), None)))
    assert "Rank" not in text
