"""Where a reply mentions an option: by label, by place or by its words. Every mention becomes one mark character."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sociometer.reading.marks import CLASH, LABEL, WORDS, index_of
from sociometer.reading.normal import plain
from sociometer.reading.paraphrase import wordings
from sociometer.reading.places import VERBS, mark_places

__all__ = ["Marker", "marker"]

_BEFORE_LABEL = (
    "options?|choice|letter|number|comments?|repl(?:y|ies)|responses?|statements?|reactions?|alternatives?|items?|"
    "sentences?|candidates?|scenarios?|approach(?:es)?|strateg(?:y|ies)|remarks?|possibilit(?:y|ies)|interpretations?"
)
_NAMED = (
    r"\b(?:an?|plan|vitamins?|type|grades?|class|team|person|party|hepatitis|section|part|point|exhibit|category|step|"
    r"group|phase|chapter|serie|series|blood|level|tier|mr|mrs|ms|dr|day|week|page|year|age|criterion|criteria|episode|"
    r"room|channel|line|minus|plus|st|scenario \d|analysis) $"
)
_LEAD = (
    r"(?:\b(?:answers?|choice|pick|selection|verdict|decision|final|select(?:ed)?|choose|chose|picked|go|going with|"
    r"go with|went with|go for|opt for|say|take|prefer|wrote|it's|it is|is|option|letter|number|think|therefore|so|"
    r"thus|hence|leaves|not|to|from|also|with)|答案|选|選|是|为|為|选择|選擇|[:=→>✅☑✔])"
)
_ANSWER_LEAD = r"(?i:\b(?:answer|choice|action|decision|move|pick|choose)(?: is)?)"
_FUNCTION_WORDS = (
    r"(?:(?:in|on|at|under|to|by|with|for|from|because|that|the|an?|he|she|they|it|is|are|his|her|their|of|feels?)\s+)+"
)
_ANSWER_SHORT = re.compile(r"(?m)(^|[?] ?)A ?: ?(?=\(?[A-Z]\)?\W*$)")
_QUOTED = re.compile(r"\"([^\"\n\ue100-\ue160]{4,160})\"")
_REFERENCE = re.compile(
    r"\bthe (?:one|option|reply|response|comment|sentence|answer|line|utterance|statement|choice|person)"
    r"(?: (?:about|with|where|that|which|who|in which|mentioning|saying))+ (?P<phrase>[^.,;:!?\n\ue100-\ue160]{4,120}?)"
    r"(?=[.,;:!?\n]|$| (?:is|are|was|would|seems|sounds|feels)\b)|"
    r"(?P<han>[^,.;:!?。\s\ue100-\ue160]{2,24})的?那(?:一)?(?:句|个|条|种|项|位)(?!人)",
    re.IGNORECASE,
)
_LABEL_TEXT = re.compile(r"(?P<label>[\ue100-\ue11f])[.:)\]\"' ,、—–-]{1,6}(?P<text>[^\n\ue100-\ue160]{4,160})")
_PREDICATE = re.compile(
    r"\s+(?:is|was|are|were|has|had|gets?|got|does|did|will|would|wins?|won|goes|went|[a-z]+(?:s|ed))\b"
)
_CONTRACTED = ((" have ", " ve "), (" is ", " s "), (" are ", " re "), (" will ", " ll "), (" would ", " d "))
_ONLY_AT_HEAD = {"yes", "no", "both", "neither", "nothing", "none", "nobody", "maybe", "true", "false", "now", "never"}


class Marker:
    """Replaces every mention of an option in a plain text by its mark."""

    def __init__(self, options: Sequence[str], labels: Sequence[str]) -> None:
        self.options = [plain(option) for option in options]
        self.labels = [plain(label) for label in labels]
        self.cores = [label.strip("()[]. ") or label for label in self.labels]
        self.folded = [_fold(option) for option in self.options]
        self.by_core = {core.casefold(): at for at, core in enumerate(self.cores)}
        self.initials = _initials(self.cores)
        self._forms = _word_forms(self.options, self.by_core)
        self._labels = self._label_passes()

    def mark(self, text: str) -> str:
        """Return the text with one mark for each mention."""
        text = self._mark_words(_ANSWER_SHORT.sub(r"\1Answer: ", text))
        digits = any(core.isdigit() for core in self.cores)
        text = mark_places(text, self.folded, digits=not digits)
        for pattern in self._labels:
            text = pattern.sub(self._label_mark, text)
        text = _LABEL_TEXT.sub(self._quoting_mark, text)
        return _join(text, digits=digits)

    def whole(self, text: str) -> int | None:
        """Return the option that a text is the label of, ignoring case, brackets and punctuation."""
        said = text.strip(" \t\n\"'()[].,:;!?。、_#>~-–—|")
        return self.by_core.get(said.casefold(), self.initials.get(said))

    def _label_mark(self, match: re.Match[str]) -> str:
        label = match["label"]
        before = match.string[max(0, match.start("label") - 24) : match.start("label")]
        if re.search(_NAMED, before, re.IGNORECASE):
            return match[0]
        named = match.groupdict()
        return (
            (named.get("lead") or "")
            + chr(LABEL + self.by_core.get(label.casefold(), self.initials.get(label, 0)))
            + (": " if "open" in named else "")
        )

    def _mark_words(self, text: str) -> str:
        if not self._forms:
            return text
        said = _fold(text)
        forms = [form for form in self._forms if form in said]
        if forms:  # a pattern of every option's words is slow to compile, and most replies have none of them
            pattern = self._words_pattern(forms)
            text = pattern.sub(lambda match: chr(WORDS + self._form_index(match[0])), text)
        return _REFERENCE.sub(self._reference_mark, _QUOTED.sub(self._quoted_mark, text))

    def _reference_mark(self, match: re.Match[str]) -> str:
        """Replace a phrase such as "the one about the cups" by the mark of the option that has its words."""
        index = wordings(tuple(self.options)).referred(match["phrase"] or match["han"])
        return match[0] if index is None else chr(WORDS + index)

    def _quoted_mark(self, match: re.Match[str]) -> str:
        """Replace a quotation of one option by its mark."""
        part = _fold(match[1])
        holding = [at for at, option in enumerate(self.folded) if part in option] if len(part) > 3 else []
        return chr(WORDS + holding[0]) if len(holding) == 1 else match[0]

    def _quoting_mark(self, match: re.Match[str]) -> str:
        """A label in front of the beginning of another option's text clashes with it."""
        shared = [_shared(_fold(match["text"]), option) for option in self.folded]
        best = max(range(len(shared)), key=lambda at: shared[at])
        index = index_of(match["label"])
        least = 5 if self.folded[best][:1] > "\u3400" else 12
        if shared[index] >= max(least, len(_fold(match["text"]))):
            return f"{match['label']}."
        if shared[best] - shared[index] >= least and shared[best] - sorted(shared)[-2] >= least:
            return f"{CLASH}. {match['text']}"
        return match[0]

    def _words_pattern(self, forms: Sequence[str]) -> re.Pattern[str]:
        """The pattern for the words of options, the longest first."""
        parts = []
        for form in sorted(forms, key=len, reverse=True):
            words = r"[\W_]{1,4}".join(re.escape(word) for word in form.split())
            if form in _ONLY_AT_HEAD:
                words = rf"(?:^|(?<=[.!?:\n] )|(?<=\n)){words}(?=\s*[.,;:!)\n]|\s*$)"
            ended = "(?![\u3400-\u9fff])" if self.options[self._forms[form]][-1:] in "。!?" else ""
            parts.append(rf"(?<![A-Za-z0-9]){words}(?![A-Za-z0-9])" if form.isascii() else words + ended)
        return re.compile("|".join(parts), re.IGNORECASE)

    def _form_index(self, found: str) -> int:
        return self._forms[_fold(found)]

    def _label_passes(self) -> list[re.Pattern[str]]:
        def either(names: Sequence[str]) -> str:
            return "(?P<label>" + "|".join(re.escape(name) for name in sorted(set(names), key=len, reverse=True)) + ")"

        cores = self.cores
        both = [form for core in cores for form in {core, core.lower(), core.upper()}]
        end = r"(?![A-Za-z0-9'’]|\.\d|[-/]\d)"
        prefix = rf"(?:(?:the )?\b(?:{_BEFORE_LABEL})\s*#?|(?:选项|選項|方案|留言)\s*)"
        han_tail = r"(?:\s?(?:选项|選項|项|項)(?!目))?"
        passes = [
            re.compile(rf"(?i:{prefix})[\"'(\[]*{_guarded(both, verbs=True)}(?![A-Za-z0-9]|'\w)[\"')\]]*{han_tail}"),
            re.compile(rf"(?<!\w)[\"'(\[]+{either(both)}[\"')\]]+(?!\w)|(?!)"),
            re.compile(rf"(?<![\w'’(])[\"']?{either(both)}\)"),
        ]
        capitals = [core for core in cores if core.isascii() and core.isupper() and len(core) == 1]
        if capitals:
            passes.append(re.compile(rf"\A[ \t\"'*#>-]*{either(capitals)}(?=[.:]\s)"))
        heads = [form for form in both if form.islower() and not self._is_ambiguous(form)]
        if heads:
            passes.append(re.compile(rf"(?m)(?P<lead>^[ \t>#*-]*){either(heads)}(?=[.:)]\s)"))
            passes.append(re.compile(rf"\A{either(heads)}(?=\s+(?:because|since|becuase|cause|cuz|it is)\b)"))
        words = [form for form in heads if form not in ("a", "i")]
        if words:
            passes.append(re.compile(rf"\A{either(words)}(?P<open>\s+)(?!(?:{VERBS})\b)(?=[a-z])"))
        passes.append(re.compile(rf"(?P<lead>(?i:{_LEAD})[\s:]*)[\"(\[]*{_guarded(both)}{end}[\")\]]*{han_tail}"))
        if self.initials:
            passes.append(re.compile(rf"(?P<lead>{_ANSWER_LEAD}[\s:]*){either([*self.initials])}{end}"))
        plain_forms = self._free_forms()
        if plain_forms:
            start = r"(?<![A-Za-z0-9'’$€£#&])(?<![A-Za-z]-)(?<!\d[.,/-])"
            passes.append(re.compile(rf"{start}{plain_forms}{han_tail}"))
        return passes

    def _is_ambiguous(self, form: str) -> bool:
        """Whether an option's text has the label as a word of its own, such as a name."""
        word = re.compile(rf"(?<![\w'’]){re.escape(form)}(?![\w'’])")
        return any(word.search(option) for option in self.options)

    def _free_forms(self) -> str:
        """Labels that count as single words anywhere: capitals, Han signs, and numbers in a list or before a verb."""
        kept = []
        for label, core in zip(self.labels, self.cores, strict=True):
            if label != core:
                continue
            if self._is_ambiguous(core) and core not in ("A", "I") and core.casefold() not in self.folded:
                continue
            if core in ("A", "I") or core.isdigit():
                kept.append(rf"{core}(?={_after(core)})")
            elif core.isascii() and core.isalpha() and len(core) > 2:
                kept.append(rf"(?i:{core})(?![A-Za-z0-9-]|['’]\w)")
            elif core in "甲乙丙丁戊己":
                kept.append(rf"{core}(?![方板壳虫天级等])")
            elif core.isascii() and not core.islower():
                kept.append(rf"{re.escape(core)}(?![A-Za-z0-9]|['’][a-rt-z]|\.\w|-\w)")
        return f"(?P<label>{'|'.join(kept)})" if kept else ""


def _shared(text: str, option: str) -> int:
    """How many characters two texts have in common from their beginning."""
    return next(
        (at for at, (one, other) in enumerate(zip(text, option, strict=False)) if one != other),
        min(len(text), len(option)),
    )


def _initials(cores: Sequence[str]) -> dict[str, int]:
    """Labels that are words may be given by their first letters, where these differ."""
    if not all(core.isascii() and core.isalpha() and len(core) > 2 for core in cores):
        return {}
    found = {core[0].upper(): at for at, core in enumerate(cores)}
    return found if len(found) == len(cores) else {}


def _guarded(forms: Sequence[str], *, verbs: bool = False) -> str:
    """Any label behind a leading word; the article, the pronoun and numbers need an end or a verb behind them."""
    parts = []
    more = rf"|\s+(?:{VERBS})\b" if verbs else ""
    for form in sorted(set(forms), key=len, reverse=True):
        guard = rf"(?={_after(form)}{more})" if form in ("a", "i", "A", "I") or form.isdigit() else ""
        parts.append(re.escape(form) + guard)
    return f"(?P<label>{'|'.join(parts)})"


def _after(core: str) -> str:
    """What may follow a label that could also be a word or a number."""
    stop = r"\s*(?:[^\w\s'’.]|\.(?!\w)|$)|\s*[\u3400-\u9fff]|\s*[\ue100-\ue160\n(]"
    if core in ("a", "i", "I"):
        return rf"(?!['’]|\s*[,;]\s*[a-z])(?:{stop})"
    words = rf"\s+(?:{VERBS})\b"
    if core == "A":
        return rf"(?!['’])(?:{stop}|{words}|\s+[a-z]+(?<!s)s(?<!us)(?<!is)\b|\s+[A-Z][a-z]+|\s+\d)"
    amount = rf"\s+(?:or|and|to)\s+\d+\s+(?!(?:{VERBS})\b)[a-z]"
    return rf"(?![.)]\s*[\ue100-\ue160]|[.,:/-]?\d|\s*[%/€$:]\s*\d|\s*%|['’\w]|\s*个|{amount})(?:{stop}|{words})"


def _fold(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def _word_forms(options: Sequence[str], labels: dict[str, int]) -> dict[str, int]:
    """The option of each folded form of its words; a form that two options share does not count."""
    forms: dict[str, int] = {}
    shared: set[str] = set()
    folded = [_fold(option) for option in options]
    heads = [set(option.split()[1:][-1:]) for option in folded]
    if not all(option.isascii() and len(option.split()) <= 3 and option[-3:].isalpha() for option in folded):
        heads = []  # "the drawer" means "green drawer" only if all options are as short
    for at, option in enumerate(options):
        for form in _spellings(option) | (heads[at] if heads else set()):
            if form in labels or len(form) < 2:
                continue
            if form != folded[at] and any(form in other for where, other in enumerate(folded) if where != at):
                continue
            if forms.setdefault(form, at) != at:
                shared.add(form)
    return {form: at for form, at in forms.items() if form not in shared}


def _spellings(option: str) -> set[str]:
    """The option's words as a whole, without leading function words, and its head before a comma."""
    whole = _fold(option)
    found = {whole, *(whole.replace(full, short) for full, short in _CONTRACTED)}
    if len(whole.split()) <= 6 and whole.isascii():
        found.add(re.sub(rf"^{_FUNCTION_WORDS}", "", whole))
    head = re.split(r"[,:;(，。]", option)[0]
    if head != option and len(head.split()) <= 2 and len(_fold(head)) >= 4:
        found.add(_fold(head))
    return found - {""}


def _join(text: str, *, digits: bool) -> str:
    """A label and its own option's words behind it are one mention; another option's words are a clash."""

    def one(match: re.Match[str]) -> str:
        label, words = match["label"], match["words"]
        if index_of(label) == index_of(words):
            if _PREDICATE.match(match.string, match.end()) and "." in match[0]:
                return f"{label}. {words}"  # the words begin a sentence of their own: "It is B. Beatriz was clapped."
            return f"{label}." if match.start() == 0 else label
        if digits and match["line"] is not None and not match["line"].strip():
            return f"{match['line']}{index_of(label) + 1}. {words}"
        return (match["line"] or "") + CLASH

    text = re.sub(
        r"(?P<line>^[ \t]*)?(?P<label>[\ue100-\ue11f])[ \t]*[).:,\"'—–-]*[ \t]*[\"'“]*"
        r"(?P<words>[\ue140-\ue15f])[\"'”]*",
        one,
        text,
        flags=re.M,
    )
    text = re.sub(r"([\ue100-\ue11f])(?: \1(?![^\W\ue100-\ue160]))+", r"\1", text)
    return re.sub(
        r"(?P<words>[\ue140-\ue15f])\s*(?P<label>[\ue100-\ue11f])",
        lambda match: match["label"] if index_of(match["label"]) == index_of(match["words"]) else match[0],
        text,
    )


marker = lru_cache(maxsize=256)(Marker)
