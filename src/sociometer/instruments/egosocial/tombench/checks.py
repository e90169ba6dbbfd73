"""What is wrong with a conversion to the first person: automatic checks, each with a name."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from sociometer.instruments.egosocial.tombench.characters import naming
from sociometer.instruments.egosocial.tombench.grammar import pronouns_left, verbs_left
from sociometer.instruments.egosocial.tombench.meaning import changes
from sociometer.instruments.egosocial.tombench.orders import Order
from sociometer.instruments.egosocial.tombench.release import Wording

_YOU = {"en": re.compile(r"\byou(?:r|rs|rself|rselves)?\b", re.IGNORECASE), "zh": re.compile("你")}
_I = {"en": re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours|ourselves)\b", re.IGNORECASE), "zh": re.compile("我")}


def failures(item: Order, first: Wording) -> Iterator[str]:
    """The names of the automatic checks that a conversion fails."""
    third = item.third
    if len(first.options) != len(third.options):
        yield "number of options"
        return
    if _grew(_whole(third), _whole(first)) or any(map(_grew, third.options, first.options)):
        yield "story shortened or padded"
        return
    if _count(_whole(first), item.ego, item.language):
        yield "name still there"
    if not _YOU[item.language].search(first.story + first.question):
        yield "nobody is you"
    if len(set(first.options)) != len(first.options):
        yield "options alike"
    if not _same_order(third.options, first.options):
        yield "options moved"
    if not all(_says_i(old, new, item) for old, new in zip(third.options, first.options, strict=True)):
        yield "option does not say I"
    if item.language == "en" and verbs_left(_whole(third), _whole(first), naming(item.ego, "en")):
        yield "verb left in the third person"
    if pronouns_left(item, first):
        yield "pronoun left in the third person"
    yield from changes(item, first)
    if sorted(re.findall(r"\d+", _whole(first))) != sorted(re.findall(r"\d+", _whole(third))):
        yield "numbers changed"
    if not 0.6 <= len(first.story) / len(third.story) <= 1.5:
        yield "story shortened or padded"


def _grew(old: str, new: str) -> bool:
    """Whether a text is so much longer that no other check is made; some take quadratic time."""
    return len(new) > 500 + 3 * len(old)


def _whole(words: Wording) -> str:
    return "\n".join((words.story, words.question, *words.options))


def _count(text: str, name: str, language: str) -> int:
    return len(naming(name, language).findall(text))


def _says_i(old: str, new: str, item: Order) -> bool:
    """Whether an option that named the person now says "I", and addresses nobody whom it did not address before."""
    if not _count(old, item.ego, item.language):
        return True
    you = _YOU[item.language]
    return bool(_I[item.language].search(new)) and len(you.findall(new)) <= len(you.findall(old))


def _bare(option: str) -> str:
    return option.strip().rstrip(".。").strip().lower()


def _same_order(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Whether each option is still most similar to the original in its position: then the answer is kept too."""
    for place, option in enumerate(new):
        likeness = [SequenceMatcher(None, option, other, autojunk=False).ratio() for other in old]
        if likeness[place] < max(likeness):
            return False
    return True
