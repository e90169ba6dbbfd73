"""The rules by which replies are read: their words, in a file for each language, and patterns with places for these."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from sociometer.core.language import language_of, read_texts

FOLDER = Path(__file__).parent / "rules"


class Rules:
    """Rules of one kind in the languages that are read together; a rule without words in a language is not for it."""

    def __init__(self, patterns: dict[str, str], *words: dict[str, list[str]]) -> None:
        self._patterns, self._words = patterns, words
        self._found: dict[str, re.Pattern[str]] = {}

    def lists(self, name: str) -> list[list[str]]:
        """The words of each language that has some."""
        return [words[name] for words in self._words if name in words]

    def either(self, name: str) -> str:
        """A pattern for any of the words; without words, one that is never found."""
        return "|".join(word for words in self.lists(name) for word in words) or "(?!)"

    def place(self, name: str, word: str) -> int:
        """The place of a word, or of one of several words such as “二|两”, in the list of a language."""
        return next(at for words in self.lists(name) for at, one in enumerate(words) if word in one.split("|"))

    def find(self, name: str) -> re.Pattern[str]:
        """The pattern of a rule; without one, any of its words."""
        if (found := self._found.get(name)) is None:
            pattern = self._patterns.get(name, f"{{{name}}}")
            filled = re.sub(r"\{([a-z_]+)\}", lambda place: self.either(place[1]), pattern)
            found = self._found[name] = re.compile(filled, re.IGNORECASE)
        return found

    def search(self, name: str, text: str, start: int = 0) -> re.Match[str] | None:
        """Where a rule is first found in a text."""
        return self.find(name).search(text, start)


@cache
def read_rules(kind: str, language: str, folder: Path = FOLDER) -> Rules:
    """The rules of a kind (a table in the files of a folder) for replies to questions in a language."""
    paths = (folder / f"{code}.toml" for code in language_of(language).understood)
    tables: list[dict[str, Any]] = [read_texts(path).get(kind, {}) for path in paths if path.is_file()]
    patterns = folder.with_suffix(".toml")
    return Rules(read_texts(patterns).get(kind, {}) if patterns.is_file() else {}, *tables)
