"""Texts that are safe to print."""

import sys
import unicodedata

import pytest

from sociometer.core.words import in_one_line, levels_of, texts_in_item, visible

EVERY = "".join(map(chr, range(sys.maxunicode + 1)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("red \x1b[31m", "red \ufffd[31m"),
        ("left \u202e right", "left \ufffd right"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("a separator\u2028", "a separator\ufffd"),
    ],
)
def test_what_controls_a_terminal_is_marked_and_line_ends_stay(text, shown):
    assert visible(text) == shown


def test_in_one_line_nothing_ends_the_line():
    assert in_one_line("a\nb\tc\u2028d\x1be\u00a0f") == "a b c d e f"
    assert visible("a\nb", "?", "") == "a?b"


def test_every_character_is_shown_or_marked_by_its_class_alone():
    """Controls, formats, surrogates, private and unassigned ones, and all separators but the space are marked."""
    made = in_one_line(EVERY)
    assert len(made) == len(EVERY) and made.isprintable()
    changed = {unicodedata.category(letter)[0] for letter, shown in zip(EVERY, made, strict=True) if letter != shown}
    assert changed == {"C", "Z"}


def test_the_texts_of_an_item_come_in_their_order_without_the_fields_left_out():
    item = {"id": "a", "story": "Once.", "options": ["one", {"text": "two", "id": "b"}, 3], "note": None}
    assert list(texts_in_item(item, "id")) == ["Once.", "one", "two"]


def test_a_level_that_is_a_number_or_a_code_has_the_name_of_its_facet():
    assert [*levels_of({"story type": "true_belief", "order": "1"})] == ["true_belief", "order 1"]
    assert [*levels_of({"options": "4"}), *levels_of({"age": "30–39"})] == ["options 4", "age 30–39"]
    assert [*levels_of({"language": "zh"}), *levels_of({"人群": "学生们"})] == ["language zh", "学生们"]
