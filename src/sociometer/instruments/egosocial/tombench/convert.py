"""Conversion to the first person by a builder model, and what is wrong with a conversion: meaning, grammar, names."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from msgspec import Struct

from sociometer.core.conversation import Sampling, Schema, user
from sociometer.core.session import Session
from sociometer.instruments.egosocial.tombench.release import SURNAMES, Order, Wording, naming
from sociometer.reading import read_items, read_json

_ADVERB = r"(?:(?:also|then|still|just|now|always|never|often|even|only|\w+ly)\s+)?"
_NEXT_WORD = re.compile(rf"\s+{_ADVERB}(\w+)")
_NO_VERBS = ("across", "afterwards", "always", "besides", "perhaps", "plus", "sometimes", "this", "thus", "towards")
_ASKING = re.compile(r"\b(does|is|was|has|doesn't|isn't|wasn't|hasn't)\s+$", re.IGNORECASE)
_LONGEST_BEFORE = 200
_BROKEN = re.compile(r"\b(?:you|I)'s\b")


def verbs_left(third: str, first: str, ego: re.Pattern[str]) -> bool:
    """Whether a verb of the name (after it, or before it in a question) is now one of "you" or "I", unchanged."""
    following = {match[1].lower() for named in ego.finditer(third) if (match := _NEXT_WORD.match(third, named.end()))}
    asking = {match[1].lower() for named in ego.finditer(third) if (match := _ASKING.search(_before(third, named)))}
    verbs = {word for word in following if word in ("is", "was", "has", "does") or _third_person(word)}
    return (
        _BROKEN.search(first) is not None
        or any(re.search(rf"\byou\s+{_ADVERB}{verb}\b", first, re.IGNORECASE) for verb in verbs)
        or any(re.search(rf"\bI\s+{_ADVERB}{verb}\b", first) for verb in verbs - {"was"})
        or any(re.search(rf"\b{verb}\s+you\b", first, re.IGNORECASE) for verb in asking)
    )


def _before(text: str, named: re.Match[str]) -> str:
    return text[max(0, named.start() - _LONGEST_BEFORE) : named.start()]


def _third_person(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us")) and word not in _NO_VERBS


_PRONOUN = {
    "en": re.compile(r"\b(?:he|she|her|his|hers|himself|herself)\b", re.IGNORECASE),
    "zh": re.compile("[他她](?!们)"),
}
_GENDERS = {
    "en": tuple(re.compile(rf"\b(?:{forms})\b", re.IGNORECASE) for forms in ("he|his|himself", "she|hers?|herself")),
    "zh": (re.compile("他(?!们)"), re.compile("她(?!们)")),
}
_YOU_OR_I = {"en": re.compile(r"\b(?:you|I)\b", re.IGNORECASE), "zh": re.compile("[你我]")}
_PLURAL = {"en": re.compile(r"\b(?:they|them|their)\b", re.IGNORECASE), "zh": re.compile("[他她]们")}
_JOINED = {"en": r"(?:,? and |, )", "zh": "[和与跟、]"}
_PERHAPS = {
    "en": re.compile(r"(?<!^)(?<![.!?\"“] )\b[A-Z][a-z]+"),
    "zh": re.compile(
        rf"[A-Z][a-z]+|[{SURNAMES}][\u4e00-\u9fff]|[员师长生工者]|[\u4e00-\u9fff]{{1,3}}(?=[在看说把向对给])"
    ),
}
"""What may be the name of somebody whom no rule knows."""
_SENTENCE_END = {"en": re.compile(r"(?<=[.!?])\s+"), "zh": re.compile(r"(?<=[。！？])")}
_SPOKEN = re.compile(r"[\"“][^\"”]*[\"”]")
_SOMEBODY = {
    "en": re.compile(
        r"\b(?:mothers?|fathers?|mom|mum|dad|parents?|\w*friends?|brothers?|sisters?|sons?|daughters?|wife|husband|"
        r"girls?|boys?|m[ae]n|wom[ae]n|teachers?|\w*mates?|colleagues?|boss|manager|director|leader|child|children|kids?|"
        r"baby|grand\w+|aunt|uncle|cousin|nephew|niece|neighbou?rs?|doctors?|nurses?|customers?|waiters?|waitress|owner|"
        r"some(?:one|body)|every(?:one|body)|people|person|students?|strangers?|guests?|dogs?|cats?|pets?|Mr|Mrs|Ms)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        "[妈爸母父友哥弟姐妹妻夫叔姨爷奶伯舅姑人狗猫]|儿子|女儿|[男女]孩|老师|同学|同事|同伴|老板|经理|主管|领导|孩子|"
        "邻居|医生|护士|顾客|客户|店主|店员|学生|先生|女士|太太|教练|队员|大家"
    ),
}


def pronouns_left(item: Order, first: Wording) -> bool:
    """Whether a pronoun that can hardly mean anybody but "you" was left as it was.

    Judged is what a sentence says after the name of the person and before it mentions somebody else, and "they" where
    the person is joined with another by name. If some of "he" and "she" became "you", only these are judged.
    """
    pairs = [(item.third.story, first.story), (item.third.question, first.question)]
    pairs += zip(item.third.options, first.options, strict=True)
    pronoun = _judged(pairs, item.language)
    return (
        any(_kept(old, new, item, pronoun) for old, new in pairs)
        or _they_kept(item.third.story, first.story, item)
        or _means_nobody(first.story, item)
    )


def _means_nobody(story: str, item: Order) -> bool:
    """Whether "you" come first, and a pronoun follows before anybody else whom it could mean."""
    spoken_out = _SPOKEN.sub(lambda said: " " * len(said[0]), story)
    known = [naming(name, item.language) for name in item.others]
    mentions = [_SOMEBODY[item.language], _PERHAPS[item.language], *known]
    found = [match.start() for mention in mentions if (match := mention.search(spoken_out))]
    lead = spoken_out[: min(found, default=len(story))]
    you = _YOU_OR_I[item.language].search(lead)
    return you is not None and _PRONOUN[item.language].search(lead, you.end()) is not None


def _judged(pairs: Sequence[tuple[str, str]], language: str) -> re.Pattern[str]:
    """The pronouns of the genders that became "you" somewhere; all of them if none did."""
    fewer = [
        form
        for form in _GENDERS[language]
        if sum(len(form.findall(new)) for _, new in pairs) < sum(len(form.findall(old)) for old, _ in pairs)
    ]
    return fewer[0] if len(fewer) == 1 else _PRONOUN[language]


def _kept(old: str, new: str, item: Order, pronoun: re.Pattern[str]) -> bool:
    before, after = _sentences(old, item.language), _sentences(new, item.language)
    if len(before) != len(after):
        return False
    return any(
        found and len(pronoun.findall(_own_part(two, item, _YOU_OR_I[item.language]))) >= found
        for one, two in zip(before, after, strict=True)
        if (found := len(pronoun.findall(_own_part(one, item, naming(item.ego, item.language)))))
    )


def _own_part(sentence: str, item: Order, person: re.Pattern[str]) -> str:
    """What a sentence says after the person and before anybody else; nothing if somebody else comes first."""
    lead = _lead(sentence, item)
    named = person.search(lead)
    return lead[named.end() :] if named else ""


def _they_kept(old: str, new: str, item: Order) -> bool:
    before, after = _sentences(old, item.language), _sentences(new, item.language)
    they = _PLURAL[item.language]
    judged = {place: found for place in _joined(before, item) if (found := len(they.findall(before[place])))}
    if len(before) != len(after):
        return bool(judged) and len(they.findall(" ".join(after))) >= len(they.findall(" ".join(before)))
    return any(len(they.findall(after[place])) >= found for place, found in judged.items())


def _sentences(text: str, language: str) -> list[str]:
    """The sentences of a text without what is said in them word for word."""
    return _SENTENCE_END[language].split(_SPOKEN.sub(" ", text).strip())


def _lead(sentence: str, item: Order) -> str:
    """What a sentence says before it mentions anybody but the person."""
    mentions = [_SOMEBODY[item.language], *(naming(name, item.language) for name in item.others)]
    # blanked, since a name such as "Aunt Li" holds a word for somebody
    nameless = naming(item.ego, item.language).sub(lambda name: "_" * len(name[0]), sentence)
    starts = [found.start() for mention in mentions if (found := mention.search(nameless))]
    return sentence[: min(starts, default=len(sentence))]


def _joined(sentences: list[str], item: Order) -> set[int]:
    """Which sentences join the person with another by name, or go on with "they" from one that does."""
    ego, joint = naming(item.ego, item.language).pattern, _JOINED[item.language]
    others = [naming(name, item.language).pattern for name in item.others]
    pairs = [re.compile(f"{ego}{joint}{other}|{other}{joint}{ego}") for other in others]
    found = {place for place, sentence in enumerate(sentences) if any(pair.search(sentence) for pair in pairs)}
    they = _PLURAL[item.language]
    return found | {
        place + 1 for place in found if place + 1 < len(sentences) and they.search(_lead(sentences[place + 1], item))
    }


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
