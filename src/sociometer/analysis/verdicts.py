"""Verdicts: whether the second subject is better, worse or equivalent, from p-values corrected within each family."""

from collections.abc import Sequence

from msgspec import Struct, structs

from sociometer.analysis.comparison import ComparedMeasure, Terms, Verdict
from sociometer.analysis.detectable import detectable_difference, needed_items
from sociometer.analysis.equivalence import Equivalence, equivalence_of
from sociometer.analysis.multiplicity import benjamini_hochberg, holm
from sociometer.analysis.paired import PairedDifference
from sociometer.core.card import MeasureCard


class UncorrectedDifference(Struct, frozen=True):
    """A paired difference on one measure, overall (empty `group`) or on one level of a facet, before correction."""

    measure: MeasureCard
    group: dict[str, str]
    paired: PairedDifference

    @property
    def family(self) -> str:
        """The family to correct for: all primary measures, all others, or one way of grouping one measure."""
        if self.group:
            return f"{self.measure.name} by {'+'.join(sorted(self.group))}"
        return "primary" if self.measure.primary else "secondary"


def decide(differences: Sequence[UncorrectedDifference], terms: Terms) -> list[ComparedMeasure]:
    """Each difference with its verdict, in the given order; p-values are corrected within each family."""
    families: dict[str, list[int]] = {}
    for index, difference in enumerate(differences):
        families.setdefault(difference.family, []).append(index)
    result: dict[int, ComparedMeasure] = {}
    for members in families.values():
        raw = [differences[index].paired.p_value for index in members]
        corrected = zip(holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True)
        equivalences = _equivalences([differences[index] for index in members], terms)
        for index, (p_holm, p_bh), equivalence in zip(members, corrected, equivalences, strict=True):
            result[index] = _decided(differences[index], p_holm, p_bh, len(members), terms, equivalence)
    return [result[index] for index in range(len(differences))]


def _equivalences(family: Sequence[UncorrectedDifference], terms: Terms) -> list[Equivalence | None]:
    """The equivalence tests of a family, corrected over it in the same way as the tests of difference."""
    if terms.margin is None:
        return [None] * len(family)
    alpha = 1 - terms.level
    tests = [
        equivalence_of(
            member.paired.difference, member.paired.standard_error, member.paired.clusters, terms.margin, alpha
        )
        for member in family
    ]
    corrected = holm([test.p_value for test in tests]).tolist()
    return [
        structs.replace(test, p_holm=p_holm, equivalent=p_holm < alpha and not member.paired.interval.too_few)
        for member, test, p_holm in zip(family, tests, corrected, strict=True)
    ]


def _decided(
    difference: UncorrectedDifference,
    p_holm: float,
    p_bh: float,
    family: int,
    terms: Terms,
    equivalence: Equivalence | None,
) -> ComparedMeasure:
    paired, measure = difference.paired, difference.measure
    level = 1 - (1 - terms.level) / family
    few = paired.interval.too_few
    return ComparedMeasure(
        name=measure.name,
        title=measure.title,
        unit=measure.unit,
        better=measure.better,
        group=difference.group,
        paired=paired,
        p_holm=p_holm,
        p_benjamini_hochberg=p_bh,
        verdict=_verdict(difference, p_holm, terms, equivalence),
        detectable=None if few else detectable_difference(paired, power=terms.power, level=level),
        needed=needed_items(paired, terms.margin, power=terms.power, level=level) if terms.margin else None,
        equivalence=equivalence,
        primary=measure.primary,
        family=family,
    )


def _verdict(
    difference: UncorrectedDifference, p_holm: float, terms: Terms, equivalence: Equivalence | None
) -> Verdict:
    paired, better = difference.paired, difference.measure.better
    if paired.interval.too_few:
        return "too few"
    if p_holm < 1 - terms.level and paired.difference != 0:
        if better == "neither":
            return "differs"
        higher = paired.difference > 0
        return "better" if higher == (better == "higher") else "worse"
    return "equivalent" if equivalence is not None and equivalence.equivalent else "cannot tell"
