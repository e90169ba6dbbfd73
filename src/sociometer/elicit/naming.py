"""The names of options as replies spell them: folded, inflected, shortened, and told apart when one holds another."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sociometer.elicit.feeling_words import FAMILIES, SYNONYMS
from sociometer.elicit.normal import plain

__all__ = ["MARK", "Names", "marked_index"]

MARK = "[\ue100-\ue1ff]"
"""A pattern for the one character that stands for an option's name in a marked text (no reply holds such)."""

_FIRST_MARK = 0xE100
_LONG_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]{6,24}(?![A-Za-z])")
_LONG_SUFFIXES = ("ancy", "ance", "ency", "ence", "ation", "ant", "ent")
_SUFFIXES = ("fulness", "iness", "ment", "ness", "ful", "ion", "ing", "ed", "ly", "al", "y", "e", "d", "s")


class Names:
    """Finds which option a piece of text names."""

    def __init__(self, options: Sequence[str]) -> None:
        folded = [plain(option).casefold() for option in options]
        stems = [_stem(option) for option in folded]
        self.count = len(options)
        self._spellings = {name: at for at, name in reversed(list(enumerate(folded))) if name}
        for at, stem in enumerate(stems):
            if len(stem) >= 3 and stems.count(stem) == 1 and stem.isascii() and not _shared(stem, folded, at):
                self._spellings.setdefault(stem, at)
        for groups in (FAMILIES, SYNONYMS):
            for word, at in _group_words(groups, folded, set(self._spellings)).items():
                self._spellings.setdefault(word, at)
        forms = sorted(self._spellings, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_spelled, forms)) or r"(?!)", re.IGNORECASE)

    def mark(self, text: str) -> str:
        """Return the plain text with every name replaced by the mark of its option."""
        marked = self._pattern.sub(lambda match: chr(_FIRST_MARK + self._which(match[0])), text)
        return _LONG_WORD.sub(self._misspelled, marked)

    def _misspelled(self, match: re.Match[str]) -> str:
        """The mark of the one option from which a long word differs in a single letter, else the word."""
        word = match[0].casefold()
        near = {at for form, at in self._spellings.items() if len(form) >= 6 and _one_letter_apart(word, form)}
        return chr(_FIRST_MARK + near.pop()) if len(near) == 1 else match[0]

    def _which(self, name: str) -> int:
        folded = name.casefold()
        if folded in self._spellings:
            return self._spellings[folded]
        starts = [form for form in self._spellings if folded.startswith(form)]
        return self._spellings[max(starts, key=len)]

    def only(self, text: str) -> int | None:
        """Return the one option that the text names; None where it names none or several."""
        found = {self._which(match[0]) for match in self._pattern.finditer(plain(text))}
        return found.pop() if len(found) == 1 else None


def marked_index(mark: str) -> int:
    """Return the index of the option that a mark stands for."""
    return ord(mark) - _FIRST_MARK


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
    """The other words of each group that holds exactly one option."""
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
    ending = rf"(?:{'|'.join((*_LONG_SUFFIXES, *_SUFFIXES))})*" if form.isalpha() else ""
    return rf"(?<![A-Za-z]){re.escape(form)}{ending}(?![A-Za-z])"


def _stem(word: str) -> str:
    """The word without the endings that turn a feeling into its noun."""
    stem = word
    while stem.isascii() and stem.isalpha():
        for suffix in (*_LONG_SUFFIXES, *_SUFFIXES):
            if stem.endswith(suffix) and len(stem) - len(suffix) >= (5 if suffix in _LONG_SUFFIXES else 3):
                stem = stem[: -len(suffix)]
                break
        else:
            return stem
    return stem
