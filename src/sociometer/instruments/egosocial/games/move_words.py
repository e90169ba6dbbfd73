"""The one move that free words name: two of them, or one that is denied, are none."""

import re
from collections.abc import Sequence

_DENIED = (
    r"\b(?:not|never|no|cannot|can't|don't|won't|wouldn't|shouldn't|couldn't|without|instead of|rather than)\b"
    r"[^.;,:!?]{0,30}"
)


def named_moves(text: str, moves: Sequence[str]) -> set[str]:
    """Return the moves that a text names."""
    return {word.lower() for word in re.findall(rf"\b({'|'.join(moves)})\b", text, re.IGNORECASE)}


def one_move(text: str, moves: Sequence[str]) -> str:
    """Return the move that a text names; empty where it names none or several, or says what it will not do."""
    found = named_moves(text, moves)
    denied = re.search(rf"{_DENIED}\b(?:{'|'.join(moves)})\b", text.replace("’", "'"), re.IGNORECASE)
    return found.pop() if len(found) == 1 and not denied else ""
