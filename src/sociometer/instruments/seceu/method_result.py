"""A subject's result with one prompting method, and the comparison of several methods in one run."""

import math
from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np
from msgspec import Struct

from sociometer.core.measure import Interval
from sociometer.core.task import Episode, RunView, Score
from sociometer.instruments.seceu.items import Scenario, prompting_methods
from sociometer.instruments.seceu.norm import Norm, distance, evenness, norm_of
from sociometer.instruments.seceu.play import Allocated
from sociometer.statistics.correlation import Correlation, pearson
from sociometer.statistics.intervals import clustered_mean_interval

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
