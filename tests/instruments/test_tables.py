"""Words of tables and figures in TOML files: columns, units and details fit, and every text is used."""

import tomllib
from pathlib import Path

import pytest

from sociometer import instruments
from sociometer.instruments._tables import Figures, Tables

FOLDER = Path(instruments.__file__).parent
FILES = sorted(path for name in ("tables", "figures", "notes") for path in FOLDER.rglob(f"{name}.toml"))
TABLES = [path for path in FILES if path.stem == "tables"]


def made(tmp_path, text):
    path = tmp_path / "words.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_has_the_words_of_its_file_and_the_rows_of_the_code(tmp_path):
    text = '["lint/places"]\ntitle = "Of {who}"\ncolumns = ["a", "b"]\nnote = "By {who}."\nunits = { share = ["b"] }\n'
    found = Tables(made(tmp_path, text))("lint/places", [("x", 0.5)], details=["a"], who="{us}")
    assert (found.name, found.title, found.note) == ("places", "Of {us}", "By {us}.")
    assert (found.columns, found.rows) == (("a", "b"), (("x", 0.5),))
    assert (found.units, found.details) == ({"b": "share"}, ("a",))


def test_a_figure_has_its_key_as_its_name_unless_it_has_another(tmp_path):
    figures = Figures(made(tmp_path, '[plane]\ntitle = "Layer {layer}"\n'))
    chart = {"mark": "bar"}
    assert figures("plane", chart=chart, layer=3).name == "plane"
    named = figures("plane", chart=chart, name="plane-2", layer=3)
    assert (named.name, named.title, named.caption, named.chart) == ("plane-2", "Layer 3", "", chart)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_details_are_columns_and_no_column_has_two_units(path):
    for key, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
        assert set(table.get("details", ())) <= set(table["columns"]), key
        units = [column for columns in table.get("units", {}).values() for column in columns]
        assert len(set(units)) == len(units), key


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_every_text_of_a_file_is_used(path):
    code = "\n".join(source.read_text(encoding="utf-8") for source in path.parent.rglob("*.py"))
    assert [key for key in tomllib.loads(path.read_text(encoding="utf-8")) if f'"{key}"' not in code] == []
