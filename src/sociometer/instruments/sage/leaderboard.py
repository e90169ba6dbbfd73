"""The leaderboard: runs ranked within a simulator, on the scenarios that all of them share."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from sociometer.core.measure import Cell, Interval, Table
from sociometer.core.task import AnyRun
from sociometer.statistics.formatting import bounds_text
from sociometer.statistics.ranking import Rank, rank_intervals

KeyT = TypeVar("KeyT", str, int)


def rank_on_shared(scores: Mapping[KeyT, Mapping[str, float]]) -> tuple[dict[KeyT, Rank], int]:
    """Ranks on the scenarios that all ranked subjects share, and their number; a subject that shares none has no rank.

    The subjects with the most scenarios come first; each is added as long as half of the shared scenarios remain.
    """
    kept: list[KeyT] = []
    shared: set[str] = set()
    for key in sorted(scores, key=lambda key: -len(scores[key])):
        common = shared & scores[key].keys() if kept else set(scores[key])
        if common and 2 * len(common) >= len(shared):
            kept.append(key)
            shared = common
    names = sorted(shared)
    table = [[scores[key][name] for key in kept] for name in names]
    ranked = {each.subject: each for each in rank_intervals(table, list(map(str, kept)), names)} if names else {}
    return {key: ranked[str(key)] for key in kept if ranked}, len(shared)


def simulator_of(run: AnyRun) -> str:
    """The simulator of a run's dialogues."""
    series = run.summary.series
    names = series.get("simulators") or [entry.get("simulator", "") for entry in series.get("dialogues", [])]
    return ", ".join(sorted({str(name) for name in names} - {""}))


def by_simulator(runs: Sequence[AnyRun]) -> dict[str, list[AnyRun]]:
    """The runs of each simulator, most runs first; a run without any outcome is listed with these."""
    groups: dict[str, list[AnyRun]] = {}
    for run in runs:
        groups.setdefault(simulator_of(run), []).append(run)
    ordered = dict(sorted(groups.items(), key=lambda group: -len(group[1])))
    unknown = ordered.get("", [])
    if len(ordered) > 1 and unknown and not any(any(run.summary.series.values()) for run in unknown):
        del ordered[""]
        next(iter(ordered.values())).extend(unknown)
    return ordered


def leaderboard_table(runs: Sequence[AnyRun]) -> Table:
    """Score, success and failure with intervals; ranked within a simulator, on the shared scenarios."""
    rows = [row for members in by_simulator(runs).values() for row in _standings(members)]
    columns = (
        "rank", "rank, 95 %", "subject", "simulator", "score", "from", "to", "success", "failure", "tokens a dialogue",
        "dialogues", "errors", "caveat",
    )  # fmt: skip
    ranked_first = tuple(sorted(rows, key=lambda row: row[0] is None))
    units = {"score": "points", "from": "points", "to": "points", "success": "share", "failure": "share"}
    return Table("leaderboard", "Sentient leaderboard", columns, ranked_first, units=units)


def _standings(runs: Sequence[AnyRun]) -> list[tuple[Cell, ...]]:
    """The lines of one simulator's runs, best first; a stand-in or other scenarios give no rank."""
    finals = {place: _finals(run) for place, run in enumerate(runs) if not run.stand_ins}
    ranked, shared = rank_on_shared(finals)
    order = sorted(range(len(runs)), key=lambda place: -(value_of(runs[place], "sentient") or 0.0))
    rows: list[tuple[Cell, ...]] = []
    for place in sorted(order, key=lambda place: ranked[place].rank if place in ranked else len(runs) + 1):
        run, score = runs[place], runs[place].summary.measure("sentient")
        if score is None:
            continue
        standing = ranked.get(place)
        caveat = ""
        if run.stand_ins:
            caveat = "stand-in: not ranked"
        elif standing is None:
            caveat = "other scenarios: not ranked" if finals[place] else "no outcome: not ranked"
        elif len(finals[place]) > shared:
            caveat = f"ranked on the {shared} scenarios that all runs share: {standing.mean:.1f}"
        more = [value_of(run, name) for name in ("success", "failure", "tokens")]
        who = (standing.rank if standing else None, _range(standing), run.subject, simulator_of(run))
        rows.append((*who, score.value, *ends(score.interval), *more, score.items, score.errors, caveat))
    return rows


def _range(standing: Rank | None) -> str:
    """The ranks that other scenarios of the same kind might give."""
    if standing is None:
        return ""
    return bounds_text(standing.interval, lambda low, high: f"{low:.0f} to {high:.0f}", too_few="too few")


def _finals(run: AnyRun) -> dict[str, float]:
    """The final emotion by scenario, repeats averaged."""
    values: dict[str, list[float]] = {}
    for entry in run.summary.series.get("dialogues", []):
        values.setdefault(entry.get("scenario", entry["item"]), []).append(float(entry["trajectory"][-1]))
    return {name: sum(finals) / len(finals) for name, finals in values.items()}


def value_of(run: AnyRun, name: str) -> float | None:
    """The value of a measure of a run."""
    measure = run.summary.measure(name)
    return measure.value if measure else None


def ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """Both ends of an interval."""
    return (interval.low, interval.high) if interval else (None, None)
