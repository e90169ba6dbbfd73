"""Tables made to hurt: `import` reads them or says in one sentence why not, and damages no store."""

import os
import sys

import pytest

import forked
from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.core.sheets import read_sheet, stream_rows
from sociometer.reading import read_items


@pytest.fixture
def imported(tmp_path, capsys):
    """Imports a file; gives the exit code and what was said, and looks whether the store and a report are sound."""

    def call(path):
        store = ["--store", str(tmp_path / "s.db")]
        code = run_command(["import", "csv", str(path), *store])
        said = capsys.readouterr().err
        assert "Traceback" not in said
        if code == 0:
            assert run_command(["check", "store", *store]) == 0, capsys.readouterr().out
            assert run_command(["report", "last", "--to", str(tmp_path / "page.html"), *store]) == 0
        return code, said

    return call


def test_a_table_with_many_columns_takes_as_long_as_it_is(tmp_path):
    # Comparing each name with all others would take minutes, and so would a record of all columns for each row.
    header = ",".join(["item", "subject", "score", *(f"c{number}" for number in range(200_000))])
    rows = (f"i{number},m,1" for number in range(5_000))
    (tmp_path / "wide.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    found = [row for _, row in stream_rows(tmp_path / "wide.csv", ("item", "subject", "score"), ("cluster",))]
    assert len(found) == 5_000
    assert found[0] == {"item": "i0", "subject": "m", "score": "1"}
    (tmp_path / "wide.csv").write_text(f"{header},c7\n", encoding="utf-8")
    with pytest.raises(DataError, match="two columns have the name 'c7'"):
        list(stream_rows(tmp_path / "wide.csv", ("item", "subject", "score")))


@pytest.mark.parametrize("rows", ["a,m,1\nb,m,", "a,m,1\na,n,0\nb,n,1"], ids=["an empty score", "no row"])
def test_an_item_without_a_score_leaves_the_store_sound(tmp_path, imported, rows):
    (tmp_path / "scores.csv").write_text(f"item,subject,score\n{rows}\n", encoding="utf-8")
    assert imported(tmp_path / "scores.csv")[0] == 0


MEMORY = """
import resource, sys
from sociometer.cli.main import run_command
resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))
sys.exit(run_command(["import", "csv", sys.argv[1], "--store", sys.argv[2]]))
"""


def import_with_a_memory_limit(path, store):
    """The exit code and the errors of an import that may use 1.5 GB."""
    process = forked.start(["-c", MEMORY, str(path), str(store)], stderr=forked.PIPE)
    said = process.stderr.read()
    process.wait(120)
    process.stderr.close()
    return process.returncode, said


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's devices and limits")


@needs_linux
def test_an_endless_device_is_no_table(tmp_path):
    code, said = import_with_a_memory_limit("/dev/zero", tmp_path / "s.db")
    assert code == 2 and "is no file" in said


@needs_linux
@pytest.mark.parametrize("begin", ["", "item,subject,score\n", 'item,subject,score\n"', "item,subject,score\na,m,"])
def test_a_file_of_four_gigabytes_without_a_line_break_does_not_fill_the_memory(tmp_path, begin):
    path = tmp_path / "huge.csv"
    path.write_text(begin)
    os.truncate(path, 4 << 30)  # takes no space on the disk
    code, said = import_with_a_memory_limit(path, tmp_path / "s.db")
    assert code == 2 and ("a row has more than 16,777,216 characters" in said or "columns missing" in said)


@needs_linux
def test_a_record_of_endlessly_many_lines_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "huge.csv"
    with path.open("w") as opened:
        opened.write("item,subject,score\n")
        opened.writelines('"a\n",' * 10_000 for _ in range(1_000))
    code, said = import_with_a_memory_limit(path, tmp_path / "s.db")
    assert code == 2 and "a row has more than 16,777,216 characters" in said


def test_many_subjects_with_items_of_their_own_are_not_made_into_a_row_for_each(tmp_path, imported):
    path = tmp_path / "wide.csv"
    path.write_text("item,subject,score\n" + "".join(f"i{n},s{n},1\n" for n in range(3_000)))
    code, said = imported(path)
    assert code == 2 and "more than 2,000,000 rows" in said


def test_a_sheet_that_is_read_whole_has_a_bound(tmp_path):
    path = tmp_path / "huge.csv"
    path.write_text("item,label\n")
    os.truncate(path, 100 << 20)
    with pytest.raises(DataError, match="more than 64 MB"):
        read_sheet(path)


def test_a_line_of_items_has_a_bound(tmp_path):
    path = tmp_path / "huge.jsonl"
    path.write_text("{")
    os.truncate(path, 100 << 20)
    with pytest.raises(DataError, match="the line has more than 64 MB"):
        list(read_items(path, dict))
