"""The output of `sociometer demo`: one line for each instrument, and the finding in one sentence."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from sociometer.core.card import Card, MeasureCard
from sociometer.core.measure import Cell, Measure, Table
from sociometer.instruments import cards

if TYPE_CHECKING:
    from sociometer.store.stored_run import StoredRun

Played = Mapping[str, "Mapping[str, StoredRun]"]
"""The runs of each instrument, by model."""
Verdict = Literal["better than chance", "worse than chance", "not clearly different from chance"]
LEAST_CLUSTERS = 12
"""The smallest number of clusters with an interval."""
_NOTE = (
    f"[ ] 95 % interval, shown for {LEAST_CLUSTERS} or more clusters; ↓ lower is better. The oracle knows the key; the"
    " guesser answers at random. Small samples of bundled items: an example, not a measurement."
)


def headline_table(runs: Played, subjects: Mapping[str, str], references: tuple[str, ...] = ()) -> Table:
    """One line for each instrument: its primary measure, for each subject; `references` have no intervals."""
    rows: list[tuple[Cell, ...]] = []
    for name, played in runs.items():
        card = cards()[name]
        found = {model: one for model, run in played.items() if (one := _primary(card, run)) is not None}
        if not found:
            continue
        goal = next(iter(found.values()))[0]
        items = max(measure.items for _, measure in found.values())
        cells = (_cell(found.get(model), items, bare=model in references) for model in subjects)
        rows.append((f"{name} {goal.name}" + (" ↓" if goal.better == "lower" else ""), items, *cells))
    columns = ("measure", "items", *subjects.values())
    return Table("demo", "What was measured", columns, tuple(rows), _NOTE)


def finding(runs: Played, model: str, name: str) -> str:
    """One sentence: where the model is better than chance, where worse, and where the items cannot tell."""
    told: dict[Verdict, list[str]] = {}
    few: list[str] = []
    for instrument, played in runs.items():
        found = _primary(cards()[instrument], played[model]) if model in played else None
        if found is None or found[0].chance is None:
            continue
        verdict = _verdict(*found)
        (few if verdict is None else told.setdefault(verdict, [])).append(instrument)
    parts = [f"{verdict} on {_listed(names)}" for verdict, names in sorted(told.items())]
    if parts:
        return f"Finding: {name} is {'; '.join(parts)}."
    return f"Finding: {name} has too few items on {_listed(few)} to compare it with chance." if few else ""


def _primary(card: Card, run: "StoredRun") -> tuple[MeasureCard, Measure] | None:
    """The first primary measure of the run, with what its card says."""
    for task in run.tasks:
        for goal in card.measures_of(task):
            measure = run.summary(task).measure(goal.name) if goal.primary else None
            if measure is not None:
                return goal, measure
    return None


def _cell(found: tuple[MeasureCard, Measure] | None, items: int, *, bare: bool) -> Cell:
    """A value with its interval, if it has clusters enough for one, and with its items if they are fewer."""
    from sociometer.statistics.formatting import estimate, number

    if found is None:
        return None
    goal, measure = found
    enough = measure.interval is not None and measure.interval.clusters >= LEAST_CLUSTERS
    shown = estimate(measure.value, goal.unit, measure.interval) if enough and not bare else ""
    return (shown or number(measure.value, goal.unit)) + (f" of {measure.items}" if measure.items != items else "")


def _verdict(goal: MeasureCard, measure: Measure) -> Verdict | None:
    """How the measure compares with chance; None if it has too few clusters to tell."""
    interval = measure.interval
    if interval is None or interval.low is None or interval.high is None or goal.chance is None:
        return None
    if interval.clusters < LEAST_CLUSTERS:
        return None
    above, below = interval.low > goal.chance, interval.high < goal.chance
    if goal.better == "lower":
        above, below = below, above
    return "better than chance" if above else "worse than chance" if below else "not clearly different from chance"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
