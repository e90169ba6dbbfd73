"""The instrument's own commands."""

from collections import Counter

from sociometer.core.command import CommandContext
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.instruments._template import items


def lint(context: CommandContext, options: Settings) -> Result:
    """Counts the positions of right answers; fails on a duplicate id."""
    questions = list(items.questions(context.source()))
    positions = Counter("ABCD"[question.answer] for question in questions)
    duplicates = [name for name, count in Counter(question.id for question in questions).items() if count > 1]
    table = Table("positions", "Positions of right answers", ("position", "items"), tuple(sorted(positions.items())))
    return Result(tables=(table,), notes=tuple(f"duplicate id: {name}" for name in duplicates), failed=bool(duplicates))
