"""Stored runs as comparisons and reports see them: what each is called, and which of its tasks count."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from sociometer.analysis.candidates import Candidate, candidate_of
from sociometer.core.errors import UsageError
from sociometer.core.task import Instrument
from sociometer.item_origin import is_official
from sociometer.reporting.content import GivenRun
from sociometer.store.stored_run import StoredRun


def labels(runs: Iterable[StoredRun]) -> dict[str, str]:
    """What each run is called: its subject, with its id where a subject took a task twice."""
    known = list(runs)
    taken = Counter((stored.instrument, stored.subject, task) for stored in known for task in stored.tasks)

    def twice(stored: StoredRun) -> bool:
        return any(taken[stored.instrument, stored.subject, task] > 1 for task in stored.tasks)

    return {stored.id: f"{stored.subject} ({stored.id})" if twice(stored) else stored.subject for stored in known}


def candidates(runs: Sequence[StoredRun], task: str = "") -> list[Candidate]:
    """Every measured task of every run, as comparisons see it."""
    names = labels(runs)
    found = []
    for stored in runs:
        instrument, version = stored.definition, stored.record.manifest.instrument_version
        found += [
            candidate_of(names[stored.id], instrument, name, stored.view(name), version)
            for name in stored.tasks
            if (not task or name == task) and instrument.card.measures_of(name)
        ]
    if task and not found:
        raise UsageError(f"none of the runs has a task '{task}' with measures.")
    return found


def given_runs(runs: Sequence[StoredRun]) -> tuple[list[GivenRun], dict[str, Instrument]]:
    """The runs and their instruments, as a report takes them."""
    given = [
        GivenRun(
            stored,
            datetime.fromtimestamp(stored.record.created, UTC).strftime("%Y-%m-%d %H:%M UTC"),
            stored.record.manifest.instrument_version,
            stored.status,
            is_official(stored.record),
        )
        for stored in runs
    ]
    return given, {stored.instrument: stored.definition for stored in runs}
