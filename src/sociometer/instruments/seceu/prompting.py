"""Several prompting methods in one run: which can be compared, and which one is the headline."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import Struct

from sociometer.core.settings import Settings
from sociometer.core.task import Episode, Headline, RunView, Score
from sociometer.instruments.seceu.items import Scenario, prompting_methods
from sociometer.instruments.seceu.method_result import MethodResult, result_of, result_over_wordings
from sociometer.instruments.seceu.norm import Norm, norm_of
from sociometer.instruments.seceu.play import Allocated

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


def headline_of(run: View) -> Headline[Scenario, Allocated]:
    """Return what is compared with other runs: the headline method, its answers named by their scenario alone."""
    methods = compare_methods(run, norm_of(run.norm))
    failed = ""
    if methods.headline is None and methods.several:
        failed = methods.headline_note
    elif methods.headline is not None and methods.headline.failed:
        failed = "FAILED: most of its answers cannot be read"
    return Headline(_by_scenario(methods.headline_view), methods.headline_note, failed)


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

    return _with_episodes(run, episodes)


def _without_way(score: Score | None) -> Score | None:
    if score is None:
        return None
    facets = {name: level for name, level in score.facets.items() if name != "prompting"}
    return msgspec.structs.replace(score, facets=facets)


def _only(run: View, kept: Callable[[Scenario], bool]) -> View:
    """The run with the scored episodes of some items, and every failure."""

    def episodes() -> Iterator[Episode[Scenario, Allocated]]:
        return (episode for episode in run.episodes() if episode.score is None or kept(episode.item))

    return _with_episodes(run, episodes)


def _with_episodes(run: View, episodes: Callable[[], Iterator[Episode[Scenario, Allocated]]]) -> View:
    return RunView(
        episodes,
        run.settings,
        subject=run.subject,
        roles=run.roles,
        norm=run.norm,
        run=run.run,
        stand_ins=run.stand_ins,
    )
