"""Lettered choices: how the options are shown, and how a reply is read back to one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from sociometer.core.conversation import Choice
from sociometer.reading.evidence import Evidence
from sociometer.reading.formatted import formatted
from sociometer.reading.marks import ANY, CLASH, index_of
from sociometer.reading.normal import squeeze
from sociometer.reading.paraphrase import wordings
from sociometer.reading.phrases import CORRECTION
from sociometer.reading.polarity import FINAL, LOWEST, MARKED, VERDICT, Claim
from sociometer.reading.spoken import spoken
from sociometer.reading.verdicts import read_boxes, read_list, read_ranking, read_ticks

_ONE_LINE = 40
_ONLY_MARKED = re.compile(
    r"[*_#\s]*(?:(?:my |the )?(?:final )?answer|(?:最终)?答案)[*_\s]*[:：][*_\s]*[(\[]?([A-Z])[)\]]?[*_.。\s]*",
    re.IGNORECASE,
)


class ChoiceReading(msgspec.Struct, frozen=True):
    """The option a reply chose, or None; and the rule that read it, or the reason that none could."""

    index: int | None
    rule: str


def render_options(choice: Choice) -> str:
    """Return the options of a choice, one per line, each after its label."""
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
    if len(bare) < _ONE_LINE and (only := _ONLY_MARKED.fullmatch(bare)) and only[1] in labels:
        return ChoiceReading(labels.index(only[1]), "marked")  # nothing else to weigh: the same as below, at once
    # The rules are loaded here: their patterns take long to compile, and commands that only show runs read nothing.

    reading = ChoiceRules(spoken(text, options, labels), tuple(options), tuple(labels), finish == "length").read()
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


_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|"
    r"i(?: (?:can(?:no|')?t|won't|refuse|decline|would rather not)|'d rather not| don't (?:want|feel comfortable))|"
    r"as an ai\b|"
    r"(?:can|could) not (?:answer|choose|determine)|no(?:ne| correct) (?:of|answer)|impossible to (?:tell|say|choose))|"
    r"无法(?:回答|选择|确定|判断|作答|替)|不能(?:回答|选择|确定|提供)|抱歉|对不起|拒绝|不想回答|不愿回答|都不(?:对|"
    r"是|选|合适)|不(?:太|大|会|是很)?(?:想|愿意?|方便|打算)(?:替|帮|为|选|挑|参与|协助)|"
    r"作为(?:一个)?(?:AI|人工智能)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\W*(\d{1,2})\W*")
_SHORT = 300  # in a longer reply, an option's words turn up without being meant
_LONG = 1200
_LABELLED = "[\ue100-\ue13f\ue160]"
_BUT = re.compile(r"\b(?:but|yet|however)\b|但|可是?(?![以能])|不过|然而", re.IGNORECASE)
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


class ChoiceRules(Evidence):
    """Applies the reading rules, strongest first, to one reply."""

    def read(self) -> ChoiceReading:
        if not squeeze(self.text):
            return ChoiceReading(None, "empty")
        if not self.sentences:
            return ChoiceReading(None, "no answer")  # the options were repeated, and nothing else
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
        stated = self.claims()
        claims = [claim for claim in stated if claim.strength >= VERDICT]
        claims = claims or [claim for claim in stated if claim.strength == LOWEST]
        by_label = [claim for claim in claims if re.match(_LABELLED, self.marked[claim.start])]
        spoken_of = {index_of(mark) for mark in re.findall("[\ue140-\ue15f]", self.marked)} - self.rejected()
        if not by_label and len(spoken_of) > 2 and not any(claim.strength >= FINAL for claim in claims):
            return None
        claims = by_label or [claim for claim in claims if claim.strength > VERDICT or not self.cut]
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

    def listed(self) -> ChoiceReading | None:
        """A list or table with a verdict on each option, or a ranking."""
        if self.cut:
            return None
        index = read_list(self.marked, self.count)
        return None if index is None else ChoiceReading(index, "list")

    def ticked(self) -> ChoiceReading | None:
        """The only option with a tick, where every other has a cross."""
        if self.cut:
            return None
        boxed = read_boxes(self.marked, self.count)
        if boxed is not None:
            return ChoiceReading(boxed, "list")
        index = read_ticks(self.marked, self.count)
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
        if len(self.rejected()) >= max(2, self.count - 2) or _LEFT_OVER.search(last):
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
        if self.sentences[-1].question or len(self.text) > _LONG or re.search(_LABELLED, self.marked):
            return None
        closest = wordings(self.options).closest(self.text) if len(self.text) < _SHORT and not said else None
        index = wordings(self.options).stated(self.text) if closest is None else closest
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
        if re.search(ANY, self.sentences[-1].text):
            return True
        if _THAT_ONE.search(self.sentences[-1].text) and len(self.sentences) > 1:
            return re.search(ANY, self.sentences[-2].text) is not None
        first = self.sentences[0]
        after = self.marked[first.start + len(first.text) :]
        return re.search(ANY, first.text) is not None and not (CORRECTION.search(after) or _BUT.search(after))
