"""Lettered choices: how the options are shown, and how a reply is read back to one of them: sure, or not at all.

A choice is read from the whole reply, from a place made for an answer (answer line, JSON, box, tag, a letter alone in
the first or last line), from the last plain sentence that chooses one option, or from an option's words quoted alone.
Two different answers, a negation, a comparison or a condition nearby: not sure. What is not sure is asked about again.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from sociometer.core.conversation import Choice
from sociometer.reading.text import last_part, plain, squeeze

_MARK = (
    r"(?:(?:my|the|so|final|best|correct|right|chosen|selected|most|likely)\s){0,5}(?:answer|choice|option|selection)"
)
_ANSWER_LINE = re.compile(
    r"^[#>\-\s]{0,9}(?:(?:so|therefore|thus|hence|in conclusion)\b[,:]?\s|(?:因此|所以|综上)[,:]?)?"
    rf"(?:{_MARK}\s?(?:is)?\s?(?:[:=→]|->)|"
    r"(?:我的|最终|最后|正确|最佳)?(?:的)?(?:答案?|选择|选项)(?:是|为)?\s?[::])(.*)$",
    re.IGNORECASE,
)
_DEMANDED = ("answer", "the answer", "答案")
"""The line that our prompts ask for, when it is the whole reply."""
_TICKS = ("[x]", "[X]", "☑", "✅", "✓", "✔")
_MARKED_LINE = re.compile(r"[-\s]{0,5}(\[[ xX]?\]|[☑✅✓✔☐✗✘❌×])\ufe0f?\s?(.*)")
_SHORT = 40
"""A reply of so few characters that names one label names it as its answer."""
_BOX = re.compile(r"\\boxed\s?\{([^{}]{0,200})\}")
_TAG = re.compile(r"<(answer|choice|final)>([^<]{0,400})</\1>", re.IGNORECASE)
_FIELD = re.compile(r'"[^"\n]{1,40}"\s?:\s?"([^"\n]{1,300})"')
_TYPESET = re.compile(r"\\(?:text|textbf|mathbf|mathrm)\s?\{([^{}]{0,200})\}")
_CHOOSES = re.compile(
    r"\b(?:i(?:'d|'ll| would| will| must| have to)?\s(?:also\s|still\s|definitely\s|therefore\s)?"
    r"(?:choose|pick|select|go (?:with|for)|say|answer|vote for|opt for|think)|i(?:'m| am) going with|"
    r"(?:answer|choice|option|response|pick|comment|reply)\s(?:here\s|would\s|must\s|should\s)?(?:is|be)\b|"
    r"is\s(?:the|my)\s(?:final\s|correct\s|right\s|best\s)?(?:answer|choice|pick|option)|"
    r"(?:is|seems|appears|looks)(?: to be)?\s(?:clearly\s|probably\s)?the\s(?:best|correct|right|most\s\w+)|"
    r"(?:best|correct|right)\s(?:one|fit|match)\sis)\b|"
    r"我(?:会|要|就|还是)?选择?|(?:答案|选择|选项)(?:应该|应当)?(?:是|为)|(?:应|该)选|[故以此]选",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:not|never|neither|nor|no|isn|wasn|don|doesn|didn|can(?:not)?|couldn|wouldn|won|rather|instead|than|except|unless|if|"
    r"although|though|whereas|but|however|or|either|maybe|perhaps|might|could|tempt\w*|almost|between|initially|"
    r"eliminate\w*|rule[sd]?|reject\w*|wrong|incorrect|least|worst|"
    r"(?:he|she|they|people|someone|one|you)(?: d| would| ll| will| might)"
    r" (?:say|choose|pick|think|answer|expect))\b|"
    r"不|没|非|而非|如果|若|要是|假如|除非|但|可是|或|要么|也许|可能|排除|错|否|虽然|尽管|别人|有人|原本|本来",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"(?<![A-Za-z])[A-Z]\s?(?:and|or|/|&|和|或|与)\s?[A-Z](?![A-Za-z])")
_CORRECTS = re.compile(
    r"\b(?:wait|actually|correct(?:ion|ing)|chang(?:e|ing) my|on second thoughts?|let me think|"
    r"reconsider\w*|scratch that|oops|sorry|no,)|"
    r"等等|等一下|再想想|更正|不对|改(?:为|选|成)|纠正",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。!?;;\n]+(?:[.!?。!?;;]+(?=\s|$|[^\x00-\x7f])|\n|$)|[^\n]+")
_NEXT_QUESTION = re.compile(
    r"\n(?:#+ ?)?(?:(?:question|user|human|q) ?\d* ?:|(?:问题|题目)(?: ?\d+)? ?:|下一题)", re.IGNORECASE
)
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can(?:no|')?t|won't|refuse|decline)|as an ai\b|"
    r"none of (?:the|these))|"
    r"无法(?:回答|选择|确定|判断)|不能(?:回答|选择)|抱歉|对不起|拒绝|都不(?:对|是|选)",
    re.IGNORECASE,
)
_BECAUSE = r"(?:\s?[.,:;()\]\-–—,。;:]|\s(?:because|since|as|for)\b|因为|,?\s?因)"


class ChoiceReading(msgspec.Struct, frozen=True):
    """The option a reply chose, or None; and the rule that read it, or the reason that none could."""

    index: int | None
    rule: str


def render_options(choice: Choice) -> str:
    """Return the options of a choice, one per line, each after its label."""
    _check(choice.options, choice.labels)
    return "\n".join(f"{label}. {option}" for label, option in zip(choice.labels, choice.options, strict=True))


def read_choice(text: str, options: Sequence[str], labels: Sequence[str], *, finish: str = "stop") -> ChoiceReading:
    """Return which option the reply chose; None where that is not sure.

    `finish` is the reply's finish reason: a reply cut off at its length limit counts only where it gave its answer in a
    place made for it before.
    """
    _check(options, labels)
    if (bare := text.strip()) in labels:
        return ChoiceReading(labels.index(bare), "bare")
    before, colon, label = bare.rpartition(": ")
    if colon and label in labels and before.casefold() in _DEMANDED:
        return ChoiceReading(labels.index(label), "answer line")
    return _Reader(options, labels).read(last_part(text), cut_off=finish == "length")


def _check(options: Sequence[str], labels: Sequence[str]) -> None:
    if len(options) != len(labels) or not 2 <= len(options) <= 26:
        raise ValueError(
            f"{len(options)} options with {len(labels)} labels; a choice needs 2 to 26 options and a label for each"
        )
    if len({label.casefold() for label in labels}) != len(labels):
        raise ValueError(f"labels {list(labels)} repeat; give every option its own")


class _Patterns:
    """How replies name the labels of a choice; the same for all items with these labels."""

    def __init__(self, labels: Sequence[str]) -> None:
        known = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
        called = r"(?:option|choice|answer|选项|答案)?\s?"
        self.alone = re.compile(rf"{called}[(\[]?({known})[)\]]?\s?[.:)。,]?\s?", re.IGNORECASE)
        self.headed = re.compile(rf"{called}[(\[]?({known})[)\]]?\s?[.:)\-–—。、,]\s?(.*)", re.IGNORECASE | re.DOTALL)
        self.reasoned = re.compile(rf"{called}[(\[]?({known})[)\]]?{_BECAUSE}.*", re.IGNORECASE | re.DOTALL)
        self.heads = re.compile(rf"(?<![A-Za-z0-9'])({known})[)\]]?\s?[.:)–—-](?=\s|$)")
        # In running text a label is a capital letter of its own, or any label or number behind the word "option".
        marked = (
            rf"(?i:option|choice|answer(?: is)?|number|选项|答案是?)\s?[(\[]?((?i:{known})|\d)[)\]]?(?![A-Za-z0-9'])"
        )
        letters = "|".join(re.escape(label) for label in labels if label.isalpha() and label not in ("A", "I"))
        single = rf"|[(\[]({known})[)\]]" + (rf"|(?<![A-Za-z0-9'])({letters})(?![A-Za-z0-9'])" if letters else "")
        self.mention = re.compile(marked + single)


_patterns = lru_cache(maxsize=64)(_Patterns)
_LONE_A = re.compile(r"(?<![A-Za-z0-9'])([AI])(?=[.:),;!。,、)]|$| (?:because|since|is the)\b)")


class _Reader:
    """The options of one choice, as replies name them."""

    def __init__(self, options: Sequence[str], labels: Sequence[str]) -> None:
        self._labels = tuple(labels)
        self._texts = [squeeze(option) for option in options]
        self._patterns = _patterns(self._labels)

    def read(self, said: str, *, cut_off: bool) -> ChoiceReading:
        """The option, by the first rule that is sure."""
        placed = self._places(said)
        text = plain(said)
        following = _NEXT_QUESTION.search(text, 1)
        if following:
            text = text[: following.start()]
        if not text:
            return ChoiceReading(None, "empty")
        if not cut_off and (whole := self.named(text)) is not None:
            return ChoiceReading(whole, "whole")
        marked = [(_MARKED_LINE.match(line), line) for line in text.split("\n") if line]
        placed += self._ticked([mark for mark, _ in marked if mark])
        lines = [line for mark, line in marked if not mark] or [""]
        last = None if cut_off else self._answer_line(lines[-1])
        found = {*placed, *self._line_answers(lines, cut_off=cut_off)}
        corrected = bool(_CORRECTS.search(text))
        if last is not None and (corrected or found <= {last}):
            return ChoiceReading(last, "answer line")
        if len(found) > 1:
            return ChoiceReading(None, "two answers")
        if found and corrected:
            return ChoiceReading(None, "not sure")
        if found:
            return ChoiceReading(found.pop(), "marked")
        if cut_off:
            return ChoiceReading(None, "cut off")
        return self._sentences(self._without_list(lines))

    def named(self, part: str) -> int | None:
        """The one option that a short text names as a whole: by label, number or words, or by label and words."""
        part = part.strip(" \"'`*_>#→👉")
        if alone := self._patterns.alone.fullmatch(part):
            return self._index(alone[1])
        if headed := self._patterns.headed.fullmatch(part):
            at, words = self._index(headed[1]), squeeze(headed[2])
            if words and (self._texts[at] == words or (len(words) >= 12 and self._texts[at].startswith(words))):
                return at
        if part.isdigit() and not any(label.isdigit() for label in self._labels):
            number = int(part[:3])
            return number - 1 if 1 <= number <= len(self._labels) else None
        squeezed = squeeze(part)
        return self._texts.index(squeezed) if self._texts.count(squeezed) == 1 else None

    def _index(self, label: str) -> int:
        folded = label.casefold()
        known = [one.casefold() for one in self._labels]
        return known.index(folded) if folded in known else int(label) - 1

    def _answered(self, part: str) -> int | None:
        """The option in a place made for an answer: named alone, or with a reason behind it."""
        if not part.strip():
            return None
        if (at := self.named(part)) is not None:
            return at
        reasoned = self._patterns.reasoned.fullmatch(part.strip(" \"'"))
        if reasoned is None:
            return None
        # "B or C", or B with the words of C: not one answer.
        at, rest = self._index(reasoned[1]), part.strip(" \"'")[reasoned.end(1) :]
        return (
            None
            if self._begins_another(rest, at) or self._mentioned(rest[:400]) - {at} or _CORRECTS.search(rest)
            else at
        )

    def _begins_another(self, text: str, at: int) -> bool:
        """Whether a text begins with the words of another option than this one."""
        words = squeeze(text[:80])[:20]
        begun = [place for place, known in enumerate(self._texts) if len(words) >= 4 and known.startswith(words)]
        return bool(begun) and at not in begun

    def _answer_line(self, line: str) -> int | None:
        found = _ANSWER_LINE.match(line)
        return self._answered(found[1]) if found else None

    def _places(self, said: str) -> list[int]:
        """The options in boxes, answer tags and JSON fields."""
        said = _TYPESET.sub(r"\1", said)
        parts = [*_BOX.findall(said), *(match[1] for match in _TAG.findall(said)), *_FIELD.findall(said)]
        found = (self._answered(plain(part)) for part in parts)
        return [at for at in found if at is not None]

    def _ticked(self, marks: Sequence[re.Match[str]]) -> list[int]:
        """The options that a list with ticks and crosses ticks."""
        found = (self._answered(mark[2]) for mark in marks if mark[1] in _TICKS)
        return [at for at in found if at is not None]

    def _line_answers(self, lines: Sequence[str], *, cut_off: bool) -> Iterator[int]:
        """The options of answer lines, and of a first or last line that names one alone."""
        whole = lines[:-1] if cut_off else lines
        for at, line in enumerate(whole):
            found = _ANSWER_LINE.match(line)
            if found:
                # The answer may be in the line below its heading.
                part = found[1].strip() or (whole[at + 1] if at + 1 < len(whole) else "")
                if (index := self._answered(part)) is not None:
                    yield index
        listed = {index for line in whole if (index := self.named(line)) is not None}
        if len(listed) > 1 and self.named(whole[0]) is not None and self.named(whole[1]) is None:
            yield self.named(whole[0]) or 0  # an answer first, and other options later
        if len(listed) == 1 and whole:
            ends = [whole[0], *(whole[-1:] if not cut_off else ())]
            yield from (index for line in ends if (index := self.named(line)) is not None)
        if whole and not listed:
            yield from self._ends(whole, cut_off=cut_off)

    def _ends(self, lines: Sequence[str], *, cut_off: bool) -> Iterator[int]:
        """The label that begins the reply, with a reason behind it, or ends it behind a colon; if no other is named."""
        text = "\n".join(lines)
        heads = [self._index(head) for head in self._patterns.heads.findall(text)]
        if self._patterns.heads.match(text) and len(set(heads)) == 1 and not _SEVERAL.search(text):
            chosen = self._sentences([*lines[1:], lines[0][1:]]).index
            if chosen in (None, heads[0]):
                yield heads[0]
        last = lines[-1].rpartition(":")[2] if not cut_off else ""
        if last.strip(" .\"'") and (alone := self._patterns.alone.fullmatch(last.strip(" \"'"))):
            yield self._index(alone[1])

    def _without_list(self, lines: Sequence[str]) -> list[str]:
        """The lines without a list of the options, which many replies repeat first."""
        listed = [line for line in lines if self.named(line) is not None]
        return [line for line in lines if line not in listed] if len(set(listed)) > 1 else list(lines)

    def _sentences(self, lines: Sequence[str]) -> ChoiceReading:
        """The option of the last sentence that plainly chooses one; none if a later one takes it back."""
        chosen: int | None = None
        corrected = False
        sentences = [match for line in lines for match in _SENTENCE.findall(line)]
        for sentence, following in zip(sentences, [*sentences[1:], ""], strict=False):
            corrected = corrected or bool(_CORRECTS.search(sentence))
            if not _CHOOSES.search(sentence):
                continue
            mentioned = self._mentioned(sentence)
            if len(mentioned) != 1 or _SEVERAL.search(sentence) or _UNSURE.search(self._without_words(sentence)):
                chosen = None if mentioned - {chosen} else chosen
                continue
            if (chosen is not None and mentioned != {chosen}) or self._begins_another(following, *mentioned):
                return ChoiceReading(None, "two answers")
            (chosen,), corrected = mentioned, False
        if corrected:
            return ChoiceReading(None, "not sure")
        if chosen is not None:
            return ChoiceReading(chosen, "sentence")
        return self._quoted("\n".join(lines))

    def _quoted(self, text: str) -> ChoiceReading:
        """The only option whose words a short reply contains, where nothing else is named or denied."""
        folded = f" {squeeze(text)} "
        found = [at for at, words in enumerate(self._texts) if len(words) >= 8 and f" {words} " in folded]
        room = len(self._texts[found[0]]) + 60 if len(found) == 1 else 0
        alone = room > 0 and self._mentioned(text) == set(found)
        if alone and len(folded) <= room and not _UNSURE.search(self._without_words(text)):
            return ChoiceReading(found[0], "words")
        mentioned = self._mentioned(text)
        one = len(mentioned) == 1 and len(text) <= _SHORT and not _SEVERAL.search(text)
        if one and not _UNSURE.search(self._without_words(text)):
            return ChoiceReading(mentioned.pop(), "short")
        if _REFUSAL.search(text):
            return ChoiceReading(None, "refusal")
        if _SEVERAL.search(text):
            return ChoiceReading(None, "two answers")
        return ChoiceReading(None, "not sure" if self._mentioned(text) or found else "no answer")

    def _mentioned(self, sentence: str) -> set[int]:
        """The options that a sentence names, by label or by all of their words."""
        labels = {self._index(match) for found in self._patterns.mention.findall(sentence) for match in found if match}
        labels |= {self._index(match) for match in _LONE_A.findall(sentence) if match in self._labels}
        folded = f" {squeeze(sentence)} "
        return labels | {at for at, words in enumerate(self._texts) if words and f" {words} " in folded}

    def _without_words(self, sentence: str) -> str:
        """A sentence without the words of the options, in which a "not" denies nothing."""
        folded = f" {squeeze(sentence)} "
        for words in sorted(self._texts, key=len, reverse=True):
            if len(words) >= 4:
                folded = folded.replace(words, " ")
        return folded
