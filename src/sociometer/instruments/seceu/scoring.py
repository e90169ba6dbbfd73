"""Outcome -> score -> summary; pure."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sociometer.core.language import read_texts
from sociometer.core.measure import Case, Interval, Measure, Summary
from sociometer.core.reply_kind import count_replies
from sociometer.core.task import AnyRun, RunView, Score
from sociometer.instruments.seceu.items import TOTAL, Scenario
from sociometer.instruments.seceu.method_result import EVEN, UNREAD, MethodResult, unread_result
from sociometer.instruments.seceu.norm import (
    EQ_DEVIATION,
    EQ_MEAN,
    PRINTED,
    PUBLISHED_NORM,
    SHUFFLED,
    Norm,
    evenness,
    norm_of,
    through_curve,
)
from sociometer.instruments.seceu.play import Allocated
from sociometer.instruments.seceu.prompting import DIFFERENT, PromptingMethods, compare_methods
from sociometer.instruments.seceu.tables import items_table, repairs_table, results_table
from sociometer.statistics.formatting import CHANCE, p_phrase
from sociometer.statistics.item_values import item_values
from sociometer.statistics.measures import failed_observations, grouped_measures, mean_measure, observations
from sociometer.statistics.norms import ONLY_SHUFFLED, surprises

NOTES: dict[str, str] = read_texts(Path(__file__).with_name("notes.toml"))
FACETS = ("context", "direction")
PLAIN = ("distance", "profile", "evenness", "null")
PLACES = ("eq", "percentile", "similarity", "similarity-percentile")
SHOWN_ITEMS = 5


def score(item: Scenario, outcome: Allocated) -> Score:
    """Return the distance to the standard, the profile similarity, the evenness, and whether it was null."""
    values = {
        "distance": math.dist(outcome.points, item.standard),
        "profile": profile_similarity(outcome.points, item.standard),
        "null": float(not any(outcome.points)),
    }
    even = evenness(outcome.points)
    if even is not None:
        values["evenness"] = even
    facets = {"prompting": item.prompting, "context": item.context, "direction": item.direction}
    return Score(
        values=values,
        facets={name: level for name, level in facets.items() if level},
        unreadable=int(outcome.written is None),
        replies=count_replies([outcome.asked]),
    )


def profile_similarity(points: Sequence[float], standard: Sequence[float]) -> float:
    """Return Pearson's r over the options; 0 for a flat answer, which does not say which feeling is stronger."""
    one, two = np.asarray(points) - np.mean(points), np.asarray(standard) - np.mean(standard)
    scale = float(np.linalg.norm(one) * np.linalg.norm(two))
    return float(np.clip(one @ two / scale, -1, 1)) if scale > 1e-9 else 0.0


def summarise(run: RunView[Scenario, Allocated]) -> Summary:
    """Return distances for every run; EQ, percentiles and pattern similarity if there is a human norm."""
    norm = norm_of(run.norm)
    methods = compare_methods(run, norm)
    first = methods.headline or next(iter(methods.results), None)
    even = unread_result(EVEN, first, norm) if first is not None else None
    measures = list(overall_measures(methods, even, norm))
    of = {one.method: {m.name: m for m in method_measures(methods.view, one, norm)} for one in methods.results}
    if len(of) > 1:
        measures += [measure for found in of.values() for measure in found.values()]
    tables = [results_table(methods, even, norm, of)] if even is not None else []
    if methods.headline is not None:
        tables.append(items_table(methods.headline, norm, SHOWN_ITEMS, official=run.official))
        tables.append(repairs_table(Counter(methods.headline.readings)))
        if norm is not None and norm.deviations and (card := run.card.primary_of(run.task)) is not None:
            played = item_values(methods.headline_view, card.value).items()
            tables.append(surprises({name.partition("@")[0]: one for name, one in played}, norm.items, card))
    # What chance earns was measured on the bundled key.
    chance = {CHANCE: {"distance": None}} if run.settings.get("norm") else {}
    return Summary(
        tuple(measures),
        tuple(tables),
        tuple(notes(run, methods, even, norm)),
        series(methods.results, methods.headline, even, norm) | chance,
    )


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


def method_measures(run: RunView[Any, Any], result: MethodResult, norm: Norm | None) -> Iterator[Measure]:
    """Yield the measures of one prompting method."""
    even = unread_result(EVEN, result, norm)
    group = {"prompting": result.method}
    mine = _mean_of(run, "distance", group)
    yield _around(mine, result, even)
    for value in ("profile", "evenness", "null"):
        yield _mean_of(run, value, group)
    if norm is not None:
        yield from _places(result, even, norm, group, mine, order_caveat(run, norm))


def order_caveat(run: RunView[Any, Any], norm: Norm) -> str:
    """Return a short caveat if people and the subject saw the feelings in different orders."""
    return ONLY_SHUFFLED if run.settings.flag("shuffle") and norm.order != SHUFFLED else ""


def _mean_of(run: RunView[Any, Any], value: str, group: dict[str, str]) -> Measure:
    every = [*observations(run, value), *failed_observations(run)]
    members = [row for row in every if row.facets.get("prompting", "") == group["prompting"]]
    scale = run.card.scales(run.task).get(value)
    return mean_measure(value, members, group, binary=None if value == "null" else False, scale=scale)


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
    failed = f"FAILED: {result.nulls} of {result.replies} answers contain no allocation" if result.failed else ""
    eq = None if result.failed else result.eq
    without = failed or norm.unreliable
    word = without or _joined(way, beside_eq(result, even, norm))

    def measure(name: str, value: float | None, interval: Interval | None, note: str, *cases: Case) -> Measure:
        counts = (result.items, result.items, mean.unreadable, mean.errors)
        return Measure(name, value, group, interval, *counts, note, cases)

    cases: list[Case] = []
    if eq is not None and mean.value is not None:
        slope = -EQ_DEVIATION / norm.deviation
        shift = eq - slope * mean.value
        ends = [(slope * one.value + shift, one.interval.scaled(slope, shift)) for one in reversed(mean.cases)]
        cases = [Case(end, norm.eq_interval(end, around)) for end, around in ends]
    yield measure("eq", eq, result.eq_interval if eq is not None else None, word, *cases)
    percent = None if eq is None else norm.percent_of_eq(eq) / 100
    counted = ""
    if percent is not None and norm.counted:
        counted = f"standard error of the norm {norm.percent_error(100 * percent):.1f} points ({norm.people} people)"

    def place(value: float) -> float:
        return norm.percent_of_eq(value) / 100

    around = norm.share_interval(eq, result.score, result.interval) if eq is not None else None
    placed = [
        Case(place(one.value), norm.share_interval(one.value, far.value, far.interval))
        for one, far in zip(cases, reversed(mean.cases), strict=False)
    ]
    yield measure("percentile", percent, around, without or counted, *placed)
    similarity = None if result.failed else result.similarity
    around = result.similarity_interval if similarity is not None else None
    yield measure("similarity", similarity, around, failed or mechanism(similarity, result.similarity_p, norm))
    less = None if similarity is None else norm.percent_less_similar(similarity) / 100
    curve, bounds = through_curve(around, norm.percent_less_similar), (around.low, around.high) if around else ()
    beyond = failed or norm.beyond(*(value for value in (similarity, *bounds) if value is not None))
    yield measure("similarity-percentile", less, curve.scaled(0.01) if curve is not None else None, beyond)


def beside_eq(result: MethodResult, even: MethodResult, norm: Norm) -> str:
    """Return the note for an EQ: its band, an even allocation's EQ, people's error, and the number of items."""
    said = [f"'{result.band}' in the paper's terms"] if result.band else []
    if even.eq is not None:
        said.append(f"an even allocation earns {even.eq:.0f}")
    if (error := norm.error_of_measurement(result.items)) is not None:
        said.append(f"people's standard error of measurement {error:.1f}")
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


def notes(
    run: RunView[Scenario, Allocated], methods: PromptingMethods, even: MethodResult | None, norm: Norm | None
) -> list[str]:
    """Return the notes for the numbers."""
    if even is None:
        return [NOTES["nothing"]]
    said = [*_key_notes(even, norm), *_order_notes(run, norm)]
    if norm is not None and methods.headline is not None and methods.headline.items < len(norm.standards):
        said.append(NOTES["estimated"].format(items=methods.headline.items, every=len(norm.standards)))
    said += _place_note(run, even, norm)
    said += _method_notes(methods)
    failed = [result for result in methods.results if result.failed]
    return said + [NOTES["failed"].format(method=one.method, nulls=one.nulls, replies=one.replies) for one in failed]


def _key_notes(even: MethodResult, norm: Norm | None) -> list[str]:
    """The source of the standard, and the score of an even allocation."""
    if norm is None:
        return [NOTES["own-key"], NOTES["even-distance"].format(score=even.score)]
    said = [NOTES["norm"].format(name=norm.name, sample=norm.sample, people=norm.people)]
    if even.eq is not None:
        said.append(NOTES["rewards-hedging" if even.eq > EQ_MEAN else "even-eq"].format(eq=even.eq))
    if norm.unreliable:
        said.append(f"{norm.unreliable[0].upper()}{norm.unreliable[1:]}.")
    elif (error := norm.error_of_measurement(even.items)) is not None:
        said.append(NOTES["measurement"].format(error=error))
    return said


def _order_notes(run: RunView[Scenario, Allocated], norm: Norm | None) -> list[str]:
    """What an EQ can be compared with if the order of the feelings was shuffled for the subject or for people."""
    shuffled = run.settings.flag("shuffle")
    if norm is None or (not shuffled and norm.order != SHUFFLED):
        return []
    if not shuffled:
        return [NOTES["only-people-shuffled"]]
    if norm.order == SHUFFLED:
        return [NOTES["both-shuffled"]]
    saw = "in the printed order" if norm.order == PRINTED else "in an order that the norm does not state"
    others = "published EQs or with runs without it" if norm.name == PUBLISHED_NORM else "runs without it"
    return [NOTES["only-subject-shuffled"].format(saw=saw, others=others)]


def _place_note(run: RunView[Scenario, Allocated], even: MethodResult, norm: Norm | None) -> list[str]:
    """A note if the order of the options reveals their strength and the options were shown in that order."""
    unread = unread_result(UNREAD, even, norm)
    if run.settings.flag("shuffle") or unread.score >= even.score:
        return []
    first = sum(answer.standard[0] == max(answer.standard) for answer in even.answers)
    shuffle = "'study create --set shuffle=true'" if run.people else "--shuffle"
    earned = _earned(unread.eq, unread.score)
    return [NOTES["unread"].format(earned=earned, first=first, items=even.items, shuffle=shuffle)]


def _earned(eq: float | None, distance: float) -> str:
    return f"a distance of {distance:.2f}" if eq is None else f"an EQ of {eq:.0f}"


def unread_caveat(run: AnyRun) -> str:
    """What answers without reading earn, if the order of the options reveals their strength; else empty."""
    unread, even = (run.summary.series.get(name) for name in ("by_place", "hedger"))
    if not unread or not even or run.settings.flag("shuffle") or unread["distance"] >= even["distance"]:
        return ""
    said = NOTES["unread"].partition(":")[0].format(earned=_earned(unread["eq"], unread["distance"]))
    return f"{said}, so such a score does not show that the subject reads the stories"


def _method_notes(methods: PromptingMethods) -> list[str]:
    """The headline method, and the scenarios on which the methods are compared."""
    if not methods.several:
        return []
    said: list[str] = []
    shown = methods.headline
    if shown is None:
        said.append(f"{methods.headline_note[0].upper()}{methods.headline_note[1:]}.")
    elif methods.best:
        said.append(NOTES["best"].format(method=shown.method, count=len(methods.results)))
    else:
        said.append(NOTES["shown"].format(method=shown.method))
    if not methods.comparable:
        said.append(DIFFERENT)
    elif methods.left_out:
        said.append(NOTES["left-out"].format(shared=methods.shared, left_out=methods.left_out))
    return said


def series(
    results: Sequence[MethodResult], shown: MethodResult | None, even: MethodResult | None, norm: Norm | None
) -> dict[str, object]:
    """Return the data for figures beyond the measures."""
    if shown is None or even is None:
        return {}
    unread = unread_result(UNREAD, even, norm)
    made: dict[str, object] = {
        "prompting": shown.method,
        "patterns": {result.method: result.pattern for result in results},
        "hedger": {"distance": even.score, "eq": even.eq, "similarity": even.similarity},
        "by_place": {"distance": unread.score, "eq": unread.eq, "similarity": unread.similarity},
        "total": TOTAL,
    }
    if norm is not None:
        made["norm"] = {
            "name": norm.name,
            "people": norm.people,
            "mean": norm.mean,
            "deviation": norm.deviation,
            "score_below": [list(pair) for pair in norm.score_below],
            "similarity_below": [list(pair) for pair in norm.similarity_below],
            "similarity_mean": norm.similarity_mean,
            "similarity_deviation": norm.similarity_deviation,
            "template": norm.template,
            "counted": norm.counted,
        }
    return made
