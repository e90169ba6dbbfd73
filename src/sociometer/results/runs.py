"""Stored runs as comparisons and reports need them: labels, origin of the items, caveats, corrections."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from msgspec import structs

from sociometer.core.card import Card
from sociometer.core.errors import UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.task import SERIES, TASK
from sociometer.instruments import card_of
from sociometer.reporting.content import CorrectedTask, GivenRun
from sociometer.results.candidates import Candidate, candidate_of
from sociometer.results.corrected import corrected_measures, correction_note, corrections
from sociometer.store.records import Manifest, RunRecord
from sociometer.store.stored_run import StoredRun


def contamination_note(run: StoredRun, task: str = "") -> str:
    """What the newest check of this subject on these items found; empty if there was none.

    `task` is the task whose numbers are shown (default: any of the run's).
    """
    defaults = run.definition.card.default_tasks(official=run.manifest.config.official)
    if TASK not in run.definition.tasks or not set((task,) if task else run.tasks) & set(defaults):
        return ""
    checks = [other for other in run.of_same_subject(TASK) if _same_items(run, other)]
    for check in checks:
        if found := check.summary(TASK).series.get(SERIES):
            return f"{found['note']} Checked in run {check.id}."
    return ""


def _same_items(run: StoredRun, check: StoredRun) -> bool:
    """Whether the public items of a check are those of a run."""
    here, there = run.manifest.config, check.manifest.config
    return here.official == there.official and here.settings.get("language") == there.settings.get("language")


OFFICIAL = "official"
BUNDLED = "bundled"
ELSEWHERE = "imported"
RELEASED = "imported"
"""The wire of subjects whose episodes were read from a paper's released files."""


def has_official_files(manifest: Manifest, card: Card) -> bool:
    """Whether the official files that a run used have the checksums of the paper's own."""
    pinned = {file.name: file.sha256 for file in card.file}
    return all(pinned.get(name) in (None, "", found) for name, found in manifest.data_files.items())


def whose_items(record: RunRecord) -> str:
    """The origin of a run's items.

    Official (the paper's own, by their checksums), own (others in their place), bundled, or those of a benchmark that
    another tool ran.
    """
    if record.manifest.card is not None:
        return ELSEWHERE
    subject = record.manifest.roles.get("subject")
    if record.manifest.imported and (subject is None or subject.identity.wire == RELEASED):
        return OFFICIAL
    if not record.manifest.config.official:
        return BUNDLED
    return OFFICIAL if has_official_files(record.manifest, card_of(record.instrument)) else "own"


def is_official(record: RunRecord) -> bool:
    """Whether a run uses the paper's own items."""
    return whose_items(record) == OFFICIAL


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
