"""The words by which replies are read: one file for each language, and what several of them mean together."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from sociometer.core.language import language_of, read_texts

FOLDER = Path(__file__).parent / "rules"


class Rules:
    """Parts of patterns and lists of words, by name, from the languages that are read together.

    What a language leaves out is not looked for in its words.
    """

    def __init__(self, *files: dict[str, Any]) -> None:
        self._files = files
        self._patterns: dict[str, re.Pattern[str]] = {}

    def words(self, name: str) -> tuple[str, ...]:
        """The words, or parts of a pattern, of all the languages."""
        return tuple(word for file in self._files for word in file.get(name, ()))

    def lists(self, name: str) -> list[list[str]]:
        """The words of each language that has some."""
        return [file[name] for file in self._files if name in file]

    def either(self, name: str) -> str:
        """A pattern for any of the parts; without parts, one that is never found."""
        return "|".join(self.words(name)) or "(?!)"

    def find(self, name: str) -> re.Pattern[str]:
        """The pattern for any of the parts, in small or capital letters."""
        if name not in self._patterns:
            self._patterns[name] = re.compile(self.either(name), re.IGNORECASE)
        return self._patterns[name]


@cache
def read_rules(kind: str, language: str, folder: Path = FOLDER) -> Rules:
    """The rules of a kind (a table in `<folder>/<code>.toml`) for replies to questions in a language."""
    paths = [folder / f"{code}.toml" for code in language_of(language).understood]
    return Rules(*(read_texts(path).get(kind, {}) for path in paths if path.is_file()))
