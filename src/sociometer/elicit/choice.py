"""Lettered choices: how the options are shown, and how a reply is read back to one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec

from sociometer.core.answer_format import Choice
from sociometer.elicit.formatted import formatted
from sociometer.elicit.mentions import ANY, CLASH, index_of, marker
from sociometer.elicit.normal import plain, squeeze
from sociometer.elicit.paraphrase import wordings
from sociometer.elicit.phrases import CORRECTION, GROUP, HYPOTHETICAL, TAKEN_BACK
from sociometer.elicit.polarity import FINAL, MARKED, VERDICT, Claim, Sentence, Stance, indexes_of, judge, sentences
from sociometer.elicit.verdicts import read_list, read_ranking, read_ticks

__all__ = ["ChoiceReading", "read_choice", "render_options"]

_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can(?:no|')?t|won't|refuse|decline|would rather not)|as an ai\b|"
    r"(?:can|could) not (?:answer|choose|determine)|no(?:ne| correct) (?:of|answer)|impossible to (?:tell|say|choose))|"
    r"无法(?:回答|选择|确定|判断|作答|替)|不能(?:回答|选择|确定|提供)|抱歉|对不起|拒绝|不想回答|不愿回答|都不(?:对|"
    r"是|选|合适)|"
    r"作为(?:一个)?(?:AI|人工智能)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\W*(\d{1,2})\W*")
_THINK = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THINK_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_HALF = 10_000  # an answer appears near the beginning or the end; the middle of a longer reply is not read
_FIRST, _LAST = 80, 120  # mentions that are judged at either end
_SHORT = 300  # in a longer reply, an option's words turn up without being meant
_LABELLED = "[\ue100-\ue13f\ue160]"
_MARKED_ANSWER = re.compile(
    r"(?<!second )(?<!third )(?<!next )(?<!wrong )(?<!worst )(?:\b(?:answer|choice|final|selection|pick|response|"
    r"réponse|verdict|decision)\b(?:\s+is)?\s*[\"')\]]*\s*[:=]+|"
    r"(?<=final)\s+|(?:答案|结论|結論|选择|選擇)\s*(?:是|为|為)?\s*(?:[\])]\s*:?|:)|"
    r"(?:final answer|最终答案|最终选择)\s*(?:is|是|为)?)\s*[\"'(\[#>\s-]{0,6}"
    rf"(?P<marks>{GROUP})",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"^[\s\W_]*?({GROUP})[^\w\ue100-\ue160]*(?:it is|then|选项|for me)?\W*$")
_OPENING = re.compile(
    rf"^[^\w\ue100-\ue160]*({GROUP})(?!\s*:\s*{ANY}\W*$)"
    r"(?=[\"')\]]*\s*(?:[.:,;)!。—–-]|\n|$|(?:because|since|as|i think|i guess|for sure|obviously|definitely)\b|"
    r"[\U0001f000-\U0001ffff]|[吧啦呀咯]|因为|因為))",
    re.IGNORECASE,
)
_ENDING = re.compile(
    rf"(?:^|[^\w\s,()\"'\ue100-\ue160]|(?<![\ue100-\ue160]),\s*(?:so|then)?)\s*[\"'(]*({GROUP})[\W_]*(?:it is|then|"
    rf"全选)?[\W_]*$",
    re.IGNORECASE,
)
_COLON_END = re.compile(rf"[:→]\s*({GROUP})\W*$")
_CONTRAST = re.compile(
    r"\b(?:but|yet|however|still|though|nevertheless|so|therefore|hence|thus)\b|但|可是|不过|所以|因此", re.IGNORECASE
)
_BUT = re.compile(r"\b(?:but|yet|however)\b|但|可是?(?![以能])|不过|然而", re.IGNORECASE)
_BRACKETED = re.compile(r"[^\w]*\w{1,4}[)\]]")
_OPENING_BRACKET = re.compile(
    r"^[^\w\ue100-\ue160]*([\ue100-\ue11f])(?=\s+(?!(?:is|are|was|would|could|may|might|can|and|or|[a-z]+s|"
    r"[a-z]+n't)\b)\S)"
)
_CONCLUDES = re.compile(r"\W*(?:(?:so|therefore|thus|hence|that's why)\b|所以|因此|故|因而)", re.IGNORECASE)
_NEXT_QUESTION = re.compile(
    r"\n\s*(?:#+ *)?(?:question|user|human|q)\s*\d*\s*:|\n\s*(?:问题|題目|题目)\s*[:：]", re.IGNORECASE
)
_DECIDES = re.compile(
    r"\bi(?:'d| would)\b|\b(?:best|should|choose|pick|correct|fits|answer|most (?:appropriate|considerate|likely))\b|"
    r"应该|合适|应当",
    re.IGNORECASE,
)
_THAT_ONE = re.compile(r"\b(?:that|this)(?:'s| is| would be) (?:my|the) (?:choice|pick|answer|one|best)", re.IGNORECASE)
_LEFT_OVER = re.compile(
    r"\b(?:leaves (?:us|only|one|the|just)|(?:is|are|what's|option) left|remaining|remains|only one|"
    r"last one standing)\b|"
    r"剩|排除法|自然就出来|唯一",
    re.IGNORECASE,
)


class ChoiceReading(msgspec.Struct, frozen=True):
    """The option a reply chose, or None; and the rule that read it, or the reason that none could."""

    index: int | None
    rule: str


def render_options(choice: Choice) -> str:
    """Return the options of a choice one a line, each behind its label."""
    _check(choice.options, choice.labels)
    return "\n".join(f"{label}. {option}" for label, option in zip(choice.labels, choice.options, strict=True))


def read_choice(text: str, options: Sequence[str], labels: Sequence[str], *, finish: str = "stop") -> ChoiceReading:
    """Return which option the reply chose; two answers, a refusal or no answer at all give None.

    `finish` is the reply's finish reason: a reply cut off at its length limit counts only where it had already
    stated an answer.
    """
    _check(options, labels)
    if (bare := text.strip()) in labels:
        return ChoiceReading(labels.index(bare), "bare")
    reading = _Reader(plain(_spoken(text)), tuple(options), tuple(labels), finish == "length").read()
    if reading.index is None and finish == "length" and reading.rule in ("empty", "no answer"):
        return ChoiceReading(None, "cut off")
    return reading


def _check(options: Sequence[str], labels: Sequence[str]) -> None:
    if len(options) != len(labels) or not 2 <= len(options) <= 26:
        raise ValueError(
            f"{len(options)} options with {len(labels)} labels; a choice needs 2 to 26 options and a label for each"
        )
    if len({label.casefold() for label in labels}) != len(labels):
        raise ValueError(f"labels {list(labels)} repeat; give every option its own")


def _spoken(text: str) -> str:
    """The reply without its reasoning, and only the two ends of an absurdly long one."""
    closings = list(_THINK_END.finditer(text))
    closed = closings[-1] if closings else None
    opened = _THINK.search(text)
    if closed:
        head = text[: opened.start()] if opened and opened.start() < closed.start() else ""
        text = head + "\n" + text[closed.end() :]
        opened = _THINK.search(text)
    if opened:
        text = text[: opened.start()]
    following = _NEXT_QUESTION.search(text)
    if following and text[: following.start()].strip():
        text = text[: following.start()]  # a model that runs on writes the next item itself
    return text if len(text) <= 2 * _HALF else text[:_HALF] + "\n\n" + text[-_HALF:]


def _ends(marked: str) -> str:
    """The marked reply without the middle where options are mentioned more often than anyone would."""
    places = [match.start() for match in re.finditer(ANY, marked)]
    if len(places) <= _FIRST + _LAST:
        return marked
    return marked[: places[_FIRST]] + "\n\n" + marked[places[-_LAST] :]


class _Reader:
    """Applies the reading rules, strongest first, to one reply."""

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

    def read(self) -> ChoiceReading:
        if not squeeze(self.text):
            return ChoiceReading(None, "empty")
        for rule in (self.whole, self.in_format, self.ticked, self.ranked, self.claimed, self.listed):
            found = rule()
            if found is not None:
                return found
        if self.cut:
            return ChoiceReading(None, "no answer")
        refused = _REFUSAL.search(self.text) is not None
        for rule in (self.excluded,) if refused else (self.praised, self.excluded, self.worded, self.mentioned):
            found = rule()
            if found is not None:
                return found
        together = any(1 < len(at.indexes) < self.count and not at.rejected and not at.barred for at in self.stances)
        return ChoiceReading(None, "refused" if refused else "two answers" if together else "no answer")

    def whole(self) -> ChoiceReading | None:
        """The reply is a label, an option's text or an option's number, and nothing else."""
        index = self.marker.whole(self.text) if len(self.text) < 100 else None
        if index is not None:
            return ChoiceReading(index, "bare")
        said = squeeze(self.text)
        matching = [at for at, option in enumerate(self.options) if said and squeeze(option) == said]
        if matching:
            return (
                ChoiceReading(matching[0], "option text") if len(matching) == 1 else ChoiceReading(None, "two answers")
            )
        number = _NUMBER.fullmatch(self.text) if len(self.text) < 100 else None
        if number and 1 <= int(number[1]) <= self.count:
            return ChoiceReading(int(number[1]) - 1, "number")
        return None

    def in_format(self) -> ChoiceReading | None:
        """An answer in a place made for one: JSON with an answer key, a box, a tag."""
        found = list(formatted(self.text, self.marker))
        answers = {index for index, _ in found}
        if len(answers) == 1 and None not in answers:
            return ChoiceReading(*found[-1])
        return ChoiceReading(None, "two answers") if answers else None

    def claimed(self) -> ChoiceReading | None:
        """What the reply's sentences claim; the last word counts where the writer takes the first back."""
        claims = [claim for claim in self.claims() if claim.strength >= VERDICT]
        by_label = [claim for claim in claims if re.match(_LABELLED, self.marked[claim.start])]
        spoken_of = {index_of(mark) for mark in re.findall("[\ue140-\ue15f]", self.marked)} - self.rejected()
        if not by_label and len(spoken_of) > 2 and not any(claim.strength >= FINAL for claim in claims):
            return None
        claims = by_label or claims
        settled = self.settle(claims)
        if settled is None:
            return None
        indexes, strength = settled
        left_over = self.left_over()
        if left_over is not None and indexes != {left_over}:
            return ChoiceReading(None, "two answers")
        if self.takes_back(claims[-1].start, indexes):
            return ChoiceReading(None, "two answers")
        if None in indexes:
            return ChoiceReading(None, "contradiction")
        if len(indexes) > 1:
            return ChoiceReading(None, "two answers")
        rule = "marked" if strength == MARKED else "verdict" if by_label else "option text"
        return ChoiceReading(next(at for at in indexes if at is not None), rule)

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
        for match in _MARKED_ANSWER.finditer(self.marked):
            yield Claim(indexes_of(match["marks"]), MARKED, match.start("marks"))

    def at_the_ends(self) -> Iterator[Claim]:
        opening = _OPENING.match(self.marked)
        if opening is None and _BRACKETED.match(self.text):
            opening = _OPENING_BRACKET.match(self.marked)
        if opening and not self.is_list:
            yield Claim(indexes_of(opening[1]), VERDICT, opening.start(1))
        concluded = self.concluded()
        if concluded is not None:
            yield concluded
        for at, sentence in enumerate(self.sentences):
            last = at == len(self.sentences) - 1
            if sentence.question:
                continue
            match = (_ENDING if last else _COLON_END).search(sentence.text[-200:])
            if match and "," in match[0][:1] and len(re.findall(ANY, sentence.text)) > len(indexes_of(match[1])):
                continue
            if match and not HYPOTHETICAL.search(sentence.text):
                alone = last and self.has_words and _ALONE.match(sentence.text[-200:]) and not self.is_list
                start = sentence.start + max(0, len(sentence.text) - 200) + match.start(1)
                yield Claim(indexes_of(match[1]), MARKED if alone and at else FINAL if last else VERDICT, start)

    def concluded(self) -> Claim | None:
        """The only option in a last sentence that draws a conclusion ("So she will look on the shelf")."""
        last = self.sentences[-1]
        found = list(re.finditer(ANY, last.text))
        if last.question or len(found) != 1 or not _CONCLUDES.match(last.text) or HYPOTHETICAL.search(last.text):
            return None
        if any(stance.start == last.start + found[0].start() and stance.rejected for stance in self.stances):
            return None
        return Claim(indexes_of(found[0][0]), FINAL, last.start + found[0].start())

    @cached_property
    def has_words(self) -> bool:
        """Whether the reply says anything besides labels."""
        return re.search(r"[^\W\ue100-\ue160]", self.marked) is not None

    @cached_property
    def is_list(self) -> bool:
        """Whether lines of the reply begin with different options."""
        heads = re.findall(r"^[ \t>#|*•\[\]xX-]*([\ue100-\ue15f])\s*[.):|–—\s-]", self.marked, re.MULTILINE)
        inline = re.findall(r"(?:^|[.。;!?]\s*)([\ue100-\ue15f])\s*:", self.marked)
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
            elif strength == MARKED and claim.strength < FINAL:
                continue
            else:
                now, strength = now | claim.indexes, claim.strength
            at = claim.start
        return now, strength

    def listed(self) -> ChoiceReading | None:
        """A list or table with a verdict on each option, or a ranking."""
        if self.cut:
            return None
        index = read_list(self.marked, self.count)
        return None if index is None else ChoiceReading(index, "list")

    def ticked(self) -> ChoiceReading | None:
        """The only option with a tick, where every other has a cross."""
        index = None if self.cut else read_ticks(self.marked, self.count)
        return None if index is None or any(True for _ in self.marked_answers()) else ChoiceReading(index, "list")

    def ranked(self) -> ChoiceReading | None:
        """A ranking of all options, where no answer is marked."""
        if self.cut or any(True for _ in self.marked_answers()):
            return None
        index = read_ranking(self.marked, self.count)
        return None if index is None else ChoiceReading(index, "ranking")

    def praised(self) -> ChoiceReading | None:
        """The one option of which something good is said."""
        good = {index for claim in self.findings if isinstance(claim, Claim) for index in claim.indexes}
        if len(good) == 1 and None not in good:
            index = next(at for at in good if at is not None)
            if index not in self.rejected():
                return ChoiceReading(index, "verdict")
        return ChoiceReading(None, "two answers") if len(good) > 1 else None

    @cached_property
    def stances(self) -> list[Stance]:
        """Mentions without a claim."""
        return [found for found in self.findings if isinstance(found, Stance)]

    def rejected(self, least: int = 1) -> set[int | None]:
        """The options rejected at least this plainly."""
        return {at for found in self.stances if found.rejected >= least for at in found.indexes}

    def excluded(self) -> ChoiceReading | None:
        """The one option left when all others are rejected."""
        everything = set(range(self.count))
        marks = re.findall("[\ue100-\ue13f]", self.marked) or re.findall("[\ue140-\ue15f]", self.marked)
        mentioned = {index_of(mark) for mark in marks}
        unmentioned = everything - mentioned
        plainly = everything - self.rejected(least=2)
        if len(plainly) == 1 and not plainly & self.rejected():
            return ChoiceReading(plainly.pop(), "exclusion")
        if len(unmentioned) != 1 or self.count == 2:
            return None
        index = unmentioned.pop()
        last = self.sentences[-1].text
        if len(self.rejected()) >= self.count - 2 or _LEFT_OVER.search(last):
            return ChoiceReading(index, "exclusion")
        return ChoiceReading(index, "exclusion") if wordings(self.options).closest(last, least=1) == index else None

    def left_over(self) -> int | None:
        """The only option that is not mentioned, where the last sentence speaks of the one left."""
        last = self.sentences[-1].text
        if self.count == 2 or re.search(ANY, last) or not _LEFT_OVER.search(last):
            return None
        unmentioned = set(range(self.count)) - {index_of(mark) for mark in re.findall(ANY, self.marked)}
        return unmentioned.pop() if len(unmentioned) == 1 else None

    def worded(self) -> ChoiceReading | None:
        """The option that the reply says in its own or in other words."""
        said = {index_of(mark) for mark in re.findall(ANY, self.marked) if mark != CLASH}
        words = {index_of(mark) for mark in re.findall("[\ue140-\ue15f]", self.marked)} - self.rejected()
        if len(said) == 1 and words == said:
            return ChoiceReading(words.pop(), "option text") if self.is_said_at_an_end() else None
        if said or "?" in self.text:
            return None
        index = wordings(self.options).closest(self.text) if len(self.text) < _SHORT else None
        return None if index is None else ChoiceReading(index, "paraphrase")

    def mentioned(self) -> ChoiceReading | None:
        """The only option that the reply mentions, in a sentence that decides."""
        found = {at for stance in self.stances for at in stance.indexes}
        if re.search("[\ue120-\ue13f]", self.marked):
            return None
        if len(found) != 1 or None in found or any(stance.barred or stance.rejected for stance in self.stances):
            return None
        said = [sentence.text for sentence in self.sentences if re.search(ANY, sentence.text)]
        if len(said) == 1 and _DECIDES.search(said[0]) and re.search(rf"{ANY}\W*$", said[0]):
            return ChoiceReading(next(at for at in found if at is not None), "mention")
        return None

    def is_said_at_an_end(self) -> bool:
        """Whether the last sentence mentions an option, or the first and nothing takes it back."""
        if re.search(rf"{ANY}[\"']*\s+(?:is|was|would|sounds|seems|might|may)\b", self.marked):
            return False
        if re.search(ANY, self.sentences[-1].text) or _THAT_ONE.search(self.sentences[-1].text):
            return True
        first = self.sentences[0]
        after = self.marked[first.start + len(first.text) :]
        return re.search(ANY, first.text) is not None and not (CORRECTION.search(after) or _BUT.search(after))


def _replaces(claim: Claim, now: frozenset[int | None], strength: int, between: str) -> bool:
    """Whether a claim takes the place of an earlier one: it narrows or widens it, corrects it, or concludes."""
    return (
        claim.indexes < now
        or now < claim.indexes
        or CORRECTION.search(between) is not None
        or (claim.strength == MARKED and strength < MARKED)
        or (claim.strength == FINAL and _CONTRAST.search(between) is not None)
    )
