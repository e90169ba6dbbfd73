"""Recomputes what the paper prints: overall rates from the category rows, and the gaps its text names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from sociometer.core.errors import DataError
from sociometer.core.measure import PublishedFigure
from sociometer.core.paper import PrintedFigure, PublishedModel, Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records, read_table
from sociometer.core.source import Source
from sociometer.instruments.socialeval.abilities import DIMENSIONS, canonical_all, dimension_of
from sociometer.instruments.socialeval.items import clusters_of, read_tree_file, tree_files_in
from sociometer.instruments.socialeval.lint import lint_tree
from sociometer.instruments.socialeval.worldtree import Tree
from sociometer.statistics.intervals import clustered_mean_interval

HERE = Path(__file__).parent
WEIGHTS = {"prosocial": 107, "proself": 26, "antisocial": 20}
"""Trees in each category, which make the overall rates; the paper gives the total, 153, and 20 antisocial ones."""
SHARES = {
    "social_engagement": 0.174,
    "cooperation": 0.211,
    "self_management": 0.395,
    "emotional_resilience": 0.141,
    "innovation": 0.079,
}
"""The shares of questions in each dimension that give the most of the printed overall cells of the abilities."""
_ROUNDING = 0.1001
"""Rates rounded to a tenth give a total within a tenth of the printed one."""
_REASON = "107, 26 and 20 trees give the total of every other row, but not this one"
RELEASED_FILES = 56
PAPER_TREES = 153


def table(name: str) -> list[dict[str, str]]:
    """The rows of one published table."""
    return read_table(HERE / f"{name}.csv")


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Every printed figure that can be recomputed, then the counts of the released files if they are available."""
    yield from _totals()
    yield from _statements()
    yield from _ability_totals(SHARES, "Table of abilities", "one set of shares of questions")
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


def _ability_totals(shares: Mapping[str, float], where: str, what: str) -> Iterator[PublishedFigure]:
    """Whether the overall column of the abilities is the mean of the five dimensions with these shares."""
    cells = [
        (f"{row['model']} ({language})", float(row[f"overall_{language}"]), _mean_ability(row, language, shares))
        for row in table("abilities")
        for language in ("zh", "en")
    ]
    wrong = [(who, printed, value) for who, printed, value in cells if abs(printed - value) >= _ROUNDING]
    said = "; ".join(f"{who}: {printed} printed, {value:.1f} from its row" for who, printed, value in wrong)
    yield PublishedFigure(
        where, f"overall cells that follow from {what}", len(cells), len(cells) - len(wrong), not wrong,
        said and f"{said}.", claim=True,
    )  # fmt: skip


def _mean_ability(row: Mapping[str, str], language: str, shares: Mapping[str, float]) -> float:
    return sum(share * float(row[f"{dimension}_{language}"]) for dimension, share in shares.items())


def question_shares(trees: Iterable[Tree]) -> dict[str, float]:
    """The share of ability questions in each dimension; a question on two dimensions counts for both."""
    counts: Counter[str] = Counter()
    for question in (choice.question for tree in trees for node in tree.nodes for choice in node.choices):
        if question is not None:
            counts.update({dimension_of(name) for name in canonical_all(question.abilities)})
    return {name.replace(" ", "_").replace("-", "_"): counts[name] / counts.total() for name in DIMENSIONS}


def _tree_sizes(trees: Sequence[Tree]) -> Iterator[PublishedFigure]:
    """The printed means per tree, next to those of the released trees, with an interval over their stories."""
    sizes = (
        (
            "episodes with a choice per tree",
            6.5,
            0.05,
            [sum(node.kind == "choice" for node in tree.nodes) for tree in trees],
        ),
        (
            "choices at a decision",
            2.17,
            0.005,
            [fmean(len(n.choices) for n in tree.nodes if n.choices) for tree in trees],
        ),
    )
    stories = clusters_of(trees)
    clusters = [stories[tree.id] for tree in trees]
    for what, printed, rounding, values in sizes:
        interval = clustered_mean_interval(values, clusters)
        low, high = interval.low or 0.0, interval.high or 0.0
        count = len(set(clusters))
        reason = f"95 % interval over {count} of the paper's {PAPER_TREES} trees: {low:.3f} to {high:.3f}."
        yield PublishedFigure(
            "Description of the trees",
            what,
            printed,
            round(fmean(values), 2),
            low - rounding <= printed <= high + rounding,
            reason,
            claim=True,
        )


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
    yield from _ability_totals(question_shares(trees), "Table of abilities", "the counts in the released files")
    yield from _tree_sizes(trees)
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


LANGUAGES = ("zh", "en")
CATEGORIES = ("prosocial", "proself", "antisocial")
PRINTED_DIMENSIONS = {
    name: name.replace("_", " ")
    for name in ("social_engagement", "cooperation", "self_management", "emotional_resilience", "innovation")
}
REMARKS = (
    "The paper shuffles the options three times and takes the majority; so does this. The authors' runner asks once.",
    "The authors' runner drops a walk or a question whose reply it cannot read; here such a choice is random, and"
    " such an answer counts as wrong.",
)


def replications() -> ReplicationPlan:
    """Return the models and their runs; people's rows have none."""
    models = tuple(read_records(HERE / "models.csv", PublishedModel))
    known = {one.row for one in models}
    runs = [
        Replication(row["model"], task, tuple(figures(row)), about=task)
        for task, figures in (("goals", _goals), ("abilities", _abilities))
        for row in read_table(HERE / f"{task}.csv")
        if row["model"] in known
    ]
    return ReplicationPlan(models, tuple(runs), REMARKS)


def _goals(row: dict[str, str]) -> Iterator[PrintedFigure]:
    for language in LANGUAGES:
        yield _figure("achieved", row[f"overall_{language}"], language=language)
        for category in CATEGORIES:
            yield _figure("achieved", row[f"{category}_{language}"], language=language, category=category)


def _abilities(row: dict[str, str]) -> Iterator[PrintedFigure]:
    for language in LANGUAGES:
        yield _figure("accuracy", row[f"overall_{language}"], language=language)
        for name, dimension in PRINTED_DIMENSIONS.items():
            yield _figure("accuracy", row[f"{name}_{language}"], language=language, dimension=dimension)


def _figure(measure: str, text: str, **group: str) -> PrintedFigure:
    return printed_figure(
        "goals table" if measure == "achieved" else "abilities table", measure, text, percent=True, **group
    )
