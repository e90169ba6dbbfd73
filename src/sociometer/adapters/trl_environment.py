"""Practice talks as an environment of TRL (`GRPOTrainer(environment_factory=…)`): a talk is several calls of `say`."""

import asyncio
import threading
from functools import cache
from typing import Any

from sociometer.adapters.gym import Gym, Playing, new_text

OVER = "(The talk is over.)"


class Talk:
    """One rollout at a time; TRL makes as many of these as it plays at once, and offers `say` as a tool.

    Subclass it with a gym: `class Practice(Talk): gym = Gym("practice", simulator=MODEL)`. TRL calls the tools of its
    rollouts one after another, so that a slow simulator is waited for.
    """

    gym: Gym

    def __init__(self) -> None:
        self._playing: Playing | None = None

    @classmethod
    def rows(cls, count: int) -> list[dict[str, Any]]:
        """The rows of a dataset: what the policy is asked first, as a test asks it, and the number of the item."""

        async def row(index: int) -> dict[str, Any]:
            playing = await cls.gym.reset(cls.gym.item(index))
            playing.close()
            asked = playing.last.observation
            return {"prompt": [{"role": one.role, "content": one.content} for one in asked.messages], "index": index}

        return [_wait(row(index)) for index in range(count)]

    def reset(self, index: int, **_: Any) -> None:
        """Begin the talk of a row; its prompt has all that is said so far."""
        if self._playing is not None:
            _loop().call_soon_threadsafe(self._playing.close)
        self._playing = _wait(self.gym.reset(self.gym.item(index)))

    def say(self, reply: str) -> str:
        """
        Say this to the other, and hear what they answer.

        Args:
            reply: What you say.

        Returns:
            What they answer.
        """
        if self._playing is None or self._playing.request is None:
            return OVER
        before = self._playing.last.observation
        step = _wait(self._playing.step(reply))
        return OVER if step.observation is None else new_text(before, step.observation)

    def get_reward(self) -> float | None:
        """The reward; 0 for a talk that the policy left, None (which TRL leaves out) if something else failed."""
        last = self._playing.last if self._playing is not None else None
        return last.reward if last is not None else None


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The loop that plays the other roles, beside the trainer's thread."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


def _wait(coroutine: Any) -> Any:
    return asyncio.run_coroutine_threadsafe(coroutine, _loop()).result()
