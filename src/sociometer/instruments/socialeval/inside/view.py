"""A view of the inside of one model: plain records, so that a view is stored with a run and drawn again later."""

from __future__ import annotations

from msgspec import Struct

from sociometer.core.measure import Interval
from sociometer.core.task import Item

LEVELS = ("dimension", "ability")


class LookedAt(Item, frozen=True, kw_only=True):
    """The item of a stored view: the model and the questions."""

    questions: tuple[str, ...] = ()


class Condition(Struct, frozen=True):
    """Which labels are separated, and where the probe is fitted and tested."""

    level: str
    fit_on: str
    test_on: str
    pooling: str = "mean"
    """Views stored earlier have others, too; they are not shown."""

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


class InsideView(Struct, frozen=True):
    """The complete view of one model."""

    model: str
    revision: str
    device: str
    parameters: int
    layers: int
    width: int
    shuffles: int
    story_tokens: int
    questions: int
    left_out: int
    representations: tuple[Representation, ...]
    spots: tuple[Spot, ...]
    layer: int
    """The layer with the best probe, whose plane is drawn."""
    neurons: tuple[NeuronResult, ...] = ()
    computed: int = 0
