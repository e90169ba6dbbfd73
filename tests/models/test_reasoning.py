import pytest

from sociometer.models.finish import split_reasoning


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("B", "B", ""),
        ("<think>Ben frowns.</think>\n\nB", "B", "Ben frowns."),
        ("\n<think>\nBen frowns.\n</think>B", "B", "Ben frowns."),
        ("Ben frowns.</think>B", "B", "Ben frowns."),
        ("<think>Ben fro", "", "Ben fro"),
        ("[THINK]Ben frowns.[/THINK]B", "B", "Ben frowns."),
        ("I <b>think</b> B", "I <b>think</b> B", ""),
        ("a < b", "a < b", ""),
        ("<think></think>B", "B", ""),
    ],
)
def test_thinking_is_told_from_the_answer(text, answer, reasoning):
    assert split_reasoning(text) == (answer, reasoning)
