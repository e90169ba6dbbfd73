"""The command `blind`: writes blind sheets, scores answers to them, and plays readers that follow a surface cue."""

from __future__ import annotations

from pathlib import Path

import msgspec

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.instruments.socialeval import blind as reading
from sociometer.instruments.socialeval import items
from sociometer.instruments.socialeval.worldtree import Tree


def blind(context: CommandContext, options: Settings) -> Result:
    """Writes blind sheets, or scores answers to one; without either, plays the scripted readers."""
    files = options.texts("files")
    trees = items.given_trees(files) if files else items.trees(context.source())
    if options.texts("answers") or options.text("sheet"):
        return _score_answers(trees, options)
    wrote = []
    if options.text("out"):
        for language in sorted({tree.language for tree in trees}):
            text = _text(reading.sheet(trees, language, context.seed))
            wrote.append(context.write(Path(options.text("out")) / f"sheet-{language}.json", text))
    by_reader = {name: _scripted(trees, reader) for name, reader in reading.READERS.items()}
    rows = tuple(
        (name, language, *_pooled([r for r in found if r.tree.endswith(f"-{language}")]))
        for name, found in by_reader.items()
        for language in sorted({tree.language for tree in trees})
    )
    tables = (
        _blind_table("readers", "Scripted readers who see goals and choices only", "language", rows),
        _cues(trees),
    )
    return Result(tables=tables, wrote=tuple(wrote))


def _blind_table(name: str, title: str, of: str, rows: tuple[tuple[str | int | float, ...], ...]) -> Table:
    shares = ("kept the goal", "by chance", "goal reached", "random walk (exact)")
    units = dict.fromkeys(shares, "share")
    return Table(name, title, ("reader", of, "branches", *shares), rows, units=units)


def _scripted(trees: list[Tree], reader: reading.Reader) -> list[reading.BlindResult]:
    return [reading.result(tree, reading.scripted(tree, reader)) for tree in trees]


def _pooled(found: list[reading.BlindResult]) -> tuple[int, float, float, float, float]:
    """Means over the branches of all trees, and over the trees."""
    count = sum(r.branches for r in found)
    kept, chance = (sum(getattr(r, name) * r.branches for r in found) / (count or 1) for name in ("kept", "chance"))
    reached, lot = (sum(getattr(r, name) for r in found) / (len(found) or 1) for name in ("reached", "random"))
    return count, kept, chance, reached, lot


def _cues(trees: list[Tree]) -> Table:
    """How often a surface cue finds the right utterance of an ability question."""
    rows = []
    for language in sorted({tree.language for tree in trees}):
        asked = list(items.questions_of([tree for tree in trees if tree.language == language]))
        for name, reader in reading.READERS.items():
            right = [reading.take(reader(question.question, question.options))[0] for question in asked]
            chance = [1 / len(question.options) for question in asked]
            count = len(asked) or 1
            rows.append((name, language, len(asked), sum(right) / count, sum(chance) / count))
    columns = ("cue", "language", "questions", "right", "by chance")
    units = {"right": "share", "by chance": "share"}
    return Table("cues", "Ability questions answered by a surface cue", columns, tuple(rows), units=units)


def _score_answers(trees: list[Tree], options: Settings) -> Result:
    if not options.texts("answers") or not options.text("sheet"):
        raise UsageError(
            "--answers needs --sheet and --sheet needs --answers: the sheet, and one file for each reader."
        )
    sheet = reading.read_sheet(Path(options.text("sheet")))
    rows: list[tuple[str | int | float, ...]] = []
    notes = []
    for name in options.texts("answers"):
        found, changed = reading.policies(sheet, reading.read_answers(Path(name)), trees)
        results = [reading.result(tree, found[tree.id]) for tree in trees if tree.id in found]
        rows += [(Path(name).stem, r.tree, *_pooled([r])) for r in results]
        rows.append((Path(name).stem, "all", *_pooled(results)))
        unanswered = len(sheet.questions) - len(reading.read_answers(Path(name)))
        if unanswered > 0:
            notes.append(
                f"{Path(name).name}: {unanswered} questions have no answer; where a tree has other answers they count"
                " as chance, and trees without any are left out."
            )
        if changed:
            notes.append(f"{Path(name).name}: {changed} questions of the sheet are in no tree; they were left out.")
    table = _blind_table("blind", "Readers who saw goals and choices only", "tree", tuple(rows))
    return Result(tables=(table,), notes=tuple(notes))


def _text(sheet: reading.Sheet) -> str:
    return msgspec.json.format(msgspec.json.encode(sheet), indent=2).decode() + "\n"
