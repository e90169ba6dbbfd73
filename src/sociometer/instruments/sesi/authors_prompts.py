"""The authors' prompt, from the module of their release that asks the questions."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from sociometer.core.settings import PAPER, Settings
from sociometer.core.source import AuthorsPrompt
from sociometer.instruments._authors import from_format, python_text

FILE = "sesi/dataset.py"
QUESTION = f"{PAPER}/question"
OPTIONS = ("o1", "o2", "o3", "o4")
_IN_FILE = "SESI.__init__.prompt"


def authors_prompts(settings: Settings, tasks: Sequence[str]) -> Iterator[AuthorsPrompt]:
    """Yield the prompt of a question."""
    yield AuthorsPrompt(QUESTION, frozenset(("situation", "question", *OPTIONS)), FILE, read_prompt)


def read_prompt(path: Path) -> str:
    """Return the prompt of the class SESI with our placeholders."""
    return from_format(python_text(path, _IN_FILE))
