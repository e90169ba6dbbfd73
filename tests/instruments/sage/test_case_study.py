"""The case study page, tokens counted from texts, and the figures that commands write."""

import re
from xml.etree import ElementTree

import pytest

from sociometer.instruments.sage.dialogue import Dialogue, Judgement, Turn, count_tokens
from sociometer.instruments.sage.figures import case_study, wrapped
from sociometer.reporting.plot import drawn

from .test_commands import OTHER, cli, imported, released, tables  # noqa: F401


def talk(reply="I see.", words="Do you?", thought="She wonders."):
    turns = (
        Turn(reply, Judgement("", "", thought, "Doubt.", 6, 40, 46), None, words),
        Turn("Go on.", Judgement("", "", "Enough.", "", -3, 46, 43), None, "Goodbye."),
    )
    return Dialogue("The oven. Of all days.", 40, turns, "farewell", "some simulator")


def texts(figure):
    return [node.text or "" for node in ElementTree.fromstring(figure.svg).iter() if node.tag.endswith("text")]


def test_the_page_shows_every_utterance_with_feeling_and_thoughts(care_home):
    shown = texts(case_study(care_home, talk(), "a-model"))
    for expected in ("The oven. Of all days.", "I see.", "Do you?", "She wonders. Doubt.", "46", "+6", "43", "\u22123"):
        assert expected in shown
    assert "Ends at 43: the person says goodbye." in shown
    assert any("about" in line and "a-model" in line for line in shown), "tokens are counted from the words"


def test_words_of_a_model_are_escaped_and_cannot_leave_their_place(care_home):
    figure = case_study(care_home, talk('</text><script>alert(1)</script>"', "\x00&\u202e"), "m<b>")
    assert "<script" not in figure.svg
    assert "alert(1)" in "".join(texts(figure)) and b"<script" not in drawn(figure, "svg")


@pytest.mark.parametrize(
    "text", ["One two three four five six seven eight nine ten", "我" * 60, "word" * 50, "甲，" * 30]
)
def test_lines_fit_and_nothing_is_lost(text):
    lines = wrapped(text, 200, 14)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert len(lines) > 1
    assert not any(line[0] in "，。" for line in lines), "no line begins with a sign that closes a clause"


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("我听着呢。", 5, 5),
        ("I am listening.", 4, 6),
        ("antidisestablishmentarianism", 6, 8),
        ("我用GPT聊天", 5, 5),
        ("12345", 2, 2),
    ],
)
def test_tokens_are_counted_from_a_text(text, least, most):
    assert least <= count_tokens(text) <= most


def test_imported_dialogues_have_tokens_counted_from_their_words(cli, imported):  # noqa: F811
    shown = cli("show", imported[0], "--json")
    summary = shown["summaries"]["dialogue"]
    assert "tokens" not in {each["name"] for each in summary["measures"]}, "the release gives none"
    counts = {each["written"] for each in summary["series"]["dialogues"]}
    assert counts == {count_tokens("我听着，慢慢说。") + count_tokens("你应该沟通。")}


def test_contrast_and_analyse_write_their_figures(cli, imported, tmp_path):  # noqa: F811
    first, second, kind = imported
    cli("sage", "contrast", first, second, "--to", "c", "--case", "id-3")
    written = {path.name for path in (tmp_path / "c").iterdir()}
    assert written >= {"trajectories.svg", "sentient.svg", "efficiency.svg", "leaderboard.csv", "case-other.svg"}
    assert "id-3" in (tmp_path / "c" / "case-other.svg").read_text(encoding="utf-8")
    assert "none of the runs has a dialogue" in cli("sage", "contrast", first, second, "--case", "nobody", code=2)
    words = ("sage", "analyse", first, second, kind, "--what", "strategies", "--what", "coordinate")
    cli(*words, "--role", "judge=cues", "--to", "a")
    written = {path.name for path in (tmp_path / "a").iterdir()}
    assert written >= {"repetition-strict.svg", "repetition-kind.svg", "coordinate-strict.svg", "coordinate-kind.svg"}


def test_no_figure_holds_two_simulators(cli, imported, tmp_path):  # noqa: F811
    first, _, kind = imported
    cli("sage", "analyse", first, kind, "--what", "strategies", "--what", "coordinate", "--role", "judge=cues",
        "--to", "a")  # fmt: skip
    names = [path.stem for path in (tmp_path / "a").glob("*.svg")]
    assert names and all(re.search(r"strict|kind", name) for name in names)
