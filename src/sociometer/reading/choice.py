"""Lettered choices: how the options are shown, and how a reply is read back to one of them: sure, or not at all.

A choice is read from the whole reply; from a place made for an answer (answer line, JSON, box, tag, a letter alone in
the first or last line); from a plain statement that opens or closes the reply, which has one option and otherwise only
words that people answer with ("So it's B."); or from an option's words quoted alone. Two different answers, a negation,
a comparison, a condition or a question nearby: not sure. What is not sure is asked about again.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

import msgspec

from sociometer.core.conversation import Choice
from sociometer.reading.rule_files import read_rules
from sociometer.reading.text import last_part, plain, squeeze

_TICKS = ("[x]", "[X]", "☑", "✅", "✓", "✔")
_MARKED_LINE = re.compile(r"[-\s]{0,5}(\[[ xX]?\]|[☑✅✓✔☐✗✘❌×])\ufe0f?\s?(.*)")
_SHORT = 40
"""In a reply of so few characters a short option's words are its answer, too."""
_BOX = re.compile(r"\\boxed\s?\{([^{}]{0,200})\}")
_TAG = re.compile(r"<(answer|choice|final)>([^<]{0,400})</\1>", re.IGNORECASE)
_FIELD = re.compile(r'"[^"\n]{1,40}"\s?:\s?"([^"\n]{1,300})"')
_TYPESET = re.compile(r"\\(?:text|textbf|mathbf|mathrm)\s?\{([^{}]{0,200})\}")
_SENTENCE = re.compile(r"""[^.!?。;\n]+(?:\.+["')\]]?(?=\s|$|[^\x00-\x7f])|[!?。;]+["')\]]?|\n|$)|[^\n]+""")
_NEVER = re.compile(r"(?!)")
_CLAUSE = re.compile(r"[,;:()\[\]→∴]| [–—-]{1,3} |[–—]|[=-]{1,3}>|\.{2,}|…")


class ChoiceReading(msgspec.Struct, frozen=True):
    """The option a reply chose, or None; and the rule that read it, or the reason that none could."""

    index: int | None
    rule: str


def render_options(choice: Choice) -> str:
    """Return the options of a choice, one per line, each after its label."""
    _check(choice.options, choice.labels)
    return "\n".join(f"{label}. {option}" for label, option in zip(choice.labels, choice.options, strict=True))


def read_choice(
    text: str, options: Sequence[str], labels: Sequence[str], *, finish: str = "stop", language: str = "en"
) -> ChoiceReading:
    """Return which option the reply chose; None where that is not sure.

    `finish` is the reply's finish reason: a reply cut off at its length limit counts only where it gave its answer in a
    place made for it before. `language` is that of the question.
    """
    _check(options, labels)
    if (bare := text.strip()) in labels:
        return ChoiceReading(labels.index(bare), "bare")
    before, colon, label = bare.rpartition(": ")
    if colon and label in labels and before.casefold() in read_rules("choice", language).either("demanded").split("|"):
        return ChoiceReading(labels.index(label), "answer line")
    return _Reader(options, labels, language).read(last_part(text), cut_off=finish == "length")


def _check(options: Sequence[str], labels: Sequence[str]) -> None:
    if len(options) != len(labels) or not 2 <= len(options) <= 26:
        raise ValueError(
            f"{len(options)} options with {len(labels)} labels; a choice needs 2 to 26 options and a label for each"
        )
    if len({label.casefold() for label in labels}) != len(labels):
        raise ValueError(f"labels {list(labels)} repeat; give every option its own")


class _Patterns:
    """How replies name the labels of a choice; the same for all items with these labels."""

    def __init__(self, labels: Sequence[str], language: str) -> None:
        said = read_rules("choice", language)
        known = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
        called = rf"(?:{said.either('called')})?\s?"
        because = rf"(?:\s?[.,:;()\]\-–—,。;:]|{said.either('because')})"
        self.alone = re.compile(rf"{called}[(\[]?({known})[)\]]?\s?[.:)。,]?\s?", re.IGNORECASE)
        self.headed = re.compile(rf"{called}[(\[]?({known})[)\]]?\s?[.:)\-–—。、,]\s?(.*)", re.IGNORECASE | re.DOTALL)
        self.reasoned = re.compile(rf"{called}[(\[]?({known})[)\]]?{because}.*", re.IGNORECASE | re.DOTALL)
        # "B:" anywhere begins an entry of a list, "B." and "(B)" only where a sentence or clause begins.
        begun = rf"(?:^|[.,;\n])\s?[(\[]?({known})[)\]]?\s?[.)\]]"
        anywhere = rf"(?<![A-Za-z0-9'(\[])({known})[)\]]?\s?[:–—-]"
        self.heads = re.compile(rf"(?:{begun}|{anywhere})(?=\s|$|[^\x00-\x7f])")
        # In running text a label is a capital letter of its own, or any label or number behind the word "option".
        marked = rf"(?i:{said.either('marked')})\s?[(\[]?((?i:{known})|\d)[)\]]?(?![A-Za-z0-9'])"
        letters = "|".join(re.escape(label) for label in labels if label.isalpha() and label not in ("A", "I"))
        single = rf"|[(\[]({known})[)\]]" + (rf"|(?<![A-Za-z0-9'])({letters})(?![A-Za-z0-9'])" if letters else "")
        self.mention = re.compile(marked + single)
        self.bracketed = re.compile(rf"(?<![A-Za-z0-9'])[(\[]({known})[)\]](?![A-Za-z0-9])")


_patterns = lru_cache(maxsize=64)(_Patterns)


class _Reader:
    """The options of one choice, as replies name them."""

    def __init__(self, options: Sequence[str], labels: Sequence[str], language: str) -> None:
        self._labels, self._rules = tuple(labels), read_rules("choice", language)
        self._has = self._rules.search
        self._texts = [squeeze(option) for option in options]
        self._patterns = _patterns(self._labels, language)
        self._marks = {label: at for at, label in enumerate(labels)} | {f"\ue000{at}": at for at in range(len(labels))}
        known = [at for at, text in enumerate(self._texts) if len(text) > 2 and self._texts.count(text) == 1]
        self._longest_first = sorted(known, key=lambda at: -len(self._texts[at]))

    @cached_property
    def _spelled(self) -> re.Pattern[str]:
        spelled = "|".join(f"({re.escape(self._texts[at])})" for at in self._longest_first) or "(?!)"
        return re.compile(rf"(?<![A-Za-z0-9])(?:{spelled})(?![A-Za-z0-9])", re.IGNORECASE)

    def read(self, said: str, *, cut_off: bool) -> ChoiceReading:
        """The option, by the first rule that is sure."""
        placed = self._places(said)
        text = plain(said)
        following = self._has("next_question", text, 1)
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
        corrected = bool(self._has("corrects", text))
        if last is not None and (corrected or found <= {last}):
            return ChoiceReading(last, "answer line")
        if len(found) > 1:
            return ChoiceReading(None, "two answers")
        if found and corrected:
            return (None if cut_off else self._statement(lines, cut_off=False)) or ChoiceReading(None, "not sure")
        if found:
            return ChoiceReading(found.pop(), "marked")
        # An answer line that is not sure makes the rest of the reply not sure.
        marked_line = any((line := self._has("answer_line", one)) and self._mentioned(line[1]) for one in lines)
        stated = None if marked_line else self._statement(lines[:-1] if cut_off else lines, cut_off=cut_off)
        if stated is not None:
            return stated
        if cut_off:
            return ChoiceReading(None, "cut off")
        return self._quoted("\n".join(self._without_list(lines)))

    def named(self, part: str) -> int | None:
        """The one option that a short text names as a whole: by label, number or words, or by label and words."""
        if not self._has("denied", part):
            edges = "".join({mark for mark in part if not mark.isalnum()} - set("()[]+"))
            part = part.lstrip(edges).rstrip(edges.replace("-", "").replace("#", ""))
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
        if (at := self.named(part)) is not None or (at := self._stated(part)) is not None:
            return at
        reasoned = self._patterns.reasoned.fullmatch(part.strip(" \"'"))
        if reasoned is None:
            return None
        # "B or C", or B with the words of C: not one answer.
        at, rest = self._index(reasoned[1]), part.strip(" \"'")[reasoned.end(1) :]
        return (
            None
            if self._begins_another(rest, at) or self._mentioned(rest[:400]) - {at} or self._has("corrects", rest)
            else at
        )

    def _begins_another(self, text: str, at: int) -> bool:
        """Whether a text begins with the words of another option than this one."""
        words = squeeze(text[:80])[:20]
        begun = [place for place, known in enumerate(self._texts) if len(words) >= 4 and known.startswith(words)]
        return bool(begun) and at not in begun

    def _answer_line(self, line: str) -> int | None:
        found = self._has("answer_line", line)
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
            found = self._has("answer_line", line)
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

    def _statement(self, lines: Sequence[str], *, cut_off: bool) -> ChoiceReading | None:
        """The option of a plain statement that opens or closes the reply; the last one after a correction."""
        sentences = [one.strip() for one in self._said(lines) if one.strip()]
        opening = self._opening(sentences) if sentences else None
        named = [at for at, one in enumerate(sentences) if self._mentioned(one) or self._has("nth", one)]
        closing = None
        if named and not cut_off:
            after = sentences[named[-1] + 1 :]
            taken_back = any(self._has("taken_back", one) or self._has("corrects", one) for one in after)
            closing = None if taken_back else self._closing(sentences[named[-1]], sentences)
        corrected = bool(self._has("corrects", "\n".join(sentences)))
        lone = self._patterns.alone if len(self._heads(sentences)) > 1 else _NEVER  # "B." before an entry of a list
        said = {at for one in sentences if not lone.fullmatch(one) and (at := self._stated(one)) is not None}
        if not corrected and len({*said, opening, closing} - {None}) > 1:
            return ChoiceReading(None, "two answers")
        at = closing if closing is not None or corrected else opening
        return None if at is None else ChoiceReading(at, "statement")

    def _opening(self, sentences: Sequence[str]) -> int | None:
        """The option that the first clauses state, where nothing takes it back or favours another one."""
        first = self._rules.find("reason").split(sentences[0], maxsplit=1)
        parts = _CLAUSE.split(first[0], maxsplit=4)
        stated = [(self._stated(" ".join(parts[:many])), many) for many in range(1, len(parts) + 1)]
        at, many = next((one for one in stated if one[0] is not None), (None, 0))
        if at is None or sentences[0].endswith("?") or self._has("others", " ".join(parts[:many])):
            return None
        following = [one for one in (*parts[many:], *first[1:], *sentences[1:]) if one.strip(" .!")]
        if following and squeeze(following[0]) == self._texts[at]:
            following = following[1:]
        if following and (self._has("taken_back", following[0]) or self._begins_another(following[0], at)):
            return None
        if self._heads(sentences) - {at}:
            return None
        for one in following:
            named, favours = self._mentioned(one), self._has("favours", self._without_words(one))
            dismissed = at not in named and self._has("not", one)
            if named - {at} and (self._stated(one) is not None or (favours and not dismissed)):
                return None
        return at

    def _closing(self, sentence: str, sentences: Sequence[str]) -> int | None:
        """The option that the last sentence with an option states, or the last clause of this sentence."""
        if self._has("denied", sentence) or self._has("others", sentence) or self._has("corrects", sentence):
            return None
        if (at := self._stated(sentence)) is not None:
            earlier = sentences[max(0, sentences.index(sentence) - 1)]
            listed = self._heads(sentences) - {at} or self._mentioned(earlier) - {at}
            return None if self.named(sentence) is not None and listed else at
        head = self._rules.find("reason").split(sentence, maxsplit=1)[0]
        alone = len({at for one in sentences for at in self._mentioned(one)}) == 1
        if alone and not self._has("unsure", self._without_words(head)):
            head = self._patterns.bracketed.sub(r"\1", head)  # "(B)" is a label, not a clause of its own
        last = _CLAUSE.split(head)[-1]
        before = head[: len(head) - len(last)]
        if any(self._stated(one) is not None for one in _CLAUSE.split(before)):
            return None  # "It is B: the words of A"
        if (at := self._stated(last)) is not None and not self._has("unsure", squeeze(last)):
            # "B" or "and B" may end a list of things or stand below a heading; "so B" may not.
            heading, mark = len(squeeze(before).encode()) <= 20, before.rstrip()[-1:]
            bare = self.named(self._rules.find("both").sub("", last, count=1)) is not None
            return None if (bare and (heading or mark in ",;(")) or (heading and mark == ":") else at
        return None

    def _heads(self, sentences: Sequence[str]) -> set[int]:
        """The options whose labels begin an entry of a list."""
        return {self._index("".join(head)) for head in self._patterns.heads.findall("\n".join(sentences))}

    def _said(self, lines: Sequence[str]) -> list[str]:
        """The sentences, without a list of the options that the reply repeats."""
        return [one for line in self._without_list(lines) for one in _SENTENCE.findall(line)]

    def _stated(self, clause: str) -> int | None:
        """The one option in a clause that otherwise has only words of answering."""
        if len(clause) > 400 or self._has("denied", clause) or self._has("article", clause):
            return None
        words = "".join(mark if mark.isalnum() else " " for mark in clause)
        if not words.strip().isdigit() and words.strip() not in ("a", "i") and (at := self.named(clause)) is not None:
            return at
        words = " ".join(words.split())
        words = self._spelled.sub(lambda one: f" \ue000{self._longest_first[(one.lastindex or 1) - 1]} ", words)
        words = self._rules.find("nth").sub(lambda one: f" \ue000{self._nth(one[one.lastindex or 0])} ", words)
        found = {self._marks.get(word) for word in self._rules.find("answering").sub(" ", words).split()}
        return found.pop() if len(found) == 1 else None

    def _nth(self, word: str) -> int:
        return int(word) - 1 if word.isdigit() else self._rules.place("places", word.casefold())

    def _without_list(self, lines: Sequence[str]) -> list[str]:
        """The lines without a list of the options, which many replies repeat first."""
        listed = [line for line in lines if self.named(line) is not None]
        return [line for line in lines if line not in listed] if len(set(listed)) > 1 else list(lines)

    def _quoted(self, text: str) -> ChoiceReading:
        """The only option whose words a short reply contains, where nothing else is named or denied."""
        folded = f" {squeeze(text)} "
        shortest = 8 if len(text) > _SHORT else 1
        found = [at for at, words in enumerate(self._texts) if len(words) >= shortest and f" {words} " in folded]
        room = len(self._texts[found[0]]) + 60 if len(found) == 1 else 0
        alone = room > 0 and self._mentioned(text) == set(found)
        if alone and len(folded) <= room and not self._has("unsure", self._without_words(text)):
            return ChoiceReading(found[0], "words")
        if self._has("refusal", text):
            return ChoiceReading(None, "refusal")
        if self._has("several", text):
            return ChoiceReading(None, "two answers")
        return ChoiceReading(None, "not sure" if self._mentioned(text) or found else "no answer")

    def _mentioned(self, sentence: str) -> set[int]:
        """The options that a sentence names, by label or by all of their words."""
        found = [one for groups in self._patterns.mention.findall(sentence) for one in groups if one]
        lone = [one for one in map("".join, self._rules.find("lone").findall(sentence)) if one in self._labels]
        labels = {self._index(one) for one in (*found, *lone)}
        folded = f" {squeeze(sentence)} "
        return labels | {at for at, words in enumerate(self._texts) if words and f" {words} " in folded}

    def _without_words(self, sentence: str) -> str:
        """A sentence without the words of the options, in which a "not" denies nothing."""
        folded = f" {squeeze(sentence)} "
        for words in sorted(self._texts, key=len, reverse=True):
            if len(words) >= 4:
                folded = folded.replace(words, " ")
        return folded
