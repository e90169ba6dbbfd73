"""The curve of a watched training: each checkpoint against one stored run, with intervals that hold together."""

from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.measure import Interval, Table
from sociometer.core.stopping import UNDECIDED, Look
from sociometer.core.words import counted
from sociometer.results.stopping import LEVEL, rule_measure
from sociometer.statistics.formatting import amount, bracketed_interval, verdict_marks
from sociometer.store.stored_run import StoredRun


class CurveStep(Struct, frozen=True):
    """A checkpoint, the last look of its rule (difference from the stored run, interval, verdict), and its items."""

    step: int
    run: str
    look: Look
    played: int
    """The number of items with a score that its numbers come from."""
    failed: int = 0
    """The number of episodes among them that failed."""


class CheckpointCurve(Struct, frozen=True):
    """The checkpoints of a training against one stored run, by step."""

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
        ended = [one for one in self.steps if one.look.verdict]
        first = {one.look.verdict: one for one in reversed(ended)}
        said = [
            f"Step {first[how].step} is the first that is {how} than {self.against}, {self._by(first[how].look)}."
            for how in ("worse", "better")
            if how in first
        ]
        if ended and first.keys() <= {UNDECIDED}:
            which = f"any of {len(ended)} checkpoints up to step" if len(ended) > 1 else "step"
            return f"No verdict yet: the items could not decide {which} {ended[-1].step} against {self.against}."
        if ended and "worse" not in first:
            said.append(f"No checkpoint up to step {ended[-1].step} was found to be worse than {self.against}.")
        return " ".join(said) or "No checkpoint has been evaluated to its end."

    @property
    def note(self) -> str:
        """What the intervals promise."""
        return (
            f"{len(self.steps)} of {counted(self.announced, 'announced checkpoint')}. The intervals of all announced"
            f" checkpoints and of all looks at them hold together at {100 * LEVEL:g} % (Bonferroni)."
        )

    def _by(self, look: Look) -> str:
        found, unit = look.value or 0.0, self.measure.unit
        interval = Interval(look.low, look.high, apart=verdict_marks(None))
        return f"by {amount(found, unit, interval=interval)} {bracketed_interval(interval, unit, reverse=found < 0)}"

    def table(self) -> Table:
        """One row for each checkpoint."""
        rows = tuple(
            (
                at.step,
                at.look.value,
                at.look.low,
                at.look.high,
                at.look.verdict or "not ended",
                f"{at.played}, {at.failed} failed" if at.failed else at.played,
                at.run,
            )
            for at in self.steps
        )
        unit = "share-points" if self.measure.unit == "share" else self.measure.unit
        columns = ("step", "difference", "from", "to", "verdict", "items", "run")
        title = f"{self.series} against {self.against}: {self.measure.title}"
        return Table("checkpoints", title, columns, rows, self.note, dict.fromkeys(columns[1:4], unit))


def checkpoint_curve(run: StoredRun) -> CheckpointCurve:
    """The curve of the training that a run is a step of."""
    until, task, steps = run.manifest.config.until, run.tasks[0], list[CurveStep]()
    if until is None or until.checkpoint is None:
        raise ValueError(f"run {run.id} is no step of a watched training")
    for step, one in run.of_same_series().items():
        seen, scored = one.stopping(task), {each.item.id for each in one.view(task).episodes() if each.score}
        last = seen.looks[-1] if seen and seen.looks else Look(0)
        steps.append(CurveStep(step, one.id, last, len(scored), one.failed(task)))
    measure, against = rule_measure(run.definition, task, until), run.name_of(until.against)
    return CheckpointCurve(until.checkpoint.series, against, task, measure, until.models, tuple(steps))
