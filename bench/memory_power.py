"""How many pairs `run sage --task return` needs, by simulation: the width and the coverage of the interval of a loss.

`python bench/memory_power.py` prints the table; `plan` states the pairs for a half-width of .12 (`power` in the card).
The simulated subject agrees in 95 % of the talks where the person is right. Where they are wrong it agrees in 10 %
without memory and in 40 % with one, so that the true loss is .3. Half of the talks share their luck in both arms,
because some matters are harder than others.
"""

from bisect import bisect_left
from functools import cache

import numpy as np

from sociometer.core.measure import Interval
from sociometer.statistics.intervals import MINIMUM_CLUSTERS, clustered_mean_interval

HALF_WIDTH, MOST = 0.12, 1000
RUNS = 4000
RIGHT_AGREED, WRONG_AGREED, SHARED = 0.95, (0.1, 0.4), 0.5
LOSS = WRONG_AGREED[1] - WRONG_AGREED[0]


@cache
def intervals(pairs: int) -> tuple[Interval, ...]:
    """The interval of the loss in each simulated run of so many pairs."""
    rng = np.random.default_rng(pairs)
    matter, talk, coin = (rng.random((2, RUNS, pairs, arms)) for arms in (1, 2, 1))
    right, wrong = np.where(coin < SHARED, matter, talk)
    discernment = (right < RIGHT_AGREED).astype(float) - (wrong < np.array(WRONG_AGREED))
    lost = discernment[..., 0] - discernment[..., 1]
    return tuple(clustered_mean_interval(run, range(pairs), binary=False, scale=(-2.0, 2.0)) for run in lost)


def half_width(pairs: int) -> float:
    """The half-width that four of five runs of so many pairs do not exceed."""
    return float(np.quantile([((one.high or 0) - (one.low or 0)) / 2 for one in intervals(pairs)], 0.8))


def coverage(pairs: int) -> float:
    """The share of runs whose interval has the true loss in it."""
    return float(np.mean([(one.low or 0) <= LOSS <= (one.high or 0) for one in intervals(pairs)]))


def pairs_needed() -> int:
    """The pairs from which on four of five runs have at most this half-width."""
    return MINIMUM_CLUSTERS + bisect_left(range(MINIMUM_CLUSTERS, MOST), -HALF_WIDTH, key=lambda n: -half_width(n))


def main() -> None:
    """Print the table and the pairs needed."""
    print("pairs  half-width  coverage")
    for pairs in (12, 30, 60, 100, 150):
        print(f"{pairs:5}  {half_width(pairs):10.3f}  {coverage(pairs):8.3f}")
    print(f"± {HALF_WIDTH} needs {pairs_needed()} pairs.")


if __name__ == "__main__":
    main()
