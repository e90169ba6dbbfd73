import pytest

from sociometer.core.card import read_card
from sociometer.core.errors import DataError
from sociometer.instruments import FOLDER


def test_a_card_with_an_unknown_field_is_refused_naming_file_and_field(tmp_path):
    text = (FOLDER / "_template" / "card.toml").read_text(encoding="utf-8")
    path = tmp_path / "card.toml"
    path.write_text(text.replace("languages =", "langauges ="), encoding="utf-8")
    with pytest.raises(DataError, match=r"card\.toml: not a valid instrument card: .*langauges"):
        read_card(path)


def test_text_that_is_not_toml_is_refused(tmp_path):
    path = tmp_path / "card.toml"
    path.write_text("name = ", encoding="utf-8")
    with pytest.raises(DataError, match="not a valid instrument card"):
        read_card(path)
