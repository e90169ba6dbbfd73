"""What commands print: tables that fit, numbers in one format, everything in files and with --all."""

import csv
import io
import re
import sys

import pytest

from sociometer.core.measure import Interval, Measure, Summary, Table
from sociometer.reporting.terminal import Display, cell_text, fitted, print_text, text_of, with_texts

WIDE = Table(
    "wide",
    "A table of many columns",
    ("subject", "condition", *(f"figure {place}" for place in range(9)), "verdict"),
    tuple(
        (f"somebody/a-model-with-a-rather-long-name-{row}", "很长的中文条件名称" * 3, *[0.123456] * 9, "cannot tell")
        for row in range(40)
    ),
)


@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_a_table_is_never_wider_than_the_terminal(width):
    text = fitted(text_of(WIDE), width)
    assert text.width <= width
    assert text.columns[0].startswith("sub")
    assert "verdict" in text.columns


def test_columns_that_do_not_fit_are_named():
    text = fitted(text_of(WIDE), 60)
    assert set(text.columns) | set(text.hidden_columns) == set(WIDE.columns)


@pytest.mark.parametrize("tasks", [(), ("worlds",)])
def test_what_tells_rows_apart_outlives_chance_and_items(tasks):
    columns = ("measure", "group", "value", "95 % interval", "chance", "items")
    groups = ("all", "concern", "empathy", "self-presentation")
    rows = tuple((*tasks, "Accuracy of answers", group, "29 %", "too few (7)", "25 %", 7) for group in groups)
    text = fitted(text_of(Table("t", "T", (*(["task"] * len(tasks)), *columns), rows)), 54)
    assert {"measure", "group", "value", "95 % interval"} <= set(text.columns)
    assert "items" in text.hidden_columns


def test_a_number_is_never_cut():
    assert all(cell == "0.12" for row in fitted(text_of(WIDE), 70).rows for cell in row[2:-1])


def test_long_texts_wrap_and_numbers_with_their_intervals_do_not():
    reason = "Table S1 gives text-davinci-003 an EQ of 104 with the direct prompt."
    command = "sociometer run sage --role simulator=MODEL"
    rows = ((reason, command, "24 % [19, 31]"), ("short", "–", ""))
    text = fitted(text_of(Table("t", "T", ("reason", "next step", "score"), rows)), 60)
    assert text.rows[0] == rows[0] and text.width <= 60 and not text.hidden_columns
    assert text.widths[2] == len("24 % [19, 31]") and text.right == (False, False, True)
    assert min(text.widths[:2]) >= len("simulator=MODEL") - 1


def test_the_status_of_a_run_outlives_what_its_id_tells():
    columns = ("run", "name", "instrument", "subject", "status", "score", "episodes", "settings", "started")
    subject = "vllm/a-checkpoint-with-a-long-name#2026-11-18"
    rows = (("sesi-62g95", "spring-of-2026", "sesi", subject, "stopped, 6 %", "24 % [19, 31]", 12, "limit 4", "now"),)
    text = fitted(text_of(Table("t", "T", columns, rows)), 80)
    assert {"run", "subject", "status", "score"} <= set(text.columns)
    assert subject in text.rows[0]


def test_a_list_of_runs_says_of_which_test_each_score_is_also_at_80_columns():
    rows = (
        ("step-4000-seceu", "seceu", "openai/good#step-4000", "finished", "2.70 [2.46, 2.96]", 40),
        ("socialeval-7g5zm", "socialeval", "python/subj:bad", "stopped, 100 %", "0 % [0, 23], 20 unreadable", 20),
    )
    columns = ("run", "instrument", "subject", "status", "score", "episodes")
    assert fitted(text_of(Table("t", "T", columns, rows)), 80).columns == columns[:-1]


@pytest.mark.parametrize("width", [60, 80])
def test_the_result_of_each_line_of_a_ledger_stays(width):
    columns = ("where", "what", "printed", "recomputed", "result", "reason")
    reason = "Table S1 gives text-davinci-003 an EQ of 104 with the direct prompt."
    row = ("Results", "DaVinci and text-davinci-003 fail without prompts", "-", "DaVinci only", "does not hold", reason)
    text = fitted(text_of(Table("t", "T", columns, (row,))), width)
    assert text.width <= width and {"where", "result", "reason"} <= set(text.columns)


OLD, NEW = "vllm/ckpt-1000#1000", "vllm/ckpt-2000#2000"
PAIR = Table(
    "pair",
    f"sesi/questions: {NEW} against {OLD}",
    ("measure", OLD, NEW, "difference", "verdict", "items"),
    (
        ("Accuracy of answers", "24 %", "33 %", "+8.3 [−12.5, 29.2]", "cannot tell", 240),
        ("  dimension self-presentation", "24 %", "33 %", "+8.3 [−12.5, 29.2]", "cannot tell", 60),
    ),
)


def _drawn(monkeypatch, capsys, width: int, table: Table, wide: bool = False) -> str:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    Display("wide" if wide else "table").show([table])
    return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)


@pytest.mark.parametrize("width", [72, 80])
def test_both_scores_of_a_comparison_their_difference_and_the_verdict_stay(width):
    text = fitted(text_of(PAIR), width)
    assert text.columns[:5] == PAIR.columns[:5] and text.width <= width
    assert {OLD, NEW} <= set(fitted(text_of(PAIR), 30).columns), "rather wider than the terminal"


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("wide", [False, True])
def test_words_and_names_that_one_types_stay_whole(monkeypatch, capsys, width, wide):
    names = ("vllm/ckpt-1000#1000", "local/smollm2-135m", "self-presentation", "egosocial-htf3z")
    columns = ("subject", "name", "Distance to the key", "settings", "note on it")
    reason = "a longer text that says which of the many settings were changed"
    rows = tuple((name, "baseline/random", "0.123", reason, reason) for name in names)
    shown = _drawn(monkeypatch, capsys, width, Table("t", "T", columns, rows), wide)
    words = shown.split()
    assert all(words.count(name) == 1 for name in names) and "…" not in shown
    assert wide or max(map(len, shown.splitlines())) <= width
    assert "Distance" in words and (words.count("baseline/random") == 4 or "name" in shown.split("Not shown:")[-1])
    if wide:
        assert " ".join(words).count("changed") == 8


def test_reasons_that_do_not_fit_are_notes_and_the_numbers_keep_their_columns(monkeypatch, capsys):
    columns = ("participant", "counts", "Accuracy of goals", "median seconds", "flagged", "excluded", "age")
    why = "by hand: trial of a colleague"
    rows = (("p-one", False, 0.5, 3.5, "12 of 12 answers the same", why, 30), ("p-two", False, 0.25, 4.5, "", why, 40))
    shown = " ".join(_drawn(monkeypatch, capsys, 45, Table("t", "T", columns, rows)).split())
    assert "p-one, flagged: 12 of 12 answers the same" in shown and "Not shown: the column age." in shown
    assert f"p-one, p-two, excluded: {why}" in shown and "0.25" in shown and "4.5" in shown
    assert "excluded:" not in _drawn(monkeypatch, capsys, 200, Table("t", "T", columns, rows))


def test_a_very_long_name_breaks_only_after_a_separator(monkeypatch, capsys):
    name = "vllm/Some-Organisation/a-checkpoint-of-a-run#step-2000@http://localhost:8000/v1"
    text = "words " * 20
    shown = _drawn(monkeypatch, capsys, 60, Table("t", "T", ("subject", "reason"), ((name, text),)))
    first = [line.split()[0] for line in shown.splitlines()[2:] if line and not line.startswith(" ")]
    assert "".join(first) == name and all(line[-1] in "/#@:" for line in first[:-1])


def test_lines_on_standard_error_break_between_words(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    words = "the folder has no file with this name, so nothing was written to it"
    print_text(words, err=True)
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 30
    assert " ".join(line.strip() for line in lines) == words


def test_bounds_are_one_column_and_set_the_decimals():
    table = Table("t", "T", ("who", "value", "from", "to", "p"), (("a", 0.1234, 0.05, 0.21, 0.0),), units={
        "value": "share", "from": "share", "to": "share"})  # fmt: skip
    text = text_of(table)
    assert text.columns == ("who", "value", "95 % interval", "p")
    assert text.rows == (("a", "12 %", "5 to 21 %", "< .001"),)


def test_a_summary_has_one_number_of_decimals_in_a_row_and_says_where_bounds_are_missing():
    measures = (
        Measure("accuracy", 0.2, interval=Interval(0.101, 0.349), items=40),
        Measure("accuracy", 0.27, {"kind": "rare"}, Interval(0.0972, 0.5681), items=11),
        Measure("accuracy", 0.25, {"kind": "few"}, Interval(None, None), items=4),
    )
    rows = with_texts(next(iter(Summary(measures)._shown()))).rows
    found = [row[2:4] for row in rows]
    assert found == [("0.20", "0.10 to 0.35"), ("0.27", "0.10 to 0.57"), ("0.25", "too few")]


def test_the_numbers_of_a_column_have_as_many_decimals():
    rows = ((69.0, 2.0, 0.5, 0.125, 3), (88.9, 1.94, -0.032, None, 12), (111.0, 0.5, 0.4, 1.0, 7))
    table = Table(
        "t", "T", ("EQ", "mean", "discrimination", "share", "items"), rows, units={"EQ": "points", "share": "share"}
    )
    columns = [list(column) for column in zip(*text_of(table).rows, strict=True)]
    assert columns[0] == ["69.0", "88.9", "111.0"] and columns[1] == ["2.00", "1.94", "0.50"]
    assert columns[2] == ["0.500", "−0.032", "0.400"] and columns[3] == ["12.5 %", "–", "100.0 %"]
    assert columns[4] == ["3", "12", "7"]


def test_columns_without_content_are_left_out_and_notes_are_below():
    table = Table(
        "t",
        "T",
        ("measure", "group", "errors", "more", "note"),
        (("a", "all", 0, None, "x"), ("b", "all", 0, None, "x")),
    )
    text = text_of(table)
    assert text.columns == ("measure",)
    assert text.notes == ("a, b: x",)
    assert text_of(table, everything=True).columns == table.columns


def test_a_note_on_a_group_has_the_group():
    groups = (("all", "of 40"), ("sex: female", "of 25"), ("sex: male", "of 15"), ("age: 30 to 49", "of 15"))
    table = Table("t", "T", ("measure", "group", "note"), tuple(("share", *one) for one in groups))
    assert text_of(table).notes == (
        "share: of 40",
        "share (sex: female): of 25",
        "share (sex: male, age: 30 to 49): of 15",
    )
    same = Table("t", "T", ("measure", "group", "note"), (("share", "all", "x"), ("share", "sex: male", "x")))
    assert text_of(same).notes == ("share: x",)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [(None, "–"), (True, "yes"), (0.5, "0.5"), (0.0123, "0.012"), (1234.5, "1,234.5"), (7, "7"), (-0.25, "−0.25")],
)
def test_a_cell_without_a_unit_is_short(cell, shown):
    assert cell_text(cell) == shown


def test_the_rest_is_said_and_shown_with_all(capsys, monkeypatch):
    Display().show([WIDE], finding="It is so.", more=[WIDE])
    piped = capsys.readouterr().out
    assert piped.startswith("It is so.\n\n# A table") and piped.count("somebody/") == 40
    assert "Not shown: 1 table. To see everything, add --format wide." in piped
    with monkeypatch.context() as terminal:
        terminal.setattr(sys.stdout, "isatty", lambda: True)
        Display().show([WIDE], more=[WIDE])
    assert "Not shown: 16 rows; 1 table" in capsys.readouterr().out
    Display("wide").show([WIDE], more=[WIDE])
    assert capsys.readouterr().out.count("somebody/") == 80


def test_a_csv_file_has_every_row_and_plain_numbers(tmp_path, capsys):
    path = tmp_path / "out.csv"
    Display(to=path).show([WIDE])
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    assert len(rows) == 41
    assert rows[1][2] == "0.123456"
    assert f"wrote {path}" in capsys.readouterr().out
    Display(to=path).show([WIDE], more=[WIDE])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out-wide.csv", "out.csv"]
