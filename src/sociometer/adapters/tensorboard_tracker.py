"""Scores to TensorBoard: event files in the folder TENSORBOARD_LOGDIR, or in `runs`; one curve for each model."""

import os
from collections.abc import Mapping
from pathlib import Path

from sociometer.core.lazy import lazy
from sociometer.store.stored_run import StoredRun

summary = lazy("tensorboard.summary")


def write(run: StoredRun, curve: str, step: int, scores: Mapping[str, float]) -> None:
    """Write the scores of a run."""
    writer = summary.Writer(str(Path(os.environ.get("TENSORBOARD_LOGDIR", "runs")) / curve))
    for name, value in scores.items():
        writer.add_scalar(name, value, step)
    writer.close()
