"""Models in this process: the players of one file share its weights, which go with the last of them."""

import asyncio
import atexit
import contextlib
import gc
from abc import abstractmethod
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from sociometer.core.player import Player
from sociometer.models.serial_thread import SerialThread

_PATIENCE_SECONDS = 5.0
_MADE: set["InProcessModel"] = set()


class InProcessModel:
    """The weights of one model, loaded on first use; everything that uses them is called in its thread."""

    def __init__(self, thread: str) -> None:
        self.users = 0
        self.thread = SerialThread(thread)
        _MADE.add(self)

    @abstractmethod
    def unload(self) -> None:
        """Let go of the weights; the next use loads them again."""

    def free(self) -> None:
        """Let go of the weights, and of what refers to them in circles."""
        self.unload()
        _MADE.discard(self)
        gc.unfreeze()  # a run freezes what was there before it
        gc.collect()


ModelT = TypeVar("ModelT", bound=InProcessModel)
_OPEN: dict[Hashable, InProcessModel] = {}


class InProcessPlayer(Player, Generic[ModelT]):
    """A player with weights in this process, from when it is opened until it is closed."""

    parallel = True

    def __init__(self, weights: Hashable, make: Callable[[], ModelT]) -> None:
        """`weights` is the same for players that share them; `make` makes the model of the first one."""
        self._weights = (type(self), weights)
        self._make = make
        self._model: ModelT | None = None

    @property
    def model(self) -> ModelT:
        """The model, which loads its weights on first use."""
        if self._model is None:
            raise RuntimeError(f"{self!r} is not open; use it inside 'async with'")
        return self._model

    async def open(self) -> None:
        if self._weights not in _OPEN:
            _OPEN[self._weights] = self._make()
        model: ModelT = _OPEN[self._weights]  # type: ignore[assignment]  # the key has the type of the player
        model.users += 1
        self._model = model

    async def close(self) -> None:
        """Free the weights if no other player uses them."""
        model, self._model = self._model, None
        if model is None:
            return
        model.users -= 1
        if model.users == 0:
            del _OPEN[self._weights]
            # A generation cannot be interrupted: do not wait for it; the thread frees the weights when it ends.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(model.thread.end(model.free), _PATIENCE_SECONDS)


@atexit.register
def _unload_all() -> None:
    # llama.cpp's threads wait for the interpreter; left to the very end of the process they would wait for ever.
    for model in _MADE:
        model.unload()
