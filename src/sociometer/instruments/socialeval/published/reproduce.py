"""Recomputes what the paper prints: overall rates from the category rows, and the gaps its text names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from sociometer.core.errors import DataError
from sociometer.core.measure import PublishedFigure
from sociometer.core.paper import PrintedFigure, Replication, ReplicationPlan, printed_figure
from sociometer.core.source import Source
from sociometer.instruments._paper import printed_tables, replication_plan
from sociometer.instruments.socialeval.items import clusters_of, read_tree_file, tree_files_in
from sociometer.instruments.socialeval.worldtree import CATEGORIES, PAPER_LANGUAGES, Tree
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.paired import signed_rank

HERE = Path(__file__).parent
table = printed_tables(HERE)
WEIGHTS = {"prosocial": 107, "proself": 26, "antisocial": 20}
"""Trees in each category, which make the overall rates; the paper gives the total, 153, and 20 antisocial ones."""
_ROUNDING = 0.1001
"""Rates rounded to a tenth give a total within a tenth of the printed one."""
_ROUNDING_OF_GAP = 0.1501
"""Two rates rounded to a tenth give their difference within a tenth; the printed one adds half of one."""
_REASON = "107, 26 and 20 trees give 15 of the 18 cells, but not this one"
AUTHORS_TREES = {"prosocial": 106, "proself": 27, "antisocial": 20}
AUTHORS_QUESTIONS = {
    "social_engagement": 775, "cooperation": 843, "self_management": 1548, "emotional_resilience": 565,
    "innovation": 296,
}  # fmt: skip
"""The counts in the figures of the authors' repository."""
PAPER_TREES = 153


def rows(source: Source) -> Iterable[PublishedFigure]:
    """Every printed figure that can be recomputed, then the sizes of the released trees if they are available."""
    yield from _totals()
    yield from _tree_counts()
    yield from _statements()
    yield from _languages()
    whole = sum(AUTHORS_QUESTIONS.values())
    shares = {name: count / whole for name, count in AUTHORS_QUESTIONS.items()}
    counts = ", ".join(f"{count:,}" for count in AUTHORS_QUESTIONS.values())
    yield from _ability_totals(shares, "Table IAE", f"the authors' counts of questions ({counts})")
    yield from _released(source)


def weighted(row: dict[str, str], language: str, weights: Mapping[str, int] = WEIGHTS) -> float:
    """The tree-weighted mean of a model's three category rates."""
    parts = [float(row[f"{category}_{language}"]) * trees for category, trees in weights.items()]
    return sum(parts) / sum(weights.values())


def whole_rows() -> list[dict[str, str]]:
    """The rows of the table of goal achievement; the text gives Qwen-2.5-7B with its overall rates only."""
    return [row for row in table("goals") if row["prosocial_zh"]]


def _tree_counts() -> Iterator[PublishedFigure]:
    """How many overall cells follow from our counts of trees, and from those of the authors' repository."""
    cells = [(row, language) for row in whole_rows() for language in ("zh", "en")]
    for whose, weights in (("our", WEIGHTS), ("the authors'", AUTHORS_TREES)):
        fit = sum(abs(float(row[f"overall_{code}"]) - weighted(row, code, weights)) < _ROUNDING for row, code in cells)
        counts = ", ".join(map(str, weights.values()))
        what = f"overall cells that follow from {whose} counts of trees ({counts})"
        yield PublishedFigure("Table GAE", what, None, f"{fit} of {len(cells)}", False, finding=True)


def _languages() -> Iterator[PublishedFigure]:
    """The cross-lingual test over the models of the two printed tables."""
    for name, where in (("goals", "Table GAE"), ("abilities", "Table IAE")):
        models = [row for row in table(name) if not row["model"].startswith("Human")]
        found = signed_rank(*([float(row[f"overall_{language}"]) for row in models] for language in ("en", "zh")))
        reason = (
            f"The other models' rates are missing. Wilcoxon's signed-rank test over the {len(models)} printed ones:"
            f" p = {found.p_value:.4f}, and no smaller p than {2 / 2 ** len(models):.4f} is possible."
        )
        yield PublishedFigure(
            where, "Chinese differs from English over models", "p < .001", None, False, reason, claim=True
        )


def _totals() -> Iterator[PublishedFigure]:
    for row in whole_rows():
        for language in ("zh", "en"):
            printed, recomputed = float(row[f"overall_{language}"]), weighted(row, language)
            match = abs(printed - recomputed) < _ROUNDING
            what = f"{row['model']}, goal achieved overall ({language})"
            yield PublishedFigure("Table GAE", what, printed, round(recomputed, 2), match, "" if match else _REASON)


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
        match = abs(printed - recomputed) < _ROUNDING_OF_GAP
        yield PublishedFigure(row["where"], row["what"], printed, round(recomputed, 2), match)


def _ability_totals(shares: Mapping[str, float], where: str, what: str) -> Iterator[PublishedFigure]:
    """Whether the overall column of the abilities is the mean of the five dimensions with these shares."""
    cells = [
        (
            f"{row['model']} ({code})",
            float(row[f"overall_{code}"]),
            sum(share * float(row[f"{dimension}_{code}"]) for dimension, share in shares.items()),
        )
        for row in table("abilities")
        for code in ("zh", "en")
    ]
    wrong = [(who, printed, value) for who, printed, value in cells if abs(printed - value) >= _ROUNDING]
    said = "; ".join(f"{who}: {printed} printed, {value:.1f} from its row" for who, printed, value in wrong)
    yield PublishedFigure(
        where,
        f"overall cells that follow from {what}",
        None,
        f"{len(cells) - len(wrong)} of {len(cells)}",
        False,
        said and f"{said}.",
        finding=True,
    )


def _tree_sizes(trees: Sequence[Tree]) -> Iterator[PublishedFigure]:
    """The printed means per tree, next to those of the released trees, with an interval over their stories."""
    episodes = [sum(node.kind == "choice" for node in tree.nodes) for tree in trees]
    choices = [fmean(len(node.choices) for node in tree.nodes if node.choices) for tree in trees]
    stories = clusters_of(trees)
    clusters = [stories[tree.id] for tree in trees]
    for what, printed, rounding, values in (
        ("episodes with a choice per tree", 6.5, 0.05, episodes),
        ("choices at a decision", 2.17, 0.005, choices),
    ):
        interval = clustered_mean_interval(values, clusters)
        low, high = interval.low or 0.0, interval.high or 0.0
        reason = f"95 % interval over {len(set(clusters))} of the paper's {PAPER_TREES} trees: {low:.3f} to {high:.3f}."
        found, fits = round(fmean(values), 2), low - rounding <= printed <= high + rounding
        yield PublishedFigure("Method (World Tree Construction)", what, printed, found, fits, reason)


def _released(source: Source) -> Iterator[PublishedFigure]:
    """The printed sizes of the trees, if the released files are available."""
    folder = source.find("socialeval")
    try:
        files = tree_files_in(folder) if folder else []
    except DataError:
        return
    if files:
        yield from _tree_sizes([tree for path in files for tree in read_tree_file(path)])


PRINTED_DIMENSIONS = {
    name: name.replace("_", " ")
    for name in ("social_engagement", "cooperation", "self_management", "emotional_resilience", "innovation")
}


def replications() -> ReplicationPlan:
    """Return the models and their runs; people's rows have none."""
    runs = [
        Replication(row["model"], task, tuple(figures(row)), about=task)
        for task, figures in (("goals", _goals), ("abilities", _abilities))
        for row in table(task)
    ]
    return replication_plan(HERE, runs)


def _goals(row: dict[str, str]) -> Iterator[PrintedFigure]:
    for language in PAPER_LANGUAGES:
        yield _figure("achieved", row[f"overall_{language}"], language=language)
        for category in CATEGORIES if row["prosocial_zh"] else ():
            yield _figure("achieved", row[f"{category}_{language}"], language=language, category=category)


def _abilities(row: dict[str, str]) -> Iterator[PrintedFigure]:
    for language in PAPER_LANGUAGES:
        yield _figure("accuracy", row[f"overall_{language}"], language=language)
        for name, dimension in PRINTED_DIMENSIONS.items():
            yield _figure("accuracy", row[f"{name}_{language}"], language=language, dimension=dimension)


def _figure(measure: str, text: str, **group: str) -> PrintedFigure:
    return printed_figure(
        "goals table" if measure == "achieved" else "abilities table", measure, text, percent=True, **group
    )
