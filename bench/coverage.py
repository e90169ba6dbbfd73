"""Whether the numbers keep their promises: coverage of intervals, false verdicts, ranks, on data with a known truth.

`python bench/coverage.py [SAMPLES]` prints one row for each kind of data, and exits with code 1 if one misses its goal:
93 to 97.5 % for an interval, at most 5 % false verdicts, at least 94 % for all ranks together. Rows with another goal
say why. The Monte Carlo error of 2,000 samples is about half a point.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sociometer.core.measure import Interval
from sociometer.statistics.agreement import cohen_kappa
from sociometer.statistics.calibration import calibrated_range, calibration_error
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.paired import paired_difference
from sociometer.statistics.prediction_powered import Judged, corrected_mean
from sociometer.statistics.ranking import rank_intervals
from sociometer.statistics.reliability import cronbach_alpha, story_sums

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from fake_runs import fake_run
from sociometer.results.comparison import compare

Array = np.ndarray[Any, Any]
Row = tuple[str, str, list[bool], tuple[float, float], str]
INTERVAL, VERDICT, RANKS = (0.93, 0.975), (0.0, 0.05), (0.94, 1.0)
SLACK = 0.012
"""Twice the Monte Carlo error of 2,000 samples."""


def holds(interval: Interval | None, truth: float) -> bool:
    """Whether an interval contains the truth."""
    return interval is not None and interval.low is not None and interval.high is not None and (
        interval.low - 1e-12 <= truth <= interval.high + 1e-12
    )  # fmt: skip


def excludes_zero(interval: Interval) -> bool:
    """Whether a verdict would follow."""
    return not holds(interval, 0.0)


def skewed(rng: np.random.Generator, items: int, zeros: float = 0.9) -> Array:
    """Scores of hard dialogues: most are zero, the others anything up to 100."""
    return np.where(rng.random(items) < zeros, 0.0, rng.uniform(0, 100, items))


def means(rng: np.random.Generator, samples: int) -> Iterator[Row]:
    """Intervals of a score."""
    for items in (12, 40, 150):
        for share in (0.5, 0.85):
            found = [holds(clustered_mean_interval(rng.random(items) < share), share) for _ in range(samples)]
            wide = "" if items >= 40 else "few items: a discrete distribution"
            yield "accuracy", f"{items} items, {share:.0%}", found, INTERVAL if items >= 40 else (0.93, 1.0), wide
    for trees in (15, 40):
        labels = np.repeat(np.arange(trees), 5)
        found = [
            holds(clustered_mean_interval(rng.random(trees * 5) < np.repeat(rng.beta(2, 1, trees), 5), labels), 2 / 3)
            for _ in range(samples)
        ]
        yield "clusters", f"{trees} trees of 5 items", found, INTERVAL, ""
    for items, repeats in ((20, 3), (40, 3), (40, 10)):
        names = np.repeat(np.arange(items), repeats)
        found = [
            holds(clustered_mean_interval(rng.random(items * repeats) < np.repeat(rng.beta(2, 2, items), repeats),
                                          items=names), 0.5)
            for _ in range(samples)
        ]  # fmt: skip
        yield "repeats", f"{items} items, {repeats} times", found, INTERVAL, ""
    for items in (10, 24, 60):
        found = [
            holds(clustered_mean_interval(skewed(rng, items), binary=False, scale=(0, 100)), 5) for _ in range(samples)
        ]
        yield "skewed", f"{items} scores, 90 % zeros", found, (0.90, 1.0), "one to six scores above zero"
    for items in (10, 24, 60):
        found = [
            holds(clustered_mean_interval(skewed(rng, items, 0.5), binary=False, scale=(0, 100)), 25)
            for _ in range(samples)
        ]
        yield "skewed", f"{items} scores, 50 % zeros", found, INTERVAL, ""


def differences(rng: np.random.Generator, samples: int) -> Iterator[Row]:
    """Intervals and false verdicts of two subjects."""
    makers: list[tuple[str, Callable[[], tuple[Array, Array, Any, bool]], float, str]] = []
    for items in (20, 60, 150):

        def right(items: int = items) -> tuple[Array, Array, Any, bool]:
            ease = rng.beta(2, 2, items)
            return rng.random(items) < ease, rng.random(items) < ease, None, True

        makers.append((f"{items} right or wrong", right, 0.0, "" if items > 20 else "few items"))
    for items in (10, 24, 60):

        def sparse(items: int = items) -> tuple[Array, Array, Any, bool]:
            return skewed(rng, items), skewed(rng, items), None, False

        makers.append((f"{items} scores, 90 % zeros", sparse, 0.0, "few scores above zero" if items < 60 else ""))
    for items in (12, 40):

        def normal(items: int = items) -> tuple[Array, Array, Any, bool]:
            base = rng.normal(0, 2, items)
            return base + rng.normal(size=items), base + rng.normal(1, 1, items), None, False

        makers.append((f"{items} distances, a difference", normal, 1.0, ""))

    def trees() -> tuple[Array, Array, Any, bool]:
        ease = np.repeat(rng.beta(2, 2, 30), 5)
        return rng.random(150) < ease, rng.random(150) < ease, np.repeat(np.arange(30), 5), True

    makers.append(("30 trees of 5 items", trees, 0.0, ""))
    for name, make, truth, why in makers:
        found = []
        for _ in range(samples):
            one, two, labels, binary = make()
            found.append(paired_difference(one * 1.0, two * 1.0, labels, binary=binary, draws=1).interval)
        goal = (0.93, 1.0) if why else INTERVAL
        yield "difference", name, [holds(one, truth) for one in found], goal, why
        if truth == 0.0:
            yield "false verdicts", name, [excludes_zero(one) for one in found], VERDICT, ""


def families(rng: np.random.Generator, samples: int) -> Iterator[Row]:
    """Several subjects against one, and ranks."""
    any_false = []
    for _ in range(max(50, samples // 4)):
        ease = rng.beta(2, 2, 80)
        runs = [fake_run(f"m{number}", rng.random(80) < ease) for number in range(6)]
        any_false.append(any(row.verdict in ("better", "worse") for one in compare(runs) for row in one.measures))
    yield "false verdicts", "any of 5 subjects against a sixth, 80 items", any_false, VERDICT, ""
    for subjects, items in ((4, 40), (8, 40), (8, 150), (20, 150)):
        truth = np.linspace(0.5, 0.8, subjects).round(2)
        truth[1] = truth[0]
        low = np.array([1 + (truth > own).sum() for own in truth])
        high = np.array([subjects - (truth < own).sum() for own in truth])
        together, first = [], []
        names = [str(number) for number in range(subjects)]
        for _ in range(max(50, samples // 4)):
            table = rng.random((items, subjects)) < np.clip(truth + rng.normal(0, 0.2, (items, 1)), 0, 1)
            ranks = {int(one.subject): one for one in rank_intervals(table * 1.0, names)}
            together.append(
                all(ranks[n].interval.low <= low[n] and high[n] <= ranks[n].interval.high for n in range(subjects))
            )
            leaders = [n for n in range(subjects) if ranks[n].interval.low == 1]
            first.append(len(leaders) == 1 and truth[leaders[0]] < truth.max())
        yield "ranks", f"all of {subjects} subjects, {items} items", together, RANKS, ""
        yield "false verdicts", f"a wrong first of {subjects} subjects, {items} items", first, VERDICT, ""


def failures(rng: np.random.Generator, samples: int) -> Iterator[Row]:
    """A subject that fails on a third of the items that it would get wrong."""
    plain, told = [], []
    for _ in range(max(50, samples // 4)):
        ease = rng.beta(2, 2, 150)
        one, two = rng.random(150) < ease, (rng.random(150) < ease).astype(float)
        lost = (two == 0) & (rng.random(150) < 1 / 3)
        row = compare([fake_run("A", one), fake_run("B", [None if gone else value for gone, value in
                                                          zip(lost, two, strict=True)])])[0].measures[0]  # fmt: skip
        plain.append(row.verdict == "better")
        told.append(row.verdict == "better" and not row.with_failed)
    yield "failed items", "“better” without a word about them", told, VERDICT, ""
    yield "failed items", "“better”, with or without", plain, (0.0, 1.0), "the headline tells it"


def others(rng: np.random.Generator, samples: int) -> Iterator[Row]:
    """Calibration, reliability, agreement, labels."""
    inside, sure = [], []
    for _ in range(max(50, samples // 2)):
        confidence = rng.uniform(0.25, 1.0, 60)
        right = (rng.random(60) < confidence) * 1.0
        low, high = calibrated_range(confidence, draws=400)
        inside.append(low <= calibration_error(confidence, right[None, :])[0] <= high)
        sure.append(holds(clustered_mean_interval(confidence - right, binary=False, scale=(-1, 1)), 0.0))
    yield "calibration", "error of a calibrated subject in its range", inside, INTERVAL, ""
    yield "calibration", "confidence minus accuracy, 60 items", sure, INTERVAL, ""
    stories, parts, items = np.repeat(np.arange(10), 5), [], []
    for _ in range(max(50, samples // 4)):
        shared = np.repeat(rng.normal(0, 1.5, (40, 10)), 5, axis=1)
        table = rng.normal(size=(40, 1)) + shared + rng.normal(0, 2, (40, 50))
        truth = 1 / (1 + 1.5**2 / 10 + 4 / 50)
        parts.append(holds(cronbach_alpha(*story_sums(table, stories)).interval, truth))
        items.append(holds(cronbach_alpha(table).interval, truth))
    yield "reliability", "alpha over 10 stories, 40 subjects", parts, INTERVAL, ""
    yield "reliability", "(alpha over their 50 items, not shown any more)", items, (0.0, 1.0), "for comparison"
    for units, rare in ((15, 0.5), (30, 0.2), (60, 0.2)):

        def raters(count: int, rare: float = rare) -> list[list[bool]]:
            truth = rng.random(count) < rare
            return [np.where(rng.random(count) < 0.9, truth, rng.random(count) < 0.5).tolist() for _ in range(2)]

        kappa = cohen_kappa(*raters(400_000)).value
        found = [holds(one, kappa) for _ in range(samples) if (one := cohen_kappa(*raters(units)).interval) is not None]
        yield "kappa", f"{units} units, {rare:.0%} of one kind", found, (0.93, 1.0), "few units"
    for labels in (40, 100):
        found = []
        for _ in range(max(50, samples // 2)):
            people = rng.random(400) < 0.08
            judge = np.where(people, rng.random(400) < 0.8, rng.random(400) < 0.05)
            known = set(rng.choice(400, labels, replace=False).tolist())
            made = corrected_mean(
                [Judged(str(n), float(judge[n]), float(people[n]) if n in known else None) for n in range(400)]
            )
            found += [holds(made.interval, 0.08)] if made is not None else []
        yield "labels", f"a share of 8 %, {labels} labels, where given", found, (0.92, 1.0), "a rare share"


def main(samples: int) -> int:
    """Print the table; the number of rows that miss their goal decides the exit code."""
    missed = 0
    print(f"{'what':16}{'data':52}{'share':>8}  goal")
    for part in (means, differences, families, failures, others):
        for what, data, found, (low, high), why in part(np.random.default_rng(20_260_101), samples):
            share = float(np.mean(found))
            slack = SLACK * (2000 / max(1, len(found))) ** 0.5
            good = low - slack <= share <= high + slack
            missed += not good
            goal = f"{100 * low:.3g} to {100 * high:.3g} %" + (f" ({why})" if why else "")
            print(f"{what:16}{data:52}{100 * share:7.1f} %  {goal}{'' if good else '  MISSED'}", flush=True)
    print(f"{missed} rows miss their goal; {samples} samples.")
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000))
