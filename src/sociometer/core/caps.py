"""What a user allows to be spent."""

import math

from msgspec import Struct

from sociometer.core.errors import UsageError


class Caps(Struct, frozen=True, omit_defaults=True):
    """Hard caps, all roles included; None means no cap."""

    max_cost: float | None = None
    max_requests: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_cost", "max_requests", "max_tokens"):
            value = getattr(self, name)
            if value is not None and not (value >= 0 and math.isfinite(value)):
                raise UsageError(f"--{name.replace('_', '-')} must be a number that is not negative, not {value}.")

    def or_else(self, other: "Caps") -> "Caps":
        """These caps, with `other`'s where none is set."""
        return Caps(
            other.max_cost if self.max_cost is None else self.max_cost,
            other.max_requests if self.max_requests is None else self.max_requests,
            other.max_tokens if self.max_tokens is None else self.max_tokens,
        )
