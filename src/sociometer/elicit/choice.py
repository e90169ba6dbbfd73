"""Lettered choices: how the options are shown, and how a reply is read back to one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

import msgspec

from sociometer.core.answer_format import Choice
from sociometer.elicit.normal import plain, squeeze

__all__ = ["ChoiceReading", "read_choice", "render_options"]

_ANSWER_KEYS = {"answer", "choice", "option", "selected", "selection", "final", "final answer", "response", "pick"}
_ANSWER_KEYS |= {"label", "letter", "result", "答案", "选项", "选择", "回答", "最终答案"}
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can(?:no|')?t|won't|refuse|decline|would rather not)|as an ai\b|"
    r"(?:can|could) not (?:answer|choose|determine)|no(?:ne| correct) (?:of|answer))|"
    r"无法(?:回答|选择|确定|判断|作答)|不能(?:回答|选择|确定|提供)|抱歉|对不起|拒绝|不想回答|不愿回答|都不(?:对|是|选|合适)|作为(?:一个)?(?:AI|人工智能)",
    re.IGNORECASE,
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "last": -1, "final": -1}
_HAN = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_ORDINAL = re.compile(
    r"\b(?:the )?(first|second|third|fourth|fifth|sixth|last) (?:option|one|choice|answer|statement|reply)\b|"
    r"\b(?:option|choice|answer) (?:number |no\. ?|#)?(\d{1,2})\b|"
    r"第\s*([一二两三四五六七八九十]|\d{1,2})\s*(?:个|项|种|条|选项|句)|选项\s*([一二三四五六七八九十]|\d{1,2})|(最后一)[个项种条]",
    re.IGNORECASE,
)
_STATEMENT = (
    r"(?:(?P<final>final|ultimate|最终|最后)[ a-z]{0,12}?\s*)?"
    r"(?:\b(?:answer|choice|response|pick|selection)\b(?:\s+(?:here|to this question))?\s*"
    r"(?:is|was|would be|should be|must be|will be|=|:|-|—)+|"
    r"\b(?:i|i'd|i'll|we|would|will|should|i am|i'm)\s+"
    r"(?:(?:would|will|should|must|'d|'ll|most likely|probably|therefore)\s+)*"
    r"(?:choose|chose|select|selected|pick|picked|go with|going with|opt for|say|answer|choosing|selecting|"
    r"vote for)\b:?|"
    r"^\s*(?:choose|select|pick|go with|choosing)\b:?|"
    r"\b(?:correct|best|right|most (?:likely|fitting|appropriate|plausible))"
    r"(?: (?:answer|option|choice|one))?\s*(?:is|would be|:)|"
    r"(?:答案|选项|回答|结论|选择)\s*(?:应该|应当|应|就|会|便)?(?:是|为|选|:|=)+|(?:答案|选择|选定)\s*(?=[\"(\[]*[A-Z])|"
    r"(?:应|故|会|只能|因此|所以|我|就|可|要|,|。|;|^|\s)选(?:择|了|的是)?\s*:?|"
    r"(?:最合适|最恰当|最佳|正确)的(?:选项|答案)?(?:是|为)|"
    r"(?:选择|选)\s*:?(?=\s*[\"(\[]*[A-Z]))"
    r"\s*(?:most likely |probably |definitely |clearly )?"
    r"(?:(?:the )?(?:option|choice|answer|letter)\b|选项|答案)?\s*:?\s*"
)
_NEGATION = re.compile(
    r"(?:\bnot|n't|\bnever|\bneither|\bnor|\bwithout|\brather than|\binstead of|\bover|\bexcept|\beliminat\w*|"
    r"\brul\w+ out|\breject\w*|\bexclud\w*|不|别|没|非|排除|除了|而不是)\s*"
    r"(?:be |is |choose |choosing |pick |选择|选|是|选项|(?:the )?(?:option|choice|answer) )*[\"(\[]*$",
    re.IGNORECASE,
)
_WRONG_AFTER = re.compile(
    r"^[\")\].]*\s*(?:is|are|was|seems|looks|sounds|would be|also)?\s*(?:clearly |obviously |too |also )?"
    r"(?:wrong|incorrect|not\b|isn't|doesn't|can't|cannot|unlikely|out\b|ruled out|implausible|"
    r"不对|错|不合适|不正确|不符|不是|排除)",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(r"\b(?:so|therefore|thus|hence|leaves|leaving)\b|所以|因此|因而|只剩|那么|故", re.IGNORECASE)
_SECOND_THOUGHT = (
    r"(?:\b(?:wait|actually|oops|sorry|on reflection|on second thoughts?|come to think of it|i mean|correction|"
    r"let me reconsider|scratch that|no(?=[,.;:!…]))\b|不对|等等|更正|其实|不(?=[，,]))"
)
_LEADING_IN = (
    r"(?:it's|it is|it should be|it must be|i'd say|i'd choose|i choose|i pick|make that|rather|the answer is|"
    r"the answer should be|应该是|应该选|答案是|应选|选|是)"
)
_HEREBY_CHOSEN = r"(?=\s*(?:[.。!,，;；)]|$|is (?:better|right|correct|best|the)\b|更|才))"
_NUMBER = re.compile(r"\W*(\d{1,2})\W*")
_BRACES = re.compile(r"\{[^{}]*\}")
_BOX = re.compile(r"\\boxed\s*\{([^{}]*)\}|<answer>(.*?)</answer>", re.DOTALL)
_DENIED = re.compile(r"(?:不|别|没|n't|\bnot)\s*$")
_LONGEST = 20_000  # an answer stands near the end; what a model rambled before need not be searched
_JOINED = r"\s*(?:,|/|、|&|\+|\band\b|\bor\b|和|或|与|及|还是)\s*(?:either |option |选项|或者?)?[\"(\[]*"


class ChoiceReading(msgspec.Struct, frozen=True):
    """The option a reply chose, or None; and the rule that read it, or the reason that none could."""

    index: int | None
    rule: str


def render_options(choice: Choice) -> str:
    """Return the options of a choice one a line, each behind its label."""
    _check(choice.options, choice.labels)
    return "\n".join(f"{label}. {option}" for label, option in zip(choice.labels, choice.options, strict=True))


def read_choice(text: str, options: Sequence[str], labels: Sequence[str]) -> ChoiceReading:
    """Return which option the reply chose; two different answers, a refusal or nothing at all are unreadable."""
    _check(options, labels)
    if (bare := text.strip()) in labels:
        return ChoiceReading(labels.index(bare), "bare")
    return _Reader(plain(text[-_LONGEST:]), options, labels).read()


def _check(options: Sequence[str], labels: Sequence[str]) -> None:
    if len(options) != len(labels) or not 2 <= len(options) <= 26:
        raise ValueError(
            f"{len(options)} options with {len(labels)} labels; a choice needs 2 to 26 options and a label for each"
        )
    if len({label.casefold() for label in labels}) != len(labels):
        raise ValueError(f"labels {list(labels)} repeat; give every option its own")


class _Labels:
    """The labels of a choice in plain spelling, and the patterns that find one in a reply."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.names = [plain(label) for label in labels]
        self.by_label = {name.casefold(): index for index, name in enumerate(self.names)}
        forms = sorted({form for name in self.names for form in (name, name.lower())}, key=len, reverse=True)
        label = "(?P<label>" + "|".join(re.escape(form) for form in forms) + ")"
        bound = rf"(?<![A-Za-z0-9'])[\"(\[]*{label}(?![A-Za-z0-9'])[\")\]]*"
        self.bound = re.compile(bound)
        self.bare = re.compile(rf"[\W_]*(?:(?:option|choice|选项|选择?)\s*:?\s*)?\W*{label}\W*", re.IGNORECASE)
        self.before_words = re.compile(rf"\W*{label}\s*[.):\]、,—–-]+(?P<rest>.*)", re.DOTALL)
        self.stated_line = re.compile(rf"\W*{_STATEMENT}{bound}[\s.。!,)\]]*", re.IGNORECASE)
        self.stated = re.compile(_STATEMENT + bound, re.IGNORECASE | re.MULTILINE)
        self.head = re.compile(rf"[\W_]*(?:(?:option|选项)\s*)?{label}(?P<stop>\s*[.):\]、,—–。]|\s+-|\s+(?=\S))")
        bare = label.replace("?P<label>", "?:")
        self.labels_alone = re.compile(rf"[\W_]*{bare}(?:[\W_]+{bare})+[\W_]*")
        self.put_instead = re.compile(
            rf"{_SECOND_THOUGHT}(?:[\s,，.…:—-]*{_SECOND_THOUGHT})*[\s,，.…:—-]*(?:{_LEADING_IN}[\s:]*)*"
            rf"[\"(\[]*{label}(?![A-Za-z0-9'])[\")\]]*{_HEREBY_CHOSEN}",
            re.IGNORECASE,
        )
        self.several = re.compile(
            rf"{label}[\")\]]*{_JOINED}(?:{'|'.join(map(re.escape, self.names))})(?![A-Za-z0-9'])"
        )


_labels = lru_cache(maxsize=256)(_Labels)


class _Reader:
    """Applies the reading rules, strongest first, to one reply."""

    def __init__(self, text: str, options: Sequence[str], labels: Sequence[str]) -> None:
        self.text = text
        self.options = options
        self.find = _labels(tuple(labels))
        self.labels, self.by_label = self.find.names, self.find.by_label

    @cached_property
    def squeezed(self) -> list[str]:
        """The options' words alone."""
        return [squeeze(option) for option in self.options]

    def read(self) -> ChoiceReading:
        if not squeeze(self.text):
            return ChoiceReading(None, "empty")
        whole = self.whole()
        if whole is not None:
            return whole
        if self.contradicts_itself():
            return ChoiceReading(None, "several")
        for rule in (self.formatted, self.stated):
            found = rule()
            if found is not None:
                return ChoiceReading(None, "several") if self.takes_back(found) else found
        if _REFUSAL.search(self.text):
            return ChoiceReading(None, "refusal")
        for rule in (self.option_text, self.ordinal, self.last_letter):
            found = rule()
            if found is not None:
                return found
        return ChoiceReading(None, "none")

    def whole(self) -> ChoiceReading | None:
        """The reply is a label, an option's text or an option's number, and nothing else."""
        index = self.bare(self.text)
        if index is not None:
            return ChoiceReading(index, "bare")
        matching = [index for index, option in enumerate(self.squeezed) if option and option == squeeze(self.text)]
        if matching:
            return ChoiceReading(matching[0], "option text") if len(matching) == 1 else ChoiceReading(None, "several")
        number = _NUMBER.fullmatch(self.text)
        if number and 1 <= int(number[1]) <= len(self.labels):
            return ChoiceReading(int(number[1]) - 1, "number")
        return None

    def contradicts_itself(self) -> bool:
        """One label stands before another option's words, and nothing else is said."""
        match = self.find.before_words.fullmatch(self.text)
        rest = squeeze(match["rest"]) if match else ""
        return bool(
            match and rest in self.squeezed and self.squeezed.index(rest) != self.by_label[match["label"].casefold()]
        )

    def bare(self, line: str) -> int | None:
        match = self.find.bare.fullmatch(line)
        return self.by_label[match["label"].casefold()] if match else None

    def formatted(self) -> ChoiceReading | None:
        """An answer in a place made for one: JSON, a box, a line of its own, the head of the reply."""
        found = [*self.in_json(), *self.in_box(), *self.on_lines()]
        answers = {index for index, _ in found}
        if None in answers or len(answers) > 1:
            final = self.stated(only_final=True)
            return final or ChoiceReading(None, "several")
        return ChoiceReading(*found[-1]) if found else None

    def takes_back(self, found: ChoiceReading) -> bool:
        """Whether second thoughts put another option in its place ("It is A. Wait, no, B."), or two labels stand."""
        if found.index is None or found.rule in ("final answer", "json", "box"):
            return False
        if self.find.labels_alone.fullmatch(self.text) and len(self.letters(self.text)) > 1:
            return True
        said = next((m.end() for m in self.find.bound.finditer(self.text) if self.index_of(m) == found.index), 0)
        return any(
            self.index_of(match) != found.index and not _WRONG_AFTER.match(self.text[match.end() :][:60])
            for match in self.find.put_instead.finditer(self.text, said)
        )

    def index_of(self, match: re.Match[str]) -> int:
        """The option whose label was matched."""
        return self.by_label[match["label"].casefold()]

    def in_json(self) -> Iterator[tuple[int | None, str]]:
        for match in _BRACES.finditer(self.text):
            try:
                value = msgspec.json.decode(match[0])
            except msgspec.DecodeError:
                continue
            for key, answer in value.items():
                if squeeze(str(key)) in _ANSWER_KEYS:
                    index, seen = self.from_value(answer)
                    if seen:
                        yield index, "json"

    def from_value(self, answer: Any) -> tuple[int | None, bool]:
        """The option a JSON value names, and whether it names any at all."""
        if isinstance(answer, list):
            inner = {self.from_value(part) for part in answer if not isinstance(part, list)}
            return inner.pop() if len(inner) == 1 else (None, bool(inner))
        if not isinstance(answer, str):
            return None, False
        head = self.headed(answer)
        index = self.bare(answer) if head is None else head
        if index is None and squeeze(answer) in self.squeezed:
            index = self.squeezed.index(squeeze(answer))
        return index, index is not None

    def in_box(self) -> Iterator[tuple[int | None, str]]:
        for match in _BOX.finditer(self.text):
            inner = match[1] or match[2] or ""
            index = self.bare(inner)
            if index is None:
                index = self.headed(inner)
            if index is None and squeeze(inner) in self.squeezed:
                index = self.squeezed.index(squeeze(inner))
            if index is not None:
                yield index, "box"
            elif len(set(self.find.bound.findall(inner))) > 1:
                yield None, "box"

    def on_lines(self) -> Iterator[tuple[int | None, str]]:
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        if not lines:
            return
        inner = [self.alone(line) for line in lines[1:-1]]
        if not any(index is not None for index in inner):
            first = self.alone(lines[0])
            if first is not None:
                yield first, "first line"
        if len(lines) > 1:
            last = self.alone(lines[-1])
            if last is not None and len({self.alone(line) for line in lines} - {None}) <= 2:
                yield last, "last line"
        for line in lines:
            match = self.find.stated_line.fullmatch(line)
            if match and not match["final"] and not _negated(line, match.start("label")):
                yield self.by_label[match["label"].casefold()], "stated line"

    def alone(self, line: str) -> int | None:
        index = self.bare(line)
        if index is None:
            index = self.headed(line)
        return index

    def headed(self, line: str) -> int | None:
        """The label at the head of a line, behind it a stop, a bracket or the option's own text."""
        match = self.find.head.match(line)
        if not match:
            return None
        index = self.by_label[match["label"].casefold()]
        rest = squeeze(line[match.end() :])
        own = bool(rest) and bool(self.squeezed[index]) and rest.startswith(self.squeezed[index])
        if own:
            return index
        others = any(option and rest == option for option in self.squeezed)
        if others or not match["stop"].strip():
            return None
        return None if self.lists_more(line[match.start("label") :]) else index

    def lists_more(self, tail: str) -> bool:
        return self.find.several.match(tail) is not None

    def stated(self, *, only_final: bool = False) -> ChoiceReading | None:
        """A sentence that gives the answer; a later one marked as final outweighs the earlier."""
        found: list[int | None] = []
        final: list[int | None] = []
        for match in self.find.stated.finditer(self.text):
            if self.is_word(match) or _negated(self.text, match.start("label")):
                continue
            if _DENIED.search(self.text[max(0, match.start() - 60) : match.start()]) or "不选" in match[0]:
                continue
            index: int | None = self.by_label[match["label"].casefold()]
            if self.lists_more(self.text[match.start("label") :][:80]):
                index = None
            (final if match["final"] else found).append(index)
        if only_final or final:
            return _settle(final, "final answer")
        return _settle(found, "stated")

    def is_word(self, match: re.Match[str]) -> bool:
        """Whether the letter is an English word here: the article "a", the pronoun "I"."""
        label = match["label"]
        if label.casefold() not in ("a", "i") or self.text[: match.start("label")][-1:] in ('"', "(", "["):
            return False
        after = self.text[match.end() :][:400]
        if label.casefold() == "i":
            return re.match(r"\s+[A-Za-z]", after) is not None
        if re.match(
            r"\s+(?:because|since|as\b|for\b|is\b|would|and\b|or\b|due|seems|given|but\b|which|with the)", after
        ):
            return label == "a" and re.match(r"\s+(?:is|because|since|or|and)\b", after) is None
        return re.match(r"\s+[A-Za-z]", after) is not None and not squeeze(after).startswith(
            self.squeezed[self.by_label["a"]] or "\0"
        )

    def option_text(self) -> ChoiceReading | None:
        """Exactly one option's own words stand in the reply (or in its first or last sentence)."""
        if len({self.headed(line) for line in self.text.splitlines()} - {None}) > 1:
            return None  # the options were only repeated, each behind its label
        parts = [part for part in re.split(r"[\n.!?。！？]+", self.text) if squeeze(part)]
        everywhere = self.named_in(self.text)
        if len(everywhere) == 1:
            return ChoiceReading(everywhere.pop(), "option text")
        if not everywhere:
            return None
        first, last = self.named_in(parts[0]), self.named_in(parts[-1])
        if len(last) == 1 and (not first or first == last or len(first) > 1):
            return ChoiceReading(last.pop(), "option text")
        if len(first) == 1 and not last:
            return ChoiceReading(first.pop(), "option text")
        return ChoiceReading(None, "several")

    def named_in(self, text: str) -> set[int]:
        """Options whose words occur; a longer option hides a shorter one inside it."""
        folded = f" {squeeze(text)} "
        found: set[int] = set()
        for index in sorted(range(len(self.squeezed)), key=lambda at: -len(self.squeezed[at])):
            option = self.squeezed[index]
            if not option or option in self.by_label:
                continue
            needle = f" {option} " if option.isascii() else option
            if needle in folded:
                start = folded.index(needle)
                if not _NEGATION.search(folded[max(0, start - 60) : start].rstrip() + " "):
                    found.add(index)
                folded = folded.replace(needle, " \x00 ")
        return found

    def ordinal(self) -> ChoiceReading | None:
        """The option named by its place: the second one, 第二个."""
        found: list[int | None] = []
        for match in _ORDINAL.finditer(self.text):
            if _negated(self.text, match.start()):
                continue
            word, digits, han, item, last = match.groups()
            spoken = (word or digits or han or item or "").lower()
            place = -1 if last else _ORDINALS.get(spoken) or _HAN.get(spoken) or int(spoken or 0)
            place = len(self.labels) if place == -1 else place
            if 1 <= place <= len(self.labels):
                found.append(place - 1)
        return _settle(found, "ordinal")

    def last_letter(self) -> ChoiceReading | None:
        """The one letter left standing in the last sentence that names any."""
        lines = self.text.splitlines()
        heads = {index for line in lines if (index := self.headed(line)) is not None}
        if len(heads) > 1:
            kept = [line for line in lines if self.headed(line) is None]
            if not any(self.letters(line) for line in kept):
                return ChoiceReading(None, "several")
            lines = kept
        for part in reversed(re.split(r"[\n.!?;。]+(?=\s|$|[^\s\w])|\n|。|;", "\n".join(lines))):
            letters = self.letters(part)
            concluded = self.letters(_CONCLUSION.split(part)[-1]) if len(letters) > 1 else letters
            if letters:
                letters = concluded or letters
                return (
                    ChoiceReading(letters.pop(), "last letter") if len(letters) == 1 else ChoiceReading(None, "several")
                )
        return None

    def letters(self, part: str) -> set[int]:
        found: set[int] = set()
        for match in self.find.bound.finditer(part):
            label = match["label"]
            bracketed = match[0][0] in '"(['
            if label not in self.labels and not bracketed:
                continue
            if not bracketed and label in ("A", "I") and re.match(r"\s+[a-z]", part[match.end() :][:40]):
                follows = re.match(r"\s+(?:is|because|since|seems|would|shows|best|and|or)\b", part[match.end() :][:40])
                if label == "I" or not follows:
                    continue
            if re.search(
                r"\b(?:plan|vitamin|type|grade|class|team|person|party)\s+$",
                part[max(0, match.start() - 20) : match.start()],
                re.IGNORECASE,
            ):
                continue
            if _negated(part, match.start("label")) or _WRONG_AFTER.match(part[match.end() :][:60]):
                continue
            found.add(self.by_label[label.casefold()])
        return found


def _negated(text: str, at: int) -> bool:
    """Whether the words just before this place deny what follows."""
    return _NEGATION.search(text[max(0, at - 60) : at]) is not None


def _settle(found: Sequence[int | None], rule: str) -> ChoiceReading | None:
    if not found:
        return None
    return (
        ChoiceReading(found[0], rule)
        if len(set(found)) == 1 and found[0] is not None
        else ChoiceReading(None, "several")
    )
