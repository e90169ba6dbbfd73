"""Runs that stop early: what a user asks for (`Until`), and what the rule of a task has seen (`StoppingRecord`)."""

import math

from msgspec import Struct

from sociometer.core.errors import UsageError

UNDECIDED = "cannot be decided"
DRIFT = 0.1
"""A verdict has a warning if a random order of play would show its drift less often than this."""


class Until(Struct, frozen=True, omit_defaults=True):
    """A run goes on until its comparison with a stored run is decided."""

    against: str = ""
    """The id of the stored run; empty in runs of version 0.3 with another rule, which are only shown."""
    margin: float | None = None
    """The smallest difference that matters, as the measure is shown."""
    models: int = 1
    """How many models the command has; they share one error rate."""

    def __post_init__(self) -> None:
        if self.margin is not None and not 0 < self.margin < math.inf:
            raise UsageError(f"--margin {self.margin:g} must be above 0.")


class Look(Struct, frozen=True, omit_defaults=True):
    """What a rule saw after so many items: an estimate with the interval that is valid at this look."""

    items: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    """Why the run ends here; empty if it continues."""
    drift: float | None = None
    """The p-value of a drift along the order of play that speaks against the verdict; None if it was not tested."""


class StoppingRecord(Struct, frozen=True, omit_defaults=True):
    """The rule of one task of a run, and what it saw."""

    rule: str
    """The rule in words."""
    measure: str
    items: int
    """The number of planned items."""
    blocks: tuple[int, ...]
    """After how many items the rule looks."""
    looks: tuple[Look, ...] = ()
    against: str = ""
    comparisons: int = 1
    """How many comparisons share one error rate."""
    widen: float = 1.0
    """By how much the intervals of the run's measures must be wider to hold at every look."""

    @property
    def verdict(self) -> str:
        """Why the run ended; empty if it goes on."""
        return self.looks[-1].verdict if self.looks else ""

    @property
    def used(self) -> int:
        """After how many items it looked last."""
        return self.looks[-1].items if self.looks else 0

    @property
    def times(self) -> tuple[float, ...]:
        """The share of the items at each look so far."""
        return tuple(look.items / self.items for look in self.looks)

    @property
    def warning(self) -> str:
        """Why not to rely on the verdict: the difference drifts along the order of play; empty without a reason."""
        drift = self.looks[-1].drift if self.looks else None
        said = (
            "; warning: the difference changes along the order of play (p = {:.2g}), as if the model or server changed"
        )
        said += " during the run; run it again without --against before you rely on the verdict"
        return "" if drift is None or drift >= DRIFT else said.format(drift)

    def __str__(self) -> str:
        looked = f"look {len(self.looks)} of at most {len(self.blocks)}"
        ended = f"{self.verdict or 'goes on'} after {self.used} of {self.items} items ({looked})"
        return f"{self.rule}: {ended}{self.warning}"
