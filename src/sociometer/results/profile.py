"""The profile of a subject over all instruments, and one overall number with a test of whether it is justified."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from sociometer.core.card import Card, MeasureCard
from sociometer.core.measure import Interval
from sociometer.core.task import SummarisedRun
from sociometer.statistics.formatting import chance_of
from sociometer.statistics.intervals import Floats

MINIMUM_SUBJECTS = 10


class ProfileLine(Struct, frozen=True):
    """One primary measure of one run, with its reference values: chance, people and the top."""

    instrument: str
    title: str
    task: str
    run: str
    subject: str
    measure: str
    measure_title: str
    unit: str
    better: str
    value: float | None
    interval: Interval | None
    chance: float | None
    human: float | None
    top: float | None
    items: int
    unreadable: int
    errors: int
    stand_ins: tuple[str, ...]
    note: str = ""

    @property
    def position(self) -> float | None:
        """The value on a scale from chance (0) to people (1), or to the top (1) if the value of people is unknown."""
        return None if self.value is None else self.placed(self.value)

    def placed(self, value: float) -> float | None:
        """Any value of this measure on the scale of `position`."""
        goal = self.human if self.human is not None else self.top
        if self.chance is None or goal is None or goal == self.chance:
            return None
        return (value - self.chance) / (goal - self.chance)


def profile_lines(
    runs: Sequence[SummarisedRun], cards: Mapping[str, Card], official: Collection[str] = ()
) -> tuple[ProfileLine, ...]:
    """The primary measures of all runs, and their scores on a norm of people if they have one, in the order of runs.

    `cards` is by run id; `official` are the ids of the runs on items other than the bundled ones.
    """
    found = []
    for run in runs:
        card = cards[run.run]
        for known in card.measures_of(run.task):
            measure = run.summary.measure(known.name)
            if measure is None or not (known.primary or (on_norm(known) and measure.value is not None)):
                continue
            found.append(
                ProfileLine(
                    card.name,
                    card.title,
                    run.task,
                    run.run,
                    run.subject,
                    known.name,
                    known.title,
                    known.unit,
                    known.better,
                    measure.value,
                    measure.interval,
                    chance_of(known, card, run.summary, on_official=run.run in official),
                    known.human,
                    known.top,
                    measure.items,
                    measure.unreadable,
                    measure.errors,
                    run.stand_ins,
                    measure.note,
                )
            )
    return tuple(found)


def on_norm(known: MeasureCard) -> bool:
    """Whether a measure is a score on a norm of people (such as an EQ with mean 100)."""
    return known.unit == "points" and known.human is not None


class Overall(Struct, frozen=True):
    """One number for each subject, and whether the measures agree enough to justify it."""

    subjects: tuple[str, ...]
    scores: tuple[float, ...]
    measures: tuple[str, ...]
    mean_correlation: float | None
    first_factor: float | None
    justified: bool
    reason: str
    left_out: tuple[str, ...] = ()
    """Subjects that lack some of the measures and so have no number."""


def overall(table: Mapping[str, Mapping[str, float]], subject: str = "") -> Overall:
    """Mean position of each subject over measures (subject -> measure -> position), and a test of whether to use it.

    With a `subject`: all measures of that subject, and the subjects that have them all. Without: the measures that all
    subjects share.

    One number is justified if the measures correlate over at least ten distinct subjects: the first principal
    component must explain more than half of the variance, and more than in 95 % of tables with shuffled columns
    (Horn's parallel analysis; Horn, J. L. (1965), Psychometrika 30).
    """
    measures = sorted(_measures(table, subject))
    subjects = tuple(name for name, values in table.items() if set(measures) <= set(values))
    found = _overall({name: table[name] for name in subjects}, measures)
    return structs.replace(found, left_out=tuple(name for name in table if name not in subjects))


def _measures(table: Mapping[str, Mapping[str, float]], subject: str) -> set[str]:
    if subject:
        return set(table.get(subject, {}))
    return set.intersection(*(set(values) for values in table.values())) if table else set()


def _overall(table: Mapping[str, Mapping[str, float]], measures: Sequence[str]) -> Overall:
    subjects = tuple(table)
    values = np.array([[table[name][measure] for measure in measures] for name in subjects], dtype=np.float64)
    scores = tuple(float(score) for score in values.mean(axis=1)) if measures else ()
    if len(measures) < 2:
        reason = f"{_counted(len(measures), 'measure is', 'measures are')} shared; at least two are needed"
        return Overall(subjects, scores, tuple(measures), None, None, False, reason)
    varies = values[:, values.std(axis=0) > 0]
    if len(subjects) < MINIMUM_SUBJECTS or varies.shape[1] < 2:
        reason = (
            f"{_counted(len(subjects), 'subject', 'subjects')} cannot show whether the measures agree; "
            f"at least {MINIMUM_SUBJECTS} are needed"
        )
        return Overall(subjects, scores, tuple(measures), None, None, False, reason)
    share = _first_share(varies)
    limit = _shuffled_limit(varies)
    correlations = np.atleast_2d(np.corrcoef(varies, rowvar=False))
    mean = float(correlations[np.triu_indices(varies.shape[1], 1)].mean())
    justified = share > limit and share > 0.5 and mean > 0
    word = "agree" if justified else "do not agree"
    reason = f"the measures {word}: one component explains {share:.0%} of their variance (shuffled tables: {limit:.0%})"
    return Overall(subjects, scores, tuple(measures), mean, share, justified, reason)


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _first_share(values: Floats) -> float:
    strongest = np.linalg.eigvalsh(np.atleast_2d(np.corrcoef(values, rowvar=False)))[-1]
    return float(strongest) / int(values.shape[1])


def _shuffled_limit(values: Floats, draws: int = 500, seed: int = 20_240_229) -> float:
    generator = np.random.default_rng(seed)
    shares = [_first_share(generator.permuted(values, axis=0)) for _ in range(draws)]
    return float(np.quantile(shares, 0.95))
