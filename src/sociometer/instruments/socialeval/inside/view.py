"""The view of one model: what its layers represent and which of its neurons respond, as records."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from sociometer.core.task import AnyRun

LEVELS = ("dimension", "ability")


class LayerResult(Struct, frozen=True):
    """The silhouette of one layer; the p-value is corrected for the number of layers."""

    layer: int
    silhouette: float
    null: float
    """The mean over shuffled labels."""
    p_value: float


class Representation(Struct, frozen=True):
    """All layers in one language: whether utterances of one dimension (or ability) are near each other."""

    level: str
    language: str
    items: int
    trees: int
    layers: tuple[LayerResult, ...]

    @property
    def clearest(self) -> LayerResult:
        """The layer with the highest silhouette."""
        return max(self.layers, key=lambda layer: layer.silhouette)


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
    between: float
    between_null: float
    separation: float
    p_separation: float
    density: float
    density_null: float
    p_density: float
    layer_density: tuple[float, ...]


class InsideView(Struct, frozen=True):
    """The complete view of one model."""

    model: str
    revision: str
    device: str
    parameters: int
    layers: int
    width: int
    questions: int
    left_out: int
    representations: tuple[Representation, ...]
    spots: tuple[Spot, ...]
    layer: int
    """The layer with the highest silhouette, whose plane is drawn."""
    neurons: tuple[NeuronResult, ...] = ()
    computed: int = 0


def stored_views(runs: Iterable[AnyRun]) -> list[InsideView]:
    """The views in the summaries of stored runs, one for each model: the newest."""
    found: dict[str, InsideView] = {}
    for run in sorted((run for run in runs if "inside" in run.summary.series), key=lambda run: run.created):
        view = msgspec.convert(run.summary.series["inside"], InsideView)
        found[view.revision] = view
    return list(found.values())
