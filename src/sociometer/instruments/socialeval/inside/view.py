"""A view of the inside of one model: plain records, so that a view is stored with a run and drawn again later."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from sociometer.core.errors import UsageError
from sociometer.core.inner_model import Pooling
from sociometer.core.measure import Interval, Measure, Summary
from sociometer.core.session import Session
from sociometer.core.task import Item, RunView, Score, SummarisedRun
from sociometer.instruments.socialeval.inside.statistics import Drop, Specificity
from sociometer.instruments.socialeval.inside.tables import caveats, inside_tables

LEVELS = ("dimension", "ability")


class LookedAt(Item, frozen=True, kw_only=True):
    """The item of a stored view: the model and the questions."""

    questions: tuple[str, ...] = ()


class Condition(Struct, frozen=True):
    """Which labels are separated, where the probe is fitted and tested, and how an utterance becomes one vector."""

    level: str
    fit_on: str
    test_on: str
    pooling: Pooling

    @property
    def across(self) -> bool:
        """Whether the probe is tested in another language than it was fitted on."""
        return self.fit_on != self.test_on

    @property
    def title(self) -> str:
        """`en`, or `en → zh` across languages."""
        return f"{self.fit_on} → {self.test_on}" if self.across else self.fit_on


class LayerResult(Struct, frozen=True):
    """One layer under one condition; p-values are corrected for the number of layers."""

    layer: int
    accuracy: float
    interval: Interval
    accuracy_null: float
    p_accuracy: float
    silhouette: float | None = None
    silhouette_null: float | None = None
    p_silhouette: float | None = None


class Representation(Struct, frozen=True):
    """All layers under one condition."""

    condition: Condition
    labels: int
    items: int
    trees: int
    layers: tuple[LayerResult, ...]

    @property
    def best(self) -> LayerResult:
        """The layer with the highest accuracy."""
        return max(self.layers, key=lambda layer: layer.accuracy)

    @property
    def clearest(self) -> LayerResult:
        """The layer with the highest silhouette."""
        return max(self.layers, key=lambda layer: layer.silhouette or -1.0)


class Spot(Struct, frozen=True, array_like=True):
    """One utterance on the plane of one layer."""

    layer: int
    x: float
    y: float
    ability: str
    language: str
    question: str


class NeuronResult(Struct, frozen=True):
    """The sets of neurons of one language (or both), with what shuffled labels give."""

    language: str
    top: int
    abilities: tuple[str, ...]
    items: int
    overlaps: tuple[tuple[float, ...], ...]
    within: float
    within_null: float
    p_within: float
    between: float
    between_null: float
    separation: float
    separation_null: float
    p_separation: float
    p_dimensions: float
    density: float
    density_null: float
    p_density: float
    layer_density: tuple[float, ...]
    layer_separation: tuple[float, ...]
    p_layers: tuple[float, ...]


class CausationResult(Struct, frozen=True):
    """What was lost with neurons switched off."""

    level: str
    answers: str
    top: int
    controls: int
    items: int
    trees: int
    whole: float
    """The mean score with all neurons."""
    accuracy: float
    """The share of questions whose right option had the highest score, with all neurons."""
    matrix: tuple[Drop, ...]
    rows: tuple[Specificity, ...]
    specific: tuple[str, ...]


class InsideView(Struct, frozen=True):
    """The complete view of one model."""

    model: str
    revision: str
    device: str
    parameters: int
    layers: int
    width: int
    reference: str
    shuffles: int
    story_tokens: int
    questions: int
    left_out: int
    representations: tuple[Representation, ...]
    spots: tuple[Spot, ...]
    spot_pooling: Pooling
    layer: int
    """The layer whose plane is drawn large."""
    layer_chosen: bool
    """Whether the user chose this layer; else it is the one with the best probe."""
    neurons: tuple[NeuronResult, ...] = ()
    causation: CausationResult | None = None
    seconds: dict[str, float] = {}
    computed: int = 0
    memory: dict[str, float] = {}

    def representation(self, level: str, fit_on: str, test_on: str, pooling: Pooling) -> Representation | None:
        """The layers under one condition, if it was examined."""
        wanted = Condition(level, fit_on, test_on, pooling)
        return next((each for each in self.representations if each.condition == wanted), None)


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
