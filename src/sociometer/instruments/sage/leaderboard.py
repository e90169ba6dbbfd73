"""The leaderboard: ranks within a simulator, on the scenarios that all ranked runs share. Pure."""

from collections.abc import Sequence

from sociometer.core.measure import Cell, Table
from sociometer.core.task import SummarisedRun
from sociometer.instruments.sage import comparisons
from sociometer.statistics.formatting import bounds_text

STAND_IN = "A rule-based stand-in simulated the person: leaderboards exclude these numbers."


def simulator_of(run: SummarisedRun) -> str:
    """The simulator of a run's dialogues."""
    series = run.summary.series
    names = series.get("simulators") or [entry.get("simulator", "") for entry in series.get("dialogues", [])]
    return ", ".join(sorted({str(name) for name in names} - {""}))


def by_simulator(runs: Sequence[SummarisedRun]) -> dict[str, list[SummarisedRun]]:
    """The runs of each simulator, most runs first; a run without any outcome is listed with these."""
    groups: dict[str, list[SummarisedRun]] = {}
    for run in runs:
        groups.setdefault(simulator_of(run), []).append(run)
    ordered = dict(sorted(groups.items(), key=lambda group: -len(group[1])))
    unknown = ordered.get("", [])
    if len(ordered) > 1 and unknown and not any(any(run.summary.series.values()) for run in unknown):
        del ordered[""]
        next(iter(ordered.values())).extend(unknown)
    return ordered


def leaderboard_table(runs: Sequence[SummarisedRun]) -> Table:
    """Score, success and failure with intervals; ranked within a simulator, on the shared scenarios."""
    rows = [row for members in by_simulator(runs).values() for row in _standings(members)]
    columns = (
        "rank", "rank, 95 %", "subject", "simulator", "score", "from", "to", "success", "failure", "tokens a dialogue",
        "dialogues", "errors", "caveat",
    )  # fmt: skip
    note = STAND_IN if any(run.stand_ins for run in runs) else ""
    ranked_first = tuple(sorted(rows, key=lambda row: row[0] is None))
    units = {"score": "points", "from": "points", "to": "points", "success": "share", "failure": "share"}
    return Table("leaderboard", "Sentient leaderboard", columns, ranked_first, note=note, units=units)


def _standings(runs: Sequence[SummarisedRun]) -> list[tuple[Cell, ...]]:
    """The lines of one simulator's runs, best first; a stand-in or other scenarios give no rank."""
    finals = {place: _finals(run) for place, run in enumerate(runs) if not run.stand_ins}
    board = comparisons.rank_on_shared(finals)
    order = sorted(range(len(runs)), key=lambda place: -(_value(runs[place], "sentient") or 0.0))
    rows: list[tuple[Cell, ...]] = []
    for place in sorted(order, key=lambda place: board.places[place].rank if place in board.places else len(runs) + 1):
        run, score = runs[place], runs[place].summary.measure("sentient")
        if score is None:
            continue
        standing = board.places.get(place)
        caveat = ""
        if run.stand_ins:
            caveat = "stand-in: not ranked"
        elif standing is None:
            caveat = "other scenarios: not ranked" if finals[place] else "no outcome: not ranked"
        elif len(finals[place]) > board.shared:
            caveat = f"ranked on the {board.shared} scenarios that all runs share: {standing.score:.1f}"
        low, high = (score.interval.low, score.interval.high) if score.interval else (None, None)
        more = [_value(run, name) for name in ("success", "failure", "tokens")]
        who = (standing.rank if standing else None, _range(standing), run.subject, simulator_of(run))
        rows.append((*who, score.value, low, high, *more, score.items, score.errors, caveat))
    return rows


def _range(standing: comparisons.Place | None) -> str:
    """The ranks that other scenarios of the same kind might give."""
    if standing is None:
        return ""
    return bounds_text(standing.ranks, lambda low, high: f"{low:.0f} to {high:.0f}", too_few="too few")


def _finals(run: SummarisedRun) -> dict[str, float]:
    """The final emotion by scenario, repeats averaged."""
    values: dict[str, list[float]] = {}
    for entry in run.summary.series.get("dialogues", []):
        values.setdefault(entry.get("scenario", entry["item"]), []).append(float(entry["trajectory"][-1]))
    return {name: sum(finals) / len(finals) for name, finals in values.items()}


def _value(run: SummarisedRun, name: str) -> float | None:
    measure = run.summary.measure(name)
    return measure.value if measure else None
