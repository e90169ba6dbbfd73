"""The names of options as replies spell them: folded, inflected, shortened, or contained in another name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sociometer.reading.feeling_words import FAMILIES, SYNONYMS
from sociometer.reading.normal import plain

__all__ = ["MARK", "Names", "marked_index", "option_mark", "stem_of"]

MARK = "[\ue100-\ue1ff]"
"""A pattern for the character that replaces an option's name in a marked text; replies do not contain it."""

_FIRST_MARK = 0xE100
_LONG_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]{6,24}(?![A-Za-z])")
_LONG_SUFFIXES = ("ancy", "ance", "ency", "ence", "ation", "ant", "ent")
_TRADITIONAL = str.maketrans(
    "難為動驚訝憤惱傷憂慮懼緊張興奮滿煩悶寧靜輕鬆釋懷懸憐憫羨慘視氣慚尷無悅樂歡覺喪壓驕擔錯嚇慶內謝戀捨單獨獲勝恥複雜鎮熱愛溫護揚盪",
    "难为动惊讶愤恼伤忧虑惧紧张兴奋满烦闷宁静轻松释怀悬怜悯羡惨视气惭尴无悦乐欢觉丧压骄担错吓庆内谢恋舍单独获胜耻复杂镇热爱温护扬荡",
)
"""Traditional characters in words for feelings, and their simplified forms."""
_BEFORE_HAN = re.compile(r"^(?:有(?:些|点)|感[到觉]|觉得|替[他她人]|为[他她人]|[被受想很])+(?=..)")
_SUFFIXES = ("fulness", "iness", "ment", "ness", "ful", "ion", "ing", "ed", "ly", "al", "y", "e", "d", "s")


class Names:
    """Finds which option a piece of text names."""

    def __init__(self, options: Sequence[str]) -> None:
        folded = [_folded(plain(option)) for option in options]
        self.options = tuple(folded)
        stems = [stem_of(option) for option in folded]
        self.count = len(options)
        self._spellings = {name: at for at, name in reversed(list(enumerate(folded))) if name}
        for at, stem in enumerate(stems):
            if len(stem) >= 3 and stems.count(stem) == 1 and stem.isascii() and not _shared(stem, folded, at):
                self._spellings.setdefault(stem, at)
        for groups in (FAMILIES, SYNONYMS):
            for word, at in _group_words(groups, folded, set(self._spellings)).items():
                self._spellings.setdefault(word, at)
        for at, name in enumerate(folded):
            for short in _shortened(name) - set(self._spellings):
                if not any(place != at and short in other for place, other in enumerate(folded)):
                    self._spellings[short] = at
        self._compile()

    def _compile(self) -> None:
        forms = sorted(self._spellings, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_spelled, forms)) or r"(?!)", re.IGNORECASE)

    def learn(self, spellings: Mapping[str, int]) -> None:
        """Take these words as names of options, whatever they named before."""
        if spellings:
            self._spellings |= {_folded(word): at for word, at in spellings.items()}
            self._compile()

    def mark(self, text: str) -> str:
        """Return the plain text with every name replaced by the mark of its option."""
        text = text if text.isascii() else text.translate(_TRADITIONAL)
        marked = self._pattern.sub(lambda match: option_mark(self._which(match[0])), text)
        return _LONG_WORD.sub(self._misspelled, marked)

    def _misspelled(self, match: re.Match[str]) -> str:
        """The mark of the one option from which a long word differs in a single letter, else the word."""
        word = match[0].casefold()
        near = {at for form, at in self._spellings.items() if len(form) >= 6 and _one_letter_apart(word, form)}
        return option_mark(near.pop()) if len(near) == 1 else match[0]

    def _which(self, name: str) -> int:
        folded = _folded(name)
        if folded in self._spellings:
            return self._spellings[folded]
        starts = [form for form in self._spellings if folded.startswith(form)]
        return self._spellings[max(starts, key=len)]

    def only(self, text: str) -> int | None:
        """Return the one option that the text names; None where it names none or several."""
        found = {self._which(match[0]) for match in self._pattern.finditer(plain(text).translate(_TRADITIONAL))}
        return found.pop() if len(found) == 1 else None


def marked_index(mark: str) -> int:
    """Return the index of the option of a mark."""
    return ord(mark) - _FIRST_MARK


def option_mark(index: int) -> str:
    """Return the mark of the option with this index."""
    return chr(_FIRST_MARK + index)


def _one_letter_apart(first: str, second: str) -> bool:
    """Whether one letter added, left out, changed or swapped with the next makes one word the other."""
    if abs(len(first) - len(second)) > 1:
        return False
    at = next((place for place, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return True
    left, right = first[at:], second[at:]
    return (
        left[1:] == right
        or left == right[1:]
        or left[1:] == right[1:]
        or (left[:2] == right[1::-1] and left[2:] == right[2:])
    )


def _group_words(groups: Sequence[frozenset[str]], folded: Sequence[str], taken: set[str]) -> dict[str, int]:
    """The other words of each group that has exactly one option."""
    found: dict[str, int] = {}
    unclear: set[str] = set()
    for group in groups:
        at = [place for place, name in enumerate(folded) if name in group]
        for word in group - taken:
            if len(at) != 1 or found.get(word, at[0]) != at[0]:
                unclear.update({word} if at else ())
            else:
                found[word] = at[0]
    return {word: place for word, place in found.items() if word not in unclear and len(word) > 1}


def _shared(stem: str, folded: Sequence[str], at: int) -> bool:
    """Whether another option begins with the stem too, so that the stem could mean either."""
    return any(place != at and name.startswith(stem) for place, name in enumerate(folded))


def _spelled(form: str) -> str:
    if not form.isascii():
        return re.escape(form)
    ending = rf"(?:{'|'.join((*_LONG_SUFFIXES, *_SUFFIXES))}){{0,4}}" if form.isalpha() else ""
    spelled = re.escape(form).replace(r"\ ", r"[\s\-_]{1,3}")
    return rf"(?<![A-Za-z]){spelled}{ending}(?![A-Za-z])"


def _folded(name: str) -> str:
    return re.sub(r"[\s\-_]+", " ", name).casefold().translate(_TRADITIONAL)


def _shortened(name: str) -> set[str]:
    """How Chinese replies shorten a name: 冷落 for 被冷落, 松口气 for 松了口气."""
    if name.isascii():
        return set()
    bare = _BEFORE_HAN.sub("", name)
    short = {bare, bare.replace("了", "", 1), bare.replace("了", "一", 1)}
    return {form for form in short if len(form) > 1} - {name}


def stem_of(word: str) -> str:
    """Return the word without the endings that turn a feeling into its noun."""
    stem = word
    while stem.isascii() and stem.isalpha():
        for suffix in (*_LONG_SUFFIXES, *_SUFFIXES):
            if stem.endswith(suffix) and len(stem) - len(suffix) >= (5 if suffix in _LONG_SUFFIXES else 3):
                stem = stem[: -len(suffix)]
                break
        else:
            return stem
    return stem
