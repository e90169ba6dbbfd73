"""Stopping rules: what a user asks for (`Until`), and what the rule of a task has seen (`StoppingRecord`)."""

import math
import re

from msgspec import Struct

from sociometer.core.errors import UsageError

DECIDED, RANKED = "decided", "ranked"
UNDECIDED = "cannot be decided"
PAUSED = "paused"
"""The verdict of a run that waits for the other models of a ranking."""
DRIFT = 0.1
"""A verdict has a warning if a random order of play would show its drift less often than this."""


class Until(Struct, frozen=True, omit_defaults=True):
    """When a run stops: `decided` against a stored run, `ranked` among the models of a command, or a width (`±3`)."""

    goal: str
    against: str = ""
    """The id of the stored run to compare with."""
    margin: float | None = None
    """The smallest difference that matters, as the measure is shown."""
    measure: str = ""
    """The measure that decides; empty means the primary one."""
    models: int = 1
    """How many models the command has; they share one error rate."""

    def __post_init__(self) -> None:
        if self.goal not in (DECIDED, RANKED) and self.half_width is None:
            raise UsageError(
                f"--until must be 'decided', 'ranked' or a width such as ±3 or ±3:these, not '{self.goal}'."
            )
        if self.goal == DECIDED and not self.against:
            raise UsageError("--until decided needs --against RUN.")
        if self.against and self.goal != DECIDED:
            raise UsageError(f"--against cannot be combined with --until {self.goal}; leave one of them out.")
        if self.margin is not None and (not self.against or not 0 < self.margin < math.inf):
            raise UsageError(f"--margin {self.margin:g} must be above 0 and needs --against RUN.")

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval to reach, as the measure is shown; None for another goal."""
        found = re.fullmatch(r"(?:±|\+-|\+/-)\s*(\d+(?:\.\d+)?|\.\d+)(:these)?", self.goal)
        return float(found[1]) if found and float(found[1]) > 0 else None

    @property
    def these_items(self) -> bool:
        """Whether the width is that of the score on exactly these items, not on items of this kind."""
        return self.goal.endswith(":these")


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
    spends: bool = True
    """Whether intervals must allow for the looks: not for a rule that looks only at a width."""
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
        """The share of the items at each look so far; empty if intervals need not allow for them."""
        return tuple(look.items / self.items for look in self.looks) if self.spends else ()

    @property
    def warning(self) -> str:
        """Why not to rely on the verdict: the difference drifts along the order of play; empty without a reason."""
        drift = self.looks[-1].drift if self.looks else None
        said = (
            "; warning: the difference changes along the order of play (p = {:.2g}), as if the model or server changed"
        )
        said += " during the run; run it again without --until before you rely on the verdict"
        return "" if drift is None or drift >= DRIFT else said.format(drift)

    def __str__(self) -> str:
        looked = f"look {len(self.looks)} of at most {len(self.blocks)}"
        ended = f"{self.verdict or 'goes on'} after {self.used} of {self.items} items ({looked})"
        return f"{self.rule}: {ended}{self.warning}"
