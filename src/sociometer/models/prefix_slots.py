"""Remembers which prompts llama.cpp's slots hold, and how much of a new prompt may be taken from one of them.

llama.cpp reads a prompt in batches of a fixed size, called chunks here. The rounding of a value depends on the batch
in which it was computed: on where the batch began, and on whether it read many tokens or wrote one. So a prefix is
reused only in whole chunks of an earlier prompt, and never in the tokens of a reply. Every other token is then computed
in the same batch as without a cache, and the reply is the same to the last bit.
"""

from collections.abc import Sequence

from msgspec import Struct


class Reuse(Struct, frozen=True):
    """Where to send a prompt, and how many of its first tokens this slot has already computed."""

    slot: int
    tokens: int
    exact: bool
    """Whether the slot's prompt differs right after these tokens; else it must be shortened first."""


class PrefixSlots:
    """The prompts of all slots, least recently used first."""

    def __init__(self, count: int, chunk_tokens: int) -> None:
        self.chunk_tokens = chunk_tokens
        self._prompts: dict[int, tuple[int, ...]] = dict.fromkeys(range(count), ())

    def find(self, prompt: Sequence[int]) -> Reuse:
        """The slot that shares the most whole chunks with the prompt; if none shares any, the least recently used."""
        best = Reuse(next(iter(self._prompts)), 0, exact=True)
        for slot, kept in self._prompts.items():
            shared = _common(kept, prompt)
            # The last token is always computed: its result is what the reply begins with.
            whole = min(shared, len(prompt) - 1) // self.chunk_tokens * self.chunk_tokens
            if whole > best.tokens:
                best = Reuse(slot, whole, exact=shared == whole and len(kept) > whole)
        return best

    def keep(self, slot: int, prompt: Sequence[int]) -> None:
        """Record the prompt that the slot has computed; an empty one if that is not known."""
        del self._prompts[slot]
        self._prompts[slot] = tuple(prompt)


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return place
    return min(len(first), len(second))
