"""The rows of Table 3 as runs of the 100 scenarios, with the paper's simulator."""

from collections.abc import Iterator
from pathlib import Path

from sociometer.core.paper import PrintedFigure, PublishedModel, Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records, read_table

HERE = Path(__file__).parent
SIMULATOR = "hf/deepseek-ai/DeepSeek-V3"
"""DeepSeek-V3 of December 2024, the simulator of Table 3."""
REMARKS = (
    f"The simulator of Table 3 is DeepSeek-V3 of December 2024 ({SIMULATOR}); --role simulator=MODEL chooses another,"
    " and other simulators give other scores.",
    "The release does not set the sampling of simulator and subject.",
)


def replications() -> ReplicationPlan:
    """Return the models and one run for each."""
    runs = [
        Replication(row["model"], "dialogue", tuple(_figures(row)), roles={"simulator": SIMULATOR})
        for row in read_table(HERE / "table3.csv")
    ]
    return ReplicationPlan(tuple(read_records(HERE / "models.csv", PublishedModel)), tuple(runs), REMARKS)


def _figures(row: dict[str, str]) -> Iterator[PrintedFigure]:
    yield printed_figure("Table 3", "sentient", row["score"])
    yield printed_figure("Table 3", "success", row["success"], percent=True)
    yield printed_figure("Table 3", "failure", row["failure"], percent=True)
