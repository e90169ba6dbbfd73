"""What a paired difference amounts to: a verdict, corrected for its family, and what these items could have shown."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, structs

from sociometer.analysis.equivalence import Equivalence, equivalence_of
from sociometer.analysis.multiplicity import benjamini_hochberg, holm
from sociometer.analysis.paired import PairedDifference
from sociometer.analysis.reach import detectable, needed
from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError

Verdict = Literal["better", "worse", "differs", "equivalent", "cannot tell", "too few"]


class ComparedMeasure(Struct, frozen=True):
    """Second against first on one measure, overall (no group) or on one level of a facet.

    `detectable` is the difference these items would show with the stated power; `needed` the items that the
    user's margin takes; both are at the corrected level and never follow from the observed difference.
    """

    name: str
    title: str
    unit: str
    better: str
    group: dict[str, str]
    paired: PairedDifference
    p_holm: float
    p_benjamini_hochberg: float
    verdict: Verdict
    detectable: float | None
    needed: int | None = None
    equivalence: Equivalence | None = None
    primary: bool = False
    family: int = 1
    """How many comparisons the p-values are corrected for."""


class Terms(Struct, frozen=True):
    """What the user asks of a comparison: level, power, and the margin that would matter to them."""

    level: float = 0.95
    power: float = 0.8
    margin: float | None = None
    """In the measure's own scale: 0.03 is three points of a share."""

    def __post_init__(self) -> None:
        if not 0.5 < self.level < 1:
            raise UsageError(f"the level must lie between 0.5 and 1, not {self.level}.")
        if not 0 < self.power < 1:
            raise UsageError(f"--power must lie between 0 and 1, not {self.power}; 0.8 is usual.")
        if self.margin is not None and self.margin <= 0:
            raise UsageError(f"--margin must be above 0, not {self.margin}; state the difference that would matter.")


class Draft(Struct, frozen=True):
    """A comparison before correction for the others."""

    measure: MeasureCard
    group: dict[str, str]
    paired: PairedDifference

    @property
    def family(self) -> str:
        """Primary measures overall are judged together; every grouping is a family of its own."""
        if self.group:
            return f"{self.measure.name} by {'+'.join(sorted(self.group))}"
        return "primary" if self.measure.primary else "secondary"


def judge(drafts: Sequence[Draft], terms: Terms) -> list[ComparedMeasure]:
    """Every draft with its verdict, in order; p-values are corrected within each family."""
    families: dict[str, list[int]] = {}
    for place, draft in enumerate(drafts):
        families.setdefault(draft.family, []).append(place)
    result: dict[int, ComparedMeasure] = {}
    for places in families.values():
        raw = [drafts[place].paired.p_value for place in places]
        corrected = zip(holm(raw).tolist(), benjamini_hochberg(raw).tolist(), strict=True)
        same = _equivalences([drafts[place] for place in places], terms)
        for place, (strict, lenient), found in zip(places, corrected, same, strict=True):
            result[place] = _judged(drafts[place], strict, lenient, len(places), terms, found)
    return [result[place] for place in range(len(drafts))]


def _equivalences(family: Sequence[Draft], terms: Terms) -> list[Equivalence | None]:
    """The tests of equivalence of a family at the user's level, corrected over the family like those of difference."""
    if terms.margin is None:
        return [None] * len(family)
    alpha = 1 - terms.level
    found = [
        equivalence_of(draft.paired.difference, draft.paired.standard_error, draft.paired.clusters, terms.margin, alpha)
        for draft in family
    ]
    corrected = holm([same.p_value for same in found]).tolist()
    return [
        structs.replace(same, p_holm=strict, equivalent=strict < alpha and not draft.paired.interval.too_few)
        for draft, same, strict in zip(family, found, corrected, strict=True)
    ]


def _judged(
    draft: Draft, p_holm: float, p_bh: float, family: int, terms: Terms, same: Equivalence | None
) -> ComparedMeasure:
    paired, measure = draft.paired, draft.measure
    level = 1 - (1 - terms.level) / family
    would_show = None if paired.interval.too_few else detectable(paired, power=terms.power, level=level)
    takes = needed(paired, terms.margin, power=terms.power, level=level) if terms.margin else None
    return ComparedMeasure(
        name=measure.name,
        title=measure.title,
        unit=measure.unit,
        better=measure.better,
        group=draft.group,
        paired=paired,
        p_holm=p_holm,
        p_benjamini_hochberg=p_bh,
        verdict=_verdict(draft, p_holm, terms, same),
        detectable=would_show,
        needed=takes,
        equivalence=same,
        primary=measure.primary,
        family=family,
    )


def _verdict(draft: Draft, p_holm: float, terms: Terms, same: Equivalence | None) -> Verdict:
    paired = draft.paired
    if paired.interval.too_few:
        return "too few"
    if p_holm < 1 - terms.level and paired.difference != 0:
        if draft.measure.better == "neither":
            return "differs"
        higher = paired.difference > 0
        return "better" if higher == (draft.measure.better == "higher") else "worse"
    return "equivalent" if same is not None and same.equivalent else "cannot tell"
