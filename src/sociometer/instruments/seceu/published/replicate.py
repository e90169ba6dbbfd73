"""The rows of Tables S1 and S2 as runs: the direct prompt, and the four prompting methods."""

from collections.abc import Iterator

from sociometer.core.paper import PrintedFigure, PublishedModel, Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records
from sociometer.instruments.seceu.norm import PUBLISHED, published_rows

TASK = "feelings"
REMARKS = (
    "The paper rephrased the direct prompt for some models to get the best result; these versions were not released.",
)


def replications() -> ReplicationPlan:
    """Return the models and the runs; rows without a printed score have none."""
    models = tuple(read_records(PUBLISHED / "models.csv", PublishedModel))
    return ReplicationPlan(models, tuple(_runs()), REMARKS)


def _runs() -> Iterator[Replication]:
    for row in published_rows("table_s1"):
        if row["score"]:
            yield _run(row, "direct", "Table S1")
    for row in published_rows("table_s2"):
        if row["score"]:
            yield _run(row, row["prompting"], "Table S2")


def _run(row: dict[str, str], method: str, where: str) -> Replication:
    return Replication(row["model"], TASK, tuple(_figures(row, where)), {"prompting": method}, about=method)


def _figures(row: dict[str, str], where: str) -> Iterator[PrintedFigure]:
    yield printed_figure(where, "distance", f"{float(row['score']):.2f}")
    yield printed_figure(where, "eq", row["eq"])
    yield printed_figure(where, "similarity", f"{float(row['similarity']):.2f}")
