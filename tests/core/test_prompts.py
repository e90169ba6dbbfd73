import pytest

from sociometer.core.errors import DataError, UsageError
from sociometer.core.prompts import Prompts


@pytest.fixture
def folder(tmp_path):
    for language, text in (("en", "Hello {name}, {greeting}"), ("zh", "你好，{name}")):
        (tmp_path / language).mkdir()
        (tmp_path / language / "greet.md").write_text(text + "\n", encoding="utf-8")
    (tmp_path / "en" / "deep").mkdir()
    (tmp_path / "en" / "deep" / "er.md").write_text("below", encoding="utf-8")
    return tmp_path


def test_placeholders_are_filled_once_and_what_is_put_in_is_never_read_again(folder):
    told = Prompts(folder).render("greet", name="{greeting}", greeting="{name} {0} {}")
    assert told == "Hello {greeting}, {name} {0} {}"


def test_languages_and_folders_are_told_apart(folder):
    prompts = Prompts(folder)
    assert prompts.render("greet", "zh", name="小王") == "你好，小王"
    assert prompts.render("deep/er") == "below"
    assert prompts.names("zh") == ("greet",)


def test_a_missing_value_or_prompt_is_said(folder):
    with pytest.raises(DataError, match=r"unknown placeholder \{greeting\}"):
        Prompts(folder).render("greet", name="x")
    with pytest.raises(UsageError, match="did you mean 'greet'"):
        Prompts(folder).render("gret")


def test_a_file_of_the_same_name_takes_its_place_and_changes_the_digest(folder, tmp_path_factory):
    override = tmp_path_factory.mktemp("own")
    (override / "en").mkdir()
    (override / "en" / "greet.md").write_text("Ahoy {name}", encoding="utf-8")
    mine = Prompts(folder, override)
    assert mine.render("greet", name="x", greeting="y") == "Ahoy x"
    assert mine.render("greet", "zh", name="x") == "你好，x"
    assert mine.digest() != Prompts(folder).digest()


def test_an_override_that_replaces_nothing_is_refused(folder, tmp_path_factory):
    override = tmp_path_factory.mktemp("own")
    (override / "en").mkdir()
    (override / "en" / "gret.md").write_text("x", encoding="utf-8")
    with pytest.raises(DataError, match=r"en/gret\.md does not match any prompt; known: .*en/greet\.md"):
        Prompts(folder, override)


def test_an_override_without_a_prompt_is_refused(folder, tmp_path_factory):
    (override := tmp_path_factory.mktemp("own")).joinpath("greet.md").write_text("Ahoy", encoding="utf-8")
    with pytest.raises(DataError, match=r"the folder has no prompts; --prompts needs .*<language>/<name>\.md"):
        Prompts(folder, override)


def test_a_link_out_of_the_folder_of_prompts_is_refused(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        (folder / "en").mkdir(parents=True)
    (ours / "en" / "ask.md").write_text("Ask.", encoding="utf-8")
    (tmp_path / "secret.md").write_text("my secret", encoding="utf-8")
    (theirs / "en" / "ask.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(DataError, match="link to a file outside"):
        Prompts(ours, theirs).render("ask")
