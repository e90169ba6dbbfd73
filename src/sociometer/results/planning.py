"""How many items and repeats a comparison needs, from the stored runs of an instrument or from stated assumptions."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from statistics import fmean, median, variance

from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.task import Item
from sociometer.core.words import lowered, plural
from sociometer.results.comparison import shared_differences
from sociometer.results.measured import room_sentences
from sociometer.results.summaries import ends_of
from sociometer.results.wording import POWER_TERMS
from sociometer.statistics import power as powers
from sociometer.statistics.formatting import amount, margin_text, scale_and_digits
from sociometer.statistics.intervals import MINIMUM_CLUSTERS
from sociometer.statistics.item_values import ItemValue, item_values, shared_items
from sociometer.statistics.model_kinds import family_from_name
from sociometer.store.records import RunStatus
from sociometer.store.stored_run import StoredRun

POWER = 0.8
REPEATS = (1, 2, 3, 5)
_MOST_RUNS = 8
_DISCORDANT = 0.2
_BY_CHANCE = 0.5
_FEWEST = 30


class Spread(Struct, frozen=True):
    """How much the differences of two subjects vary from item to item, in the unit of the measure's values.

    `stable` is the mean squared difference of the items themselves (for other scores than right or wrong its variance,
    whatever the mean is), `chance` what one answer each adds to it; repeats average out the latter. `design_effect` is
    the number of clustered items with the information of one. Two runs whose answers are right or wrong (`binary`) and
    that differ by d disagree on at least a share d of the answers.
    """

    stable: float
    chance: float
    design_effect: float
    told: str
    """Where the numbers come from, in words."""
    binary: bool = False
    family: str = "independent item"
    family_size: float = 1.0
    """The mean number of items of a family: of what a comparison counts, such as pairs of twins or stories."""
    pairs: tuple["Spread", ...] = ()
    """The spreads of the pairs of stored runs that it is the median of."""

    def source(self, difference: float | None, repeats: int) -> str:
        """Where the numbers come from, and between which numbers of items the pairs of runs lie."""
        needed = [one.items(difference, repeats) for one in self.pairs if difference is not None]
        among = f"; {min(needed):,} to {max(needed):,} items" if len(needed) > 1 else ""
        return f"{self.told}{among})." if self.pairs else self.told

    def families(self, items: int) -> int:
        """How many families so many items have; a comparison needs ten."""
        return round(items / self.family_size)

    def discordant(self, difference: float) -> float:
        """The share of right-or-wrong answers on which two runs disagree that differ so much."""
        return min(1.0, max(self.stable + self.chance, difference))

    def square(self, repeats: int) -> float:
        """The mean squared difference of the items if each is played so often."""
        return self.stable + self.chance / repeats

    def deviation(self, repeats: int) -> float:
        """The standard deviation of an item's difference if each is played so often."""
        return math.sqrt(max(self.square(repeats), 1e-9))

    def power(self, difference: float, items: int, repeats: int) -> float:
        """The probability that a comparison on so many items shows the difference."""
        if self.families(items) < MINIMUM_CLUSTERS:
            return 0.0
        worth = max(2, round(items / self.design_effect))
        if self.binary:
            discordant = self.discordant(difference)
            once = powers.binary_power(worth, (discordant + difference) / 2, (discordant - difference) / 2)
            again = powers.repeated_power(difference, worth, self.square(repeats), self.square(1))
            return max(once, again) if repeats > 1 else once
        return powers.paired_power(difference, self.deviation(repeats) / math.sqrt(worth), self.families(items))

    def items(self, difference: float, repeats: int, power: float = POWER) -> int:
        """The number of items that show the difference with this power."""
        terms = {"power": power, "design_effect": self.design_effect}
        if self.binary:
            found = powers.binary_items_needed(difference, self.discordant(difference), **terms)
            again = powers.repeated_items_needed(difference, self.square(repeats), self.square(1), **terms)
            found = min(found, again) if repeats > 1 else found
        else:
            found = powers.items_needed(difference, self.deviation(repeats), family=self.family_size, **terms)
        return max(found, math.ceil(MINIMUM_CLUSTERS * self.family_size))

    def detectable(self, items: int, repeats: int, power: float = POWER) -> float:
        """The smallest difference that so many items show with this power."""
        worth = max(2, round(items / self.design_effect))
        if self.binary:
            once = powers.smallest_detectable_binary(worth, self.discordant(0.0), power=power)
            again = powers.smallest_detectable_repeated(worth, self.square(repeats), self.square(1), power=power)
            return min(once, again) if repeats > 1 else once
        error = self.deviation(repeats) / math.sqrt(worth)
        return powers.smallest_detectable(error, self.families(items), power=power)


def spread_of(
    instrument: Instrument, task: str, items: Iterable[Item], digest: str, stored: Iterable[StoredRun], against: str
) -> Spread | None:
    """The spread of a task's primary measure; None if it has none that is a mean over items.

    It comes from the newest finished runs of different subjects on the same items, those without a score and stand-ins
    left out, else from people's spread on an item, else from an assumption. With `against` only pairs with it count.
    """
    measure = instrument.card.primary_of(task)
    if measure is None:
        return None
    sizes = Counter(item.cluster or item.id for item in items)
    family, mean_size = instrument.card.cluster_of(task), sizes.total() / len(sizes)
    runs: dict[str, StoredRun] = {}
    left_out = False
    for run in stored:
        whole = run.record.status is RunStatus.FINISHED and run.manifest.items_digests.get(task) == digest
        real = not run.manifest.roles[SUBJECT].identity.stand_in if SUBJECT in run.manifest.roles else False
        left_out |= whole and not real
        if whole and real and run.manifest.config.until is None and (len(runs) < _MOST_RUNS or run.id == against):
            runs[run.subject] = run if run.id == against else runs.get(run.subject, run)
    headline = instrument.task(task).headline
    views = {run.id: headline(run.view(task)) for run in runs.values()}
    tables = {run: item_values(view, measure.value) for run, view in views.items() if not view.failed}
    chosen = [pair for pair in combinations(tables.items(), 2) if against not in tables or against in dict(pair)]
    found = {(a, b): pair for (a, one), (b, two) in chosen if (pair := _pair(measure, one, two)) is not None}
    if pairs := tuple(found.values()):
        which = ", ".join(run.record.called for run in runs.values() if any(run.id in both for both in found))
        many = f"the median of {len(pairs)} pairs of" if len(pairs) > 1 else "that between two"
        return Spread(
            median(pair.stable for pair in pairs),
            median(pair.chance for pair in pairs),
            median(pair.design_effect for pair in pairs),
            f"Their spread is {many} stored runs ({which}",
            all(pair.binary for pair in pairs),
            family,
            mean_size,
            pairs,
        )
    low, high = (measure.low, measure.high) if measure.low is not None and measure.high is not None else (0.0, 1.0)
    square = _DISCORDANT * (high - low) ** 2
    told = "two models answer 20 % of the items differently, half of that by chance"
    if (people := measure.human_item_deviation) is not None:
        square = 2 * people**2
        told = f"two models differ on an item as two people do (SD {people:g} each), half of that by chance"
    elif measure.unit != "share":
        told = "the mean squared difference is a fifth of the scale's, half of that by chance"
    told = f"Assumed: {told}; {f'the items of a {family} count as one' if mean_size > 1 else 'items are independent'}."
    if left_out:
        told += " Stored baselines and stand-ins do not count."
    as_one = sum(size * size for size in sizes.values()) / sizes.total()  # Kish's design effect: a family counts once
    half = square * _BY_CHANCE
    return Spread(square - half, half, as_one, told, measure.unit == "share", family, mean_size)


def _pair(measure: MeasureCard, one: dict[str, ItemValue], two: dict[str, ItemValue]) -> Spread | None:
    """The spread of two runs, half of it by chance without repeats; None for a model that was played twice."""
    shared = shared_items((one, two))
    if len(shared.items) < _FEWEST:
        return None
    found = shared_differences(measure, (one, two), shared, range(len(shared.items))).summary()
    within = [_chance([table[name] for name in shared.items]) for table in (one, two)]
    square = found.square if found.binary else found.deviation**2
    if not square:
        return None
    if None in within:
        chance = square * _BY_CHANCE
        return Spread(square - chance, chance, found.items / found.worth, "", found.binary)
    noise = [(mean, repeats) for pair in within if pair is not None for mean, repeats in (pair,)]
    by_chance = sum(mean / repeats for mean, repeats in noise)
    chance = sum(mean for mean, _ in noise) * min(1.0, square / by_chance if by_chance else 1.0)
    return Spread(max(0.0, square - by_chance), chance, found.items / found.worth, "", found.binary)


def _chance(items: Sequence[ItemValue]) -> tuple[float, float] | None:
    """The mean variance of the answers to one item, and the mean number of repeats; None without repeats."""
    several = [one.repeats for one in items if len(one.repeats) > 1]
    if len(several) < _FEWEST:
        return None
    return fmean(variance(one) for one in several), fmean(len(one) for one in several)


def at_top_before(subject: str, tasks: Collection[str], stored: Iterable[StoredRun]) -> list[str]:
    """A warning for each task on which an earlier run of the same family of models was at the top; tests with room."""
    family, found = family_from_name(subject), dict[str, str]()
    for run in () if subject.startswith("baseline/") else stored:
        if run.record.status is RunStatus.FINISHED and family_from_name(run.manifest.config.subject) == family:
            for task, (said, end) in ends_of(run).items():
                if task in tasks and end.at == "top" and end.sure:
                    told = f"{run.subject} ({run.id}) was {end.words}, so a run of the same family will show little"
                    found.setdefault(f"{run.instrument}/{task}", f"{told}: {said}")
    return [*found.values(), *room_sentences(("top", test) for test in found)]


def size_to_detect(measure: MeasureCard, detect: float) -> float:
    """A difference in the unit of the measure's values, from one as it is shown."""
    wanted = detect / scale_and_digits(measure.unit)[0]
    largest = math.inf if measure.low is None or measure.high is None else measure.high - measure.low
    if wanted > largest:
        most = amount(largest, measure.unit)
        raise UsageError(f"--detect {detect:g} is too large: {lowered(measure.title)} can differ by at most {most}.")
    return wanted


def detection_sentence(spread: Spread, measure: MeasureCard, items: int, repeats: int, detect: float | None) -> str:
    """What a comparison on so many items can detect; `detect` is a difference, as the measure is shown."""
    families, played = spread.families(items), "" if repeats == 1 else f", played {repeats} times,"
    held = f"{families} {plural(spread.family)}"
    if families < MINIMUM_CLUSTERS:
        return f"{items} items are too few for a verdict: they have {held}, and a comparison needs {MINIMUM_CLUSTERS}."
    if detect is None:
        size = amount(spread.detectable(items, repeats), measure.unit)
        many = f"{items} items" + f" ({held})" * (families < items)
        return f"{many}{played} can show a difference of {size} or more ({POWER_TERMS}). {spread.source(None, repeats)}"
    wanted = size_to_detect(measure, detect)
    once, often = (spread.items(wanted, repeats) for repeats in (REPEATS[0], REPEATS[-1]))
    size = margin_text(wanted, measure.unit)
    fewer = f", or {often:,} items played {REPEATS[-1]} times" if often < once else "; repeats do not lower that"
    needed = f"A difference of {size} needs {once:,} items{fewer} ({POWER_TERMS})."
    here = f"The {items} items here{played} have {100 * spread.power(wanted, items, repeats):.0f} % power."
    return f"{needed} {here} {spread.source(wanted, REPEATS[0])}"
