"""The instrument's own command for sheets; inside has a folder of its own."""

from __future__ import annotations

from pathlib import Path

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError, hint
from sociometer.core.instrument import Result
from sociometer.core.settings import Settings
from sociometer.core.sheets import write_sheet
from sociometer.instruments.socialeval import items
from sociometer.instruments.socialeval.inside.task import inside as inside
from sociometer.instruments.socialeval.worldtree import Tree, pair_twins


def sheet(context: CommandContext, options: Settings) -> Result:
    """Writes a sheet for reviewers: whole trees, or each part of a tree beside its translation."""
    files, translations = options.texts("files"), options.text("of") == "translations"
    source = context.source(language=items.BOTH) if translations else context.source()
    trees = items.given_trees(files) if files else items.trees(source)
    rows: list[tuple[str, ...]] = []
    for one, two in pair_twins(trees) if translations else ():
        english, other = _parts(one), _parts(two)  # a part that one of them lacks is empty there
        rows += [(two.id, part, english.get(part, ""), other.get(part, "")) for part in english | other]
    for tree in () if translations else trees:
        rows.append((tree.id, "\n\n".join(f"({name})\n{text}" for name, text in _parts(tree).items())))
    if not rows:
        raise UsageError("no tree is there with its translation: two trees of the same shape, one of them English.")
    (card,) = (one for one in context.instrument.card.sheet if one.name == options.text("of"))
    text = write_sheet(card.columns, [[*row, *("" for _ in card.label)] for row in rows], guard_formulas=True)
    out = context.write(Path(options.text("to")), text)
    note = f"{len(rows)} rows. For reviewers: {hint('sheet read', out)}"
    return Result(notes=(note,), wrote=(out,))


def _parts(tree: Tree) -> dict[str, str]:
    """A tree in words: people and scene, then each episode with its choices or the level of its ending."""
    people = (f"{who.name}: " + " | ".join(filter(None, (who.public, who.private, who.goal))) for who in tree.people)
    parts = {"opening": "\n".join((*people, tree.scene))}
    for node in tree.nodes:
        lines = [f"+ {who.name}: {who.public}" for who in node.enters]
        lines += [f"{line.speaker}: {line.text}" if line.speaker else line.text for line in node.lines]
        lines += [f"→ ({one.target}) [{', '.join(one.abilities)}] {one.text}" for one in node.choices]
        lines += [f"= {node.goal}/2"] if node.is_end and node.goal >= 0 else []
        parts[str(node.id)] = "\n".join(lines)
    return parts
