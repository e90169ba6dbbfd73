"""How lenient a simulator is compared with another, and the link between their scales."""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from statistics import fmean, pstdev, pvariance

from msgspec import Struct

from sociometer.core.measure import Interval
from sociometer.statistics.distributions import chi_square_above, t_quantile
from sociometer.statistics.intervals import too_few
from sociometer.statistics.paired import PairedDifference, paired_difference

Scores = Mapping[str, Mapping[str, float]]
"""Final emotions by subject and scenario."""
LARGEST_DIFFERENCE = 100.0
"""No two means on the scale of 0 to 100 differ by more."""
FEWEST_FOR_A_SLOPE = 4
"""With fewer anchors the link is a shift."""


class Leniency(Struct, frozen=True):
    """How much more lenient a simulator is than the reference on shared dialogues, and the link between the scales.

    The subjects of both simulators are the anchors. `gaps` is how much more lenient it is to each of them. The link is
    a shift (`slope` 1), or a line through the anchors' means if it misses left-out anchors by less than the shift.
    `unlinked` and `error` are the root mean square errors for the mean of an anchor that is left out in turn, before
    and after the link; None with one anchor. `alike` is the p-value of one link for all anchors: by chance alone their
    misses would differ as much.
    """

    simulator: str
    dialogues: int
    mean: float
    difference: PairedDifference
    slope: float
    intercept: float
    gaps: dict[str, float]
    misses: dict[str, float]
    """What the link misses for each anchor, with all anchors in the link."""
    unlinked: float | None
    error: float | None
    alike: float | None

    def calibrated(self, score: float) -> float | None:
        """A mean on the reference's scale; None with one subject.

        One subject cannot show how much of the gap comes from the simulator and how much from this subject.
        """
        return None if self.error is None else self.intercept + self.slope * score

    def interval(self, score: float) -> Interval:
        """The interval of a calibrated score, by Student's t over the subjects that the line is based on."""
        value = self.calibrated(score)
        if value is None or self.error is None:
            return too_few(len(self.gaps))
        half = t_quantile(0.975, len(self.gaps) - 1) * self.error
        low, high = max(0.0, value - half), min(LARGEST_DIFFERENCE, value + half)
        return Interval(low, high, 0.95, "left-out subjects, Student's t", len(self.gaps))


def means(scores: Scores) -> dict[str, float]:
    """Each subject's mean over its scenarios."""
    return {subject: fmean(values.values()) for subject, values in scores.items() if values}


def leniency(simulator: str, theirs: Scores, reference: Scores) -> Leniency | None:
    """A simulator against the reference on the dialogues (subject and scenario) that both have; None without any."""
    pairs = {
        subject: [(theirs[subject][name], reference[subject][name], name) for name in shared]
        for subject in sorted(set(theirs) & set(reference))
        if (shared := sorted(set(theirs[subject]) & set(reference[subject])))
    }
    every = [pair for found in pairs.values() for pair in found]
    if len(every) < 2:
        return None
    own, base = [one for one, _, _ in every], [two for _, two, _ in every]
    difference = paired_difference(base, own, [scenario for _, _, scenario in every])
    gaps = {subject: fmean(one - two for one, two, _ in found) for subject, found in pairs.items()}
    anchors = [_anchor(found) for found in pairs.values()]
    before = _root_mean_square(gaps.values()) if len(anchors) > 1 else None
    after = _left_out(anchors, sloped=False) if len(anchors) > 1 else None
    bent = _left_out(anchors, sloped=True) if len(anchors) >= FEWEST_FOR_A_SLOPE else None
    sloped = bent is not None and after is not None and bent < after
    slope, intercept = _line(anchors, sloped)
    rests = {name: [two - intercept - slope * one for one, two, _ in found] for name, found in pairs.items()}
    misses = {name: fmean(found) for name, found in rests.items()}
    return Leniency(
        simulator, len(every), fmean(own), difference, slope, intercept, gaps, misses, before,
        bent if sloped else after, _alike(rests),
    )  # fmt: skip


def _root_mean_square(values: Iterable[float]) -> float:
    return sqrt(fmean(value * value for value in values))


def _alike(rests: Mapping[str, Sequence[float]]) -> float | None:
    """Cochran's test of equal misses: p of Σ (miss / standard error)² around their weighted mean; None with one."""
    known = [found for found in rests.values() if len(found) > 1 and pstdev(found) > 0]
    if len(known) < 2:
        return None
    weights = [len(found) / (pstdev(found) ** 2 * len(found) / (len(found) - 1)) for found in known]
    centre = sum(weight * fmean(found) for weight, found in zip(weights, known, strict=True)) / sum(weights)
    spread = sum(weight * (fmean(found) - centre) ** 2 for weight, found in zip(weights, known, strict=True))
    return chi_square_above(spread, len(known) - 1)


_Anchor = tuple[float, float, float, float]
"""The mean of a subject with the simulator and with the reference, and the variances of both means."""


def _anchor(pairs: Sequence[tuple[float, float, str]]) -> _Anchor:
    own, base = [one for one, _, _ in pairs], [two for _, two, _ in pairs]
    of_own, of_base = (pvariance(scores) / max(1, len(scores) - 1) for scores in (own, base))
    return fmean(own), fmean(base), of_own, of_base


def _line(anchors: Iterable[_Anchor], sloped: bool) -> tuple[float, float]:
    """Slope and intercept of the line that gives the anchors' means the same mean on both scales, and the same spread.

    The spread is that of the means less the variance of single means: unequal noise would tilt the line. Without a
    spread, or not `sloped`, the slope is 1.
    """
    known = list(zip(*anchors, strict=True))
    own, base = (pvariance(known[side]) - fmean(known[side + 2]) for side in range(2))
    slope = sqrt(base / own) if sloped and own > 0 and base > 0 else 1.0
    return slope, fmean(known[1]) - slope * fmean(known[0])


def _left_out(anchors: Sequence[_Anchor], sloped: bool) -> float:
    """The root mean square error of a link for an anchor that is left out in turn."""
    missed = []
    for place, (own, base, _, _) in enumerate(anchors):
        slope, above = _line((*anchors[:place], *anchors[place + 1 :]), sloped)
        missed.append(base - above - slope * own)
    return _root_mean_square(missed)
