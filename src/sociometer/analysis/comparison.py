"""The records of a comparison: what the user asked for, and the result for each measure and each pair of subjects."""

from typing import Literal

from msgspec import Struct

from sociometer.analysis.equivalence import Equivalence
from sociometer.analysis.paired import PairedDifference
from sociometer.core.errors import UsageError

Verdict = Literal["better", "worse", "differs", "equivalent", "cannot tell", "too few"]


class Terms(Struct, frozen=True):
    """The options of a comparison: confidence level, power, and the margin that matters to the user."""

    level: float = 0.95
    power: float = 0.8
    margin: float | None = None
    """In the unit of the measure: 0.03 is three percentage points of a share."""

    def __post_init__(self) -> None:
        if not 0.5 < self.level < 1:
            raise UsageError(f"--level must be between 0.5 and 1, not {self.level}; 0.95 is usual.")
        if not 0 < self.power < 1:
            raise UsageError(f"--power must be between 0 and 1, not {self.power}; 0.8 is usual.")
        if self.margin is not None and self.margin <= 0:
            raise UsageError(f"--margin must be above 0, not {self.margin}; give the smallest difference that matters.")


class ComparedMeasure(Struct, frozen=True):
    """Second subject against first on one measure, overall (empty `group`) or on one level of a facet.

    `detectable` is the smallest true difference that these items would show with the requested power. `needed` is the
    number of items required to show the user's margin. Both use the corrected level and never depend on the observed
    difference.
    """

    name: str
    title: str
    unit: str
    better: str
    group: dict[str, str]
    paired: PairedDifference
    p_holm: float
    p_benjamini_hochberg: float
    verdict: Verdict
    detectable: float | None
    needed: int | None = None
    equivalence: Equivalence | None = None
    primary: bool = False
    family: int = 1
    """The number of comparisons that the p-values are corrected for."""


class Comparison(Struct, frozen=True):
    """Two subjects on one task; `refused` says why they could not be compared."""

    instrument: str
    title: str
    task: str
    task_title: str
    first: str
    second: str
    measures: tuple[ComparedMeasure, ...] = ()
    sentence: str = ""
    notes: tuple[str, ...] = ()
    refused: str = ""
    form: str = ""
    """The form that both were played in, such as `sesi-5`."""

    @property
    def where(self) -> str:
        """The form and the task, for titles."""
        return f"{self.form or self.instrument}/{self.task}"

    @property
    def worse(self) -> bool:
        """Whether the second subject is worse on a primary measure overall, for a gate in CI."""
        return any(row.verdict == "worse" for row in self._primary)

    @property
    def undecided(self) -> str:
        """Why there is no result for the primary measures overall; empty if there is one."""
        few = [f"{row.title.lower()}: {row.paired.clusters}" for row in self._primary if row.verdict == "too few"]
        if self.refused or few:
            return self.refused or f"too few clusters to tell ({', '.join(few)})"
        return "" if self._primary else "no primary measure was compared"

    @property
    def _primary(self) -> list[ComparedMeasure]:
        return [row for row in self.measures if row.primary and not row.group]
