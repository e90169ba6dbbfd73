"""Scores to Weights & Biases, in the project WANDB_PROJECT or `sociometer`; WANDB_MODE=offline sends nothing."""

import os

from sociometer.adapters.tracking import TrackedRun
from sociometer.core.lazy import lazy

wandb = lazy("wandb")


def write(run: TrackedRun) -> None:
    """Write the scores of a run; repeating it changes the same run there."""
    project = os.environ.get("WANDB_PROJECT", "sociometer")
    with wandb.init(project=project, id=run.id, name=run.label, group=run.curve, resume="allow") as there:
        there.define_metric("*", step_metric="step")
        there.log({**run.scores, "step": run.step})
