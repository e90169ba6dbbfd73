"""The check for contamination on SESI's items: pairs of public and unseen questions, and the task that asks them."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from sociometer.core.errors import UsageError
from sociometer.core.source import Source
from sociometer.instruments._recall.pairs import Pair, Passage, RecallItem, pair_up, recall_items
from sociometer.instruments.sesi.items import Question, bundled, questions, read_official
from sociometer.reading import read_items


class RecalledQuestion(RecallItem, frozen=True, kw_only=True, omit_defaults=True):
    """One question of the check about a SESI question."""

    test: Question | None = None

    @property
    def question(self) -> Question:
        """The question of the test."""
        assert self.test is not None
        return self.test


def recalled(source: Source, unseen: str, count: int) -> tuple[list[Pair], list[RecalledQuestion]]:
    """The pairs of public and unseen questions, and what is asked about them."""
    public, others = list(questions(source)), _unseen(source, unseen)
    pairs = pair_up(_passages(public), _passages(others), count, source.seed)
    tests = {question.id: question for question in (*public, *others)}
    made = [
        RecalledQuestion(**structs.asdict(item), test=tests[name] if item.asked == "answer" else None)
        for item, name in recall_items(pairs)
    ]
    return pairs, made


def _unseen(source: Source, path: str) -> list[Question]:
    if path:
        return list(read_official(Path(path)) if path.endswith(".csv") else read_items(Path(path), Question))
    if not source.official:
        raise UsageError("the bundled items need unseen ones to compare with; give --unseen FILE, or --official.")
    return list(bundled())


def _passages(found: Sequence[Question]) -> list[Passage]:
    return [Passage(one.id, one.situation, one.options, one.ability, one.question) for one in found]
