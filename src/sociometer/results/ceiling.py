"""Whether a score is at an end of its test: at the best value, where the test separates no models, or at chance."""

import math
from typing import Literal

from msgspec import Struct

from sociometer.core.card import MeasureCard
from sociometer.core.measure import CLUSTER_BOOTSTRAP, Case, Interval, Measure, Summary
from sociometer.core.words import lowered
from sociometer.statistics.formatting import amount, estimate, number

MARGIN = 0.15
"""How far the interval of a score at an end may reach from this end, as a share of the scale of its measure."""
_Z = 1.959964


class End(Struct, frozen=True):
    """An end of a test that a score reaches: the best value or chance, its `value`."""

    at: Literal["top", "chance"]
    value: float
    sure: bool
    """Whether the whole interval is near this end; if not, the items are too few to tell."""
    shows: float
    """The smallest true difference of another model from this one that the items show with a power of 80 %."""
    words: str = "not to be told from chance"

    def sentence(self, where: str, known: MeasureCard, measure: Measure, who: str) -> str:
        """What it means for a run: “sesi/questions: accuracy 100 % [91, 100] is at the top (100 %), so …”."""
        score = f"{where}: {lowered(known.title)} {estimate(measure.value, known.unit, measure.interval)}"
        value = number(self.value, known.unit)
        if not self.sure:
            told = f"whether it is {self.words} ({value})" if self.at == "top" else f"it from chance ({value})"
            return f"{score}: {measure.items} items are too few to tell {told}."
        end = f"is {self.words} ({value})" if self.at == "top" else f"cannot be told from chance ({value})"
        size = amount(self.shows, known.unit, interval=measure.interval)
        shows = f"its {measure.items} items show differences of {size} or more"
        return f"{score} {end}, so this test does not separate such {who}: {shows}."


def end_of(known: MeasureCard, summary: Summary, chance: float | None) -> End | None:
    """The end that a measure of a run has reached; None if it has room, or no better end, as counts have none.

    A score is at the top if its interval is within `MARGIN` of the best value with the failed episodes at their worst,
    and if its items cannot show that a model with the best value is better. It is at chance if its interval includes
    chance and, whatever failed, is within `MARGIN` of it. Only means over items on a known scale have ends.
    """
    measure, scale, best = summary.find(known.name), known.scale, best_of(known, summary)
    if measure is None or measure.value is None or not known.value or scale is None or best is None:
        return None
    if 0 < measure.items <= measure.unreadable:  # a score of no answers
        return None
    span = scale[1] - scale[0]
    factor, shift = (1 / span, -scale[0] / span) if known.better == "higher" else (-1 / span, scale[1] / span)
    given = (Case(measure.value, measure.interval or Interval(None, None)), *measure.cases)
    if (measure.errors and not measure.cases) or any(case.interval.low == case.interval.high for case in given):
        return None  # without bounds, or without variation
    # as shares of the scale, with 1 at its better end
    cases = [Case(case.value * factor + shift, case.interval.scaled(factor, shift)) for case in given]
    goal, own = best * factor + shift, cases[0].interval
    worst, most = min(cases, key=lambda case: case.value), max(cases, key=lambda case: case.value)
    if most.value >= goal - MARGIN and (lost := goal - worst.value) < (shows := _detectable(worst, lost)):
        words = "at the best value" if known.better == "lower" else "at the top"
        return End("top", best, (worst.interval.low or 0) >= goal - MARGIN, shows * span, words)
    if chance is None or not (own.low or 0) <= (floor := chance * factor + shift) <= (own.high or 0):
        return None
    shows = _detectable(cases[0], 2 * floor * (1 - floor))  # as between two models that guess
    around = floor - (worst.interval.low or 0), (most.interval.high or 0) - floor
    return End("chance", chance, max(around) <= MARGIN, shows * span)


def best_of(known: MeasureCard, summary: Summary) -> float | None:
    """The best value: an oracle's on the items of the run, the card's, or the better end of the scale if it has one."""
    oracle = summary.find(known.oracle) if known.oracle else None
    end = {"higher": known.high, "lower": known.low, "neither": None}[known.better]
    known_best = (oracle.value if oracle else None, known.top if known.better != "neither" else None, end)
    return next((value for value in known_best if value is not None), None)


def _detectable(case: Case, discordant: float) -> float:
    """The smallest difference that the items show from a model that differs on this share of right-or-wrong items.

    A bound b of Wilson's interval gives the effective number of items: z² b (1 − b) / (value − b)².
    """
    from sociometer.statistics.power import smallest_detectable, smallest_detectable_binary  # here: they load numpy

    value, low, high = case.value, case.interval.low or 0.0, case.interval.high or 0.0
    if case.interval.method.startswith(CLUSTER_BOOTSTRAP):
        shows = smallest_detectable((high - low) / (2 * _Z), case.interval.clusters)
    else:
        bound = low if value - low >= high - value else high
        shows = smallest_detectable_binary(_Z**2 * bound * (1 - bound) / (value - bound) ** 2, discordant)
    return 1.0 if math.isnan(shows) else shows
