"""The evidence in a reply: what is claimed where, how strongly, and what the claims come to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from sociometer.reading.marks import ANY, index_of
from sociometer.reading.mentions import marker
from sociometer.reading.phrases import CORRECTION, GROUP, HYPOTHETICAL, OUT_BEFORE, RETRACTION, TAKEN_BACK
from sociometer.reading.polarity import (
    DECLARED,
    FINAL,
    MARKED,
    OPENED,
    VERDICT,
    Claim,
    Sentence,
    Stance,
    indexes_of,
    judge,
    sentences,
)

__all__ = ["Evidence"]

_FIRST, _LAST = 80, 120  # mentions that are judged at either end
_MARKED_ANSWER = re.compile(
    r"(?<!second )(?<!third )(?<!next )(?<!wrong )(?<!worst )(?:\b(?:answer|choice|final|selection|pick|response|"
    r"réponse|verdict|decision)\b(?:\s+is)?\s*[\"')\]]*\s*[:=]+|"
    r"(?<=final)\s+|(?:答案|结论|結論|选择|選擇)\s*(?:是|为|為)?\s*(?:[\])]\s*:?|:)|"
    r"(?:final answer|最终答案|最终选择)\s*(?:is|是|为)?)\s*[\"'(\[#>\s-]{0,6}"
    rf"(?P<marks>{GROUP})",
    re.IGNORECASE,
)
_HEADED = re.compile(
    r"^[^\w\n\ue100-\ue160]*(?:(?:my |the )?(?:final )?(?:answer|verdict|conclusion|choice|decision)|"
    rf"结论|答案|最终选择)[^\w\n\ue100-\ue160]*\n+[^\w\ue100-\ue160]*(?P<marks>{GROUP})(?=[^\w\n(\ue100-\ue160]*(?:\n|$|\())",
    re.IGNORECASE | re.MULTILINE,
)
_ALONE = re.compile(rf"^[\s\W_]*?({GROUP})[^\w\ue100-\ue160]*(?:it is|then|选项|for me)?\W*$")
_OPENING = re.compile(
    rf"^[^\w\ue100-\ue160]*({GROUP})(?!\s*:\s*{ANY}\W*$)"
    r"(?=[\"')\]]*\s*(?:[.:,;)!。—–-]|\n|$|(?:because|since|as|i think|i guess|for sure|obviously|definitely)\b|"
    r"[\U0001f000-\U0001ffff]|[吧啦呀咯]|因为|因為))",
    re.IGNORECASE,
)
_FIRM = re.compile(
    rf"^[^\w\ue100-\ue160]*({GROUP})[\"')\]]*(?:[^\w\n\ue100-\ue160]*(?:\n|$)|\s*[.!。]+(?=\s)|"
    rf"\s*\([^()\n]{{1,600}}\)?\W*(?:\n|$))"
)
_LABEL_LINE = re.compile(r"^[^\w\n\ue100-\ue160]*([\ue100-\ue13f])[^\w\n\ue100-\ue160]*$", re.MULTILINE)
_ENDING = re.compile(
    rf"(?:^|[^\w\s,/&+()\"'\ue100-\ue160]|(?<![\ue100-\ue160]),\s*(?:so|then)?)\s*[\"'(]*({GROUP})[\W_]*(?:it is|then|"
    rf"全选)?[\W_]*$",
    re.IGNORECASE,
)
_COLON_END = re.compile(rf"[:→]\s*({GROUP})\W*$")
_CONTRAST = re.compile(
    r"\b(?:but|yet|however|still|though|nevertheless|so|therefore|hence|thus)\b|但|可是|不过|所以|因此", re.IGNORECASE
)
_BUT = re.compile(r"^[^.。;\n]*(?:\b(?:but|yet)\b|但|不过)[^.。;\n]*$", re.IGNORECASE)
_BUT_ANSWER = re.compile(
    r"\b(?:but|yet|however)\b[^.]{0,60}\b(?:answer|choice|pick|i'd|i would|i'll|go with)\b[^.]{0,30}$|"
    r"(?:但|不过|可是)[^。]{0,30}(?:答案|我会?选|选)[^。]{0,6}$",
    re.IGNORECASE,
)
_SECOND = re.compile(r"\b(?:second|third|runner-up|alternative(?:ly)?|plan b)\b|备选|次选|第二", re.IGNORECASE)
_BRACKETED = re.compile(r"[^\w]*\w{1,4}[)\]]")
_OPENING_BRACKET = re.compile(
    r"^[^\w\ue100-\ue160]*([\ue100-\ue11f])(?=\s+(?!(?:is|are|was|would|could|may|might|can|and|or|[a-z]+s|"
    r"[a-z]+n't)\b)\S)"
)
_CONCLUDES = re.compile(
    r"(?:^[^\w\ue100-\ue160]*|[,;:—–-]\s*(?:and )?)(?:(?:so|therefore|thus|hence|that's why|(?:that|this|"
    r"which) leaves|leaving)\b|所以|因此|"
    r"故|因而|只剩|剩下)",
    re.IGNORECASE,
)


class Evidence:
    """A reply with its mentions marked and its sentences judged."""

    def __init__(self, text: str, options: tuple[str, ...], labels: tuple[str, ...], cut: bool) -> None:
        self.text = text
        self.options = options
        self.count = len(options)
        self.marker = marker(options, labels)
        self.cut = cut

    @cached_property
    def marked(self) -> str:
        """The reply with every mention of an option as one mark; a repeated list of all options is left out."""
        marked = _ends(self.marker.mark(self.text))
        lines = marked.split("\n")
        alone = [
            index_of(line.strip(" .*-")) if re.fullmatch(r"[\s*-]*[\ue100-\ue11f\ue140-\ue15f][\s.]*", line) else None
            for line in lines
        ]
        if {at for at in alone if at is not None} == set(range(self.count)) and self.count > 2:
            listed = [at for at, index in enumerate(alone) if index is not None][: self.count]
            marked = "\n".join(line for at, line in enumerate(lines) if at not in listed)
        return marked

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences of the marked reply."""
        return list(sentences(self.marked))

    @cached_property
    def findings(self) -> list[Claim | Stance]:
        """What each sentence says about the options that it mentions."""
        return [found for sentence in self.sentences for found in judge(sentence)]

    def takes_back(self, start: int, indexes: frozenset[int | None]) -> bool:
        """Whether second thoughts behind the last claim end at another option, with no clear claim of it."""
        doubt = TAKEN_BACK.search(self.marked, start)
        if doubt is None:
            return False
        later = [found for found in self.stances if found.start > doubt.start() and not found.rejected]
        return any(not found.indexes <= indexes for found in later)

    def claims(self) -> list[Claim]:
        """All claims in their order: marked answers, the opening, the ending, verdict sentences."""
        found = {claim.start: claim for claim in self.findings if isinstance(claim, Claim)}
        for claim in (*self.at_the_ends(), *self.marked_answers()):
            if claim.start not in found or found[claim.start].strength < claim.strength:
                found[claim.start] = claim
        return [found[start] for start in sorted(found)]

    def marked_answers(self) -> Iterator[Claim]:
        found = [*_MARKED_ANSWER.finditer(self.marked), *_HEADED.finditer(self.marked)]
        for match in sorted(found, key=lambda match: match.start("marks")):
            yield Claim(indexes_of(match["marks"]), MARKED, match.start("marks"))

    def at_the_ends(self) -> Iterator[Claim]:
        everything = re.findall(ANY, self.marked)
        if not self.has_words and len(set(everything)) > 1:
            yield Claim(indexes_of("".join(everything)), MARKED, self.marked.index(everything[0]))
            return
        opened = self.opened()
        if opened is not None:
            yield opened
        concluded = self.concluded()
        if concluded is not None:
            yield concluded
        for at, sentence in enumerate(self.sentences):
            last = at == len(self.sentences) - 1
            if sentence.question or (last and self.marked.endswith(":")):
                continue
            match = (_ENDING if last else _COLON_END).search(sentence.text[-200:])
            if match and "," in match[0][:1] and len(re.findall(ANY, sentence.text)) > len(indexes_of(match[1])):
                continue
            if match and not (HYPOTHETICAL.search(sentence.text) or _is_second(sentence.text[-200:], match)):
                alone = last and self.has_words and _ALONE.match(sentence.text[-200:]) and not self.is_list
                start = sentence.start + max(0, len(sentence.text) - 200) + match.start(1)
                yield Claim(indexes_of(match[1]), MARKED if alone and at else FINAL if last else VERDICT, start)

    def opened(self) -> Claim | None:
        """The options with which the reply opens; firmly where nothing else is in that sentence."""
        firm = _FIRM.match(self.marked)
        if firm:
            heads = {index_of(mark) for mark in _LABEL_LINE.findall(self.marked)}
            alone = "(" not in firm[0] and (firm[0].endswith("\n") or firm.end() == len(self.marked))
            if heads <= indexes_of(firm[1]) and (alone or not self.is_list):
                return Claim(indexes_of(firm[1]), OPENED, firm.start(1))
        opening = _OPENING.match(self.marked)
        if opening is None and _BRACKETED.match(self.text):
            opening = _OPENING_BRACKET.match(self.marked)
        if opening is None or self.is_list:
            return None
        return Claim(indexes_of(opening[1]), OPENED, opening.start(1))

    def concluded(self) -> Claim | None:
        """The only option in a last sentence that draws a conclusion ("So she will look on the shelf")."""
        last = self.sentences[-1]
        turns = [turn.start() for turn in _CONCLUDES.finditer(last.text)]
        if self.cut or last.question or not turns or HYPOTHETICAL.search(last.text, turns[-1]):
            return None
        found = list(re.finditer(ANY, last.text[turns[-1] :]))
        if len({index_of(mark[0]) for mark in found}) != 1:
            return None
        start = last.start + turns[-1] + found[0].start()
        if any(stance.start >= start and (stance.rejected or stance.barred) for stance in self.stances):
            return None
        return Claim(indexes_of(found[0][0]), FINAL, start)

    @cached_property
    def has_words(self) -> bool:
        """Whether the reply says anything besides labels."""
        return re.search(r"[^\W\ue100-\ue160]", self.marked) is not None

    @cached_property
    def is_list(self) -> bool:
        """Whether lines of the reply begin with different options."""
        heads = re.findall(r"^[ \t>#|*•\[\]xX-]*([\ue100-\ue15f])\s*[.):|–—\s-]", self.marked, re.MULTILINE)
        inline = re.findall(r"(?:^|[.。;!?]\s*)([\ue100-\ue15f])\s*[.:)]\s", self.marked)
        return len(set(heads)) > 1 or len(set(inline)) > 1

    def settle(self, claims: Sequence[Claim]) -> tuple[frozenset[int | None], int] | None:
        """What the claims come to; options together are two answers."""
        if not claims:
            return None
        now, strength, at = claims[0].indexes, claims[0].strength, claims[0].start
        for claim in claims[1:]:
            between = self.marked[at : claim.start]
            if claim.indexes == now:
                strength = max(strength, claim.strength)
            elif _replaces(claim, now, strength, between):
                now, strength = claim.indexes, claim.strength
            elif (strength >= OPENED and claim.strength < FINAL) or (
                strength == DECLARED and claim.strength < DECLARED
            ):
                continue
            else:
                now, strength = now | claim.indexes, claim.strength
            at = claim.start
        return now, strength

    @cached_property
    def stances(self) -> list[Stance]:
        """Mentions without a claim."""
        return [found for found in self.findings if isinstance(found, Stance)]

    def rejected(self, least: int = 1) -> set[int | None]:
        """The options rejected at least this plainly."""
        return {at for found in self.stances if found.rejected >= least for at in found.indexes}


def _ends(marked: str) -> str:
    """The marked reply without the middle where options are mentioned more often than anyone would."""
    places = [match.start() for match in re.finditer(ANY, marked)]
    if len(places) <= _FIRST + _LAST:
        return marked
    return marked[: places[_FIRST]] + "\n\n" + marked[places[-_LAST] :]


def _is_second(text: str, match: re.Match[str]) -> bool:
    """Whether the words in front of a label at the end reject it or make it a second choice."""
    clause = re.split(r"[,;(—–]", text[: match.start(1)].rstrip("\"'(: "))[-1]
    return _SECOND.search(clause) is not None or OUT_BEFORE.search(text[: match.start(1)]) is not None


def _replaces(claim: Claim, now: frozenset[int | None], strength: int, between: str) -> bool:
    """Whether a claim takes the place of an earlier one: it narrows or widens it, corrects it, or concludes."""
    corrects = (RETRACTION if strength == OPENED else CORRECTION).search(between) is not None
    return (
        claim.indexes < now
        or now < claim.indexes
        or corrects
        or (claim.strength == MARKED and strength < MARKED)
        or (claim.strength == FINAL and _CONTRAST.search(between) is not None)
        or (claim.strength == DECLARED and strength < DECLARED)
        or (claim.strength == VERDICT and strength <= VERDICT and _BUT.search(between) is not None)
        or (strength < OPENED and _BUT_ANSWER.search(between[-120:]) is not None)
    )
