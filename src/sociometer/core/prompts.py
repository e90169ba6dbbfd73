"""The prompts, read from files: `prompts/<language>/<name>.md`."""

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from sociometer.core.errors import DataError, unknown
from sociometer.core.language import later_languages

_LARGEST = 1 << 20
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_AUTHORS = "paper/"
"""The folder of prompts in the authors' own words (`--wording paper`)."""


def placeholders_of(text: str) -> frozenset[str]:
    """The names of the placeholders in a prompt."""
    return frozenset(_PLACEHOLDER.findall(text))


class Prompts:
    """The prompts of one instrument and those in `shared`; files of the same name in `override` replace them.

    `authors` are prompts that were read from the authors' files, by language and name.
    """

    def __init__(
        self,
        folder: Path,
        override: Path | None = None,
        shared: Path | None = None,
        authors: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        """Reads all of them; a file in `override` that replaces none is an error."""
        ours = read_prompts(folder) | dict(authors or {})
        replacing = read_prompts(override) if override is not None else {}
        known = (read_prompts(shared) if shared is not None else {}) | ours
        if override is not None:
            _refuse_strangers(override, replacing, known)
        self._override, self._own, self._texts = override, ours | replacing, known | replacing

    def render(self, name: str, language: str = "en", /, **values: object) -> str:
        """The prompt with each `{placeholder}` replaced once; placeholders in inserted text stay as they are."""
        if (language, name) not in self._texts:
            raise unknown(f"prompt ({language})", name, self.names(language))

        def put(match: re.Match[str]) -> str:
            if match[1] not in values:
                raise DataError(f"unknown placeholder {{{match[1]}}}; known: {', '.join(sorted(values))}", f"{name}.md")
            return str(values[match[1]])

        return _PLACEHOLDER.sub(put, self._texts[language, name])

    def replaced(self, name: str) -> bool:
        """Whether the English prompt is one of the folder `override`."""
        return self._override is not None and (self._override / "en" / f"{name}.md").is_file()

    def names(self, language: str = "en") -> tuple[str, ...]:
        """The names of the prompts in a language."""
        return tuple(sorted(name for tongue, name in self._texts if tongue == language))

    def digest(self, language: object = "") -> str:
        """A hash of the instrument's prompts, for the manifest of a run in a language; shared prompts do not count."""
        later = later_languages(language)
        return digest_of({at: text for at, text in self._own.items() if at[0] not in later})


def _refuse_strangers(
    override: Path, replacing: Mapping[tuple[str, str], str], ours: Mapping[tuple[str, str], str]
) -> None:
    if not override.is_dir() or not replacing:
        what = "has no prompts" if override.is_dir() else "does not exist"
        raise DataError(f"the folder {what}; --prompts needs a folder with files <language>/<name>.md", override)
    for (language, name), text in replacing.items():
        if (language, name) not in ours:
            if name.startswith(_AUTHORS):  # a copy of an authors' prompt that this run does not use
                continue
            known = ", ".join(sorted(f"{tongue}/{own}.md" for tongue, own in ours))
            raise DataError(f"{language}/{name}.md does not match any prompt; known: {known}", override)
        allowed = placeholders_of(ours[language, name])
        if strange := sorted(placeholders_of(text) - allowed):
            known = ", ".join(f"{{{one}}}" for one in sorted(allowed)) or "none"
            raise DataError(f"unknown placeholder {{{strange[0]}}}; known: {known}", override / language / f"{name}.md")


def digest_of(texts: Mapping[tuple[str, str], str]) -> str:
    """The digest of prompts by language and name."""
    total = hashlib.sha256()
    for (language, name), text in sorted(texts.items()):
        total.update(f"{language}/{name}\0{text}\0".encode())
    return total.hexdigest()[:16]


def read_prompts(folder: Path) -> dict[tuple[str, str], str]:
    """The prompts in a folder, by language and name; those of the package are read once."""
    return dict(_read_once(folder)) if folder.is_relative_to(str(files("sociometer"))) else _read(folder)


def _read(folder: Path) -> dict[tuple[str, str], str]:
    texts: dict[tuple[str, str], str] = {}
    inside = folder.resolve()
    for path in sorted(folder.glob("*/**/*.md")):
        language, _, name = path.relative_to(folder).with_suffix("").as_posix().partition("/")
        if not path.is_file() or path.stat().st_size > _LARGEST:
            raise DataError(f"is not a file of at most {_LARGEST >> 20} MB", path)
        # A link could send any file of this machine to a model.
        if not path.resolve().is_relative_to(inside):
            raise DataError("is a link to a file outside the prompt folder", path)
        try:
            texts[language, name] = path.read_text(encoding="utf-8").strip()
        except UnicodeDecodeError:
            raise DataError("is not UTF-8 text", path) from None
    return texts


_read_once = cache(_read)
