"""Conversion to the first person by a builder model, and the automatic checks of what it gives.

The checks are strict and simple: apart from who is "you", a conversion has the same words in the same order. What
they reject goes to people, who may accept it in the review sheet.
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from msgspec import Struct

from sociometer.core.conversation import Sampling, Schema, user
from sociometer.core.session import Session
from sociometer.instruments.egosocial.tombench.release import Order, Wording, naming
from sociometer.reading import read_items, read_json

_EGO = "\ue000"
"""Stands for the name of the person who becomes "you"."""
_MENTIONS = {
    **dict.fromkeys(("he", "him", "his", "himself", "他"), "masculine"),
    **dict.fromkeys(("she", "her", "hers", "herself", "她"), "feminine"),
    **dict.fromkeys(("it", "its", "itself"), "neuter"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves", "他们", "她们"), "plural"),
    **dict.fromkeys(("you", "your", "yours", "yourself", "yourselves", "你", "您", "你们"), "you"),
    **dict.fromkeys(("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"), "I"),
    **dict.fromkeys(("我", "我们", "咱们"), "I"),
    "自己": "self",
}
_GRAMMAR = frozenset(
    (
        "be", "am", "is", "are", "was", "were", "been", "being", "do", "does", "did", "s", "re", "m", "a", "an", "the",
        "two", "both", "all", "of", "and", "named", "called", "think", "thinks", "believe", "believes", "guess",
        "的", "了", "是", "则", "和", "与", "跟", "身", "为", "觉得", "认为",
    )
)  # fmt: skip
"""Words that a change of person may add, change or take away; a negation is not among them."""
_PIECE = re.compile(rf"{_EGO}|他们|她们|你们|我们|咱们|自己|觉得|认为|[a-z]+|\d+|[\u4e00-\u9fff]")
_NO_VERBS = ("across", "afterwards", "always", "besides", "perhaps", "plus", "sometimes", "this", "thus", "towards")
_BROKEN = re.compile(r"\b(?:(?:you|I)'s|you (?:is|was|has|does)|I (?:is|has|does)|(?:is|was|has|does) you)\b")
_YOU = {"en": re.compile(r"\byou(?:r|rs|rself|rselves)?\b", re.IGNORECASE), "zh": re.compile("你")}
_I = {"en": re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours|ourselves)\b", re.IGNORECASE), "zh": re.compile("我")}


class Row(Struct, frozen=True):
    """A text as its words, and the mentions of people before each of them and at the end."""

    words: tuple[str, ...]
    mentions: tuple[tuple[str, ...], ...]


def failures(item: Order, first: Wording) -> Iterator[str]:
    """The names of the automatic checks that a conversion fails."""
    third = item.third
    if len(first.options) != len(third.options):
        yield "number of options"
        return
    texts = [("story", third.story, first.story), ("question", third.question, first.question)]
    texts += [("option", old, new) for old, new in zip(third.options, first.options, strict=True)]
    if any(len(new) > 500 + 3 * len(old) for _, old, new in texts):  # some checks take quadratic time
        yield "story shortened or padded"
        return
    if any(naming(item.ego, item.language).search(new) for _, _, new in texts):
        yield "name still there"
    if not _YOU[item.language].search(first.story + first.question):
        yield "nobody is you"
    if len(set(first.options)) != len(first.options):
        yield "options alike"
    if not _same_order(third.options, first.options):
        yield "options moved"
    if not all(_says_i(old, new, item) for old, new in zip(third.options, first.options, strict=True)):
        yield "option does not say I"
    yield from dict.fromkeys(_changes(texts, item))


def _changes(texts: list[tuple[str, str, str]], item: Order) -> Iterator[str]:
    """What differs apart from who is "you": words, people, verbs, and pronouns that became "you" in part."""
    became, kept = set[str](), set[str]()
    for name, old, new in texts:
        if _BROKEN.search(new) and not _BROKEN.search(old):
            yield "verb left in the third person"
        before, after = _row(old, item), _row(new, item)
        if tuple(map(_canonical, before.words)) != tuple(map(_canonical, after.words)):
            yield f"{name}: words changed"
            continue
        for place, (one, two) in enumerate(zip(before.mentions, after.mentions, strict=True)):
            if name == "option" and place == 0 and not one and two == ("I",):  # "Does not know": "I do not know"
                continue
            if len(one) != len(two) or not all(map(_fits, one, two)):
                yield f"{name}: people changed"
                continue
            became |= {was for was, now in zip(one, two, strict=True) if was not in (now, "ego")}
            kept |= set(one) & set(two)
            verb = "".join(before.words[place : place + 1])
            if one[-1:] == ("ego",) and _third_person(verb) and re.search(rf"\b(?:you|i) {verb}\b", new.lower()):
                yield "verb left in the third person"
    singular = {"masculine", "feminine"}
    if singular <= became:
        yield "two people became you"
    if singular & became & kept:
        yield "pronoun left in the third person"


def _row(text: str, item: Order) -> Row:
    plain = naming(item.ego, item.language).sub(f" {_EGO} ", text.replace("’", "'")).lower()
    plain = re.sub(r"(?<=[a-z])n't\b", " not", re.sub(r"\bcan't\b|\bcannot\b", "can not", plain))
    words: list[str] = []
    mentions: list[list[str]] = [[]]
    for piece in _PIECE.findall(plain):
        if piece == _EGO or piece in _MENTIONS:
            mentions[-1].append("ego" if piece == _EGO else _MENTIONS[piece])
        elif piece not in _GRAMMAR:
            words.append(piece)
            mentions.append([])
    return Row(tuple(words), tuple(map(tuple, mentions)))


def _fits(one: str, two: str) -> bool:
    """Whether a mention is the same person: the name has become "you" or "I", a pronoun may have."""
    return two in ("you", "I") if one == "ego" else two == one or (one not in ("you", "I") and two in ("you", "I"))


def _third_person(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us")) and word not in _NO_VERBS


def _canonical(word: str) -> str:
    """A word without the ending of the third person, and without what else differs with it."""
    if word in ("has", "have"):
        return "have"
    bare = word[:-1] if word.endswith("s") and not word.endswith(("ss", "us")) and len(word) > 2 else word
    bare = bare.removesuffix("e") if len(bare) > 2 else bare
    return f"{bare[:-1]}i" if bare.endswith("y") and len(bare) > 2 else bare


def _says_i(old: str, new: str, item: Order) -> bool:
    """Whether an option that named the person now says "I", and addresses nobody whom it did not address before."""
    if not naming(item.ego, item.language).search(old):
        return True
    you = _YOU[item.language]
    return bool(_I[item.language].search(new)) and len(you.findall(new)) <= len(you.findall(old))


def _same_order(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Whether each option is still most similar to the original in its position: then the answer is kept too."""
    for place, option in enumerate(new):
        likeness = [SequenceMatcher(None, option, other, autojunk=False).ratio() for other in old]
        if likeness[place] < max(likeness):
            return False
    return True


class Conversion(Struct, frozen=True):
    """The builder's reply, and the names of the checks it failed; without `first` the reply was unreadable."""

    first: Wording | None
    failed: tuple[str, ...]


class Converted(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a file of conversions, as `build` writes it and the task `tombench` reads it."""

    id: str
    language: str
    ego: str
    measures: str
    story: str
    question: str
    options: tuple[str, ...]


async def convert(item: Order, session: Session) -> Conversion:
    """Asks the builder for the first-person wording and checks what it gives."""
    prompt = session.prompts.render(
        "convert",
        item.language,
        person=item.ego,
        story=item.third.story,
        question=item.third.question,
        options="\n".join(f"{number}. {option}" for number, option in enumerate(item.third.options, 1)),
        count=len(item.third.options),
    )
    schema = Schema(_schema(len(item.third.options)), name="conversion")
    reply = await session.ask("builder", [user(prompt)], schema, sampling=Sampling(temperature=0, max_tokens=2000))
    first = read_json(reply.text, Wording).value
    return Conversion(first, ("unreadable",) if first is None else tuple(failures(item, first)))


def _schema(options: int) -> dict[str, object]:
    text = {"type": "string", "minLength": 1}
    listed = {"type": "array", "items": text, "minItems": options, "maxItems": options}
    return {
        "type": "object",
        "properties": {"story": text, "question": text, "options": listed},
        "required": ["story", "question", "options"],
        "additionalProperties": False,
    }


def read_conversions(path: Path) -> dict[tuple[str, str], Converted]:
    """A file of conversions by id and language; a bad line raises an error with file and line."""
    return {(converted.id, converted.language): converted for converted in read_items(path, Converted)}
