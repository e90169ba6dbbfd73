"""The languages: one file each in `languages/`, and texts by language in the files of a folder.

English has every text. What another language does not have is shown in English.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.errors import DataError

ENGLISH = "en"
EVERY = "all"
"""The value of a setting `language` for every language that an instrument has."""
FOLDER = Path(__file__).parent / "languages"


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """A language: its names, its letters, and the signs of its sentences; the defaults are those of English."""

    code: str
    name: str
    """As it is called in the language itself."""
    english: str
    letters: str = ""
    """Ranges of letters that no other language has, by which a text is recognised; empty: it is not recognised."""
    space: str = " "
    """What separates words and sentences."""
    comma: str = ", "
    """What separates names in a list."""
    semicolon: str = "; "
    numbered: str = "({number}) {text}"
    """An entry of a numbered list within a line."""
    reads: tuple[str, ...] = ()
    """The languages whose words are understood in replies; without any, English and itself."""
    in_every_digest: bool = False
    """Whether its prompts count in every run; else only in its own, so that adding it changes no stored run."""

    @property
    def understood(self) -> tuple[str, ...]:
        """The languages whose words are understood in replies to questions in this one."""
        return self.reads or (ENGLISH, self.code)

    def own_letters(self, text: str) -> list[str]:
        """The letters of a text that only this language has."""
        return re.findall(f"[{self.letters}]", text) if self.letters else []


@cache
def languages() -> dict[str, Language]:
    """Every language by its code, English first."""
    found = {code: {**read_texts(FOLDER / f"{code}.toml"), "code": code} for code in languages_in(FOLDER)}
    try:
        return msgspec.convert(found, dict[str, Language])
    except msgspec.ValidationError as error:
        raise DataError(f"not a language: {error}", FOLDER) from None


def language_of(code: str) -> Language:
    """The language with this code; one without a file has the signs of English."""
    return languages().get(code) or Language(code, code, code)


def later_languages(chosen: object) -> frozenset[str]:
    """The languages that do not count in the digests of a run whose setting `language` is `chosen`, if it has one."""
    codes = frozenset(code for code, language in languages().items() if not language.in_every_digest)
    return codes - {chosen} if chosen and chosen != EVERY else frozenset()


def in_language(path: Path, code: str) -> Path:
    """The file of a language beside a file, such as `items.zh.jsonl` beside `items.jsonl`; the file itself if none."""
    own = path.with_name(f"{path.stem}.{code}{path.suffix}")
    return own if own.is_file() else path


def languages_in(folder: Path) -> tuple[str, ...]:
    """The codes of the languages that have a file or a folder here, English first; none if there is no folder."""
    codes = {path.stem for path in folder.iterdir() if path.name[0].isalnum()} if folder.is_dir() else ()
    return tuple(sorted(codes, key=lambda code: (code != ENGLISH, code)))


def written_in(text: str, share: float = 0.0) -> str:
    """The language whose own letters make up more than this share of a text; English if there is none."""
    counts = {code: len(language.own_letters(text)) for code, language in languages().items()}
    code = max(counts, key=lambda code: counts[code])
    return code if counts[code] > share * len(text) else ENGLISH


@cache
def texts_in(folder: Path, code: str, name: str = "") -> dict[str, Any]:
    """The texts in `<code>.toml` of a folder (`<name>.<code>.toml` with a name), in English where it has none."""
    path = folder / f"{f'{name}.' if name else ''}{code}.toml"
    own = read_texts(path) if path.is_file() else {}
    return own if code == ENGLISH else {**texts_in(folder, ENGLISH, name), **own}


def read_texts(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; a DataError names a file that is not one."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"not TOML: {error}", path) from None
