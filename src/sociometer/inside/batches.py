"""Batches of token sequences, bounded by the number of tokens in them."""

from collections.abc import Iterator, Sequence

BATCH_TOKENS = 4096
"""The default: the peak memory of a batch grows with it, not with the number of passages."""


def batches(lengths: Sequence[int], most_tokens: int = BATCH_TOKENS) -> Iterator[list[int]]:
    """The places of sequences, those of similar length together; each padded batch has at most so many tokens.

    A longer sequence is a batch by itself.
    """
    waiting: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if waiting and lengths[waiting[0]] * (len(waiting) + 1) > most_tokens:
            yield waiting
            waiting = []
        waiting.append(place)
    if waiting:
        yield waiting
