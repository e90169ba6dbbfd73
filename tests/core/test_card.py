import msgspec
import pytest

from sociometer.core.card import Card, FileCard, MeasureCard, Paper, read_card
from sociometer.core.errors import DataError
from sociometer.instruments import FOLDER


def test_a_card_with_an_unknown_field_is_refused_naming_file_and_field(tmp_path):
    text = (FOLDER / "_template" / "card.toml").read_text(encoding="utf-8")
    path = tmp_path / "card.toml"
    path.write_text(text.replace("about =", "abuot ="), encoding="utf-8")
    with pytest.raises(DataError, match=r"card\.toml: not a valid instrument card: .*abuot"):
        read_card(path)


def test_a_task_with_an_unknown_field_is_refused(tmp_path):
    text = (FOLDER / "_template" / "card.toml").read_text(encoding="utf-8")
    path = tmp_path / "card.toml"
    path.write_text(text.replace("[[task]]", "[[task]]\nprobability = true", 1), encoding="utf-8")
    with pytest.raises(DataError, match="TaskCard has no field 'probability'"):
        read_card(path)


def test_a_card_that_is_stored_with_an_imported_run_may_have_fields_of_an_earlier_version():
    stored = msgspec.to_builtins(read_card(FOLDER / "_template" / "card.toml"))
    stored["task"][0]["probability"] = True
    stored["measure"][0]["question_zh"] = ""
    assert msgspec.convert(stored, Card).task[0].name == "questions"


RELEASE = """
[[release]]
repository = "owner/name"
commit = "abc"

[[release.folder]]
to = "quiz"
files = [{ name = "data.csv", saved_as = "quiz.csv", sha256 = "12" }]

[[release.folder]]
path = "talks/2025"
to = "quiz/talks"
part = "talks"
files = [{ name = "a.jsonl", git_blob = "34" }, { name = "b.py", prompts = true }]
"""


def test_the_files_of_a_release_have_their_address_and_their_place_here(tmp_path):
    path = tmp_path / "card.toml"
    path.write_text((FOLDER / "_template" / "card.toml").read_text(encoding="utf-8") + RELEASE, encoding="utf-8")
    card = read_card(path)
    assert card.file == (
        FileCard("quiz/quiz.csv", "owner/name", "abc", "data.csv", sha256="12"),
        FileCard("quiz/talks/a.jsonl", "owner/name", "abc", "talks/2025/a.jsonl", git_blob="34", part="talks"),
        FileCard("quiz/talks/b.py", "owner/name", "abc", "talks/2025/b.py", part="talks", prompts=True),
    )
    assert card.files() == card.file[:1] and card.files("talks") == card.file[1:]


def test_text_that_is_not_toml_is_refused(tmp_path):
    path = tmp_path / "card.toml"
    path.write_text("name = ", encoding="utf-8")
    with pytest.raises(DataError, match="not a valid instrument card"):
        read_card(path)


def made_card(tmp_path, setting, *languages, more=""):
    text = (FOLDER / "_template" / "card.toml").read_text(encoding="utf-8")
    for language in languages:
        (tmp_path / "prompts" / language).mkdir(parents=True)
    path = tmp_path / "card.toml"
    path.write_text(f"{more}{text}\n[[setting]]\nname = 'language'\nkind = 'choice'\nhelp = 'x'\n{setting}")
    return read_card(path)


def test_the_languages_are_those_of_the_prompts_english_first(tmp_path):
    card = made_card(tmp_path, "default = 'en'", "de", "zh", "en")
    assert card.languages == ("en", "de", "zh")
    assert [one.choices for one in card.setting if one.name == "language"] == [("en", "de", "zh")]


def test_a_card_may_name_its_languages_and_more_choices_of_which_the_default_comes_first(tmp_path):
    card = made_card(tmp_path, "default = 'both'\nchoices = ['both']", "en", more="languages = ['en', 'zh']\n")
    assert card.languages == ("en", "zh")
    assert [one.choices for one in card.setting if one.name == "language"] == [("both", "en", "zh")]


def test_without_prompts_the_language_is_english(tmp_path):
    assert made_card(tmp_path, "default = 'en'").languages == ("en",)


def test_a_paper_has_an_entry_for_bibtex():
    paper = Paper("On tact", "Li, Ray and others", 2024, doi="10.1/x", link="https://example.org/x")
    assert paper.bibtex("tact") == (
        "@article{li2024tact, title = {On tact}, author = {Li and Ray and others}, year = {2024}, doi = {10.1/x},"
        " url = {https://example.org/x}}"
    )
    assert (
        Paper("On tact", "Li", 2024).bibtex("t") == "@article{li2024t, title = {On tact}, author = {Li}, year = {2024}}"
    )


def test_a_difference_of_shares_goes_from_minus_one_to_one():
    assert MeasureCard("questions", "gain", "Gain", "share-points").scale == (-1.0, 1.0)
    assert MeasureCard("questions", "right", "Right").scale == (0.0, 1.0)
