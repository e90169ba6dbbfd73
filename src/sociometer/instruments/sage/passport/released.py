"""The witness of released judgements: turns that other simulators judged, and how far a simulator follows them."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from statistics import fmean

import msgspec
from msgspec import Struct

from sociometer.core.measure import Interval
from sociometer.core.words import grouped
from sociometer.instruments.sage.analyses.stability import contexts
from sociometer.instruments.sage.dialogue import StoredDialogue, read_dialogues
from sociometer.instruments.sage.passport.criterion import FIRST_SHARE
from sociometer.instruments.sage.passport.floor import BeyondState, beyond_state, expected_changes
from sociometer.instruments.sage.passport.probes import Felt, Probe
from sociometer.instruments.sage.published.released import released_files
from sociometer.statistics.agreement import spearman
from sociometer.statistics.correlation import pearson
from sociometer.statistics.intervals import clustered_mean_interval

_REPLIES_TO_AN_OPENING = 4
"""First turns are drawn in sets of so many replies to the same opening."""


class Agreement(Struct, frozen=True):
    """How far the simulator's changes follow those of a released simulator."""

    released_by: str
    turns: int
    r: float | None
    interval: Interval
    again: float | None
    """The ceiling: the correlation of the simulator's two answers."""
    bias: float
    bias_interval: Interval
    error: float
    """The mean absolute difference."""
    constant: float
    """The same for a constant, the floor."""
    order: float | None
    """Spearman's rho of the subjects' mean changes."""
    beyond: BeyondState | None = None
    """The agreement given the state of the talk; None in passports made before version 9."""


def agreement(
    name: str,
    judged: Sequence[Sequence[int]],
    there: Sequence[float],
    clusters: Sequence[str],
    subjects: Sequence[str],
    beyond: BeyondState | None,
) -> Agreement:
    """The agreement of judgements, each made once or several times, with the changes of others."""
    here = [float(changes[0]) for changes in judged]
    gaps = [one - two for one, two in zip(here, there, strict=True)]
    twice = [(float(changes[0]), float(changes[1])) for changes in judged if len(changes) > 1]
    middle = sorted(there)[len(there) // 2]
    by_subject = grouped(zip(subjects, zip(here, there, strict=True), strict=True))
    means = [tuple(fmean(values) for values in zip(*found, strict=True)) for found in by_subject.values()]
    one, two = [here for here, _ in means], [there for _, there in means]
    varied = len(means) > 2 and len(set(one)) > 1 < len(set(two))
    found = _pearson(here, there)
    return Agreement(
        name,
        len(here),
        found[0],
        found[1],
        _pearson([one for one, _ in twice], [two for _, two in twice])[0],
        fmean(gaps),
        clustered_mean_interval(gaps, clusters, binary=False),
        fmean(map(abs, gaps)),
        fmean(abs(value - middle) for value in there),
        spearman(one, two)[0] if varied else None,
        beyond,
    )


def _pearson(one: Sequence[float], two: Sequence[float]) -> tuple[float | None, Interval]:
    """Pearson's r with its interval over turns; None if there are too few or one of the two does not vary."""
    try:
        found = pearson(one, two, [f"{place}" for place in range(len(one))])
    except ValueError:
        return None, Interval(None, None)
    return found.r, found.interval


def released_turns(folders: Iterable[Path]) -> dict[str, list[Probe]]:
    """All released turns by released simulator; each is asked twice."""
    by_simulator: dict[str, list[Probe]] = {}
    for file in released_files(folders)[0]:
        for scenario, dialogue in read_dialogues(file.path):
            stored = StoredDialogue(
                id=scenario.id, cluster=scenario.id, run="", subject=file.model, scenario=scenario, dialogue=dialogue
            )
            by_simulator.setdefault(file.simulator, []).extend(
                Probe(
                    id=f"published/{file.simulator}/{file.model}/{each.id}",
                    cluster=scenario.id,
                    kind="published",
                    scenario=scenario,
                    talk=each.talk,
                    before=each.judgement.before,
                    times=2,
                    change=each.judgement.change,
                    released_by=file.simulator,
                    subject=file.model,
                )
                for each in contexts(stored)
            )
    return {name: with_expected(every) for name, every in by_simulator.items()}


def with_expected(probes: Sequence[Probe]) -> list[Probe]:
    """The probes with the change that the state predicts, fitted on the other scenarios."""
    states, changes = [each.state for each in probes], [each.change for each in probes]
    expected = expected_changes([each.cluster for each in probes], states, changes) if probes else ()
    return [msgspec.structs.replace(each, expected=value) for each, value in zip(probes, expected, strict=True)]


def released_probes(folders: Iterable[Path], turns: int, seed: int) -> list[Probe]:
    """Released turns, equally many of each released simulator, drawn by the seed.

    At least half of them are first turns, in sets of replies to the same opening.
    """
    by_simulator = released_turns(folders)
    rng = Random(f"sage/passport/{seed}")
    drawn: list[Probe] = []
    for place, (_, every) in enumerate(sorted(by_simulator.items())):
        share = -(-(turns - len(drawn)) // (len(by_simulator) - place))
        openings = grouped((probe.cluster, probe) for probe in every if probe.state[0] == 1)
        sets = [rng.sample(found, min(_REPLIES_TO_AN_OPENING, len(found))) for _, found in sorted(openings.items())]
        rng.shuffle(sets)
        first = [probe for found in sets for probe in found][: math.ceil(share * FIRST_SHARE)]
        later = [probe for probe in every if probe.state[0] > 1]
        drawn += first + rng.sample(later, min(share - len(first), len(later)))
    return drawn


def agreement_with(name: str, rows: Sequence[tuple[Probe, Felt]], over: str = "scenarios") -> Agreement | None:
    """The agreement with one released simulator; None on fewer than three turns."""
    both = [(item, out) for item, out in rows if item.released_by == name and out.changes]
    if len(both) < 3:
        return None
    return agreement(
        name,
        [out.changes for _, out in both],
        [item.change for item, _ in both],
        [item.cluster for item, _ in both],
        [item.subject for item, _ in both],
        beyond(both, over),
    )


def beyond(rows: Sequence[tuple[Probe, Felt]], over: str = "scenarios") -> BeyondState | None:
    """The agreement given the state of the talk; None on fewer than three turns."""
    known = [(item, item.expected, out.changes[0]) for item, out in rows if item.expected is not None and out.changes]
    if len(known) < 3:
        return None
    return beyond_state(
        [change for _, _, change in known],
        [item.change for item, _, _ in known],
        [each for _, each, _ in known],
        [item.state for item, _, _ in known],
        [(item.released_by, item.cluster) for item, _, _ in known],
        over,
    )
