import pytest

from sociometer.core.errors import DataError
from sociometer.core.language import FOLDER, language_of, languages, languages_in, read_texts, texts_in, written_in


def test_every_file_is_a_language_and_english_comes_first():
    assert next(iter(languages())) == "en"
    assert set(languages()) == {path.stem for path in FOLDER.iterdir()}
    assert {code: one.name for code, one in languages().items()}["zh"] == "中文"


def test_a_language_without_a_file_has_the_signs_of_english_and_is_read_with_it():
    unknown = language_of("qaa")
    assert (unknown.comma, unknown.english, unknown.understood) == (", ", "qaa", ("en", "qaa"))


@pytest.mark.parametrize(
    ("text", "share", "code"),
    [
        ("", 0.0, "en"),
        ("A word.", 0.0, "en"),
        ("A word: 好", 0.0, "zh"),
        ("A word: 好", 0.1, "zh"),
        ("Nine words and then one 好", 0.1, "en"),
    ],
)
def test_a_text_is_known_by_its_letters(text, share, code):
    assert written_in(text, share) == code


def test_a_text_is_in_english_where_a_language_does_not_have_it(tmp_path):
    (tmp_path / "en.toml").write_text("yes = 'yes'\nno = 'no'")
    (tmp_path / "qaa.toml").write_text("yes = 'sey'")
    (tmp_path / "page.en.toml").write_text("title = 'Title'")
    assert texts_in(tmp_path, "qaa") == {"yes": "sey", "no": "no"}
    assert texts_in(tmp_path, "qab", "page") == {"title": "Title"}
    assert texts_in(tmp_path / "nowhere", "qaa") == {}


def test_files_and_folders_of_a_folder_are_languages(tmp_path):
    (tmp_path / "zh").mkdir()
    (tmp_path / "en.toml").write_text("")
    (tmp_path / ".hidden").write_text("")
    assert languages_in(tmp_path) == ("en", "zh")
    assert languages_in(tmp_path / "nowhere") == ()


def test_a_file_that_is_not_toml_is_named(tmp_path):
    (tmp_path / "en.toml").write_text("yes = ")
    with pytest.raises(DataError, match=r"en\.toml: not TOML"):
        read_texts(tmp_path / "en.toml")
