"""Bundled items -> typed items."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from sociometer.core.errors import DataError
from sociometer.core.task import Item, Source

BUNDLED = Path(__file__).parent / "data" / "items.jsonl"


class Question(Item, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A moment, a question about it, and four replies of which one fits."""

    topic: str
    moment: str
    question: str
    options: tuple[str, str, str, str]
    answer: int


def questions(source: Source) -> Iterable[Question]:
    """The items the settings ask for (this instrument has only bundled ones)."""
    return read_questions(BUNDLED)


def read_questions(path: Path) -> Iterator[Question]:
    """The questions in a JSON-lines file; a bad line is refused naming file and line."""
    decoder = msgspec.json.Decoder(Question)
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                question = decoder.decode(line)
            except msgspec.DecodeError as error:
                raise DataError(str(error), path, number) from None
            if not 0 <= question.answer < len(question.options):
                raise DataError(f"answer {question.answer} is not an option; allowed: 0 to 3", path, number)
            yield question
