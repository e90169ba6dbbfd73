"""Items from JSON-lines files: every bad line is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.reading import read_items, read_lines


class Pair(Struct, frozen=True):
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")


def file(folder: Path, text: str) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_records_come_in_order_with_their_line_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    path = file(tmp_path, '{"low": 1, "high": 2}\n\n{"low": 3, "high": 3}\n')
    assert list(read_items(path, Pair)) == [Pair(1, 2), Pair(3, 3)]
    assert [number for number, _ in read_lines(path, Pair)] == [1, 3]


@pytest.mark.parametrize("line", ['{"low": 1}', "{", '{"low": "one", "high": 2}', '{"low": 4, "high": 2}', "7"])
def test_a_bad_line_is_an_error_with_file_line_and_what_was_expected(tmp_path: Path, line: str) -> None:
    path = file(tmp_path, f'{{"low": 1, "high": 2}}\n{line}\n')
    with pytest.raises(DataError, match=r"pairs\.jsonl:2: .*; expected a pair"):
        list(read_items(path, Pair, "a pair"))


def test_what_a_record_checks_itself_is_in_the_message(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="low 4 is above high 2"):
        list(read_items(file(tmp_path, '{"low": 4, "high": 2}'), Pair))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent\.jsonl: cannot be read: No such file"):
        list(read_items(tmp_path / "absent.jsonl", Pair))
