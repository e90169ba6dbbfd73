"""The task `inside`: a stored view of one model as a run, so that reports and papers show it like any other."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from sociometer.core.errors import UsageError
from sociometer.core.measure import Measure, Summary
from sociometer.core.session import Session
from sociometer.core.task import RunView, Score, SummarisedRun
from sociometer.instruments.socialeval.inside.tables import caveats, inside_tables
from sociometer.instruments.socialeval.inside.view import InsideView, LookedAt


async def look(item: LookedAt, session: Session) -> InsideView:
    """Raise an error: a conversation cannot look inside a model."""
    raise UsageError("run 'sociometer inside socialeval --model hf/NAME' to look inside a model.")


def score_view(item: LookedAt, outcome: InsideView) -> Score:
    """The balanced accuracy of the best layer in each language, for the dimension."""
    return Score(values={f"probe {name}": value for name, value in _probes(outcome)})


def _probes(view: InsideView) -> Iterable[tuple[str, float]]:
    for each in view.representations:
        condition = each.condition
        if condition.level == "dimension" and condition.pooling == view.spot_pooling:
            yield condition.title, each.best.accuracy


def summarise_views(run: RunView[LookedAt, InsideView]) -> Summary:
    """The measures of the view, its tables, and the view itself for the figures."""
    views = [outcome for _, outcome, _ in run.scored()]
    if not views:
        return Summary(measures=(Measure("probe", None),))
    view = views[-1]
    measures = []
    for each in view.representations:
        condition = each.condition
        if condition.pooling != view.spot_pooling:
            continue
        group = {"told apart": condition.level, "language": condition.title}
        best, clearest = each.best, each.clearest
        # Chosen because it is the best, so an interval around it would lie too high; p allows for the choice.
        note = f"layer {best.layer}, the best of {len(each.layers)}, so without interval; p {best.p_accuracy:.3f}"
        measures.append(Measure("probe", best.accuracy, group, None, each.items, each.trees, note=note))
        if not condition.across:
            note = f"layer {clearest.layer}, p {clearest.p_silhouette or 1:.3f}"
            measures.append(Measure("silhouette", clearest.silhouette, group, None, each.items, each.trees, note=note))
    for found in view.neurons:
        note = f"p {found.p_separation:.3f}"
        measures.append(
            Measure("separation", found.separation, {"language": found.language}, items=found.items, note=note)
        )
    return Summary(
        measures=tuple(measures),
        tables=inside_tables(views),
        notes=caveats(views),
        series={"view": msgspec.to_builtins(view)},
    )


def stored_views(runs: Iterable[SummarisedRun]) -> list[InsideView]:
    """The views in the summaries of stored runs, one for each model: the newest."""
    found: dict[str, InsideView] = {}
    for run in sorted((run for run in runs if "view" in run.summary.series), key=lambda run: run.created):
        view = msgspec.convert(run.summary.series["view"], InsideView)
        found[view.revision] = view
    return list(found.values())
