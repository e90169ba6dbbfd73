"""What a comparison gives: differences, with intervals that hold together in a family, and their verdicts."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from msgspec import Struct, field, structs

from sociometer.core.card import MeasureCard
from sociometer.core.errors import UsageError, unknown
from sociometer.core.measure import Interval, Measure, Shown
from sociometer.core.words import grouped, levels_of, plural
from sociometer.statistics.formatting import adding_decimals, scale_and_digits, verdict_marks
from sociometer.statistics.paired import PairedDifference, Verdict, influence_table, simultaneous, verdict_of
from sociometer.statistics.people import PlaceAmongPeople
from sociometer.statistics.power import detectable_difference
from sociometer.statistics.sequential import nominal_level


class Terms(Struct, frozen=True):
    """The options of a comparison: confidence level, and the margin that matters to the user."""

    level: float = 0.95
    margin: float | Mapping[str, float] | None = None
    """As the measure is shown: 3 is three points of a share. One number for the primary measures, or by measure."""

    def __post_init__(self) -> None:
        if not 0.5 < self.level < 1:
            raise UsageError(f"--level must be between 0.5 and 1, not {self.level}; 0.95 is usual.")
        given = self.margin.values() if isinstance(self.margin, Mapping) else [self.margin]
        for value in given:
            if value is not None and not 0 < value < math.inf:
                raise UsageError(f"--margin must be above 0, not {value:g}; give the smallest difference that matters.")

    def margins(self, measures: Iterable[MeasureCard]) -> dict[tuple[str, str], float]:
        """The margin of each measure, by task and name, in the unit of its values (0.03 for three points of a share).

        One number is for primary measures only, because a margin has the unit of its measure. A score on a norm (an EQ)
        has that of the primary measure, which it follows.
        """
        every = list(measures)
        known = [card for card in every if card.value and not card.of_items]
        if self.margin is None:
            return {}
        if isinstance(self.margin, Mapping):
            names = {card.name for card in known}
            for name in (one for one in self.margin if one not in names):
                for card in (one for one in every if one.name == name and one.on_norm):
                    main = next(one.name for one in known if one.primary and one.task == card.task)
                    raise UsageError(f"{card.title} follows {main} and has its margin; give --margin {main}=VALUE.")
                raise unknown("measure", name, names)
            given = {(card.task, card.name): self.margin[card.name] for card in known if card.name in self.margin}
        else:
            primary = [card for card in known if card.primary]
            if len({scale_and_digits(card.unit) for card in primary}) > 1:
                told = ", ".join(dict.fromkeys(f"{card.name} ({card.unit})" for card in primary))
                raise UsageError(
                    f"--margin {self.margin:g} has no clear unit: the primary measures have different ones ({told}). "
                    "Give --margin MEASURE=VALUE for each that matters, or choose one task with --task."
                )
            given = {(card.task, card.name): self.margin for card in primary}
        scales = {(card.task, card.name): scale_and_digits(card.unit)[0] for card in known}
        for (_, name), value in given.items():
            if any(value > 100 and card.unit == "share" for card in known if card.name == name):
                raise UsageError(f"a margin of {value:g} points for {name} is too large: shares differ by at most 100.")
        return {key: value / scales[key] for key, value in given.items()}


class ComparedMeasure(Shown, frozen=True):
    """Second subject against first on one measure, overall (empty `group`) or on one level of a facet.

    The verdict follows from `paired.interval`, which holds together with the intervals of the whole family.
    `detectable` is at the level of that interval and never depends on the observed difference.
    """

    name: str  # The name of the measure.
    title: str  # Its title in tables.
    unit: str  # Its unit: `share`, `share-points`, `points` or `number`.
    better: str  # The better end of its scale: `higher`, `lower` or `neither`.
    group: dict[str, str]  # The level of a facet; empty: overall.
    paired: PairedDifference  # Both scores, their difference and its interval.
    p_adjusted: float  # The p-value, corrected for the family.
    verdict: Verdict  # `better`, `worse`, `differs`, `equivalent`, `cannot tell`, `too few`, `both at …`, `no verdict`.
    detectable: float | None  # The smallest difference seen with a power of 80 %; None with too few items.
    chance: float | None = None  # The score of random answers; None if it is unknown.
    margin: float | None = None  # The smallest difference that matters, if given.
    primary: bool = False  # Whether it is a primary measure.
    family: int = 1  # The number of comparisons whose intervals hold together.
    failed: int = 0  # Items that one of the two failed to answer, so that they are not compared.
    observed: Verdict = "cannot tell"
    """The verdict without the failed items; `verdict` is the same if it holds in every case, else “cannot tell”."""
    with_failed: tuple[Verdict, ...] = ()
    """Verdicts that differ from `observed` if the failed items count at their worst or their best."""
    extremes: tuple[Interval, ...] = ()
    """The interval of the difference with the failed items at their worst, and at their best."""
    why: str = ""  # Why the verdict of the interval does not count: `better without the 2 failed` or `stand-in`.
    ends: tuple[str, ...] = ()
    """The end of the test that each of the two has reached (`results/ceiling.py`): `top`, `chance`, `perhaps top` or
    `perhaps chance` with too few items to tell, or none (empty)."""
    place: PlaceAmongPeople | None = None  # Beside the people of a study: where the other is among them; else None.

    @property
    def value(self) -> float:
        """The difference, second minus first, in the unit of the measure: 0.03 is three points of a share."""
        return self.paired.difference

    @property
    def digits(self) -> int:
        """The decimals of its row in a table."""
        return adding_decimals(self.paired.first, self.paired.second, self.unit, self.paired.interval)

    @property
    def low(self) -> float | None:
        """The lower bound of the difference; None if there are too few clusters."""
        return self.paired.interval.low

    @property
    def high(self) -> float | None:
        """The upper bound of the difference; None if there are too few clusters."""
        return self.paired.interval.high

    def __str__(self) -> str:
        said = Measure(", ".join((self.name, *levels_of(self.group))), self.value, interval=self.paired.interval)
        return f"{structs.replace(said, items=self.paired.items)}: {self.verdict_text}"

    @property
    def verdict_text(self) -> str:
        """The verdict in a table: “cannot tell (better without the 2 failed)”."""
        return f"{self.verdict} ({self.why})" if self.why else self.verdict

    @property
    def left_open(self) -> bool:
        """Whether failed items leave everything open, because the measure has no lowest or no highest value."""
        return bool(self.failed and not self.extremes)

    @property
    def could_be_worse(self) -> bool:
        """Whether it is worse, or worse in the worst case of the failed items."""
        return self.left_open or "worse" in (self.observed, *self.with_failed)


class Comparison(Shown, frozen=True):
    """Two subjects on one task; `refused` says why they could not be compared."""

    instrument: str  # The name of the instrument.
    title: str  # The title of the instrument.
    task: str  # The name of the task.
    task_title: str  # The title of the task.
    first: str  # The label of the first run.
    second: str  # The label of the run that is compared with it.
    first_run: str  # The id of the first run.
    second_run: str  # The id of the other; where it lacks the task, of one of its other runs.
    measures: tuple[ComparedMeasure, ...] = ()  # Every measure, overall and by group.
    sentence: str = ""  # The result in words.
    notes: tuple[str, ...] = ()  # What to know about the runs.
    refused: str = ""  # Why they cannot be compared; empty if they can.
    cluster: str = "independent item"
    """What the independent parts of the task are: stories, trees, pairs."""
    norm_scores: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The scores of both on a norm of people, with their intervals, by title: an EQ."""
    unread: tuple[str, ...] = ()  # How many replies of a subject could not be read, where many could not.
    groups: str = ""  # The verdicts on the groups of the primary measures, in a sentence; empty without any.

    def __str__(self) -> str:
        return self.sentence

    def measure(self, name: str = "", **group: str) -> ComparedMeasure:
        """The difference on a measure (default: the primary one), overall or of a group; NotFound if there is none."""
        able = [row for row in self.measures if row.group == group and (row.name == name if name else row.primary)]
        if self.refused:
            raise UsageError(self.sentence)
        if not able:
            raise unknown("compared measure", name, {row.name for row in self.measures})
        return able[0]

    @property
    def value(self) -> float:
        """The difference on the primary measure, second minus first."""
        return self.measure().value

    @property
    def interval(self) -> Interval:
        """The interval of the difference; `low` and `high` are its ends."""
        return self.measure().paired.interval

    @property
    def low(self) -> float | None:
        """The lower bound of the difference; None if there are too few clusters."""
        return self.measure().low

    @property
    def high(self) -> float | None:
        """The upper bound of the difference; None if there are too few clusters."""
        return self.measure().high

    @property
    def verdict(self) -> str:
        """The verdict on it: `better`, `worse`, `cannot tell` …; `refused` for runs that cannot be compared."""
        return "refused" if self.refused else self.measure().verdict

    @property
    def where(self) -> str:
        """The instrument and the task, for titles."""
        return f"{self.instrument}/{self.task}"

    @property
    def worse(self) -> bool:
        """Whether the second subject is or could be worse on a primary measure overall, for a gate in CI."""
        return any(row.could_be_worse for row in self.primary_rows)

    @property
    def undecided(self) -> str:
        """Why there is no result for the primary measures overall; empty if there is one."""
        few = [row for row in self.primary_rows if row.verdict == "too few"]
        if any(row.verdict == "no verdict" for row in self.primary_rows):
            return "a stand-in played a role, so there is no verdict"
        if self.refused or few:
            counts = ", ".join(f"{row.title.lower()}: {row.paired.clusters}" for row in few)
            return self.refused or f"too few {plural(few[0].paired.interval.scarce(self.cluster))} to tell ({counts})"
        return "" if self.primary_rows else "no primary measure was compared"

    @property
    def primary_rows(self) -> list[ComparedMeasure]:
        """The primary measures overall."""
        return [row for row in self.measures if row.primary and not row.group]


class UncorrectedDifference(Struct, frozen=True):
    """A paired difference on one measure, overall (empty `group`) or on one level of a facet, before correction."""

    measure: MeasureCard
    group: dict[str, str]
    paired: PairedDifference
    influence: Mapping[Hashable, float]
    interval: Callable[[float], Interval]
    """The interval of the difference at a level."""
    failed: int = 0
    extremes: tuple[Callable[[float], Interval], ...] = ()
    """The interval with the failed items at their worst and at their best for the second subject, at a level."""
    times: tuple[float, ...] = ()
    """The shares of the items after which a stopping rule looked at one of the runs."""
    chance: float | None = None
    ends: tuple[str, ...] = ()
    place: PlaceAmongPeople | None = None
    stand_in: bool = False
    """Whether a stand-in played another role than the subject, so that the scores are no measurement."""

    @property
    def what(self) -> tuple[str, ...]:
        """The measure and its group, whatever the subjects."""
        return self.measure.name, *sorted(map(str, self.group.items()))

    @property
    def family(self) -> str:
        """The family to correct for: all primary measures, all others, or one way of grouping one measure."""
        if self.group:
            return f"{self.measure.name} by {'+'.join(sorted(self.group))}"
        return "primary" if self.measure.primary else "secondary"


def decide(
    differences: Sequence[UncorrectedDifference],
    terms: Terms,
    margins: Mapping[tuple[str, str], float],
    *,
    all_pairs: bool = True,
) -> list[ComparedMeasure]:
    """Each difference with its verdict, in the given order; the intervals of a family hold together.

    With `all_pairs` the comparisons of the later subjects with each other belong to a family too, as in a ranking of
    the same runs: two runs then have the same verdict wherever it is shown.
    """
    families = grouped((difference.family, index) for index, difference in enumerate(differences))
    result: dict[int, ComparedMeasure] = {}
    for members in families.values():
        family = [differences[index] for index in members]
        influence = influence_table([one.influence for one in family])
        alike = list(grouped((one.what, place) for place, one in enumerate(family)).values()) if all_pairs else []
        size = len(family) + sum(math.comb(len(group), 2) for group in alike)
        raw = [one.paired.p_value for one in family]
        shared = simultaneous(influence, raw, min(one.paired.clusters for one in family), terms.level, alike=alike)
        for index, one, p_adjusted in zip(members, family, shared.p_values, strict=True):
            margin = margins.get((one.measure.task, one.measure.name))
            result[index] = _decided(one, p_adjusted, shared.level, size, terms, margin)
    return [result[index] for index in range(len(differences))]


def _decided(
    one: UncorrectedDifference, p_adjusted: float, level: float, family: int, terms: Terms, margin: float | None
) -> ComparedMeasure:
    measure = one.measure
    # made at the level of one comparison and look, the intervals of the family hold together at the level asked for
    at = nominal_level(one.times, level)

    def around(found: Interval) -> Interval:
        return structs.replace(_possible(found, measure), level=terms.level, apart=verdict_marks(margin))

    paired = structs.replace(one.paired, interval=around(one.interval(at)))
    observed = verdict_of(paired.interval, measure.better, margin)
    extremes = tuple(around(extreme(at)) for extreme in one.extremes)
    others = dict.fromkeys(verdict_of(extreme, measure.better, margin) for extreme in extremes)
    others.pop(observed, None)
    few = paired.interval.too_few
    sure = few or not (others or (one.failed and not extremes))
    verdict: Verdict = observed if sure else "cannot tell"
    if verdict in ("cannot tell", "equivalent") and one.ends in (("top", "top"), ("chance", "chance")):
        best: Verdict = "both at the best value" if measure.better == "lower" else "both at the top"
        verdict = best if "top" in one.ends else "both at chance"
    why = f"{observed} without the {one.failed} failed" if verdict == "cannot tell" != observed else ""
    if one.stand_in and not few:
        verdict, observed, others, why = "no verdict", "no verdict", {}, "stand-in"
    return ComparedMeasure(
        name=measure.name, title=measure.title, unit=measure.unit, better=measure.better, group=one.group,
        paired=paired, p_adjusted=p_adjusted, verdict=verdict, why=why,
        detectable=None if few else detectable_difference(paired, level=at), chance=one.chance, margin=margin,
        primary=measure.primary, family=family, failed=one.failed, observed=observed, with_failed=tuple(others),
        extremes=extremes, ends=one.ends, place=one.place,
    )  # fmt: skip


def _possible(interval: Interval, measure: MeasureCard) -> Interval:
    """The interval of a difference within what the scale of the measure allows."""
    if measure.scale is None or interval.low is None or interval.high is None:
        return interval
    most = measure.scale[1] - measure.scale[0]
    return structs.replace(interval, low=max(-most, interval.low), high=min(most, interval.high))
