"""Tables made to hurt: `import` reads them or says in one sentence why not, and damages no store."""

import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.core.sheets import stream_rows


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
