"""The check for contamination on SESI's items: pairs of public and unseen questions."""

from pathlib import Path

from sociometer.core.errors import UsageError
from sociometer.core.source import Source
from sociometer.instruments import _recall
from sociometer.instruments.sesi.items import Question, bundled, questions, read_official
from sociometer.reading import read_items


def recalled(source: Source, unseen: str, count: int) -> tuple[list[_recall.Pair], list[_recall.RecallItem]]:
    """The pairs of public and unseen questions, and what is asked about them."""
    if unseen:
        path = Path(unseen)
        others = list(read_official(path) if unseen.endswith(".csv") else read_items(path, Question))
    elif source.official:
        others = [*bundled()]
    else:
        raise UsageError("the bundled items need unseen ones to compare with; give --unseen FILE, or --official.")
    return _recall.recalled(map(_passage, questions(source)), map(_passage, others), count, source.seed)


def _passage(one: Question) -> _recall.Passage:
    return _recall.Passage(one.id, one.situation, one.options, one.ability, one.question)
