"""The characters that replace each mention of an option in a marked reply."""

from __future__ import annotations

__all__ = ["ANY", "CLASH", "LABEL", "PLACE", "WORDS", "index_of"]

LABEL, PLACE, WORDS = 0xE100, 0xE120, 0xE140
"""First marks of the three kinds: a label, a place ("the third one"), an option's own words."""
CLASH = "\ue160"
"""The mark for a label in front of another option's words."""
ANY = "[\ue100-\ue160]"
"""A pattern for one mark; no reply holds such characters."""


def index_of(mark: str) -> int:
    """Return the index of the option of a mark."""
    return ord(mark) & 31
