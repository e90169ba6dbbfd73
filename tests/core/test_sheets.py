"""Sheets: what is written is read back, files are read as spreadsheets save them, and errors name file and line."""

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.sheets import read_records, read_rows, read_sheet, read_table, write_sheet

COLUMNS = ("id", "words", "cause")
SOURCE = Path(__file__).parents[2] / "src" / "sociometer"
AWKWARD = (
    "",
    "=1+1",
    "'=1+1",
    "''@x",
    "'tis",
    "-5",
    "@x",
    "\t",
    "a,b;c\td",
    'say "hi"',
    '"',
    "one\ntwo",
    "one\r\ntwo",
    "\r",
    " x ",
    "你好",
    "\0",
)
cells = st.text() | st.sampled_from(AWKWARD)
rows = st.lists(st.tuples(cells, cells, cells).filter(any))


@pytest.fixture
def saved(tmp_path):
    """A function that saves a sheet under the name that errors must have."""

    def save(content: str | bytes) -> Path:
        path = tmp_path / "sheet.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return save


def parse_sheet(text, *columns, **options):
    """The sheet in a text, which is saved first."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.csv"
        path.write_bytes(text.encode())
        return read_sheet(path, *columns, **options)


def texts(sheet):
    return [tuple(row.values()) for _, row in sheet.rows]


@settings(deadline=None)
@given(rows)
def test_what_is_written_is_read_back(written):
    assert texts(parse_sheet(write_sheet(COLUMNS, written), COLUMNS)) == written


@settings(deadline=None)
@given(rows, st.sampled_from(",;\t"), st.sampled_from(("", "\ufeff")), st.sampled_from(("\n", "\r\n")))
def test_a_sheet_is_read_as_spreadsheets_save_it(tmp_path_factory, written, separator, mark, line_end):
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows([COLUMNS, *written])
    path = tmp_path_factory.getbasetemp() / "saved.csv"
    path.write_bytes((mark + out.getvalue()).encode())
    assert texts(read_sheet(path, COLUMNS)) == written


@settings(deadline=None)
@given(rows)
def test_each_row_has_the_line_on_which_it_begins(written):
    text = write_sheet(COLUMNS, written)
    # The separators of `str.splitlines` are more than those of a file.
    lines = io.StringIO(text, newline="").readlines()
    for line, row in parse_sheet(text, COLUMNS).rows:
        rest = "".join(lines[line - 1 :])
        assert next(csv.reader(io.StringIO(rest, newline=""))) == list(row.values())


starts = st.text("'=+-@\t\r ", max_size=4)
guarded_rows = st.lists(st.tuples(starts, cells, st.builds(str.__add__, starts, cells)).filter(any))


@settings(deadline=None)
@given(guarded_rows, st.builds(str.__add__, st.text("'=+-@", max_size=4), st.just("x")))
def test_a_guarded_sheet_is_read_back_as_it_was(written, column):
    columns = ("id", "words", column)
    sheet = parse_sheet(write_sheet(columns, written, guard_formulas=True), columns, guarded=True)
    assert sheet.columns == columns
    assert texts(sheet) == written


def test_reading_takes_one_apostrophe_away_and_only_before_a_formula(saved):
    path = saved("id,words,cause\n'=1,''-2,'''@3\n'tis,'',''a\n")
    assert texts(read_sheet(path, guarded=True)) == [("=1", "'-2", "''@3"), ("'tis", "''", "''a")]
    assert texts(read_sheet(path))[0] == ("'=1", "''-2", "'''@3"), "other sheets are read as they are"


def test_a_formula_in_a_header_is_guarded_too():
    assert write_sheet(("=a", "b"), [], guard_formulas=True) == "'=a,b\n"


@settings(deadline=None)
@given(st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1))
def test_a_guarded_sheet_holds_no_formula(written):
    sheet = parse_sheet(write_sheet(("a", "b"), written, guard_formulas=True))
    for cell in (cell for row in texts(sheet) for cell in row):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_the_guard_leaves_numbers_and_other_text_alone():
    text = write_sheet(("a", "b", "c", "d"), [(-5, "5 - 5", None, 0.5)], guard_formulas=True)
    assert text == "a,b,c,d\n-5,5 - 5,,0.5\n"


def test_columns_with_separators_in_their_names_are_found():
    columns = ("a;b;c;d", "e\tf\tg\th", "i")
    assert parse_sheet(write_sheet(columns, [("1", "2", "3")]), columns).rows == (
        (2, dict(zip(columns, "123", strict=True))),
    )


def test_commas_inside_the_cells_of_a_semicolon_sheet_do_not_mislead():
    assert texts(parse_sheet("id;words;cause\n1;a,b,c,d;x\n")) == [("1", "a,b,c,d", "x")]
    assert texts(parse_sheet('id;"words, many, many";cause\n1;a,b;x\n', ("id", "cause"))) == [("1", "a,b", "x")]


@pytest.mark.parametrize("header", ["ID,Words,CAUSE", " id , words,cause ", "\n,,\nid,words,cause"])
def test_headers_are_found_whatever_their_case_and_the_spaces_around_them(header):
    sheet = parse_sheet(f"{header}\n1,a,b\n", ("id",), ("words", "cause"))
    assert [row for _, row in sheet.rows] == [{"id": "1", "words": "a", "cause": "b"}]


def test_an_exact_header_has_precedence_over_a_similar_one():
    sheet = parse_sheet("id,ID, id ,cause\nright,other,third,x\n", ("id", "cause"))
    assert sheet.rows[0][1] == {"id": "right", "ID": "other", " id ": "third", "cause": "x"}


def test_other_columns_keep_their_case():
    assert parse_sheet("Model, MMLU \na,1\n", ("model",)).columns == ("model", "MMLU")


def test_rows_without_content_are_skipped_and_short_rows_are_filled():
    sheet = parse_sheet("id,words,cause\n\n1\n,,\n2,a,b,beyond\n")
    assert sheet.rows == ((3, {"id": "1", "words": "", "cause": ""}), (5, {"id": "2", "words": "a", "cause": "b"}))


def test_a_sheet_without_rows_still_has_its_columns(saved):
    assert read_sheet(saved("id,cause\n")).columns == ("id", "cause")
    assert parse_sheet("").columns == ()


def refusal(path, *required, **options):
    with pytest.raises(DataError) as refused:
        list(read_rows(path, required, **options))
    return str(refused.value).replace(str(path), path.name)


def test_a_missing_column_is_named_with_the_needed_and_the_found_ones(saved):
    path = saved("\nid;reason\n1;x\n")
    assert refusal(path, "id", "cause", next_step="Fill in what 'build' wrote.") == (
        "sheet.csv:2: columns missing: cause; needed: id, cause; the file has: id, reason. Fill in what 'build' wrote."
    )


def test_a_long_header_is_cut_short_in_the_message(saved):
    told = refusal(saved(",".join(f"c{number}" for number in range(500))), "id")
    assert told.endswith("the file has: c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11 and 488 more.")


@pytest.mark.parametrize("content", ["", "\ufeff", "\n\n"])
def test_an_empty_file_is_called_empty(saved, content):
    assert refusal(saved(content), "id", "cause") == "sheet.csv:1: the file is empty; needed columns: id, cause."


@pytest.mark.parametrize(
    ("content", "line"), [("id,cause\n1,a\n2,é\n".encode("latin-1"), 3), ("id,cause\n".encode("utf-16"), 1)]
)
def test_another_encoding_is_refused_by_its_line(saved, content, line):
    told = refusal(saved(content), "id")
    assert told.startswith(f"sheet.csv:{line}: not UTF-8")
    assert told.endswith("save it as 'CSV UTF-8'")


def test_a_file_that_cannot_be_opened_is_named(tmp_path):
    assert refusal(tmp_path / "gone.csv") == "gone.csv: cannot be read (No such file or directory)"
    assert refusal(tmp_path) == f"{tmp_path.name}: cannot be read (Is a directory)"


def test_a_row_that_lacks_required_cells_is_refused_where_rows_must_be_whole(saved):
    path = saved('id,words,cause,note\n1,"a\nb",c\n2,a\n')
    assert [row["id"] for _, row in read_rows(path, COLUMNS)] == ["1", "2"]
    assert refusal(path, *COLUMNS, whole_rows=True) == "sheet.csv:4: the row has too few cells; it lacks: cause"


def test_a_cell_beyond_what_csv_can_hold_is_refused_by_its_line(saved):
    told = refusal(saved("id,cause\n1,a\n2," + "x" * 200_000), "id")
    assert told.startswith("sheet.csv:3: not readable as CSV (field larger than field limit")


class Printed(Struct, frozen=True):
    model: str
    level: int
    right: bool
    number: float | None = None


def test_a_table_is_read_as_texts_or_as_records(saved):
    path = saved("model,level,right,number,unused\na,1,1,2.5,x\nb,2,0,,\n")
    assert [row["number"] for row in read_table(path)] == ["2.5", ""]
    assert read_records(path, Printed) == [Printed("a", 1, True, 2.5), Printed("b", 2, False)]


@pytest.mark.parametrize(
    ("row", "message"),
    [("a,one,1", r"sheet\.csv:2: .*level"), ("a,,1", r"sheet\.csv:2: .*missing required field `level`")],
)
def test_a_record_that_does_not_fit_is_refused_by_its_line(saved, row, message):
    with pytest.raises(DataError, match=message):
        read_records(saved(f"model,level,right\n{row}\n"), Printed)


def test_a_table_with_a_short_row_is_refused(saved):
    with pytest.raises(DataError, match=r"sheet\.csv:3: the row has too few cells; it lacks: b"):
        read_table(saved("a,b\n1,2\n3\n"))


@pytest.mark.parametrize("path", sorted(SOURCE.glob("instruments/*/published/*.csv")), ids=lambda path: path.stem)
def test_every_published_table_has_whole_rows_and_distinct_columns(path):
    table = read_table(path)
    assert table
    with path.open(encoding="utf-8", newline="") as lines:
        assert len(next(csv.reader(lines))) == len(table[0])


def test_csv_is_read_and_written_nowhere_else():
    """Except in the export of a run, which streams its rows to the file."""
    texts = {str(path.relative_to(SOURCE)): path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
    users = {path for path, text in texts.items() if "\nimport csv\n" in text}
    assert users == {"core/sheets.py", "results/export.py"}


def test_short_rows_below_an_enormous_header_are_refused(tmp_path: Path) -> None:
    """Filling the missing cells would take rows × columns cells, many times the size of the file."""
    path = tmp_path / "sheet.csv"
    path.write_text(",".join(f"c{number}" for number in range(3_000)) + "\n" + "x\n" * 3_000)
    with pytest.raises(DataError, match="3,000 columns, but the rows have far fewer cells"):
        read_sheet(path)


def test_rows_may_leave_out_their_last_cells(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(",".join(f"c{number}" for number in range(200)) + "\n" + "x\n" * 1_000)
    assert len(read_sheet(path).rows) == 1_000
