"""The check for contamination on SESI's items: pairs of public and unseen questions."""

from pathlib import Path

from sociometer.core.errors import UsageError
from sociometer.core.source import Source
from sociometer.instruments._recall import pairs
from sociometer.instruments.sesi.items import Question, bundled, questions, read_official
from sociometer.reading import read_items


class RecalledQuestion(pairs.RecallItem, frozen=True, kw_only=True, omit_defaults=True):
    """One question of the check about a SESI question."""

    test: Question | None = None


def recalled(source: Source, unseen: str, count: int) -> tuple[list[pairs.Pair], list[RecalledQuestion]]:
    """The pairs of public and unseen questions, and what is asked about them."""
    if unseen:
        path = Path(unseen)
        others = list(read_official(path) if unseen.endswith(".csv") else read_items(path, Question))
    elif source.official:
        others = list(bundled())
    else:
        raise UsageError("the bundled items need unseen ones to compare with; give --unseen FILE, or --official.")
    return pairs.recalled(list(questions(source)), others, _passage, RecalledQuestion, count, source.seed)


def _passage(one: Question) -> pairs.Passage:
    return pairs.Passage(one.id, one.situation, one.options, one.ability, one.question)
