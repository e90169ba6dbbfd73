"""Tokens counted from a stored text, for dialogues whose server or release gives no count. Pure."""

import re

# A Chinese character, up to four letters of a word, up to three digits, or any other sign is about one token.
_PIECE = re.compile(r"[\u3400-\u9fff]|[^\W\d_]{1,4}|\d{1,3}|[^\w\s]|_")


def count_tokens(text: str) -> int:
    """An estimate of the number of tokens of a text; the same rule for every model."""
    return len(_PIECE.findall(_ascii_words_apart(text)))


def _ascii_words_apart(text: str) -> str:
    """The text with a space between Chinese characters and letters, so that no piece contains both."""
    return re.sub(r"(?<=[\u3400-\u9fff])(?=[A-Za-z])|(?<=[A-Za-z])(?=[\u3400-\u9fff])", " ", text)
