"""Bundled items -> typed items."""

from collections.abc import Iterable
from pathlib import Path

from sociometer.core.source import Source
from sociometer.core.task import Item
from sociometer.reading import check_key, read_items

BUNDLED = Path(__file__).parent / "data" / "items.jsonl"


class Question(Item, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A situation, a question about it, and four replies, one of which fits."""

    topic: str
    moment: str
    question: str
    options: tuple[str, str, str, str]
    answer: int

    def __post_init__(self) -> None:
        check_key(self.answer, self.options)


def questions(source: Source) -> Iterable[Question]:
    """The items the settings ask for (this instrument has only bundled ones)."""
    return read_items(BUNDLED, Question)
