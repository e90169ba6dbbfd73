"""How much of a text a reply repeats word for word; Chinese is counted by characters."""

import re
from collections.abc import Sequence

_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+(?:['’][^\W_\u3400-\u9fff]+)*")
_HAN = re.compile(r"[\u3400-\u9fff]")
LEAST_RUN = 6
"""Words; shorter runs occur in any fluent continuation and do not count."""
LEAST_RUN_CHINESE = 10
"""Characters."""


def tokens(text: str) -> tuple[str, ...]:
    """The words of a text without case and punctuation; each Chinese character is one."""
    return tuple(_TOKEN.findall(text.lower().replace("’", "'")))


def verbatim_share(said: str, true: str) -> float:
    """The longest run of words that a reply shares with the true text, as a share of that text; 0 for a short run."""
    wanted = tokens(true)
    least = LEAST_RUN_CHINESE if _HAN.search(true) else LEAST_RUN
    run = longest_run(tokens(said), wanted)
    return run / len(wanted) if wanted and run >= min(least, len(wanted)) else 0.0


def longest_run(one: Sequence[str], two: Sequence[str]) -> int:
    """The length of the longest run of tokens that both texts have."""
    best, before = 0, [0] * (len(two) + 1)
    for token in one:
        row = [0] * (len(two) + 1)
        for place, other in enumerate(two, 1):
            if token == other:
                row[place] = before[place - 1] + 1
        best, before = max(best, *row), row
    return best


def halves(text: str, length: int) -> tuple[str, str]:
    """The two halves of the first `length` words of a text (of its characters, where it is Chinese)."""
    parts = _parts(text)[:length]
    glue, middle = "" if _HAN.search(text) else " ", len(parts) // 2
    return glue.join(parts[:middle]), glue.join(parts[middle:])


def length_of(text: str) -> int:
    """The length of a text in words, or in characters where it is Chinese."""
    return len(_parts(text))


def _parts(text: str) -> list[str]:
    return list(text) if _HAN.search(text) else text.split()
