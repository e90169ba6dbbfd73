"""Words of several languages are read together where the languages say so, and nowhere else."""

import re

import pytest

from sociometer.core.language import languages, read_texts
from sociometer.reading.rule_files import FOLDER, read_rules

KINDS = ("choice", "allocation", "json")


def test_a_rule_is_found_in_the_words_of_every_language_that_is_read_together(tmp_path):
    (tmp_path / "en.toml").write_text("[kind]\nno = ['not']\nten = ['ten']")
    (tmp_path / "zh.toml").write_text("[kind]\nno = ['不']\nten = ['十|拾']")
    (tmp_path / "qaa.toml").write_text("[kind]\nno = ['ton']")
    for code in ("en", "zh"):
        rules = read_rules("kind", code, tmp_path)
        assert [bool(rules.search("no", text)) for text in ("NOT me", "不是", "ton em")] == [True, True, False]
        assert rules.place("ten", "拾") == 0 and rules.lists("ten") == [["ten"], ["十|拾"]]
    rules = read_rules("kind", "qaa", tmp_path)
    assert [bool(rules.search("no", text)) for text in ("not me", "不是", "ton em")] == [True, False, True]
    assert not rules.search("unheard of", "anything") and rules.either("unheard of") == "(?!)"


def test_a_pattern_has_places_for_words(tmp_path):
    (tmp_path / "rules.toml").write_text("[kind]\nto = '(?-i:\\d{1,2} (?:{to}|–) \\d)'")
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "en.toml").write_text("[kind]\nto = ['to']")
    rules = read_rules("kind", "en", tmp_path / "rules")
    assert rules.search("to", "10 to 3") and rules.search("to", "1 – 3") and not rules.search("to", "1 TO 3")


@pytest.mark.parametrize("code", languages())
@pytest.mark.parametrize("kind", KINDS)
def test_every_rule_is_a_pattern_whose_places_some_language_fills(code, kind):
    shapes, words = read_texts(FOLDER.with_suffix(".toml")).get(kind, {}), read_texts(FOLDER / f"{code}.toml")[kind]
    rules = read_rules(kind, code)
    for name in (*shapes, *words):
        assert rules.find(name)
    places = {place for shape in shapes.values() for place in re.findall(r"\{([a-z_]+)\}", shape)}
    everything = {name for one in languages() for name in read_texts(FOLDER / f"{one}.toml")[kind]}
    assert places <= everything
