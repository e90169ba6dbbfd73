"""`run --log-to NAME`: hands the scores of runs to experiment trackers that are installed; nothing is sent unasked."""

import re
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec

from sociometer.core.config import model_label
from sociometer.core.errors import UsageError
from sociometer.core.measure import Interval
from sociometer.results.summaries import lines_of
from sociometer.store.stored_run import StoredRun


def check_trackers(names: Iterable[str]) -> None:
    """Raise a UsageError if one of them is not installed."""
    for name in names:
        if find_spec(name) is None:
            raise UsageError(f"--log-to {name} needs the package '{name}': pip install {name}.")


def log_scores(run: StoredRun, names: Iterable[str]) -> list[str]:
    """Hand the scores to each tracker; returns what went wrong, because a run does not fail with its tracker.

    Of each measure: its value, the `low` and `high` end of its interval, and the number of `failed` items. The step is
    the last number in the revision (`#step-4000`), or 0. All revisions of a model have the same `curve`.
    """
    scores: dict[str, float] = {}
    for line in lines_of(run):
        value, interval = line.measure.value, line.measure.interval or Interval(None, None)
        if value is None or line.measure.group:
            continue
        ends = {"low": interval.low, "high": interval.high, "failed": line.failed}
        name = f"{run.instrument}/{line.task}/{line.measure.name}"
        scores |= {name: value} | {f"{name}.{end}": float(one) for end, one in ends.items() if one is not None}
    step = int((re.findall(r"\d+", run.revision) or "0")[-1])
    curve = f"{run.instrument}/{model_label(run.manifest.config.subject).partition('#')[0]}"
    problems = []
    for name in names:
        try:
            import_module(f"sociometer.adapters.{name}_tracker").write(run, curve, step, scores)
        except Exception as error:  # a tracker raises what it likes
            problems.append(f"--log-to {name} failed: {type(error).__name__}: {error}")
    return problems
