"""A subject's result with one prompting method, and the comparison of several methods in one run."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sociometer.core.measure import Interval
from sociometer.core.settings import Settings
from sociometer.core.task import Episode, RunView, Score
from sociometer.instruments.seceu.items import Scenario, prompting_methods
from sociometer.instruments.seceu.norm import Norm, distance, evenness, norm_of
from sociometer.instruments.seceu.play import Allocated
from sociometer.statistics.correlation import Correlation, pearson
from sociometer.statistics.distributions import t_quantile
from sociometer.statistics.intervals import MINIMUM_CLUSTERS, clustered_mean_interval, too_few

METHOD = "items and wordings crossed, Satterthwaite"


def crossed_mean(table: ArrayLike, level: float = 0.95) -> tuple[float, Interval]:
    """The mean of a table of items (rows) by wordings (columns) without gaps, with an interval over both."""
    values = np.asarray(table, float)
    if values.ndim != 2 or min(values.shape) < 2 or not np.isfinite(values).all():
        raise ValueError(f"a table of at least two items by two wordings is needed, without gaps; not {values.shape}")
    n, m = values.shape
    mean = float(values.mean())
    if n < MINIMUM_CLUSTERS:
        return mean, too_few(n, level)
    rows, columns = values.mean(axis=1), values.mean(axis=0)
    rest = values - rows[:, None] - columns[None, :] + mean
    ms_rows = m * float(np.square(rows - mean).sum()) / (n - 1)
    ms_columns = n * float(np.square(columns - mean).sum()) / (m - 1)
    ms_rest = float(np.square(rest).sum()) / ((n - 1) * (m - 1))
    above = max(0.0, ms_columns - ms_rest)
    parts = ms_rows**2 / (n - 1)
    if above:
        parts += ms_columns**2 / (m - 1) + ms_rest**2 / ((n - 1) * (m - 1))
    freedom = max(1.0, (ms_rows + above) ** 2 / parts) if parts else float(n - 1)
    half = t_quantile(0.5 + level / 2, freedom) * math.sqrt((ms_rows + above) / (n * m))
    return mean, Interval(mean - half, mean + half, level, METHOD, n)


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
    wordings: int = 1

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


def result_over_wordings(
    method: str, wordings: Mapping[str, Sequence[tuple[Scenario, Allocated]]], norm: Norm | None
) -> MethodResult | None:
    """Return the mean over wordings of one prompt, with an interval over scenarios and wordings.

    Only scenarios that were played with every wording count; None if there are fewer than two.
    """
    shared = set.intersection(*({item.scenario for item, _ in answers} for answers in wordings.values()))
    if len(shared) < 2 or len(wordings) < 2:
        return None
    kept = [pair for answers in wordings.values() for pair in answers if pair[0].scenario in shared]
    made = result_of(method, kept, norm)
    order = [answer.scenario for answer in made.answers]
    table = [
        [
            _mean([distance(outcome.points, item.standard) for item, outcome in answers if item.scenario == name])
            or 0.0
            for answers in wordings.values()
        ]
        for name in order
    ]
    usual = [norm.template[name] if norm is not None else 0.0 for name in order]
    mean, around = crossed_mean([[value - own for value in row] for row, own in zip(table, usual, strict=True)])
    interval = _not_negative(around.scaled(1.0, math.fsum(usual) / len(usual)))
    eq_interval = made.eq_interval
    if norm is not None and made.eq is not None:
        slope = -15.0 / norm.deviation
        eq_interval = around.scaled(slope, made.eq - slope * mean)
    return msgspec.structs.replace(made, interval=interval, eq_interval=eq_interval, wordings=len(wordings))


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
    pooled: MethodResult | None = None
    """The mean over the wordings of the direct prompt, if there are several."""
    wordings: tuple[str, ...] = ()

    @property
    def ways(self) -> tuple[MethodResult, ...]:
        """Return the results of all methods, after the mean over wordings if there is one."""
        return self.results if self.pooled is None else (self.pooled, *self.results)

    @property
    def comparable(self) -> bool:
        """Return whether the methods were played on the same scenarios."""
        return not self.several or self.shared > 0

    @property
    def headline_view(self) -> View:
        """Return the run with the shown method only; all failures stay."""
        if not self.several:
            return self.view
        if self.pooled is not None and self.headline is self.pooled:
            return _only(self.view, lambda item: item.prompting in self.wordings)
        method = None if self.headline is None else self.headline.method
        return _only(self.view, lambda item: item.prompting == method)

    @property
    def headline_note(self) -> str:
        """Return the note for a number without a group: its method, and whether it was picked as the best."""
        if not self.several:
            return ""
        if self.headline is None:
            return TOO_FEW if self.best else "the direct method was not played"
        if self.headline is self.pooled:
            return f"mean over {self.headline.wordings} wordings of the direct prompt"
        if self.best:
            return (
                f"'{self.headline.method}', best of {len(self.results)} methods: choosing the best overstates the score"
            )
        return f"prompting method '{self.headline.method}'"


def compare_methods(run: View, norm: Norm | None) -> PromptingMethods:
    """Return the prompting methods of a run, compared on the scenarios that all of them share."""
    methods = _asked(run.settings)
    best, several = run.settings.text("prompting") == "best", len(methods) > 1
    played: dict[str, set[str]] = {method: set() for method in methods}
    for item, _, _ in run.scored():
        played.setdefault(item.prompting, set()).add(item.scenario)
    shared = set.intersection(*played.values())
    view = _only(run, lambda item: item.scenario in shared) if several and shared else run
    results = tuple(_results(view, norm))
    wordings = tuple(method for method in methods if method == DIRECT or method.startswith(f"{DIRECT}-"))
    pooled = _pooled(view, norm, wordings) if len(wordings) > 1 and not best else None
    return PromptingMethods(
        view=view,
        results=results,
        headline=pooled or choose_headline(results, methods[0], best=best, shared=len(shared)),
        pooled=pooled,
        wordings=wordings,
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


def _asked(settings: Settings) -> tuple[str, ...]:
    return prompting_methods(settings.text("prompting"), settings.whole("paraphrases"))


def _results(view: View, norm: Norm | None) -> Iterator[MethodResult]:
    """The subject's result with each prompting method, in the order they were played."""
    methods: dict[str, list[tuple[Scenario, Allocated]]] = {}
    for item, outcome, _ in view.scored():
        methods.setdefault(item.prompting, []).append((item, outcome))
    for method, answers in methods.items():
        yield result_of(method, answers, norm)


def _pooled(view: View, norm: Norm | None, wordings: Sequence[str]) -> MethodResult | None:
    """The mean over the wordings of the direct prompt; None if one of them was not played."""
    answers: dict[str, list[tuple[Scenario, Allocated]]] = {wording: [] for wording in wordings}
    for item, outcome, _ in view.scored():
        if item.prompting in answers:
            answers[item.prompting].append((item, outcome))
    return result_over_wordings(f"{DIRECT}, {len(wordings)} wordings", answers, norm) if all(answers.values()) else None


def _by_scenario(run: View) -> View:
    """The run with every item named by its scenario, so that runs with different methods pair up."""

    def episodes() -> Iterator[Episode[Scenario, Allocated]]:
        seen: Counter[str] = Counter()
        for episode in run.episodes():
            item = msgspec.structs.replace(episode.item, id=episode.item.scenario, prompting="")
            # Wordings of one scenario are repeats of it: each has a number of its own.
            repeat = seen[item.id]
            seen[item.id] += 1
            yield msgspec.structs.replace(episode, item=item, repeat=repeat, score=_without_way(episode.score))

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
