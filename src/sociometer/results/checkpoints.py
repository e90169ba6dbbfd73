"""The curve of a watched training: each checkpoint against one stored run, with intervals that hold together."""

from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.errors import NotFound
from sociometer.core.measure import Interval, Table
from sociometer.core.stopping import StoppingRecord
from sociometer.core.words import counted
from sociometer.results.stopping import LEVEL, rule_measure
from sociometer.statistics.formatting import amount, bracketed_interval
from sociometer.store.stored_run import StoredRun


class CurveStep(Struct, frozen=True):
    """A checkpoint with its difference from the stored run, as the last look of its rule saw it."""

    step: int
    run: str
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    """`better`, `worse`, `equivalent`, `cannot be decided`; empty if the run has not ended."""
    items: int = 0


class CheckpointCurve(Struct, frozen=True):
    """The checkpoints of a training, by step."""

    series: str
    against: str
    task: str
    measure: MeasureCard
    announced: int
    """The number of checkpoints that share the error rate."""
    steps: tuple[CurveStep, ...]

    @property
    def sentence(self) -> str:
        """Which step is the first that is worse, and which the first that is better, than the stored run."""
        ended = [one for one in self.steps if one.verdict]
        said = [
            f"Step {first.step} is the first that is {verdict} than {self.against}{self._by(first)}."
            for verdict in ("worse", "better")
            for first in [one for one in ended if one.verdict == verdict][:1]
        ]
        if ended and not any(one.verdict == "worse" for one in ended):
            said.append(f"No checkpoint up to step {ended[-1].step} was found to be worse than {self.against}.")
        return " ".join(said) or "No checkpoint has been evaluated to its end."

    @property
    def note(self) -> str:
        """What the intervals promise."""
        share = f", {100 * (1 - LEVEL):g} %/{self.announced} for each" if self.announced > 1 else ""
        return (
            f"{len(self.steps)} of {counted(self.announced, 'announced checkpoint')}. The intervals of all announced"
            f" checkpoints and of all looks at them hold together at {100 * LEVEL:g} % (Bonferroni{share})."
        )

    def _by(self, step: CurveStep) -> str:
        if step.difference is None:
            return ""
        interval, unit = Interval(step.low, step.high), self.measure.unit
        size = amount(step.difference, unit, interval=interval)
        return f", by {size} {bracketed_interval(interval, unit, reverse=step.difference < 0)}"

    def table(self) -> Table:
        """One row for each checkpoint."""
        rows = tuple(
            (one.step, one.difference, one.low, one.high, one.verdict or "not ended", one.items, one.run)
            for one in self.steps
        )
        unit = "share-points" if self.measure.unit == "share" else self.measure.unit
        columns = ("step", "difference", "from", "to", "verdict", "items", "run")
        title = f"{self.series} against {self.against}: {self.measure.title}"
        return Table("checkpoints", title, columns, rows, self.note, dict.fromkeys(columns[1:4], unit))


def checkpoint_curve(run: StoredRun) -> CheckpointCurve | None:
    """The curve of the training that a run is a step of; None for any other run."""
    until, runs = run.manifest.config.until, run.of_same_series()
    if until is None or until.checkpoint is None:
        return None
    task = run.tasks[0]
    try:
        against = run.beside(until.against).subject
    except NotFound:
        against = until.against
    steps = tuple(_step(one, one.stopping(task)) for one in runs)
    measure = rule_measure(run.definition, task, until)
    return CheckpointCurve(until.checkpoint.series, against, task, measure, until.models, steps)


def _step(run: StoredRun, seen: StoppingRecord | None) -> CurveStep:
    until = run.manifest.config.until
    step = until.checkpoint.step if until and until.checkpoint else 0
    if seen is None or not seen.looks:
        return CurveStep(step, run.id)
    last = seen.looks[-1]
    return CurveStep(step, run.id, last.value, last.low, last.high, last.verdict, last.items)
