"""Whether the numbers keep their promises: coverage of intervals, false verdicts, ranks, on data with a known truth.

`python bench/coverage.py [SAMPLES [SEED [PART…]]]` prints one row for each kind of data, of all parts or of those
named by their functions, and exits with code 1 if one misses its goal: 93 to 98.5 % for an interval, at most 6.5 %
false verdicts, at least 94 % for all ranks together. Rows with another goal say why. The error of 2,000 samples
is about half a point.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sociometer.core.measure import Interval
from sociometer.statistics.agreement import cohen_kappa
from sociometer.statistics.correlation import correlation_contrast, pearson
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.measures import grouped_measures
from sociometer.statistics.paired import item_differences
from sociometer.statistics.prediction_powered import Judged, corrected_mean
from sociometer.statistics.ranking import rank_intervals
from sociometer.statistics.reliability import cronbach_alpha

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from fake_runs import fake_run
from sociometer.results.comparison import compare

Array = np.ndarray[Any, Any]
Row = tuple[str, str, list[bool], tuple[float, float], str]
INTERVAL, VERDICT, RANKS = (0.93, 0.985), (0.0, 0.065), (0.94, 1.0)
OPEN = (0.0, 1.0)
"""The goal of a row that docs/reference/numbers.md names as one that misses."""
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
            found.append(item_differences(one * 1.0, two * 1.0, labels, binary=binary).interval())
        goal = (0.93, 1.0) if why else INTERVAL
        yield "difference", name, [holds(one, truth) for one in found], goal, why
        if truth == 0.0:
            yield "false verdicts", name, [excludes_zero(one) for one in found], VERDICT, ""


def sizes_of_stories(rng: np.random.Generator, stories: int) -> Array:
    """Stories of unequal size: most are short, some have many items."""
    return np.repeat(np.arange(stories), 1 + rng.geometric(0.2, stories))


def unequal(rng: np.random.Generator, samples: int) -> Iterator[Row]:
    """Stories of unequal size: a score, a graded score and a difference."""
    for stories in (12, 20, 40):
        right, graded, apart, false, gaps = [], [], [], [], []
        for _ in range(samples):
            labels = sizes_of_stories(rng, stories)
            ease = rng.beta(2, 2, stories)[labels]
            one, two = rng.random(labels.size) < ease, rng.random(labels.size) < rng.beta(2, 2, stories)[labels]
            right.append(holds(clustered_mean_interval(one, labels), 0.5))
            scores = np.clip(rng.normal(0.5, 0.1, stories)[labels] + rng.normal(0, 0.1, labels.size), 0, 1)
            graded.append(holds(clustered_mean_interval(scores, labels, binary=False, scale=(0, 1)), 0.5))
            gain = rng.exponential(0.1, stories)[labels] + rng.normal(0, 0.1, labels.size)
            gaps.append(holds(item_differences(scores, scores + gain, labels, binary=False).interval(), 0.1))
            found = item_differences(one * 1.0, two * 1.0, labels, binary=True).interval()
            apart.append(holds(found, 0.0))
            false.append(excludes_zero(found))
        data = f"{stories} stories of unequal size"
        yield "accuracy", data, right, INTERVAL, ""
        yield "graded", data, graded, INTERVAL, ""
        yield "difference", data, apart, INTERVAL, ""
        yield "graded difference", f"{data}, skewed", gaps, INTERVAL, ""
        yield "false verdicts", data, false, VERDICT, ""


def skew(rng: np.random.Generator, samples: int) -> Iterator[Row]:
    """Skewed graded scores and differences of few items."""
    beta = rng.beta
    for items in (10, 12, 16, 20, 40):
        found = [
            holds(clustered_mean_interval(rng.beta(0.2, 4, items), binary=False, scale=(0, 1)), 0.2 / 4.2)
            for _ in range(samples)
        ]
        goal, why = (OPEN, "named") if items < 12 else (INTERVAL, "")
        yield "skewed", f"{items} scores from Beta(.2, 4)", found, goal, why
        kinds: list[tuple[str, Callable[[int], Array], float, bool]] = [
            ("exponential differences", lambda n: rng.exponential(1, n), 1.0, False),
            ("differences, Beta(1, 4) and Beta(.3, 3)", lambda n: beta(1, 4, n) - beta(0.3, 3, n), 6 / 55, False),
            ("normal differences", lambda n: rng.normal(0, 1, n), 0.0, False),
            ("gains from Beta(.5, 5)", lambda n: beta(0.5, 5, n), 1 / 11, items < 16),
            ("gains from Beta(.2, 4)", lambda n: beta(0.2, 4, n), 1 / 21, items < 40),
            ("differences, Beta(.2, 4) and Beta(1, 20)", lambda n: beta(0.2, 4, n) - beta(1, 20, n), 0, items < 40),
        ]
        for kind, draw, truth, named in kinds:
            made = [item_differences(np.zeros(items), draw(items), binary=False) for _ in range(samples)]
            goal = OPEN if named else INTERVAL if items >= 40 else (0.93, 1.0)
            yield "skewed", f"{items} {kind}", [holds(one.interval(), truth) for one in made], goal, "named" * named


def model_families(rng: np.random.Generator, samples: int) -> Iterator[Row]:
    """Numbers over models that come in families: a correlation, the difference of correlations, and alpha."""
    spread = np.array([[1, 0.4, 0.4], [0.4, 1, 0.7], [0.4, 0.7, 1]])
    ease = np.linspace(-1, 1, 20)
    for groups, alike, skewed_ones in ((10, 0.5, False), (10, 0.9, False), (20, 0.9, False), (20, 0.9, True)):
        codes = np.arange(groups).repeat(rng.integers(1, 6, groups))
        shape = np.exp if skewed_ones else np.positive

        def models(parts: int, codes: Array, alike: float = alike, shape: Any = shape) -> Array:
            """Normal scores, made skewed if so asked; models of a family share the part `alike` of their variance."""
            cut = np.linalg.cholesky(spread[:parts, :parts])
            shared = rng.normal(size=(int(codes.max()) + 1, parts))[codes]
            own = rng.normal(size=(codes.size, parts))
            return np.asarray(
                shape((alike**0.5 * shared + (1 - alike) ** 0.5 * own) @ cut.T * (0.7 if shape is np.exp else 1))
            )

        def test(codes: Array, skill: Any = models) -> Array:
            """Right or wrong answers of models to twenty items."""
            chance = 1 / (1 + np.exp(-skill(1, codes) - ease))
            return (rng.random((codes.size, ease.size)) < chance) * 1.0

        many = np.arange(400_000)
        truth = np.corrcoef(models(3, many).T)
        alpha_truth = cronbach_alpha(test(many)).value or 0.0
        r, contrast, alpha, independent = [], [], [], []
        for _ in range(samples):
            codes = np.arange(groups).repeat(rng.integers(1, 6, groups))
            scores, labels = models(3, codes).T, codes.tolist()
            r.append(holds(pearson(scores[0], scores[1], families=labels).interval, truth[0, 1]))
            independent.append(holds(pearson(scores[0], scores[1]).interval, truth[0, 1]))
            measured = dict(zip("abc", scores.tolist(), strict=True))
            apart = correlation_contrast(measured, "a", labels)[2]
            contrast.append(holds(apart, truth[1, 2] - truth[0, 1:].mean()))
            alpha.append(holds(cronbach_alpha(test(codes), families=labels).interval, alpha_truth))
        data = f"{groups} families of 1 to 5 models, alike {alike}" + ", skewed" * skewed_ones
        named = (OPEN, "named") if skewed_ones else (INTERVAL, "")
        yield "r over models", data, r, *named
        yield "(r, if independent)", data, independent, OPEN, "for comparison"
        yield "r minus r", data, contrast, *named
        yield "alpha", data, alpha, *((OPEN, "named") if (groups, alike) == (10, 0.9) else (INTERVAL, ""))


def families(rng: np.random.Generator, samples: int) -> Iterator[Row]:
    """Several subjects against one, and ranks."""
    for stories, each in ((12, 1), (24, 1), (12, 5)):
        together, labels = [], np.repeat(np.arange(stories), each)
        for _ in range(samples):
            table = np.repeat(rng.normal(0, 0.7, (stories, 12)), each, axis=0) + rng.normal(0, 1, (labels.size, 12))
            ranks = rank_intervals(table, [str(n) for n in range(12)], labels)
            together.append(all(one.interval.low == 1 and one.interval.high == 12 for one in ranks))
        yield "ranks", f"12 equal subjects, {stories} stories of {each}", together, RANKS, ""
    any_false = []
    for _ in range(max(50, samples // 2)):
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
        for _ in range(max(50, samples if subjects < 20 else samples // 4)):
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
    for _ in range(samples):
        ease = rng.beta(2, 2, 150)
        one, two = rng.random(150) < ease, (rng.random(150) < ease).astype(float)
        lost = (two == 0) & (rng.random(150) < 1 / 3)
        row = compare([fake_run("A", one), fake_run("B", [None if gone else value for gone, value in
                                                          zip(lost, two, strict=True)])])[0].measures[0]  # fmt: skip
        plain.append(row.observed == "better")
        told.append(row.verdict == "better")
    yield "failed items", "“better”", told, VERDICT, ""
    yield "failed items", "better without the failed items", plain, OPEN, "for comparison"
    lucky = []
    for _ in range(samples):
        right = (rng.random(150) < 0.25) * 1.0
        gone = (right == 0) & (rng.random(150) < 0.5)
        lucky.append(grouped_measures(fake_run("A", [None if lost else value for lost, value in
                                                     zip(gone, right, strict=True)]), "correct", "accuracy")[0]
                     .side(0.25) == 1)  # fmt: skip
    yield "failed items", "a guesser is “better than chance”", lucky, VERDICT, ""


def others(rng: np.random.Generator, samples: int) -> Iterator[Row]:
    """Reliability, agreement, labels."""
    stories, parts, items = np.repeat(np.arange(10), 5), [], []
    for _ in range(samples):
        shared = np.repeat(rng.normal(0, 1.5, (40, 10)), 5, axis=1)
        table = rng.normal(size=(40, 1)) + shared + rng.normal(0, 2, (40, 50))
        truth = 1 / (1 + 1.5**2 / 10 + 4 / 50)
        parts.append(holds(cronbach_alpha(table, stories).interval, truth))
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


def main(samples: int, seed: int, *names: str) -> int:
    """Print the table, each row with the number of its samples; the rows that miss their goal decide the exit code."""
    missed = 0
    print(f"{'what':20}{'data':60}{'share':>8}{'samples':>9}  goal")
    every = (means, differences, unequal, skew, failures, others, model_families, families)
    for part in [part for part in every if not names or part.__name__ in names]:
        for what, data, found, (low, high), why in part(np.random.default_rng(seed), samples):
            share = float(np.mean(found))
            slack = SLACK * (2000 / max(1, len(found))) ** 0.5
            good = low - slack <= share <= high + slack
            missed += not good
            goal = f"{100 * low:.3g} to {100 * high:.3g} %" + (f" ({why})" if why else "")
            print(
                f"{what:20}{data:60}{100 * share:6.1f} %{len(found):9}  {goal}{'' if good else '  MISSED'}", flush=True
            )
    print(f"{missed} rows miss their goal; {samples} samples.")
    return int(missed > 0)


if __name__ == "__main__":
    samples, seed, *names = [*sys.argv[1:], *("2000", "20_260_101")[len(sys.argv) - 1 :]]
    raise SystemExit(main(int(samples), int(seed), *names))
