"""The rows of Table 1 as runs of the 500 questions in the file's order of options."""

from pathlib import Path

from sociometer.core.paper import PublishedModel, Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records, read_table

HERE = Path(__file__).parent
REMARKS = (
    "The release reads a reply by its first letter A to D; here replies are read by Sociometer's rules.",
    "Only Table 1's social score is replicated; the texts of the factors' conditions are ours.",
)


def replications() -> ReplicationPlan:
    """Return the models and one run for each."""
    runs = [
        Replication(row["model"], "questions", (printed_figure("Table 1", "accuracy", row["SI"], percent=True),))
        for row in read_table(HERE / "table1.csv")
    ]
    return ReplicationPlan(tuple(read_records(HERE / "models.csv", PublishedModel)), tuple(runs), REMARKS)
