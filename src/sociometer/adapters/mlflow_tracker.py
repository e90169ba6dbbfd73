"""Scores to MLflow, at MLFLOW_TRACKING_URI in the experiment MLFLOW_EXPERIMENT_NAME, or by MLflow's defaults."""

from collections.abc import Mapping

from sociometer.core.lazy import lazy
from sociometer.store.stored_run import StoredRun

mlflow = lazy("mlflow")


def write(run: StoredRun, curve: str, step: int, scores: Mapping[str, float]) -> None:
    """Write the scores of a run."""
    with mlflow.start_run(run_name=run.subject, tags={"sociometer.run": run.id, "sociometer.curve": curve}):
        mlflow.log_metrics(scores, step=step)
