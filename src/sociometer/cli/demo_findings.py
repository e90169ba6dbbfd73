"""What `sociometer demo` says: one line for each instrument, and the finding in one sentence."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sociometer.core.card import Card, MeasureCard
from sociometer.core.measure import Cell, Measure, Table
from sociometer.instruments import cards

if TYPE_CHECKING:
    from sociometer.store.stored_run import StoredRun

Played = Mapping[str, "Mapping[str, StoredRun]"]
"""The runs of each instrument, by model."""
LEAST_CLUSTERS = 12
"""An interval is shown from so many clusters on."""
_NOTE = (
    f"95 % intervals from {LEAST_CLUSTERS} clusters on. The oracle knows the key; the guesser answers by chance."
    " Small samples of our own items: an example, not a measurement."
)


def _primary(card: Card, run: "StoredRun") -> tuple[MeasureCard, Measure] | None:
    """The first primary measure of the run, with what its card says."""
    for task in run.tasks:
        for goal in card.measures_of(task):
            measure = run.summary(task).measure(goal.name) if goal.primary else None
            if measure is not None:
                return goal, measure
    return None


def _cell(found: tuple[MeasureCard, Measure] | None, items: int) -> Cell:
    """A value with its interval, where it has clusters enough for one, and with its items where they are others."""
    from sociometer.analysis.formatting import estimate

    if found is None:
        return None
    goal, measure = found
    interval = measure.interval if measure.interval and measure.interval.clusters >= LEAST_CLUSTERS else None
    return estimate(measure.value, goal.unit, interval) + (f" of {measure.items}" if measure.items != items else "")


def headline_table(runs: Played, subjects: dict[str, str]) -> Table:
    """One line for each instrument: its primary measure, for each subject."""
    rows: list[tuple[Cell, ...]] = []
    for name, played in runs.items():
        card = cards()[name]
        found = {model: _primary(card, run) for model, run in played.items()}
        known = next((one for one in found.values() if one is not None), None)
        if known is None:
            continue
        items = max(one[1].items for one in found.values() if one is not None)
        cells = (_cell(found.get(model), items) for model in subjects)
        rows.append((name, known[0].title, items, *cells))
    columns = ("instrument", "measure", "items", *subjects.values())
    return Table("demo", "What was measured", columns, tuple(rows), _NOTE)


def finding(runs: Played, model: str, name: str) -> str:
    """One sentence: where the model is better than chance, and where that cannot be told."""
    better: list[str] = []
    unclear: list[str] = []
    for instrument, played in runs.items():
        found = _primary(cards()[instrument], played[model]) if model in played else None
        if found is None or found[0].chance is None or found[1].value is None:
            continue
        (better if _beats_chance(*found) else unclear).append(instrument.upper())
    if not better and not unclear:
        return ""
    parts = [f"{name} is better than chance on {_listed(better)}"] if better else []
    if unclear:
        parts.append(
            f"on {_listed(unclear)} that cannot be told from these samples"
            if better
            else f"on {_listed(unclear)} {name} cannot be told from chance by these samples"
        )
    return "Finding: " + "; ".join(parts) + "."


def _beats_chance(goal: MeasureCard, measure: Measure) -> bool:
    interval = measure.interval
    if interval is None or interval.low is None or interval.high is None or goal.chance is None:
        return False
    if interval.clusters < LEAST_CLUSTERS:
        return False
    return interval.high < goal.chance if goal.better == "lower" else interval.low > goal.chance


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
