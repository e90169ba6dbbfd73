"""How fast a model in this process reads and writes, from a short measurement."""

from msgspec import Struct


class Speed(Struct, frozen=True):
    """Tokens per second of wall time on this machine under its current load."""

    read: float
    written: float

    def seconds(self, read_tokens: float, written_tokens: float) -> float:
        """The time to read and to write so many tokens, one request after the other and without a cache."""
        return read_tokens / self.read + written_tokens / self.written
