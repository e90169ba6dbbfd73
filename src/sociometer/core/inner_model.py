"""What can be asked of open weights from the inside: states and neurons."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Passage(Struct, frozen=True):
    """An utterance and the story before it; only the tokens of the utterance are looked at."""

    before: str
    said: str


class Traces(Protocol):
    """What a model did on some passages; read from files one layer at a time."""

    layers: int
    """The number of layers; states also have a layer 0, the embedding."""
    width: int
    """The number of neurons in the feed-forward block of a layer."""
    computed: int
    """How many passages were computed now; the others were in the files."""
    tokens: "NDArray[np.float64]"

    def states(self, layer: int) -> "NDArray[np.float32]":
        """The mean state over the tokens of each utterance."""

    def squares(self, layer: int) -> "NDArray[np.float32]":
        """The sum of squares of each neuron over the tokens of each utterance, passages × neurons."""

    def weights(self, layer: int) -> "NDArray[np.float32]":
        """The mean absolute weight that each neuron feeds."""


class InnerModel(Protocol):
    """Open weights on this machine."""

    name: str
    revision: str
    device: str

    @property
    def parameters(self) -> int:
        """The number of parameters."""

    @property
    def layers(self) -> int:
        """The number of layers."""

    @property
    def width(self) -> int:
        """The number of neurons in the feed-forward block of a layer."""

    def traces(self, passages: Sequence[Passage], label: str) -> Traces:
        """The states and neurons on each passage; computes only what is in no file yet."""
