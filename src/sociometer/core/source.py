"""Where items come from: settings, prompts, official files, and the authors' own prompts."""

from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from sociometer.core.errors import DataError, FileMissing, hint
from sociometer.core.prompts import Prompts, placeholders_of
from sociometer.core.settings import Settings


class Source(Struct, frozen=True):
    """The source of items: settings, prompts and files; `folders` are searched in order."""

    settings: Settings
    prompts: Prompts
    instrument: str = ""
    official: bool = False
    folders: tuple[Path, ...] = ()
    seed: int = 0

    def find(self, name: str) -> Path | None:
        """The official file or folder with this name (such as `sesi/sesi.csv`), or None."""
        places = (place for folder in self.folders for place in (folder / name, folder / Path(name).name))
        return next((place for place in places if place.exists()), None)

    def path(self, name: str) -> Path:
        """The official file or folder with this name; a FileMissing says how to get a missing one."""
        if (found := self.find(name)) is not None:
            return found
        looked = ", ".join(map(str, self.folders)) or "nowhere"
        raise FileMissing(
            f"official file '{name}' not found (looked in {looked}); "
            f"run '{hint('get data', self.instrument)}' or give --data DIR."
        )


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


def authors_texts(
    wanted: Iterable[AuthorsPrompt], source: Source, own: Path | None = None
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
            both = (", ".join(f"{{{name}}}" for name in sorted(names)) for names in (there, prompt.placeholders))
            seen, expected = (names or "none" for names in both)
            raise DataError(f"the prompt '{prompt.name}' has the placeholders {seen}; expected: {expected}", place)
        found[prompt.language, prompt.name] = text
    return found
