"""The measures of a run: means over items from `analysis`, and the positions on the norm as the paper defines them."""

from collections.abc import Iterator
from typing import Any

import msgspec

from sociometer.core.measure import Interval, Measure
from sociometer.core.task import RunView
from sociometer.instruments.seceu.method_result import MethodResult, hedger
from sociometer.instruments.seceu.norm import SHUFFLED, Norm, band
from sociometer.instruments.seceu.prompting import PromptingMethods
from sociometer.statistics.formatting import p_phrase
from sociometer.statistics.measures import Observation, grouped_measures, mean_measure, observations

FACETS = ("context", "direction")
PLAIN = ("distance", "profile", "evenness", "null")
PLACES = ("eq", "percentile", "similarity", "similarity-percentile")
ONLY_SHUFFLED = "comparable only with other runs with --shuffle"


def overall_measures(methods: PromptingMethods, even: MethodResult | None, norm: Norm | None) -> Iterator[Measure]:
    """Yield the measures without a group, and the means by context and direction, for the shown method."""
    if even is not None and methods.headline is None:
        errors = sum(methods.view.failures().values())
        names = PLAIN if norm is None else (*PLAIN, *PLACES)
        yield from (Measure(name, None, errors=errors, note=methods.headline_note) for name in names)
        return
    run, shown = methods.headline_view, methods.headline
    distances = grouped_measures(run, "distance", by=FACETS, binary=False)
    yield _around(distances[0], shown, even, methods.headline_note)
    yield from distances[1:]
    yield from grouped_measures(run, "profile", by=FACETS, binary=False)
    yield from grouped_measures(run, "evenness", binary=False)
    yield from grouped_measures(run, "null")
    if shown is not None and even is not None and norm is not None:
        order = order_caveat(run, norm)
        yield from _places(shown, even, norm, {}, distances[0], _joined(methods.headline_note, order))
        yield from _energies(shown, {}, distances[0])


def method_measures(run: RunView[Any, Any], result: MethodResult, norm: Norm | None) -> Iterator[Measure]:
    """Yield the measures of one prompting method."""
    even = hedger(result, norm)
    group = {"prompting": result.method}
    mine = _mean_of(run, "distance", group)
    yield _around(mine, result, even)
    for value in ("profile", "evenness", "null"):
        yield _mean_of(run, value, group)
    if norm is not None:
        yield from _places(result, even, norm, group, mine, order_caveat(run, norm))
        yield from _energies(result, group, mine)


def _energies(result: MethodResult, group: dict[str, str], mean: Measure) -> Iterator[Measure]:
    """The energy score, and its skill if stories have several answers; nothing without people's allocations."""
    found = result.energy
    if found is None:
        return
    counts = (result.items, result.items, mean.unreadable, mean.errors)
    said = f"people's own distribution has {found.floor:.2f}, an even allocation {found.even:.2f}"
    one = "" if found.varied else "one answer to each story shows no spread; --repeats 5 --temperature 1 gives a skill"
    yield Measure("energy", found.score, group, found.interval, *counts, _joined(said, one))
    if found.varied:
        yield Measure("energy-skill", found.skill, group, found.skill_interval, *counts)


def order_caveat(run: RunView[Any, Any], norm: Norm) -> str:
    """Return a short caveat if people and the subject saw the feelings in different orders."""
    return ONLY_SHUFFLED if run.settings.flag("shuffle") and norm.order != SHUFFLED else ""


def _mean_of(run: RunView[Any, Any], value: str, group: dict[str, str]) -> Measure:
    members: list[Observation] = [
        row for row in observations(run, value) if row.facets.get("prompting") == group["prompting"]
    ]
    return mean_measure(value, members, group, binary=None if value == "null" else False)


def _around(measure: Measure, result: MethodResult | None, even: MethodResult | None, way: str = "") -> Measure:
    """The mean distance with the result's interval, compared with an even allocation."""
    if measure.value is None or even is None:
        return measure
    interval = measure.interval if result is None else result.interval
    note = _joined(way, f"an even allocation has {even.score:.2f}")
    return msgspec.structs.replace(measure, interval=interval, note=note)


def _places(
    result: MethodResult, even: MethodResult, norm: Norm, group: dict[str, str], mean: Measure, way: str = ""
) -> Iterator[Measure]:
    """EQ, percentiles and pattern similarity; a failed test has none."""
    failed = f"FAILED: {result.nulls:g} of {result.items} answers contain no allocation" if result.failed else ""
    eq = None if result.failed else result.eq
    word = failed or _joined(way, beside_eq(result, even, norm))

    def measure(name: str, value: float | None, interval: Interval | None, note: str) -> Measure:
        return Measure(name, value, group, interval, result.items, result.items, mean.unreadable, mean.errors, note)

    yield measure("eq", eq, result.eq_interval if eq is not None else None, word)
    percent = None if eq is None else norm.percent_below(norm.score_of(eq)) / 100
    counted = ""
    if percent is not None and norm.counted:
        counted = f"standard error of the norm {norm.percent_error(100 * percent):.1f} points ({norm.people} people)"
    around = percent_interval(result.eq_interval, norm) if eq is not None else None
    yield measure("percentile", percent, around, failed or counted)
    similarity = None if result.failed else result.similarity
    yield measure(
        "similarity",
        similarity,
        result.similarity_interval if similarity is not None else None,
        failed or mechanism(similarity, result.similarity_p, norm),
    )
    yield measure(
        "similarity-percentile",
        None if similarity is None else norm.percent_less_similar(similarity) / 100,
        None,
        failed,
    )


def beside_eq(result: MethodResult, even: MethodResult, norm: Norm) -> str:
    """Return the note for an EQ: its band, an even allocation's EQ, people's error, and the number of items."""
    said = [f"'{band(result.eq)}' in the paper's terms"] if result.eq is not None else []
    if even.eq is not None:
        said.append(f"an even allocation earns {even.eq:.0f}")
    if norm.error_of_measurement is not None:
        said.append(f"people's standard error of measurement {norm.error_of_measurement:.1f}")
    if result.items < len(norm.standards):
        said.append(f"estimated on {result.items} of {len(norm.standards)} items")
    return "; ".join(said)


def _joined(*said: str) -> str:
    return "; ".join(part for part in said if part)


def mechanism(similarity: float | None, p_value: float | None, norm: Norm) -> str:
    """Return the paper's interpretation of a pattern similarity, with its p-value."""
    if similarity is None:
        return "no pattern: fewer than ten items, or almost equal distances"
    said = p_phrase(p_value) if p_value is not None else ""
    if similarity < norm.different_below:
        said += f"; below {norm.different_below:g}: a qualitatively different mechanism, in the paper's words"
    return said.removeprefix("; ")


def percent_interval(eq_interval: Interval | None, norm: Norm) -> Interval | None:
    """The interval of the percentile: the ends of the EQ's interval, mapped through the curve."""
    if eq_interval is None or eq_interval.low is None or eq_interval.high is None:
        return eq_interval
    low, high = (norm.percent_below(norm.score_of(end)) / 100 for end in (eq_interval.low, eq_interval.high))
    return Interval(
        low, high, eq_interval.level, f"{eq_interval.method} through the percentile curve", eq_interval.clusters
    )
