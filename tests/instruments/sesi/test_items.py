"""Items load from the official layout with unique ids, and bad rows are refused by file and line."""

from collections import Counter

import pytest

from sociometer.cli.main import run_command
from sociometer.core.errors import DataError
from sociometer.instruments.sesi import items

HEAD = ",".join(items.COLUMNS)
ROW = "{id},{type},A person waits.,Why?,one,two,three,four,{answer}"


def write(tmp_path, *rows, head=HEAD):
    path = tmp_path / "sesi.csv"
    path.write_text("\n".join((head, *rows)) + "\n", encoding="utf-8")
    return path


def test_the_official_file_has_the_released_counts(official_data):
    found = list(items.read_official(official_data / "sesi" / "sesi.csv"))
    assert len(found) == 500
    assert Counter(q.ability for q in found) == dict.fromkeys(items.ABILITIES, 100)
    assert [Counter(q.answer for q in found)[place] for place in range(4)] == [105, 128, 142, 125]


def test_the_item_that_stands_twice_gets_two_ids_and_is_reported(official_data):
    found = list(items.read_official(official_data / "sesi" / "sesi.csv"))
    assert len({q.id for q in found}) == 500
    told = [(one.id, one.answer, other.id, other.answer) for one, other in items.contradictions(found)]
    assert told == [("17hca27", 3, "17hca27-2", 1)]
    assert {q.cluster for q in found if q.id.startswith("17hca27")} == {"17hca27"}


def test_a_repeated_id_is_numbered(tmp_path):
    path = write(tmp_path, *(ROW.format(id="x", type="Concern", answer=n) for n in (0, 1)))
    assert [q.id for q in items.read_official(path)] == ["x", "x-2"]


def test_same_key_twice_is_no_contradiction(tmp_path):
    path = write(tmp_path, *(ROW.format(id="x", type="Concern", answer=1) for _ in range(2)))
    assert items.contradictions(list(items.read_official(path))) == []


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (ROW.format(id="x", type="Charm", answer=0), "unknown Type 'Charm'"),
        (ROW.format(id="x", type="Concern", answer=4), "Answer '4'"),
        (ROW.format(id="", type="Concern", answer=0), "ID is empty"),
        ("x,Concern,,Why?,one,two,three,four,0", "is empty"),
    ],
)
def test_a_bad_row_is_refused_naming_file_and_line(tmp_path, row, says):
    path = write(tmp_path, ROW.format(id="a", type="Empathy", answer=0), row)
    with pytest.raises(DataError, match=says) as error:
        list(items.read_official(path))
    assert f"{path}:3" in str(error.value)


def test_missing_columns_are_named(tmp_path):
    with pytest.raises(DataError, match="Option_3"):
        list(items.read_official(write(tmp_path, head=HEAD.replace(",Option_3", ""))))


@pytest.mark.parametrize(("keys", "code"), [((1, 1), 0), ((0, 1), 1)])
def test_lint_fails_on_contradictory_keys_and_not_on_unconverted_items(tmp_path, monkeypatch, capsys, keys, code):
    row = "x,Concern,Nobody in particular waits.,Why?,one,two,three,four,{}"
    write(tmp_path, *(row.format(key) for key in keys))
    monkeypatch.setenv("SOCIOMETER_STORE", str(tmp_path / "store.db"))
    assert run_command(["sesi", "lint", "--data", str(tmp_path)]) == code
    said = capsys.readouterr().out
    assert "0 % have a second-person form" in said
    assert ("contradiction: x and x-2" in said) == bool(code)
