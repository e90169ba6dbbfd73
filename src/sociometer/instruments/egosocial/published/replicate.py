"""The blackjack column of Table 3 as runs of the 50 official deals; no other prompt was released."""

from pathlib import Path

from sociometer.core.paper import PublishedModel, Replication, ReplicationPlan, printed_figure
from sociometer.core.sheets import read_records, read_table

HERE = Path(__file__).parent
REMARKS = (
    "Only blackjack is replicated: the authors' other prompts were not released.",
    "The paper graded beliefs by hand; here rules read them, and both beliefs of a hand must be right."
    " 'sociometer grade egosocial' lets people or a judge grade the same replies.",
)


def replications() -> ReplicationPlan:
    """Return the models and one run for each; people's row has none."""
    models = tuple(read_records(HERE / "models.csv", PublishedModel))
    known = {one.row for one in models}
    runs = [
        Replication(row["model"], "blackjack", (printed_figure("Table 3", "accuracy", row["blackjack"], percent=True),))
        for row in read_table(HERE / "table3.csv")
        if row["model"] in known
    ]
    return ReplicationPlan(models, tuple(runs), REMARKS)
