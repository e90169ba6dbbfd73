import re


def names_left(text, name):
    """Whether a name still occurs in a text, as a word (Chinese words have no borders)."""
    return name in text if not name.isascii() else re.search(rf"\b{re.escape(name)}\b", text) is not None
