"""Grammar that must change with the person: finds verbs and pronouns that are still in the third person."""

import re
from collections.abc import Sequence

from sociometer.instruments.egosocial.tombench.characters import SURNAMES, naming
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
