"""Finds the parts of a model of transformers: its layers, and the last matrix of each feed-forward block."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sociometer.core.errors import UsageError
from sociometer.core.lazy import lazy

torch = lazy("torch")

_LAST_MATRIX = ("down_proj", "dense_4h_to_h", "fc2", "c_proj", "fc_out", "w2", "wo")
_ATTENTION = ("attn", "attention")


class Anatomy(Struct, frozen=True):
    """The layers in order, and in each the module whose inputs are its neurons."""

    blocks: tuple[Any, ...]
    readouts: tuple[Any, ...]
    width: int
    """The number of neurons in a layer."""
    hidden: int
    """The length of a state."""

    @property
    def layers(self) -> int:
        return len(self.blocks)

    def weights(self, layer: int) -> Any:
        """The mean absolute weight that each neuron of a layer feeds, as a tensor."""
        matrix = self.readouts[layer].weight.detach().float().abs()
        # Conv1D of GPT-2 holds inputs × outputs, every other module outputs × inputs.
        return matrix.mean(dim=1 if _is_transposed(self.readouts[layer]) else 0)


def anatomy_of(model: Any, name: str) -> Anatomy:
    """The parts of a causal language model; a UsageError if they are not of a known kind."""
    lists = [module for module in model.modules() if isinstance(module, torch.nn.ModuleList) and len(module)]
    blocks: tuple[Any, ...] = ()
    for module in lists:
        if len(module) > len(blocks) and len({type(part) for part in module}) == 1:
            blocks = tuple(module)
    hidden = int(model.get_input_embeddings().weight.shape[1])
    readouts = tuple(_readout(block) for block in blocks)
    widths = {int(module.weight.shape[0 if _is_transposed(module) else 1]) for module in readouts if module is not None}
    if not blocks or None in readouts or len(widths) != 1:
        raise UsageError(
            f"'{name}' has no feed-forward blocks of a known kind (one matrix named {', '.join(_LAST_MATRIX[:4])}, … in"
            " each layer; mixtures of experts have several); choose a dense model."
        )
    return Anatomy(blocks, readouts, widths.pop(), hidden)


def _readout(block: Any) -> Any:
    """The last matrix of the feed-forward block of a layer; None if there is not exactly one."""
    found = [
        module
        for path, module in block.named_modules()
        if path.rsplit(".", 1)[-1] in _LAST_MATRIX
        and not any(word in path.lower() for word in _ATTENTION)
        and getattr(module, "weight", None) is not None
    ]
    return found[0] if len(found) == 1 else None


def _is_transposed(module: Any) -> bool:
    return type(module).__name__ == "Conv1D"


class Recorder:
    """States and neurons of one batch, pooled as each layer runs, so that no full state is kept."""

    def __init__(self, anatomy: Anatomy, mask: Any) -> None:
        """`mask` marks the tokens to look at (texts × tokens)."""
        self._mask = mask
        self._rows = mask.shape[0]
        self.states: list[Any] = [None] * (anatomy.layers + 1)
        self.squares: list[Any] = [None] * anatomy.layers

    def see_state(self, layer: int, output: Any) -> None:
        """Keeps the mean state."""
        state = (output[0] if isinstance(output, tuple) else output).float()
        weights = self._mask.to(state.dtype).unsqueeze(-1)
        self.states[layer] = ((state * weights).sum(1) / weights.sum(1)).cpu()

    def see_neurons(self, layer: int, values: Any) -> None:
        """Keeps the sum of squares of each neuron."""
        values = values.reshape(self._rows, -1, values.shape[-1]).float()
        self.squares[layer] = (values.square() * self._mask.to(values.dtype).unsqueeze(-1)).sum(1).cpu()

    def vectors(self) -> NDArray[np.float32]:
        """One row for each text: its number of tokens, the states layer by layer, the squares."""
        tokens = self._mask.sum(1).float().cpu().numpy()[:, None]
        states = np.concatenate([part.numpy() for part in self.states], axis=1)
        squares = np.concatenate([part.numpy() for part in self.squares], axis=1)
        return np.concatenate([tokens, states, squares], axis=1).astype(np.float32)


@contextmanager
def recording(anatomy: Anatomy, mask: Any) -> Iterator[Recorder]:
    """Hooks that keep what each layer does."""
    recorder = Recorder(anatomy, mask)
    hooks = [
        anatomy.blocks[0].register_forward_pre_hook(
            lambda module, args, kwargs: recorder.see_state(0, args[0] if args else kwargs["hidden_states"]),
            with_kwargs=True,
        )
    ]
    for layer, (block, readout) in enumerate(zip(anatomy.blocks, anatomy.readouts, strict=True)):
        hooks.append(
            block.register_forward_hook(lambda module, args, output, layer=layer: recorder.see_state(layer + 1, output))
        )
        hooks.append(
            readout.register_forward_pre_hook(lambda module, args, layer=layer: recorder.see_neurons(layer, args[0]))
        )
    try:
        yield recorder
    finally:
        for hook in hooks:
            hook.remove()
