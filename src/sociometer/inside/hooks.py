"""Forward hooks: one that keeps states and neurons of a span of tokens, one that switches neurons off."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sociometer.inside.anatomy import Anatomy


class Recorder:
    """States and neurons of one batch, pooled as each layer runs, so that no full state is kept."""

    def __init__(self, anatomy: Anatomy, mask: Any, last: Any) -> None:
        """`mask` marks the tokens to look at (texts × tokens), `last` is the place of the last one of each text."""
        self._mask = mask
        self._last = last
        self._rows = mask.shape[0]
        self.states: list[Any] = [None] * (anatomy.layers + 1)
        self.squares: list[Any] = [None] * anatomy.layers

    def see_state(self, layer: int, output: Any) -> None:
        """Keeps the last token's state and the mean."""
        import torch

        state = (output[0] if isinstance(output, tuple) else output).float()
        last = state[torch.arange(self._rows, device=state.device), self._last]
        weights = self._mask.to(state.dtype).unsqueeze(-1)
        self.states[layer] = torch.stack([last, (state * weights).sum(1) / weights.sum(1)], dim=1).cpu()

    def see_neurons(self, layer: int, values: Any) -> None:
        """Keeps the sum of squares of each neuron."""
        values = values.reshape(self._rows, -1, values.shape[-1]).float()
        self.squares[layer] = (values.square() * self._mask.to(values.dtype).unsqueeze(-1)).sum(1).cpu()

    def vectors(self) -> NDArray[np.float32]:
        """One row for each text: its number of tokens, the states (layer by layer: last, mean), the squares."""
        tokens = self._mask.sum(1).float().cpu().numpy()[:, None]
        states = np.concatenate([part.numpy().reshape(self._rows, -1) for part in self.states], axis=1)
        squares = np.concatenate([part.numpy() for part in self.squares], axis=1)
        return np.concatenate([tokens, states, squares], axis=1).astype(np.float32)


@contextmanager
def recording(anatomy: Anatomy, mask: Any, last: Any) -> Iterator[Recorder]:
    """Hooks that keep what each layer does."""
    recorder = Recorder(anatomy, mask, last)
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


@contextmanager
def switched_off(anatomy: Anatomy, neurons: Sequence[int]) -> Iterator[None]:
    """Sets these neurons (layer × width + place) to zero on every token."""
    import torch

    by_layer: dict[int, list[int]] = {}
    for neuron in neurons:
        by_layer.setdefault(int(neuron) // anatomy.width, []).append(int(neuron) % anatomy.width)
    hooks = []
    for layer, places in by_layer.items():
        readout = anatomy.readouts[layer]
        off = torch.tensor(places, device=readout.weight.device)
        hooks.append(
            readout.register_forward_pre_hook(lambda module, args, off=off: (_without(args[0], off), *args[1:]))
        )
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextmanager
def only_at(model: Any, wanted: Sequence[tuple[int, int]]) -> Iterator[None]:
    """Computes the logits of these places (text, token) alone: those of all tokens would not fit into memory."""
    import torch

    rows, places = (torch.tensor(numbers) for numbers in zip(*wanted, strict=True))

    def chosen(module: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return args[0][rows.to(args[0].device), places.to(args[0].device)].unsqueeze(0), *args[1:]

    hook = model.get_output_embeddings().register_forward_pre_hook(chosen)
    try:
        yield
    finally:
        hook.remove()


def _without(values: Any, off: Any) -> Any:
    return values.index_fill(-1, off, 0.0)
