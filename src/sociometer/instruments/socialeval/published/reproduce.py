"""Recomputes what the paper prints: overall rates from the category rows, and the gaps its text names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from sociometer.core.errors import DataError
from sociometer.core.measure import PublishedFigure
from sociometer.core.task import Source
from sociometer.instruments.socialeval.items import tree_files_in
from sociometer.instruments.socialeval.lint import lint_tree
from sociometer.instruments.socialeval.tree_files import read_tree_file
from sociometer.instruments.socialeval.worldtree import Tree
from sociometer.sheets import read_table

HERE = Path(__file__).parent
WEIGHTS = {"prosocial": 107, "proself": 26, "antisocial": 20}
"""Trees in each category, which make the overall rates; the paper gives the total, 153, and 20 antisocial ones."""
_ROUNDING = 0.1001
"""Rates rounded to a tenth give a total within a tenth of the printed one."""
_REASON = "107, 26 and 20 trees give the total of every other row, but not this one"
RELEASED_FILES = 56


def table(name: str) -> list[dict[str, str]]:
    """The rows of one published table."""
    return read_table(HERE / f"{name}.csv")


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Every printed figure that can be recomputed, then the counts of the released files if they are available."""
    yield from _totals()
    yield from _statements()
    yield from _released(source)


def weighted(row: dict[str, str], language: str) -> float:
    """The tree-weighted mean of a model's three category rates."""
    parts = [float(row[f"{category}_{language}"]) * trees for category, trees in WEIGHTS.items()]
    return sum(parts) / sum(WEIGHTS.values())


def _totals() -> Iterator[PublishedFigure]:
    for row in table("goals"):
        for language in ("zh", "en"):
            printed, recomputed = float(row[f"overall_{language}"]), weighted(row, language)
            match = abs(printed - recomputed) < _ROUNDING
            what = f"{row['model']}, goal achieved overall ({language})"
            yield PublishedFigure(
                "Table of goal achievement", what, printed, round(recomputed, 2), match, "" if match else _REASON
            )


def _statements() -> Iterator[PublishedFigure]:
    models = {row["model"]: row for row in table("goals")}
    people, best = models["Human (avg)"], models["DeepSeek-R1"]
    found = (
        float(people["prosocial_zh"]) - float(people["antisocial_zh"]),
        float(best["prosocial_zh"]) - float(best["antisocial_zh"]),
        float(people["overall_zh"]) - float(best["overall_zh"]),
        float(people["overall_en"]) - float(best["overall_en"]),
    )
    for row, recomputed in zip(table("statements"), found, strict=True):
        printed = float(row["printed"])
        match = abs(printed - recomputed) < 0.051
        reason = "" if match else "the table's rounded rates give 13.6; the text may come from unrounded ones"
        yield PublishedFigure("Text on the findings", row["what"], printed, round(recomputed, 2), match, reason)


def _released(source: Source) -> Iterator[PublishedFigure]:
    """Counts over the available released files; the expected ones hold for the first four files of each kind."""
    folder = source.find("socialeval")
    try:
        files = tree_files_in(folder) if folder else []
    except DataError:
        files = []
    if len(files) != RELEASED_FILES:
        return
    trees = [tree for path in files for tree in read_tree_file(path)]
    expected = (
        ("spellings of abilities", 138, len(_spellings(trees))),
        ("choices that name no ability", 51, _count(trees, "ability-missing")),
        ("choice nodes without choices", 3, _count(trees, "choice-node-without-choices")),
    )
    for what, count, found in expected:
        yield PublishedFigure("Released files", what, count, found, count == found)


def _spellings(trees: list[Tree]) -> set[str]:
    return {name for tree in trees for node in tree.nodes for choice in node.choices for name in choice.abilities}


def _count(trees: list[Tree], kind: str) -> int:
    return sum(finding.kind == kind for tree in trees for finding in lint_tree(tree))
