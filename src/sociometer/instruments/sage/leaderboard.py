"""Runs ranked within a simulator, on the scenarios that all of them share."""

from collections.abc import Mapping, Sequence

from sociometer.core.measure import Interval
from sociometer.core.task import AnyRun
from sociometer.core.words import grouped
from sociometer.statistics.ranking import Rank, rank_intervals


def rank_on_shared(scores: Mapping[str, Mapping[str, float]]) -> dict[str, Rank]:
    """Ranks on the scenarios that all ranked subjects share; a subject that shares none has no rank.

    The subjects with the most scenarios come first; each is added as long as half of the shared scenarios remain.
    """
    kept: list[str] = []
    shared: set[str] = set()
    for key in sorted(scores, key=lambda key: -len(scores[key])):
        common = shared & scores[key].keys() if kept else set(scores[key])
        if common and 2 * len(common) >= len(shared):
            kept.append(key)
            shared = common
    names = sorted(shared)
    table = [[scores[key][name] for key in kept] for name in names]
    return {each.subject: each for each in rank_intervals(table, kept, names)} if names else {}


def simulator_of(run: AnyRun) -> str:
    """The simulator of a run's dialogues."""
    series = run.summary.series
    names = series.get("simulators") or [entry.get("simulator", "") for entry in series.get("dialogues", [])]
    return ", ".join(sorted({str(name) for name in names} - {""}))


def by_simulator(runs: Sequence[AnyRun]) -> dict[str, list[AnyRun]]:
    """The runs of each simulator, most runs first; a run without any outcome is listed with these."""
    groups = grouped((simulator_of(run), run) for run in runs)
    ordered = dict(sorted(groups.items(), key=lambda group: -len(group[1])))
    unknown = ordered.get("", [])
    if len(ordered) > 1 and unknown and not any(any(run.summary.series.values()) for run in unknown):
        del ordered[""]
        next(iter(ordered.values())).extend(unknown)
    return ordered


def one_each(runs: Sequence[AnyRun]) -> list[AnyRun]:
    """Of each model the run with the most dialogues."""
    fullest = sorted(runs, key=lambda run: max([0, *(one.items for one in run.summary.measures)]))
    return list({run.model: run for run in fullest}.values())


def ranks_of(runs: Sequence[AnyRun]) -> dict[tuple[str, str], int]:
    """The rank of each subject within its simulator; a stand-in or other scenarios give none."""
    found: dict[tuple[str, str], int] = {}
    for simulator, members in by_simulator(runs).items():
        ranked = rank_on_shared({run.subject: _finals(run) for run in members if not run.stand_ins})
        found |= {(subject, simulator): one.rank for subject, one in ranked.items()}
    return found


def _finals(run: AnyRun) -> dict[str, float]:
    """The final emotion by scenario, repeats averaged."""
    entries = run.summary.series.get("dialogues", [])
    values = grouped((entry.get("scenario", entry["item"]), float(entry["trajectory"][-1])) for entry in entries)
    return {name: sum(finals) / len(finals) for name, finals in values.items()}


def value_of(run: AnyRun, name: str) -> float | None:
    """The value of a measure of a run."""
    measure = run.summary.find(name)
    return measure.value if measure else None


def ends(interval: Interval | None) -> tuple[float | None, float | None]:
    """Both ends of an interval."""
    return (interval.low, interval.high) if interval else (None, None)
