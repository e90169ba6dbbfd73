"""How much of a text a reply repeats word for word; Chinese is counted by characters."""

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from random import Random
from typing import Any, Literal, TypeVar

from msgspec import Struct, structs

from sociometer.core.task import Item

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
    run = SequenceMatcher(None, tokens(said), wanted, autojunk=False).find_longest_match().size
    return run / len(wanted) if wanted and run >= min(least, len(wanted)) else 0.0


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


Origin = Literal["public", "unseen"]
Asked = Literal["completion", "order", "answer"]
ASKED: tuple[Asked, ...] = ("completion", "order", "answer")


class RecallItem(Item, frozen=True, kw_only=True, omit_defaults=True):
    """One question about one item of a pair; instruments add the item itself, as `test`."""

    asked: Asked
    origin: Origin
    ability: str = ""
    language: str = "en"
    shown: str = ""
    """What the subject sees: the first half of a text, or the whole text where the order of options is asked."""
    hidden: str = ""
    """The second half, which the subject completes."""
    options: tuple[str, ...] = ()
    """The options in the order of the item."""


class Passage(Struct, frozen=True):
    """An item as the check needs it: its ability, its text, what follows the text, and its options."""

    id: str
    text: str
    options: tuple[str, ...]
    ability: str = ""
    question: str = ""
    language: str = "en"


class Pair(Struct, frozen=True):
    """A public item and the unseen one that it is compared with."""

    public: Passage
    unseen: Passage

    @property
    def length(self) -> int:
        """The length to which both texts are cut."""
        return min(length_of(self.public.text), length_of(self.unseen.text))


def pair_up(public: Iterable[Passage], unseen: Iterable[Passage], count: int, seed: int) -> list[Pair]:
    """Up to `count` pairs, each item used once, the abilities in turn; an unseen item gets the public one nearest in
    length among those of its ability.
    """
    known: dict[str, list[Passage]] = {}
    for passage in public:
        known.setdefault(passage.ability, []).append(passage)
    others = list(unseen)
    Random(seed).shuffle(others)
    made: dict[str, list[Pair]] = {ability: [] for ability in known}
    for other in others:
        free = known.get(other.ability, [])
        if free:
            nearest = min(free, key=lambda one: abs(length_of(one.text) - length_of(other.text)))
            free.remove(nearest)
            made[other.ability].append(Pair(nearest, other))
    return [pair for turn in zip_longest(*made.values()) for pair in turn if pair is not None][:count]


RecallT = TypeVar("RecallT", bound=RecallItem)


def recalled(
    public: Sequence[Item],
    unseen: Sequence[Item],
    passage: Callable[[Any], Passage],
    made: Callable[..., RecallT],
    count: int,
    seed: int,
) -> tuple[list[Pair], list[RecallT]]:
    """The pairs of public and unseen items, and the questions about both of each pair."""
    tests = {item.id: item for item in (*public, *unseen)}
    pairs = pair_up(map(passage, public), map(passage, unseen), count, seed)
    asked = []
    for pair in pairs:
        sides: tuple[tuple[Origin, Passage], ...] = (("public", pair.public), ("unseen", pair.unseen))
        for origin, one in sides:
            for kind in ASKED:
                about = structs.asdict(_question(kind, origin, one, pair))
                asked.append(made(**about, test=tests[one.id] if kind == "answer" else None))
    return pairs, asked


def _question(asked: Asked, origin: Origin, one: Passage, pair: Pair) -> RecallItem:
    shown, hidden = "", ""
    options: tuple[str, ...] = ()
    if asked == "completion":
        shown, hidden = halves(one.text, pair.length)
    elif asked == "order":
        shown, options = f"{one.text}\n{one.question}".strip(), one.options
    return RecallItem(
        id=f"{asked}:{origin}:{one.id}", cluster=pair.public.id, asked=asked, origin=origin, ability=one.ability,
        language=one.language, shown=shown, hidden=hidden, options=options,
    )  # fmt: skip
