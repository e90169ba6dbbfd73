"""Scores to MLflow, at MLFLOW_TRACKING_URI in the experiment MLFLOW_EXPERIMENT_NAME, or by MLflow's defaults."""

from sociometer.adapters.tracking import TrackedRun
from sociometer.core.lazy import lazy

mlflow = lazy("mlflow")


def write(run: TrackedRun) -> None:
    """Write the scores of a run."""
    with mlflow.start_run(run_name=run.label, tags={"sociometer.run": run.id, "sociometer.curve": run.curve}):
        mlflow.log_metrics(run.scores, step=run.step)
