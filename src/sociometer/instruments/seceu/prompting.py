"""The prompting methods of one run, compared on the stories that all of them share; the headline method."""

from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import Struct

from sociometer.core.task import Episode, RunView
from sociometer.core.words import grouped
from sociometer.instruments.seceu.items import Scenario, prompting_methods
from sociometer.instruments.seceu.method_result import MethodResult, result_of
from sociometer.instruments.seceu.norm import Norm, norm_of
from sociometer.instruments.seceu.play import Allocated
from sociometer.statistics.item_values import item_values

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
    norm = norm_of(run.norm)
    methods, failed = compare_methods(run, norm), ""
    if methods.headline is None and methods.several:
        failed = methods.headline_note
    elif methods.headline is not None and methods.headline.failed:
        failed = "FAILED: most of its answers cannot be read"
    made, usual = _by_scenario(methods.headline_view), {"distance": norm.template if norm is not None else {}}
    return msgspec.structs.replace(made, note=methods.headline_note, failed=failed, usual=usual)


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
    methods = grouped((item.prompting, (item, outcome)) for item, outcome, _ in view.scored())
    people = item_values(view, "distance") if view.people else {}
    for method, answers in methods.items():
        mine = {name: one for name, one in people.items() if one.facets.get("prompting", "") == method}
        yield result_of(method, answers, norm, mine)


def _by_scenario(run: View) -> View:
    """The run with every item named by its scenario, so that runs with different methods pair up."""

    def episodes() -> Iterator[Episode[Scenario, Allocated]]:
        for episode in run.episodes():
            item, score = msgspec.structs.replace(episode.item, id=episode.item.scenario, prompting=""), episode.score
            if score is not None:
                facets = {name: level for name, level in score.facets.items() if name != "prompting"}
                score = msgspec.structs.replace(score, facets=facets)
            yield msgspec.structs.replace(episode, item=item, score=score)

    return msgspec.structs.replace(run, walk=episodes)


def _only(run: View, kept: Callable[[Scenario], bool]) -> View:
    """The run with the scored episodes of some items, and every failure."""

    def episodes() -> Iterator[Episode[Scenario, Allocated]]:
        return (episode for episode in run.episodes() if episode.score is None or kept(episode.item))

    return msgspec.structs.replace(run, walk=episodes)
