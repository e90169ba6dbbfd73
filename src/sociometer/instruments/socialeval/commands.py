"""The instrument's own commands: lint; inside has a folder of its own."""

from __future__ import annotations

from collections import Counter

from sociometer.core.command import CommandContext
from sociometer.core.instrument import Result
from sociometer.core.measure import Table
from sociometer.core.settings import Settings
from sociometer.instruments.socialeval import items
from sociometer.instruments.socialeval.inside.task import inside as inside
from sociometer.instruments.socialeval.worldtree import MEANINGS, Finding, Tree, lint_trees, solve


def lint(context: CommandContext, options: Settings) -> Result:
    """Every finding with file and node, and a count by kind; the exit code is 1 if there are any."""
    files = options.texts("files")
    trees = items.given_trees(files) if files else items.trees(context.source())
    found = lint_trees(trees)
    counts = Counter(finding.kind for finding in found)
    by_kind = tuple((kind, counts[kind], MEANINGS[kind]) for kind in MEANINGS if counts[kind])
    tables = (
        Table("findings", "Findings", ("kind", "file", "node", "detail"), tuple(_row(finding) for finding in found)),
        Table("kinds", "Findings by kind", ("kind", "findings", "meaning"), by_kind),
        _values(trees),
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
