"""Changes of meaning in a conversion: content words, names, numbers and negations must stay, in their order.

Both versions are read as a row of words. A mention of a person (the name of "you", a pronoun, "you", "I") is set
apart; all other words must be the same in the same order, except for the ending of a verb. Between two such words,
the mentions must match: the name becomes "you" or "I", a pronoun stays or becomes "you", and everything else stays.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from sociometer.instruments.egosocial.tombench.characters import naming
from sociometer.instruments.egosocial.tombench.orders import Order
from sociometer.instruments.egosocial.tombench.release import Wording

_EGO = "\ue000"
"""Stands for the name of the person who becomes "you"."""
_ENGLISH_MENTIONS = {
    **dict.fromkeys(("he", "him", "his", "himself"), "masculine"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "feminine"),
    **dict.fromkeys(("it", "its", "itself"), "neuter"),
    **dict.fromkeys(("they", "them", "their", "theirs", "themselves"), "plural"),
    **dict.fromkeys(("you", "your", "yours", "yourself", "yourselves"), "you"),
    **dict.fromkeys(("i", "me", "my", "mine", "myself"), "I"),
    **dict.fromkeys(("we", "us", "our", "ours", "ourselves"), "we"),
}
_CHINESE_MENTIONS = {
    "他们": "plural", "她们": "plural", "你们": "you", "我们": "we", "咱们": "we",
    "他": "masculine", "她": "feminine", "你": "you", "您": "you", "我": "I", "自己": "self",
}  # fmt: skip
_SPOKEN_TO = ("you", "I", "we")
_SINGULAR = ("masculine", "feminine")
_SENTENCE = {"en": re.compile(r"(?<=[.!?])\s+"), "zh": re.compile(r"(?<=[。！？])")}
_ANY_PRONOUN = {"en": re.compile(r"\b(?:he|she|they|him|them)\b", re.IGNORECASE), "zh": re.compile("[他她]")}
_BEGINS = {"en": re.compile(r"(?:He|She)\b"), "zh": re.compile("[他她](?!们)")}
_BEGINS_YOU = {"en": re.compile(r"You\b"), "zh": re.compile("你(?!们)")}
_AUXILIARIES = frozenset(
    ("be", "am", "is", "are", "was", "were", "been", "being", "do", "does", "did", "s", "re", "m", "a", "an", "the")
)
"""Words that the grammar may change or that say nothing alone; a negation is not among them."""
_WORD = re.compile(rf"{_EGO}|[a-z]+|\d+")
_CHINESE_PIECE = re.compile(rf"{_EGO}|他们|她们|你们|我们|咱们|自己|[a-z]+|\d+|[\u4e00-\u9fff]")
_LIGHT = re.compile("身为|作为|就是|这[个位名]|那[个位名]|[的了啊呀是则和与跟]|你们(?=[两三四几])")
"""Chinese words that may come and go with a pronoun and say nothing alone."""
_NEAR = str.maketrans("这来", "那去")
"""Near and far, which a change of person may swap."""
_READER = {"en": re.compile(r"\bdo you (?:think|believe|guess)\b(?! *\?)"), "zh": re.compile("你(?:觉得|认为|猜)")}
"""The reader, to whom a question may be put: "How do you think Li feels?" becomes "How do you feel?"."""
_OF_ONESELF = re.compile("你(?:觉得|认为|猜)自己")
"""The reader is now the person: 你觉得小明…怎么样 becomes 你觉得自己…怎么样."""
_MANY = re.compile(
    r"\b(?:the )?(?:two|three|four|both|all) of (?=(?:you|us|them)\b)"
    r"|(?<=\byou )(?:two|three|four|both|all)\b|(?<=\bthey )(?:two|both|all)\b|(?<=\bwe )(?:two|both|all)\b"
    r"|(?<=\bthem )(?:two|both|all)\b|(?<=\bus )(?:two|both|all)\b"
)
_GROUP = re.compile(
    r"\b(?:the |these |those )?(?:two|three|four)"
    r"(?: (?:children|kids|boys|girls|friends|people|students|classmates))?\b(?! of)"
)
_CALLED = {"en": re.compile(rf"\b(?:named|called) +(?={_EGO})"), "zh": re.compile(rf"(?:名叫|叫做|叫) *(?={_EGO})")}
_ENGLISH_TITLES = (
    "teacher", "farmer", "uncle", "aunt", "manager", "doctor", "professor", "coach", "boss", "chef", "officer",
    "grandpa", "grandma", "nurse", "director", "captain", "principal", "zookeeper",
)  # fmt: skip
_CHINESE_TITLES = "老师|经理|阿姨|伯伯|叔叔|先生|女士|太太|医生|教授|教练|师傅|校长|主任|爷爷|奶奶|警官|老板"
_ADDRESSED = {
    "en": re.compile(
        rf"(?<=[\"'“:.!?,]) *{_EGO} *[,!]|, *{_EGO} *(?=[.!?,\"'”])"
        rf"|(?:(?<=aunt)|(?<=uncle)|(?<=teacher)|(?<=doctor)|(?<=miss)) +{_EGO} *(?=[,!.?])"
    ),
    "zh": re.compile(
        rf"(?<=[“\"「：:，。！？]) *{_EGO} *[啊呀]?[，,！!]|[，,] *{_EGO} *(?=[。！？，”\"」])"
        rf"|(?<=[“\"「：:，。！？]) *{_EGO} *(?=(?:{_CHINESE_TITLES})[，,！!])"
    ),
}
"""The name in speech to its bearer, which falls away: "Li, look!" becomes "Look!"."""
_OF_EGO = re.compile(rf"\bthe ((?:[a-z]+ ){{1,5}})of +{_EGO}")
_APPOSITION = {"en": re.compile(r"\byou,[^,.]{1,80}[,.]"), "zh": re.compile("你(?:[，,是]|身为|作为)")}
_FURTHEST = 6
"""How many words an apposition ("you, his best friend, …") may move the mention of "you"."""


class Row(Struct, frozen=True):
    """A text as its words, and the mentions of people before each of them and at the end."""

    words: tuple[str, ...]
    mentions: tuple[tuple[str, ...], ...]


def changes(item: Order, first: Wording) -> Iterator[str]:
    """The names of the changes of meaning that a conversion makes."""
    third = item.third
    texts = [("story", third.story, first.story), ("question", third.question, first.question)]
    texts += [("option", old, new) for old, new in zip(third.options, first.options, strict=True)]
    found = [
        (name, change) for name, old, new in texts for change in _changes(old, new, item, may_say_i=name == "option")
    ]
    yield from dict.fromkeys(f"{name}: {change}" for name, change in found)
    if _two_genders(texts, item):
        yield "two people became you"
    if _too_early(third.story, first.story, item) or _next_of_another(third.story, first.story, item):
        yield "somebody else became you"


def _changes(old: str, new: str, item: Order, *, may_say_i: bool) -> Iterator[str]:
    moved = _APPOSITION[item.language].search(new.lower()) is not None
    before, after = _by_words(old, item), _by_words(new, item)
    shared = [words for words in before if words in after]
    if not shared:
        yield "words changed"
        return
    same = [(one, two) for words in shared for one in before[words] for two in after[words]]
    if may_say_i:  # "Does not know" becomes "I do not know"
        same += [(one, without) for one, two in same if (without := _without_first_i(one, two)) is not None]
    if not any(_same_people(one, two, moved=moved) for one, two in same):
        yield "people changed"


def _by_words(text: str, item: Order) -> dict[tuple[str, ...], list[Row]]:
    """The readings of a text by their words."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in _readings(text, item):
        found.setdefault(row.words, []).append(row)
    return found


def _readings(text: str, item: Order) -> Iterator[Row]:
    """A text as words and mentions, with and without what a change of person may take away or turn round."""
    texts = [_plain(text, item)]
    for part in (_ADDRESSED, _CALLED):
        texts += [part[item.language].sub(" ", one) for one in texts]
    if title := _title(item):
        texts += [re.sub(title, " ", one) for one in texts]
    if item.language == "en":
        texts += [_GROUP.sub(" they ", one) for one in texts]
        texts += [_MANY.sub("", one) for one in texts]
        texts += [_OF_EGO.sub(rf"{_EGO} \1", one) for one in texts]
        if pair := _pair(item):
            texts += [pair.sub(rf"{_EGO} and \1", one) for one in texts]
    else:
        texts += [_OF_ONESELF.sub("你", one) for one in texts]
        texts += [_LIGHT.sub("", one).translate(_NEAR) for one in texts]
    texts += [_READER[item.language].sub("", one, count=1) for one in texts]
    for one in dict.fromkeys(texts):
        yield _row(one, item.language)


def _pair(item: Order) -> re.Pattern[str] | None:
    """What finds "Li and" before the person: "Li and Wang go" may become "You and Li go"."""
    others = "|".join(re.escape(name.lower()) for name in sorted(item.others, key=len, reverse=True))
    return re.compile(rf"\b({others}) +and +{_EGO}") if others else None


def _title(item: Order) -> str:
    """What finds the title in a name such as "Teacher Lin", which may stay: "you, a teacher, …"."""
    if item.language == "zh":
        title = re.search(f"(?:{_CHINESE_TITLES})$", item.ego)
        return title[0] if title and len(title[0]) < len(item.ego) else ""
    first, _, rest = item.ego.lower().partition(" ")
    return rf"\b{first}\b" if rest and first in _ENGLISH_TITLES else ""


def _plain(text: str, item: Order) -> str:
    """The text in small letters, the person who becomes "you" as one sign under any spelling of their name."""
    plain = text.replace("’", "'").replace("‘", "'")
    ego = naming(item.ego, item.language)
    if item.language == "en" and item.ego[:1].islower():
        ego = re.compile(rf"\b(?:the )?{re.escape(item.ego.removeprefix('the '))}\b", re.IGNORECASE)
    plain = ego.sub(f" {_EGO} ", plain)
    if item.language == "en" and item.ego.startswith("Xiao "):
        plain = naming(f"Little {item.ego.removeprefix('Xiao ')}", "en").sub(f" {_EGO} ", plain)
    if alias := _given_name(item):
        plain = naming(alias, item.language).sub(f" {_EGO} ", plain)
    plain = plain.lower()
    return re.sub(r"(?<=[a-z])n't\b", " not", re.sub(r"\bcan't\b|\bcannot\b", "can not", plain))


def _given_name(item: Order) -> str:
    """A person's given name, by which a text may call them too, unless it is part of somebody else's name."""
    if item.language == "zh":
        given = item.ego[1:] if len(item.ego) == 3 and item.ego[0] not in "小阿老" and not _title(item) else ""
    else:
        family, _, given = item.ego.partition(" ")
        given = given if family.istitle() and len(given) > 3 and family.lower() not in ("xiao", "lao", "ah") else ""
        given = "" if family.lower() in _ENGLISH_TITLES or " " in given else given
    return given if given and not any(given in other for other in item.others) else ""


def _row(plain: str, language: str) -> Row:
    known = _CHINESE_MENTIONS if language == "zh" else _ENGLISH_MENTIONS
    words: list[str] = []
    mentions: list[list[str]] = [[]]
    for piece in (_CHINESE_PIECE if language == "zh" else _WORD).findall(plain):
        if piece == _EGO or piece in known:
            mentions[-1].append("ego" if piece == _EGO else known[piece])
        elif piece not in _AUXILIARIES:
            words.append(_canonical(piece))
            mentions.append([])
    return Row(tuple(words), tuple(tuple(found) for found in mentions))


def _canonical(word: str) -> str:
    """A word without the ending of the third person, and without what else differs with it."""
    if word in ("has", "have"):
        return "have"
    bare = word[:-1] if word.endswith("s") and not word.endswith(("ss", "us")) and len(word) > 2 else word
    bare = bare.removesuffix("e") if len(bare) > 2 else bare
    return f"{bare[:-1]}i" if bare.endswith("y") and len(bare) > 2 else bare


def _without_first_i(before: Row, after: Row) -> Row | None:
    """An option without the "I" that it begins with, if it began with nobody."""
    if before.mentions[0] or after.mentions[0] != ("I",):
        return None
    return Row(after.words, ((), *after.mentions[1:]))


def _same_people(before: Row, after: Row, *, moved: bool) -> bool:
    """Whether the same people are mentioned between the same words; an apposition may move the one who is "you"."""
    if all(map(_fit, before.mentions, after.mentions)):
        return True
    return moved and _fit_but_for_one_move(before.mentions, after.mentions)


def _fit_but_for_one_move(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> bool:
    wrong = [place for place, (one, two) in enumerate(zip(before, after, strict=True)) if not _fit(one, two)]
    if len(wrong) != 2 or wrong[1] - wrong[0] > _FURTHEST:
        return False
    came, went = wrong
    without_ego = [name for name in before[went] if name != "ego"]
    without_you = list(after[came])
    if "you" not in without_you or len(without_ego) != len(before[went]) - 1:
        return False
    without_you.remove("you")
    return _fit(before[came], without_you) and _fit(without_ego, after[went])


def _fit(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether the mentions between two words are the same people."""
    return len(before) == len(after) and all(map(_fits, before, after))


def _fits(one: str, two: str) -> bool:
    if one == "ego":
        return two in _SPOKEN_TO
    if one in ("masculine", "feminine", "neuter", "plural", "self"):
        return two == one or two in _SPOKEN_TO
    return one == two


def _two_genders(texts: Sequence[tuple[str, str, str]], item: Order) -> bool:
    """Whether more than one of "he", "she" and "it" became "you": they cannot mean the same person."""
    changed: set[str] = set()
    for _, old, new in texts:
        before, after = _row(_plain(old, item), item.language), _row(_plain(new, item), item.language)
        if before.words == after.words:
            for one, two in zip(before.mentions, after.mentions, strict=True):
                if len(one) == len(two):
                    changed |= {was for was, became in zip(one, two, strict=True) if became in _SPOKEN_TO}
    return len(changed & {"masculine", "feminine", "neuter"}) > 1


def _too_early(old: str, new: str, item: Order) -> bool:
    """Whether a pronoun became "you" before the person was mentioned for the first time."""
    before, after = _row(_plain(old, item), item.language), _row(_plain(new, item), item.language)
    if before.words != after.words:
        return False
    for one, two in zip(before.mentions, after.mentions, strict=True):
        if "ego" in one:
            return False
        changed = zip(one, two, strict=True) if len(one) == len(two) else ()
        if any(was in _SINGULAR and became == "you" for was, became in changed):
            return True
    return False


def _next_of_another(old: str, new: str, item: Order) -> bool:
    """Whether a sentence that begins with a pronoun, after one about somebody else alone, now begins with "you"."""
    before, after = (_SENTENCE[item.language].split(text.strip()) for text in (old, new))
    if len(before) != len(after):
        return False
    others = [naming(name, item.language) for name in item.others]
    for place in range(1, len(before)):
        past = before[place - 1]
        named = sum(other.search(past) is not None for other in others)
        if named != 1 or naming(item.ego, item.language).search(past) or _ANY_PRONOUN[item.language].search(past):
            continue
        if _BEGINS[item.language].match(before[place]) and _BEGINS_YOU[item.language].match(after[place]):
            return True
    return False
