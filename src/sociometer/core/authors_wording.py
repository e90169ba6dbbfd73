"""`--wording paper`: the authors' own prompts, read from their files when a run is planned, and never included."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from sociometer.core.errors import DataError
from sociometer.core.prompts import placeholders_of

if TYPE_CHECKING:
    from sociometer.core.task import Source

SETTING = "wording"
PAPER = "paper"
"""The value of the setting `wording` that uses the authors' prompts."""


class AuthorsPrompt(Struct, frozen=True):
    """One prompt of the authors: its name here, its placeholders, and the file or page that has it."""

    name: str
    placeholders: frozenset[str]
    file: str = ""
    """The official file that holds it; empty if only the paper prints it."""
    read: Callable[[Path], str] | None = None
    """Gives the text with our placeholders from that file."""
    printed: str = ""
    """Where the paper prints it, for a prompt without a file."""
    language: str = "en"

    @property
    def place(self) -> str:
        """Its place in the folder of `--prompts`."""
        return f"{self.language}/{self.name}.md"


def is_paper(settings: Mapping[str, object]) -> bool:
    """Whether these settings ask for the authors' wording."""
    return settings.get(SETTING) == PAPER


def authors_texts(
    wanted: Iterable[AuthorsPrompt], source: "Source", own: Path | None = None
) -> dict[tuple[str, str], str]:
    """The texts of the prompts by language and name: the user's copy in the folder `own`, or else the authors' file."""
    found = {}
    for prompt in wanted:
        copy = own / prompt.place if own is not None else None
        if copy is not None and copy.is_file():
            text, place = copy.read_text(encoding="utf-8").strip(), copy
        elif prompt.read is not None:
            place = source.path(prompt.file)
            text = prompt.read(place)
        else:
            names = " and ".join(f"{{{name}}}" for name in sorted(prompt.placeholders))
            raise DataError(
                f"the authors released no file with this prompt; it is printed in {prompt.printed}. Write it to"
                f" DIR/{prompt.place} with {names} in place of the example, and add --prompts DIR."
            )
        if (there := placeholders_of(text)) != prompt.placeholders:
            raise DataError(_misfit(prompt, there), place)
        found[prompt.language, prompt.name] = text
    return found


def _misfit(prompt: AuthorsPrompt, there: frozenset[str]) -> str:
    expected, seen = (", ".join(f"{{{name}}}" for name in sorted(names)) for names in (prompt.placeholders, there))
    return f"the prompt '{prompt.name}' has the placeholders {seen or 'none'}; expected: {expected or 'none'}"
