"""A file that is nested too deeply to be read is a DataError that names the file, wherever files are parsed."""

import pytest

from sociometer.core.card import read_card
from sociometer.core.errors import DataError
from sociometer.engine.data import _read_recorded
from sociometer.engine.prices import read_prices
from sociometer.instruments.egosocial.tombench.release import read_file
from sociometer.instruments.sage.build import read_schema
from sociometer.instruments.sage.items import Scenario, _entries
from sociometer.instruments.seceu.norm import read_norm
from sociometer.instruments.sesi.build.posts import read_posts
from sociometer.instruments.sesi.items import Question
from sociometer.instruments.socialeval.items import read_json
from sociometer.models.scripted import read_script
from sociometer.reading.item_files import read_items

DEPTH = 100_000
NESTED_JSON = b'{"a": ' * DEPTH + b"1" + b"}" * DEPTH + b"\n"
NESTED_TOML = b"a = " + b"[" * DEPTH + b"]" * DEPTH + b"\n"
NOT_UTF8 = b'{"a": "\xff\xfe"}\n'


def prices(path, monkeypatch):
    monkeypatch.setenv("SOCIOMETER_PRICES", str(path))
    return read_prices()


def recorded(path):
    path.rename(path.parent / "checksums.json")
    return _read_recorded(path.parent)


TOML = {
    "card": read_card,
    "schema of a talk": lambda path: read_schema(path, "en"),
    "scenarios": lambda path: list(_entries(path, Scenario, "en")),
}
JSON = {
    "items": lambda path: list(read_items(path, Question)),
    "script": read_script,
    "norm": read_norm,
    "tombench": lambda path: list(read_file(path)),
    "posts": lambda path: read_posts([path]),
    "trees": read_json,
    "recorded checksums": recorded,
}


@pytest.mark.parametrize("content", [NESTED_TOML, b"\xff\xfe"], ids=["nested", "not UTF-8"])
@pytest.mark.parametrize("reader", TOML.values(), ids=TOML)
def test_toml_that_cannot_be_read_is_a_data_error(reader, content, tmp_path):
    path = tmp_path / "file.toml"
    path.write_bytes(content)
    with pytest.raises(DataError, match=str(tmp_path)):
        reader(path)


@pytest.mark.parametrize("content", [NESTED_JSON, NOT_UTF8], ids=["nested", "not UTF-8"])
@pytest.mark.parametrize("reader", JSON.values(), ids=JSON)
def test_json_that_cannot_be_read_is_a_data_error(reader, content, tmp_path):
    path = tmp_path / "file.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=str(tmp_path)):
        reader(path)


@pytest.mark.parametrize("content", [NESTED_TOML, b"\xff\xfe"], ids=["nested", "not UTF-8"])
def test_a_price_list_that_cannot_be_read_is_a_data_error(content, tmp_path, monkeypatch):
    path = tmp_path / "prices.toml"
    path.write_bytes(content)
    with pytest.raises(DataError, match="not a price list"):
        prices(path, monkeypatch)
