"""Scores to Weights & Biases, in the project WANDB_PROJECT or `sociometer`; WANDB_MODE=offline sends nothing."""

import os
from collections.abc import Mapping

from sociometer.core.lazy import lazy
from sociometer.store.stored_run import StoredRun

wandb = lazy("wandb")


def write(run: StoredRun, curve: str, step: int, scores: Mapping[str, float]) -> None:
    """Write the scores of a run; repeating it changes the same run there."""
    project = os.environ.get("WANDB_PROJECT", "sociometer")
    with wandb.init(project=project, id=run.id, name=run.subject, group=curve, resume="allow") as there:
        there.define_metric("*", step_metric="step")
        there.log({**scores, "step": step})
