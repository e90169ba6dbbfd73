"""The rows of the two result tables as runs: every tree ten times, and every ability question, in both languages."""

from collections.abc import Iterator
from pathlib import Path

from sociometer.core.paper import PrintedFigure, PublishedModel, Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records, read_table

HERE = Path(__file__).parent
LANGUAGES = ("zh", "en")
CATEGORIES = ("prosocial", "proself", "antisocial")
DIMENSIONS = {
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
        for name, dimension in DIMENSIONS.items():
            yield _figure("accuracy", row[f"{name}_{language}"], language=language, dimension=dimension)


def _figure(measure: str, text: str, **group: str) -> PrintedFigure:
    return printed_figure(
        "goals table" if measure == "achieved" else "abilities table", measure, text, percent=True, **group
    )
