"""Grammar that a change of person must change too: verbs and pronouns that still stand in the third."""

import re
from collections.abc import Iterator

from sociometer.instruments.egosocial.tombench.characters import naming
from sociometer.instruments.egosocial.tombench.orders import Order
from sociometer.instruments.egosocial.tombench.release import Wording

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
    "en": re.compile(r"\b(?:he|she|him|her|his|hers|himself|herself)\b", re.IGNORECASE),
    "zh": re.compile("[他她](?!们)"),
}
_PLURAL = {"en": re.compile(r"\b(?:they|them|their)\b", re.IGNORECASE), "zh": re.compile("[他她]们")}
_JOINED = {"en": r"(?:,? and |, )", "zh": "[和与跟、]"}
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

    Judged is what a sentence says of the person before it mentions somebody else (and a sentence that goes on from one
    about the person alone), and "they" where the person is joined with another by name.
    """
    pairs = [(item.third.story, first.story), (item.third.question, first.question)]
    pairs += zip(item.third.options, first.options, strict=True)
    return any(_kept(old, new, item) for old, new in pairs) or _they_kept(item.third.story, first.story, item)


def _kept(old: str, new: str, item: Order) -> bool:
    before, after = _sentences(old, item.language), _sentences(new, item.language)
    pronoun = _PRONOUN[item.language]
    judged = {
        place: found for place in _own(before, item) if (found := len(pronoun.findall(_lead(before[place], item))))
    }
    if len(before) != len(after):
        return bool(judged) and len(pronoun.findall(" ".join(after))) >= len(pronoun.findall(" ".join(before)))
    return any(len(pronoun.findall(_lead(after[place], item))) >= found for place, found in judged.items())


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


def _own(sentences: list[str], item: Order) -> Iterator[int]:
    """Which sentences begin with the person, or go on from one that speaks of nobody else."""
    ego = naming(item.ego, item.language)
    alone = False
    for place, sentence in enumerate(sentences):
        lead = _lead(sentence, item)
        own = ego.search(lead) is not None or (alone and not ego.search(sentence))
        if own:
            yield place
        alone = own and lead == sentence


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
