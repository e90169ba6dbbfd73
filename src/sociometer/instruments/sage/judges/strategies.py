"""The support strategies, how often neighbouring replies repeat them, and their effect on the emotion."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from sociometer.core.language import read_texts
from sociometer.instruments.sage.person.emotion import Intention

Codes = tuple[str, ...]
"""The codes of one reply, in the order in which they occur in it."""

REPETITION_LINE = 0.4
"""Above this repetition rate the paper does not count a model as an effective supporter."""

STRATEGIES: dict[str, str] = read_texts(Path(__file__).with_suffix(".toml"))
"""The 24 strategies of Table 5, and one of ours: an apology for what the reply before it said or missed."""


class Capability(Struct, frozen=True):
    """One of the four capabilities: the strategies that show it, and the intention that calls for it (Table 6)."""

    key: str
    title: str
    strategies: tuple[str, ...]
    intention: Intention


CAPABILITIES: tuple[Capability, ...] = (
    Capability("deep-empathy", "Deep empathic engagement", ("B-2", "B-3", "C-1", "C-2"), "empathy"),
    Capability("praise", "Effective praise and affirmation", ("E-1", "E-2", "E-3"), "praise"),
    Capability("expression", "Facilitating emotional expression", ("D-2", "D-3"), "listening"),
    Capability("solutions", "Providing effective solutions", ("F-5",), "advice"),
)


class LabelledReply(Struct, frozen=True):
    """A reply reduced to its strategies, the emotion change after it (None if unjudged), and its position."""

    strategies: Codes
    change: int | None
    intention: str
    dialogue: str = ""
    scenario: str = ""


def alignment_similarity(first: Codes, second: Codes) -> float:
    """The share of identical places in the best global alignment of two sequences, from 0 to 1.

    Needleman and Wunsch (1970) with match 1, mismatch -1, gap -1; among equally good alignments the one with most
    identities counts. An empty sequence has a similarity of 0 with every other, even with another empty one.
    """
    if not first or not second:
        return 0.0
    best = [(-place, 0, -place) for place in range(len(second) + 1)]
    for row, left in enumerate(first, 1):
        previous, best = best, [(-row, 0, -row)]
        for column, right in enumerate(second, 1):
            same = int(left == right)
            across = previous[column - 1]
            paired = (across[0] + (1 if same else -1), across[1] + same, across[2] - 1)
            gaps = ((cell[0] - 1, cell[1], cell[2] - 1) for cell in (previous[column], best[column - 1]))
            best.append(max(paired, *gaps))
    _, identities, negative_length = best[-1]
    return identities / -negative_length


def repetition(replies: Sequence[Codes]) -> float | None:
    """The mean similarity of neighbouring replies of one dialogue, or None without two labelled neighbours.

    Two neighbours without any label show no strategy that could be repeated, and are left out.
    """
    pairs = [(first, second) for first, second in pairwise(replies) if first or second]
    return sum(alignment_similarity(first, second) for first, second in pairs) / len(pairs) if pairs else None


def occurrences(
    replies: Iterable[LabelledReply], strategies: Iterable[str], intention: str = ""
) -> list[LabelledReply]:
    """Every occurrence of any of the strategies, in all dialogues or in those with one hidden intention.

    Strategy effectiveness is the mean change over them. Two of the strategies in one reply are two occurrences; a reply
    that was not judged has no change and is left out.
    """
    wanted = set(strategies)
    return [
        reply
        for reply in replies
        if reply.change is not None and (not intention or reply.intention == intention)
        for code in reply.strategies
        if code in wanted
    ]


_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W_]+(?:['’][^\W_]+)*")
LONGEST_HEARD = 10_000
"""The number of characters of a longer text that the rules read."""


def tokens(text: str) -> list[str]:
    """Lower-case words, and Chinese text character by character."""
    return [token.lower() for token in _TOKEN.findall(text[:LONGEST_HEARD])]


def overlap(text: str, other: str) -> float:
    """The share of a text's three-word (or three-character) sequences that occur in another."""
    mine, theirs = _runs(text), _runs(other)
    return len(mine & theirs) / len(mine) if mine else 0.0


def _runs(text: str) -> set[tuple[str, ...]]:
    words = tokens(text)
    length = min(3, len(words)) or 1
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}
