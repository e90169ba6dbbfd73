"""A subject over all instruments side by side; one overall number only on request, with the test it must pass."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from sociometer.analysis.clusters import Floats
from sociometer.core.card import Card, MeasureCard
from sociometer.core.measure import Interval, Summary
from sociometer.core.task import SummarisedRun

MINIMUM_SUBJECTS = 10
CHANCE = "chance"
"""The series in which a summary may say what chance earned on the very items played."""


class ProfileLine(Struct, frozen=True):
    """One primary measure of one run; `position` puts it between chance (0) and people, or else the top (1)."""

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
        """Where the value stands on the way from chance to people (to the top where people are unknown)."""
        return None if self.value is None else self.placed(self.value)

    def placed(self, value: float) -> float | None:
        """Any value of this measure on the same way."""
        goal = self.human if self.human is not None else self.top
        if self.chance is None or goal is None or goal == self.chance:
            return None
        return (value - self.chance) / (goal - self.chance)


def profile_lines(
    runs: Sequence[SummarisedRun], cards: Mapping[str, Card], official: Collection[str] = ()
) -> tuple[ProfileLine, ...]:
    """The primary measures of all runs, and places on a norm of people where there are such, in the order of runs.

    `cards` is by run id; `official` are the ids of the runs on other items than the bundled ones.
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
                    _chance(known, card, run.summary, on_official=run.run in official),
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
    """Whether a measure is a place on a scale made from people (an EQ of which 100 is the mean)."""
    return known.unit == "points" and known.human is not None


def _chance(known: MeasureCard, card: Card, summary: Summary, *, on_official: bool) -> float | None:
    """What chance earns on these items: as the run itself says, where its settings change the number of options.

    A value measured on the bundled items says nothing of the official ones; one that follows from the number of
    options (a half, a quarter) holds for both; tasks that `run` does not play by default are on official items
    alone, and so is their chance.
    """
    if known.primary and isinstance(told := summary.series.get(CHANCE), float):
        return told
    by_options = known.chance is not None and (known.chance == 0 or (1 / known.chance).is_integer())
    if on_official and card.task_card(known.task).default and not by_options:
        return None
    return known.chance


class Overall(Struct, frozen=True):
    """One number for a subject, and whether the measures agree enough for it to mean something."""

    subjects: tuple[str, ...]
    scores: tuple[float, ...]
    measures: tuple[str, ...]
    mean_correlation: float | None
    first_factor: float | None
    justified: bool
    reason: str
    left_out: tuple[str, ...] = ()
    """Subjects that lack some of the measures, and so stand in no number."""


def overall(
    table: Mapping[str, Mapping[str, float]], subject: str = "", *, minimum_subjects: int = MINIMUM_SUBJECTS
) -> Overall:
    """Mean position of each subject over measures (subject -> measure -> position), with the test of one number.

    With a `subject`, over all of its measures, and beside the subjects that have them all; else over those that all
    subjects share.
    One number is justified when the measures, over at least ten distinct subjects, correlate: their first
    principal component must hold more of the variance than in 95 % of tables whose columns were shuffled
    (Horn's parallel analysis; Horn, J. L. (1965), Psychometrika 30) and more than half of it.
    """
    measures = sorted(_measures(table, subject))
    subjects = tuple(name for name, values in table.items() if set(measures) <= set(values))
    found = _overall({name: table[name] for name in subjects}, measures, minimum_subjects)
    return structs.replace(found, left_out=tuple(name for name in table if name not in subjects))


def _measures(table: Mapping[str, Mapping[str, float]], subject: str) -> set[str]:
    if subject:
        return set(table.get(subject, {}))
    return set.intersection(*(set(values) for values in table.values())) if table else set()


def _overall(table: Mapping[str, Mapping[str, float]], measures: Sequence[str], minimum_subjects: int) -> Overall:
    subjects = tuple(table)
    values = np.array([[table[name][measure] for measure in measures] for name in subjects], dtype=np.float64)
    scores = tuple(float(score) for score in values.mean(axis=1)) if measures else ()
    if len(measures) < 2:
        reason = f"{_counted(len(measures), 'measure is', 'measures are')} shared; at least two are needed"
        return Overall(subjects, scores, tuple(measures), None, None, False, reason)
    varies = values[:, values.std(axis=0) > 0]
    if len(subjects) < minimum_subjects or varies.shape[1] < 2:
        reason = (
            f"{_counted(len(subjects), 'subject', 'subjects')} cannot show whether the measures agree; "
            f"at least {minimum_subjects} are needed"
        )
        return Overall(subjects, scores, tuple(measures), None, None, False, reason)
    share = _first_share(varies)
    limit = _shuffled_limit(varies)
    correlations = np.atleast_2d(np.corrcoef(varies, rowvar=False))
    mean = float(correlations[np.triu_indices(varies.shape[1], 1)].mean())
    justified = share > limit and share > 0.5 and mean > 0
    word = "agree" if justified else "do not agree"
    reason = f"the measures {word}: one component holds {share:.0%} of their variance (shuffled tables: {limit:.0%})"
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
