"""The one move that a free text names; a text with two moves, or one that only rules out a move, names none."""

import re
from collections.abc import Sequence

_DENIED = (
    r"\b(?:not|never|no|cannot|can't|don't|won't|wouldn't|shouldn't|couldn't|without|instead of|rather than)\b"
    r"[^.;,:!?]{0,30}"
)
_LONGEST_PART = 10_000


def named_moves(text: str, moves: Sequence[str]) -> set[str]:
    """Return the moves that a text names; of a text beyond 20,000 characters, in its first and last 10,000."""
    return {word.lower() for word in re.findall(rf"\b({'|'.join(moves)})\b", _searched(text), re.IGNORECASE)}


def one_move(text: str, moves: Sequence[str]) -> str:
    """Return the move that a text names; empty if it names none or several, or says what it will not do."""
    found = named_moves(text, moves)
    denied = re.search(rf"{_DENIED}\b(?:{'|'.join(moves)})\b", _searched(text).replace("’", "'"), re.IGNORECASE)
    return found.pop() if len(found) == 1 and not denied else ""


def _searched(text: str) -> str:
    if len(text) <= 2 * _LONGEST_PART:
        return text
    return f"{text[:_LONGEST_PART]}\n{text[-_LONGEST_PART:]}"
