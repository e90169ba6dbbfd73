"""`run --log-to NAME`: hands the scores of runs to experiment trackers that are installed; nothing is sent unasked."""

import re
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec

from msgspec import Struct

from sociometer.core.config import model_label
from sociometer.core.errors import UsageError
from sociometer.core.measure import Interval
from sociometer.results.summaries import lines_of
from sociometer.store.stored_run import StoredRun

TRACKERS = ("tensorboard", "wandb", "mlflow")


class TrackedRun(Struct, frozen=True):
    """What a tracker gets of a run."""

    id: str
    label: str
    """The subject in tables."""
    curve: str
    """The instrument and the model without its revision: the same for all checkpoints of a training."""
    step: int
    """The last number in the revision (`#step-4000`); 0 without one."""
    scores: dict[str, float]
    """Of each measure: its value, the `low` and `high` end of its interval, and the number of `failed` items."""


def check_trackers(names: Iterable[str]) -> None:
    """Raise a UsageError if one of them is not installed."""
    for name in names:
        if find_spec(name) is None:
            raise UsageError(f"--log-to {name} needs the package '{name}': pip install {name}.")


def log_scores(run: StoredRun, names: Sequence[str]) -> list[str]:
    """Hand the scores to each tracker; returns what went wrong, because a run does not fail with its tracker."""
    found: dict[str, float] = {}
    for line in lines_of(run):
        value, interval = line.measure.value, line.measure.interval or Interval(None, None)
        if value is None or line.measure.group:
            continue
        ends = {"low": interval.low, "high": interval.high, "failed": line.failed}
        name = f"{run.instrument}/{line.task}/{line.measure.name}"
        found |= {name: value} | {f"{name}.{end}": float(one) for end, one in ends.items() if one is not None}
    numbers = re.findall(r"\d+", run.revision)
    curve = f"{run.instrument}/{model_label(run.manifest.config.subject).partition('#')[0]}"
    tracked = TrackedRun(run.id, run.subject, curve, int(numbers[-1]) if numbers else 0, found)
    problems = []
    for name in names:
        try:
            import_module(f"sociometer.adapters.{name}_tracker").write(tracked)
        except Exception as error:  # a tracker raises what it likes
            problems.append(f"--log-to {name} failed: {type(error).__name__}: {error}")
    return problems
