"""Converts stored runs for comparisons and reports: their labels, and their tasks with measures."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from msgspec import structs

from sociometer.analysis.candidates import Candidate, candidate_of
from sociometer.contamination_notes import contamination_note
from sociometer.core.errors import UsageError
from sociometer.core.task import Instrument
from sociometer.corrected_scores import corrected_measures, correction_note, corrections
from sociometer.item_origin import is_official
from sociometer.reporting.content import CorrectedTask, GivenRun
from sociometer.store.stored_run import StoredRun


def labels(runs: Iterable[StoredRun]) -> dict[str, str]:
    """The label of each run: its subject, with the run's id if the subject took a task twice."""
    known = list(runs)
    taken = Counter((stored.instrument, stored.subject, task) for stored in known for task in stored.tasks)

    def twice(stored: StoredRun) -> bool:
        return any(taken[stored.instrument, stored.subject, task] > 1 for task in stored.tasks)

    return {stored.id: f"{stored.subject} ({stored.id})" if twice(stored) else stored.subject for stored in known}


def candidates(runs: Sequence[StoredRun], task: str = "") -> list[Candidate]:
    """Every measured task of every run, as a candidate for comparisons."""
    names = labels(runs)
    found: list[Candidate] = []
    for stored in runs:
        instrument, version = stored.definition, stored.record.manifest.instrument_version
        for name in stored.tasks:
            if (not task or name == task) and instrument.card.measures_of(name):
                made = candidate_of(names[stored.id], instrument, name, stored.view(name), version)
                notes = (made.note, contamination_note(stored, name).removesuffix("."))
                found.append(
                    structs.replace(
                        made,
                        note="; ".join(note for note in notes if note),
                        corrected=corrected_measures(stored, name),
                        form=stored.form,
                    )
                )
    if task and not found:
        raise UsageError(
            f"none of the runs has a task '{task}' with measures; 'sociometer list INSTRUMENT' lists the tasks."
        )
    return found


def _corrected(stored: StoredRun) -> dict[str, CorrectedTask]:
    """What people's labels correct, by task."""
    found: dict[str, CorrectedTask] = {}
    for one in corrections(stored):
        if one.corrected is not None:
            task = found.setdefault(one.task, CorrectedTask({}, []))
            task.measures[one.measure.name] = one.corrected
            task.notes.append(correction_note(one))
    return found


def given_runs(runs: Sequence[StoredRun]) -> tuple[list[GivenRun], dict[str, Instrument]]:
    """The runs and their instruments, in the form that a report needs."""
    given = [
        GivenRun(
            stored,
            datetime.fromtimestamp(stored.record.created, UTC).strftime("%Y-%m-%d %H:%M UTC"),
            stored.record.manifest.instrument_version,
            stored.status,
            is_official(stored.record),
            _corrected(stored),
            {task: note for task in stored.tasks if (note := contamination_note(stored, task))},
        )
        for stored in runs
    ]
    return given, {stored.instrument: stored.definition for stored in runs}
