"""Outcome -> score -> summary, and the comparison of several prompting methods in one run; pure."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from sociometer.core.measure import Cell, Interval, Measure, Summary, Table
from sociometer.core.reply_kind import count_replies
from sociometer.core.task import Episode, RunView, Score
from sociometer.instruments.seceu.items import TOTAL, Scenario, prompting_methods
from sociometer.instruments.seceu.norm import (
    EQ_MEAN,
    PRINTED,
    PUBLISHED_NORM,
    SHUFFLED,
    Norm,
    band,
    distance,
    evenness,
    norm_of,
    through_curve,
)
from sociometer.instruments.seceu.play import Allocated
from sociometer.statistics.correlation import Correlation, pearson
from sociometer.statistics.formatting import CHANCE, p_phrase
from sociometer.statistics.intervals import clustered_mean_interval
from sociometer.statistics.measures import Observation, grouped_measures, mean_measure, observations

EVEN, UNREAD, SILENT = COMPARED = ("even allocation", "4, 3, 2, 1 unread", "no answer")
BY_PLACE = (4.0, 3.0, 2.0, 1.0)
EVEN_SHARES = (2.5, 2.5, 2.5, 2.5)
SMALLEST_PATTERN = 10
SMALLEST_SPREAD = 0.05  # standard scores are printed to two decimals: less spread than this is their rounding


class Answered(Struct, frozen=True):
    """One scenario: the points, averaged over repeats, and their distance from the standard."""

    scenario: str
    story: str
    options: tuple[str, ...]
    points: tuple[float, ...]
    standard: tuple[float, ...]
    distance: float


class MethodResult(Struct, frozen=True):
    """A subject with one prompting method."""

    method: str
    answers: tuple[Answered, ...]
    score: float
    interval: Interval
    gap: float | None
    """Mean difference from people's own distances on the same items; None without a norm."""
    eq: float | None
    eq_interval: Interval | None
    similarity: float | None
    similarity_p: float | None
    similarity_interval: Interval | None
    evenness: float | None
    standard_evenness: float
    nulls: float
    items: int
    readings: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Return whether a majority of the answers is null, which the paper calls a failed test."""
        return self.nulls > self.items / 2

    @property
    def pattern(self) -> dict[str, float]:
        """Return the distance on each scenario."""
        return {answer.scenario: answer.distance for answer in self.answers}


def result_of(method: str, answers: Sequence[tuple[Scenario, Allocated]], norm: Norm | None) -> MethodResult:
    """Return the result of the answers with one prompting method; repeats of an item are averaged."""
    repeats: dict[str, list[tuple[Scenario, Allocated]]] = {}
    for item, outcome in answers:
        repeats.setdefault(item.scenario, []).append((item, outcome))
    averaged = tuple(_average(group) for group in repeats.values())
    nulls = sum(sum(not any(outcome.points) for _, outcome in group) / len(group) for group in repeats.values())
    readings = tuple(f"{outcome.rule} / {outcome.repair}" for _, outcome in answers)
    evens = [even for _, outcome in answers if (even := evenness(outcome.points)) is not None]
    return _result(method, averaged, norm, nulls, readings, _mean(evens))


def hedger(result: MethodResult, norm: Norm | None) -> MethodResult:
    """Return the result of an even allocation on the same scenarios."""
    return _always(EVEN, EVEN_SHARES, result, norm)


def by_place(result: MethodResult, norm: Norm | None) -> MethodResult:
    """Return the result of writing 4, 3, 2, 1 down the list of options without reading."""
    return _always(UNREAD, BY_PLACE, result, norm)


def silent(result: MethodResult, norm: Norm | None) -> MethodResult:
    """Return the result of giving no answer on the same scenarios."""
    return _always(SILENT, (0.0,) * 4, result, norm)


def _always(name: str, points: tuple[float, ...], result: MethodResult, norm: Norm | None) -> MethodResult:
    """The result of the same points on every scenario."""
    given = tuple(
        msgspec.structs.replace(one, points=points, distance=distance(points, one.standard)) for one in result.answers
    )
    return _result(name, given, norm, 0 if any(points) else len(given), (), evenness(points))


def _average(group: Sequence[tuple[Scenario, Allocated]]) -> Answered:
    item = group[0][0]
    points = tuple(float(value) for value in np.mean([outcome.points for _, outcome in group], axis=0))
    far = math.fsum(distance(outcome.points, item.standard) for _, outcome in group) / len(group)
    return Answered(item.scenario, item.story, item.options, points, item.standard, far)


def _result(
    method: str,
    answers: tuple[Answered, ...],
    norm: Norm | None,
    nulls: float,
    readings: tuple[str, ...],
    even: float | None,
) -> MethodResult:
    distances = [answer.distance for answer in answers]
    score = math.fsum(distances) / len(distances)
    standard_even = [value for answer in answers if (value := evenness(answer.standard)) is not None]
    gap, interval, eq, eq_interval = _against_people(answers, score, norm)
    pattern = _pattern(answers, norm)
    return MethodResult(
        method=method,
        answers=answers,
        score=score,
        interval=interval,
        gap=gap,
        eq=eq,
        eq_interval=eq_interval,
        similarity=None if pattern is None else pattern.r,
        similarity_p=None if pattern is None else pattern.p_value,
        similarity_interval=None if pattern is None else pattern.interval,
        evenness=even,
        standard_evenness=_mean(standard_even) or 0.0,
        nulls=nulls,
        items=len(answers),
        readings=readings,
    )


def _against_people(
    answers: Sequence[Answered], score: float, norm: Norm | None
) -> tuple[float | None, Interval, float | None, Interval | None]:
    """The gap to people, and its intervals from a bootstrap over items.

    The items are fixed and the norm is for these very items, so the bootstrap resamples the subject's
    differences from people on each item: hard items are hard for both, and resampling distances alone would
    count that as chance.
    """
    if norm is None:
        return (
            None,
            _not_negative(clustered_mean_interval([answer.distance for answer in answers], binary=False)),
            None,
            None,
        )
    people = [norm.template[answer.scenario] for answer in answers]
    gaps = [answer.distance - usual for answer, usual in zip(answers, people, strict=True)]
    gap = math.fsum(gaps) / len(gaps)
    usual = math.fsum(people) / len(people)
    whole = len(answers) == len(norm.standards)
    around = clustered_mean_interval(gaps, binary=False)
    # The printed mean is rounded; on all items the paper's own formula holds, on some the gap stands in for it.
    eq = norm.eq(score) if whole else norm.eq(norm.mean + gap)
    slope = -15.0 / norm.deviation
    return gap, _not_negative(around.scaled(1.0, usual)), eq, around.scaled(slope, eq - slope * gap)


def _not_negative(interval: Interval) -> Interval:
    """A distance cannot be below zero, though the bootstrap's widened end can."""
    if interval.low is None or interval.low >= 0:
        return interval
    return Interval(0.0, interval.high, interval.level, interval.method, interval.clusters)


def _pattern(answers: Sequence[Answered], norm: Norm | None) -> Correlation | None:
    if norm is None or len(answers) < SMALLEST_PATTERN:
        return None
    distances = [answer.distance for answer in answers]
    people = [norm.template[answer.scenario] for answer in answers]
    if np.ptp(distances) < SMALLEST_SPREAD or np.ptp(people) < SMALLEST_SPREAD:
        return None
    return pearson(distances, people)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


DIRECT = "direct"
TOO_FEW = "too few stories are shared by all prompting methods to name the best one"
DIFFERENT = "No story was played with every prompting method, so the methods cannot be compared."

View = RunView[Scenario, Allocated]


class PromptingMethods(Struct, frozen=True):
    """The results of a run, all on the same scenarios if there are any."""

    view: View
    """The run, limited to the scenarios played with every method, or whole if there are none."""
    results: tuple[MethodResult, ...]
    headline: MethodResult | None
    """The headline result of the run."""
    several: bool
    """Whether the settings ask for more than one method."""
    best: bool
    shared: int
    left_out: int
    """Scenarios left out because they were not played with every method."""

    @property
    def comparable(self) -> bool:
        """Return whether the methods were played on the same scenarios."""
        return not self.several or self.shared > 0

    @property
    def headline_view(self) -> View:
        """Return the run with the shown method only; all failures stay."""
        if not self.several:
            return self.view
        method = None if self.headline is None else self.headline.method
        return _only(self.view, lambda item: item.prompting == method)

    @property
    def headline_note(self) -> str:
        """Return the note for a number without a group: its method, and whether it was picked as the best."""
        if not self.several:
            return ""
        if self.headline is None:
            return TOO_FEW if self.best else "the direct method was not played"
        if self.best:
            return (
                f"'{self.headline.method}', best of {len(self.results)} methods: choosing the best overstates the score"
            )
        return f"prompting method '{self.headline.method}'"


def compare_methods(run: View, norm: Norm | None) -> PromptingMethods:
    """Return the prompting methods of a run, compared on the scenarios that all of them share."""
    methods = prompting_methods(run.settings.text("prompting"))
    best, several = run.settings.text("prompting") == "best", len(methods) > 1
    played: dict[str, set[str]] = {method: set() for method in methods}
    for item, _, _ in run.scored():
        played.setdefault(item.prompting, set()).add(item.scenario)
    shared = set.intersection(*played.values())
    view = _only(run, lambda item: item.scenario in shared) if several and shared else run
    results = tuple(_results(view, norm))
    return PromptingMethods(
        view=view,
        results=results,
        headline=choose_headline(results, methods[0], best=best, shared=len(shared)),
        several=several,
        best=best,
        shared=len(shared),
        left_out=len(set.union(*played.values()) - shared),
    )


def headline_of(run: View) -> View:
    """Return what is compared with other runs: the headline method, its answers named by their scenario alone."""
    methods = compare_methods(run, norm_of(run.norm))
    failed = ""
    if methods.headline is None and methods.several:
        failed = methods.headline_note
    elif methods.headline is not None and methods.headline.failed:
        failed = "FAILED: most of its answers cannot be read"
    return msgspec.structs.replace(_by_scenario(methods.headline_view), note=methods.headline_note, failed=failed)


def choose_headline(results: Sequence[MethodResult], first: str, *, best: bool, shared: int) -> MethodResult | None:
    """Return the best result on shared scenarios if the best is requested, else the first method's."""
    if not best:
        return next((result for result in results if result.method == first), None)
    if not shared:
        return None
    able = [result for result in results if not result.failed] or list(results)
    return min(able, key=lambda result: result.gap if result.gap is not None else result.score)


def _results(view: View, norm: Norm | None) -> Iterator[MethodResult]:
    """The subject's result with each prompting method, in the order they were played."""
    methods: dict[str, list[tuple[Scenario, Allocated]]] = {}
    for item, outcome, _ in view.scored():
        methods.setdefault(item.prompting, []).append((item, outcome))
    for method, answers in methods.items():
        yield result_of(method, answers, norm)


def _by_scenario(run: View) -> View:
    """The run with every item named by its scenario, so that runs with different methods pair up."""

    def episodes() -> Iterator[Episode[Scenario, Allocated]]:
        for episode in run.episodes():
            item = msgspec.structs.replace(episode.item, id=episode.item.scenario, prompting="")
            yield msgspec.structs.replace(episode, item=item, score=_without_way(episode.score))

    return msgspec.structs.replace(run, walk=episodes)


def _without_way(score: Score | None) -> Score | None:
    if score is None:
        return None
    facets = {name: level for name, level in score.facets.items() if name != "prompting"}
    return msgspec.structs.replace(score, facets=facets)


def _only(run: View, kept: Callable[[Scenario], bool]) -> View:
    """The run with the scored episodes of some items, and every failure."""

    def episodes() -> Iterator[Episode[Scenario, Allocated]]:
        return (episode for episode in run.episodes() if episode.score is None or kept(episode.item))

    return msgspec.structs.replace(run, walk=episodes)


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
    percent = None if eq is None else norm.percent_of_eq(eq) / 100
    counted = ""
    if percent is not None and norm.counted:
        counted = f"standard error of the norm {norm.percent_error(100 * percent):.1f} points ({norm.people} people)"
    around = through_curve(result.eq_interval, lambda end: norm.percent_of_eq(end) / 100) if eq is not None else None
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


_PLAIN = ("prompting", "distance", "95 % interval", "evenness", "null answers")
_NORMED = ("prompting", "SECEU score", "EQ", "95 % interval", "band", "people below", "similarity", "p", "less similar")


def results_table(methods: PromptingMethods, even: MethodResult, norm: Norm | None) -> Table:
    """Return a row for each prompting method, then the scores of the baselines on the same items."""
    lines = [*methods.results, even, by_place(even, norm), silent(even, norm)]
    if norm is None:
        rows = tuple(_plain_row(result) for result in lines)
        note = "" if methods.comparable else DIFFERENT
        return Table("results", "Distance to the key, compared with answers given without reading", _PLAIN, rows, note)
    rows = tuple(_normed_row(result, norm) for result in lines)
    columns = (*_NORMED, "mechanism", "evenness", "null answers")
    note = (
        "Evenness is entropy as a share of its maximum; people's standard scores have "
        f"{even.standard_evenness:.2f}, which is higher than for individual people because the scores are "
        "averages."
    )
    if norm.evenness is not None:
        note += f" Individual people have {norm.evenness:.2f}."
    if not methods.comparable:
        note = f"{DIFFERENT} {note}"
    return Table("results", "EQ on the human norm, compared with answers given without reading", columns, rows, note)


def items_table(result: MethodResult, norm: Norm | None, shown: int) -> Table:
    """Return the items nearest to the standard and farthest from it, with both profiles of feeling."""
    ranked = sorted(result.answers, key=lambda answer: answer.distance)
    ends = ranked if len(ranked) <= 2 * shown else ranked[:shown] + ranked[-shown:]
    rows = tuple(_item_row(answer, norm) for answer in ends)
    whose = "people" if norm is not None else "key"
    columns = ("scenario", "story", "distance", "people's distance", f"feelings: given ({whose})")
    return Table("items", f"Best and worst stories ({result.method})", columns, rows)


def repairs_table(readings: Counter[str]) -> Table:
    """Return how often each rule read a reply, and which repair followed."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (*reading.split(" / ", 1), count) for reading, count in readings.most_common()
    )
    return Table("readings", "Rules and repairs used to read the replies", ("rule", "repair", "replies"), rows)


def _plain_row(result: MethodResult) -> tuple[Cell, ...]:
    return (
        result.method,
        round(result.score, 3),
        _range(result.interval, 2) if result.readings else "",
        _rounded(result.evenness, 2),
        _nulls(result),
    )


def _normed_row(result: MethodResult, norm: Norm) -> tuple[Cell, ...]:
    if result.failed and result.readings:
        return (result.method, round(result.score, 3), "FAILED", "", "", "", "", "", "", "", "", _nulls(result))
    eq, similarity = result.eq, result.similarity
    percent = None if eq is None else norm.percent_of_eq(eq)
    different = similarity is not None and similarity < norm.different_below
    return (
        result.method,
        round(result.score, 3),
        _rounded(eq, 1),
        _range(result.eq_interval, 1) if result.readings else "",
        band(eq) if eq is not None else "",
        norm.percent_text(percent) if percent is not None else "",
        _rounded(similarity, 3),
        _rounded(result.similarity_p, 3),
        f"{norm.percent_less_similar(similarity):.0f} %" if similarity is not None else "",
        "different" if different else "not different" if similarity is not None else "",
        _rounded(result.evenness, 2),
        _nulls(result),
    )


def _item_row(answer: Answered, norm: Norm | None) -> tuple[Cell, ...]:
    people = None if norm is None else norm.template[answer.scenario]
    profile = ", ".join(
        f"{option} {given:.1f} ({standard:.1f})"
        for option, given, standard in zip(answer.options, answer.points, answer.standard, strict=True)
    )
    return (answer.scenario, answer.story, round(answer.distance, 2), people, profile)


def _nulls(result: MethodResult) -> str:
    return f"{result.nulls:g} of {result.items}"


def _range(interval: Interval | None, digits: int) -> str:
    if interval is None:
        return ""
    if interval.low is None or interval.high is None:
        return "too few items"
    return f"{interval.low:.{digits}f} to {interval.high:.{digits}f}"


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


SHOWN_ITEMS = 5


def score(item: Scenario, outcome: Allocated) -> Score:
    """Return the distance to the standard, the profile similarity, the evenness, and whether it was null."""
    values = {
        "distance": distance(outcome.points, item.standard),
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
    even = hedger(first, norm) if first is not None else None
    measures = list(overall_measures(methods, even, norm))
    if len(methods.results) > 1:
        measures += [measure for result in methods.results for measure in method_measures(methods.view, result, norm)]
    tables = [results_table(methods, even, norm)] if even is not None else []
    if methods.headline is not None:
        tables += [items_table(methods.headline, norm, SHOWN_ITEMS), repairs_table(Counter(methods.headline.readings))]
    # What chance earns was measured on the bundled key.
    chance = {CHANCE: {"distance": None}} if run.settings.get("norm") else {}
    return Summary(
        tuple(measures),
        tuple(tables),
        tuple(notes(run, methods, even, norm)),
        series(methods.results, methods.headline, even, norm) | chance,
    )


def notes(
    run: RunView[Scenario, Allocated], methods: PromptingMethods, even: MethodResult | None, norm: Norm | None
) -> list[str]:
    """Return the notes for the numbers."""
    if even is None:
        return ["Nothing was scored."]
    said = [*_key_notes(even, norm), *_order_notes(run, norm)]
    if norm is not None and methods.headline is not None and methods.headline.items < len(norm.standards):
        said.append(
            f"EQ estimated from {methods.headline.items} of {len(norm.standards)} items, "
            "by their difference from people's mean distances on the same items."
        )
    said += _place_note(run, even, norm)
    said += _method_notes(methods)
    said += [
        f"FAILED ({result.method}): {result.nulls:g} of {result.items} answers contain no allocation."
        for result in methods.results
        if result.failed
    ]
    return said


def _key_notes(even: MethodResult, norm: Norm | None) -> list[str]:
    """The source of the standard, and the score of an even allocation."""
    if norm is None:
        return [
            "The key of these stories is our own judgement, not a human norm: there are distances and "
            "similarities, but no EQ.",
            f"An even allocation has a distance of {even.score:.2f}.",
        ]
    said = [f"Norm: {norm.name}, {norm.sample}."]
    if even.eq is not None and even.eq > EQ_MEAN:
        said.append(
            f"An even allocation earns an EQ of {even.eq:.0f}, more than the average person: this norm rewards hedging."
        )
    elif even.eq is not None:
        said.append(f"An even allocation earns an EQ of {even.eq:.0f}.")
    if norm.error_of_measurement is not None:
        said.append(f"People's standard error of measurement is {norm.error_of_measurement:.1f} EQ points.")
    return said


def _order_notes(run: RunView[Scenario, Allocated], norm: Norm | None) -> list[str]:
    """What an EQ can be compared with if the order of the feelings was shuffled for the subject or for people."""
    shuffled = run.settings.flag("shuffle")
    if norm is None or (not shuffled and norm.order != SHUFFLED):
        return []
    if not shuffled:
        return [
            "The people of the norm saw the feelings in random order, the subject in the printed one. Add --shuffle for"
            " an EQ that is comparable with theirs."
        ]
    if norm.order == SHUFFLED:
        return ["The subject saw the feelings in random order, as the people of the norm did."]
    saw = "in the printed order" if norm.order == PRINTED else "in an order that the norm does not state"
    return [
        f"The subject saw the feelings in random order, the people of the norm {saw}: this EQ is comparable with other"
        f" runs with --shuffle on these items, not with {_others(norm)}."
    ]


def _others(norm: Norm) -> str:
    return "published EQs or with runs without it" if norm.name == PUBLISHED_NORM else "runs without it"


def _place_note(run: RunView[Scenario, Allocated], even: MethodResult, norm: Norm | None) -> list[str]:
    """A note if the order of the options reveals their strength and the options were shown in that order."""
    unread = by_place(even, norm)
    if run.settings.flag("shuffle") or unread.score >= even.score:
        return []
    first = sum(answer.standard[0] == max(answer.standard) for answer in even.answers)
    earned = f"an EQ of {unread.eq:.0f}" if unread.eq is not None else f"a distance of {unread.score:.2f}"
    return [
        f"Writing 4, 3, 2, 1 without reading earns {earned}: the first feeling is the strongest in {first} of "
        f"{even.items} items. --shuffle prevents this."
    ]


def _method_notes(methods: PromptingMethods) -> list[str]:
    """The headline method, and the scenarios on which the methods are compared."""
    if not methods.several:
        return []
    said: list[str] = []
    shown = methods.headline
    if shown is None:
        said.append(f"{methods.headline_note[0].upper()}{methods.headline_note[1:]}.")
    elif methods.best:
        count = len(methods.results)
        said.append(
            f"'{shown.method}' is the best of {count} prompting methods; choosing the best overstates the score."
        )
    else:
        said.append(
            f"Numbers without a group are for '{shown.method}'; the table of results shows every prompting method."
        )
    if not methods.comparable:
        said.append(DIFFERENT)
    elif methods.left_out:
        said.append(
            f"The methods are compared on the {methods.shared} stories played with all of them; "
            f"{methods.left_out} are left out."
        )
    return said


def series(
    results: Sequence[MethodResult], shown: MethodResult | None, even: MethodResult | None, norm: Norm | None
) -> dict[str, object]:
    """Return the data for figures beyond the measures."""
    if shown is None or even is None:
        return {}
    unread = by_place(even, norm)
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
