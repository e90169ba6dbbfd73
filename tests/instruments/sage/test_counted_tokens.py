"""Tokens counted from texts, and the figures that commands write."""

import pytest

from sociometer.instruments.sage.dialogue import count_tokens

from .test_commands import cli, imported, stored_imports  # noqa: F401


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


def test_analyse_writes_its_figures(cli, imported, tmp_path):  # noqa: F811
    first = imported[0]
    words = ("--what", "coordinate", "--role", "judge=baseline/random")
    cli("sage", "analyse", first, *words, "--to", "a")
    names = {path.stem for path in (tmp_path / "a").glob("*.svg")}
    assert names >= {"coordinate", "trajectories", "sentient"}
