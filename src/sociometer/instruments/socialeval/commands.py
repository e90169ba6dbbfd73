"""The instrument's own commands: lint and draw; inside has a folder of its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from sociometer.core.command import CommandContext
from sociometer.core.errors import UsageError, unknown
from sociometer.core.instrument import Result
from sociometer.core.measure import Figure, Table
from sociometer.core.settings import Settings
from sociometer.instruments.socialeval import items
from sociometer.instruments.socialeval.drawing import draw_tree, page
from sociometer.instruments.socialeval.inside.study import inside as inside
from sociometer.instruments.socialeval.items import read_tree_file
from sociometer.instruments.socialeval.lint import MEANINGS, Finding, statistics_table
from sociometer.instruments.socialeval.lint import lint as lint_trees
from sociometer.instruments.socialeval.worldtree import Tree, solve
from sociometer.statistics.formatting import number

_NAMED = 6


def lint(context: CommandContext, options: Settings) -> Result:
    """Every finding with file and node, and a count by kind; the exit code is 1 if there are any."""
    files = options.texts("files")
    trees = items.given_trees(files) if files else items.trees(context.source())
    wanted = options.texts("kind")
    for kind in wanted:
        if kind not in MEANINGS:
            raise unknown("kind of finding", kind, MEANINGS)
    found = [finding for finding in lint_trees(trees) if not wanted or finding.kind in wanted]
    counts = Counter(finding.kind for finding in found)
    by_kind = tuple((kind, counts[kind], MEANINGS[kind]) for kind in MEANINGS if counts[kind])
    tables = (
        Table("findings", "Findings", ("kind", "file", "node", "detail"), tuple(_row(finding) for finding in found)),
        Table("kinds", "Findings by kind", ("kind", "findings", "meaning"), by_kind),
        _values(trees),
        statistics_table(trees),
    )
    finding = f"{len(trees)} trees, {len(found) or 'no'} findings."
    return Result(tables=tables if found else tables[2:], failed=bool(found), finding=finding)


def _row(finding: Finding) -> tuple[str, str, int | None, str]:
    return finding.kind, finding.source, finding.node, finding.detail


def _values(trees: list[Tree]) -> Table:
    """The exact solution of every tree."""
    rows = []
    for tree in trees:
        solution = solve(tree)
        episodes = sum(bool(node.choices) for node in tree.nodes)
        rows.append((tree.id, episodes, solution.random, solution.best_full))
    columns = ("tree", "episodes", "random walk (exact)", "best possible")
    units = {"random walk (exact)": "share", "best possible": "share"}
    return Table("values", "Exact solution of each tree", columns, tuple(rows), units=units)


def draw(context: CommandContext, options: Settings) -> Result:
    """Draws one tree as a page; with a run, adds the walks of its subject."""
    tree, others = _one_tree(context, options.text("tree"))
    taken = _taken(context, options.text("run"), tree) if options.text("run") else None
    svg = draw_tree(tree, taken)
    out = Path(options.text("to") or f"{tree.id}.html")
    wrote = context.write(out, page(tree, svg))
    solution = solve(tree)
    notes = [f"random walk {number(solution.random, 'share')}, best possible {number(solution.best_full, 'share')}"]
    if others:
        more = ", ".join(other.id for other in others[:_NAMED])
        notes.append(f"drew {tree.id}, the first of {len(others) + 1} matching trees; give one or --language: {more}")
    return Result(notes=tuple(notes), figures=(Figure("tree", tree.id, svg=svg),), wrote=(wrote,))


def _one_tree(context: CommandContext, name: str) -> tuple[Tree, list[Tree]]:
    """The tree of that name, and the other matches: FILE, FILE#NAME, or NAME (or its beginning)."""
    file, _, inner = (name, "", "") if Path(name).is_file() else name.partition("#")
    if Path(file).is_file():
        trees = [tree for tree in read_tree_file(Path(file)) if items.wanted(tree.language, context.source())]
        wanted, source = inner, f"{Path(file).name}#{inner}"
    else:
        trees, wanted, source = items.trees(context.source()), name, name
    exact = [tree for tree in trees if tree.id == wanted or tree.source == source]
    twins = [tree for tree in trees if tree.twin == wanted]
    found = exact or twins or [tree for tree in trees if tree.id.startswith(wanted)]
    if not found:
        raise unknown("tree", wanted or name, (tree.id for tree in trees))
    return found[0], found[1:]


def _taken(context: CommandContext, reference: str, tree: Tree) -> dict[tuple[int, int], int]:
    counts: Counter[tuple[int, int]] = Counter()
    for item, outcome, _ in context.run(reference).view("goals").scored():
        if item.id == tree.id:
            counts.update((step.node, step.picked) for step in outcome.steps)
    if not counts:
        raise UsageError(f"run '{reference}' has no walk through {tree.id}; draw it without --run.")
    return dict(counts)
