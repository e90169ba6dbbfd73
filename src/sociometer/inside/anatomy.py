"""Finds the parts of a model of transformers: its layers, and the last matrix of each feed-forward block."""

from typing import Any

from msgspec import Struct

from sociometer.core.errors import UsageError

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
        """The number of layers."""
        return len(self.blocks)

    def weights(self, layer: int) -> Any:
        """The mean absolute weight that each neuron of a layer feeds, as a tensor."""
        matrix = self.readouts[layer].weight.detach().float().abs()
        # Conv1D of GPT-2 holds inputs × outputs, every other module outputs × inputs.
        return matrix.mean(dim=1 if _is_transposed(self.readouts[layer]) else 0)


def anatomy_of(model: Any, name: str) -> Anatomy:
    """The parts of a causal language model; a UsageError if they are not of a known kind."""
    import torch

    lists = [module for module in model.modules() if isinstance(module, torch.nn.ModuleList) and len(module)]
    blocks: tuple[Any, ...] = ()
    for module in lists:
        if len(module) > len(blocks) and len({type(part) for part in module}) == 1:
            blocks = tuple(module)
    hidden = int(model.get_input_embeddings().weight.shape[1])
    readouts = tuple(_readout(block) for block in blocks)
    widths = {_inputs(module) for module in readouts if module is not None}
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


def _inputs(module: Any) -> int:
    return int(module.weight.shape[0 if _is_transposed(module) else 1])
