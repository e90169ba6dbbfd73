"""Every file that people give to an instrument is read the same however a spreadsheet saved it, or refused by name."""

import csv
import io
from functools import partial
from pathlib import Path

import pytest

from sociometer.core.errors import DataError
from sociometer.core.sheets import write_sheet
from sociometer.instruments import cards
from sociometer.instruments.sesi import items
from sociometer.instruments.sesi.build.review import read_decisions
from sociometer.reporting.sheets import read_filled
from sociometer.statistics.model_kinds import read_properties
from sociometer.store.labels import LabelQuestion, LabelSheet, Unit


class Drawn:
    """A label book with one sheet."""

    def sheet_with(self, unit):
        asked = (LabelQuestion("direction", "Which?", ("up", "same", "down")),)
        return LabelSheet("k", "Feelings", asked) if unit.startswith("k-") else None

    def units(self, name):
        return {f"{name}-{number:03}": Unit(f"{name}-{number:03}", {}, {}) for number in range(1, 3)}


READERS = {
    "models": (read_properties, "model,size_billion,launched,sft\na,7,2023-03-14,yes\nb,,,no\n"),
    "decisions": (read_decisions, "id,decision,note\n1,keep,\n2,,\n3,Wrong ability,x\n"),
    "official items": (
        lambda path: list(items.read_official(path)),
        f'{",".join(items.COLUMNS)}\n1,Empathy,"s, t\nu",q,a,b,c,d,0\n1,Influence,s,q,a,b,c,d,3\n',
    ),
    "labels": (
        lambda path: read_filled(path, "ann", Drawn(), {}),
        'unit,talk,direction\nk-001,"a\nb",up\nk-002,x,Same\n',
    ),
    "reviews": (
        lambda path: read_filled(path, "ann", None, cards()),
        "tree,part,English,translation,accepted\nt,1,a,b,yes\nt,2,a,b,\n",
    ),
}


def separated(separator: str, text: str) -> bytes:
    out = io.StringIO()
    cells = csv.reader(io.StringIO(text, newline=""))
    csv.writer(out, delimiter=separator, lineterminator="\r\n").writerows(cells)
    return out.getvalue().encode()


def with_header(change, text: str) -> bytes:
    header, _, rest = text.partition("\n")
    return (",".join(change(name) for name in header.split(",")) + "\n" + rest).encode()


SAVED = {
    "byte order mark": lambda text: text.encode("utf-8-sig"),
    "semicolons": partial(separated, ";"),
    "tabs": partial(separated, "\t"),
    "spaces in the header": partial(with_header, lambda name: f" {name} "),
    "a blank line before": lambda text: f"\n{text}".encode(),
    "empty rows after": lambda text: f"{text},,\n\n,,,\n".encode(),
}


@pytest.fixture
def saved(tmp_path):
    def save(content: bytes) -> Path:
        path = tmp_path / "given.csv"
        path.write_bytes(content)
        return path

    return save


@pytest.mark.parametrize("way", SAVED)
@pytest.mark.parametrize("name", READERS)
def test_a_file_is_read_the_same_however_it_was_saved(name, way, saved):
    read, text = READERS[name]
    assert read(saved(SAVED[way](text))) == read(saved(text.encode()))


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"people", "scores"}))
def test_a_header_in_capitals_gives_the_same(name, saved):
    """Except where the columns are names of scenarios or benchmarks, which have a case of their own."""
    read, text = READERS[name]
    assert read(saved(with_header(str.upper, text))) == read(saved(text.encode()))


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"a,\xe9\n", "a,b\n".encode("utf-16"), b"x" * 200_000])
@pytest.mark.parametrize("name", READERS)
def test_a_file_of_another_kind_is_refused_by_name(name, content, saved):
    with pytest.raises(DataError, match=r"given\.csv"):
        READERS[name][0](saved(content))


@pytest.mark.parametrize("name", READERS)
def test_a_row_that_breaks_off_is_read_or_refused_by_its_line(name, saved):
    read, text = READERS[name]
    header = text.partition("\n")[0]
    try:
        read(saved(f"{header}\n9\n".encode()))
    except DataError as refused:
        assert refused.line == 2 or "no answer" in str(refused)


def test_a_carriage_return_in_the_words_of_a_model_does_not_break_its_row(saved):
    text = write_sheet(("unit", "talk", "direction"), [("k-001", "one\rtwo", "up")], guard_formulas=True)
    (label,) = read_filled(saved(text.encode()), "ann", Drawn(), {}).labels
    assert label.answers == {"direction": "up"}
