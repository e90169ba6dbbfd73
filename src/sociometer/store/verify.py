"""Checks a store: checksums, episodes against items, scores against outcomes, summaries against scores.

Whatever cannot be read is a finding, and the check goes on with the next record.
"""

import math
from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct, structs

from sociometer.core.errors import SociometerError, hint
from sociometer.core.measure import Summary
from sociometer.core.task import Failure
from sociometer.store.database import pages
from sociometer.store.names import NameEntry
from sociometer.store.records import RunStatus
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun, score_safely
from sociometer.store.studies import study_books
from sociometer.store.texts import open_text, shown, split_hashes, unseal

_FROM_BACKUP = "restore the store from a backup, or play the item again in a new run with --fresh"


class Damage(Struct, frozen=True):
    """A damaged or inconsistent record, and what to do about it."""

    where: str
    what: str
    next_step: str


def verify_file(store: Store) -> Iterator[Damage]:
    """Problems of the file as a whole: its structure, runs, texts and journal."""
    known: set[bytes] = set()
    parts = (
        _structure(store), _runs(store), _names(store), _texts(store, known), _journal(store, known), _studies(store),
    )  # fmt: skip
    for part in parts:
        yield from _whatever_happens("file", part)


def verify_run(run: StoredRun) -> Iterator[Damage]:
    """Problems of one run."""
    yield from _whatever_happens(run.id, _totals(run))
    for task in run.all_tasks:
        yield from _whatever_happens(f"{run.id} {task}", _episodes(run, task))
        yield from _whatever_happens(f"{run.id} {task}", _summary(run, task))


def _whatever_happens(where: str, findings: Iterator[Damage]) -> Iterator[Damage]:
    try:
        yield from findings
    except Exception as error:
        yield Damage(where, _said(error), _FROM_BACKUP)


def _problem(check: Callable[..., object], *values: object) -> str:
    """What is wrong with a record; empty if nothing is."""
    try:
        check(*values)
    except Exception as error:
        return _said(error)
    return ""


def _said(error: Exception) -> str:
    known = isinstance(error, SociometerError)
    return str(error) if known else f"cannot be read ({type(error).__name__}: {error})"


def _structure(store: Store) -> Iterator[Damage]:
    for message in store.database.damage(store.reader):
        yield Damage("file", message, "copy the file, then run 'sqlite3 FILE .recover' to recover the readable part")


def _runs(store: Store) -> Iterator[Damage]:
    for record in store.runs.all():
        if record.damage:
            yield Damage(record.id, record.damage, _FROM_BACKUP)
    query = "SELECT DISTINCT run FROM episode WHERE run NOT IN (SELECT id FROM run) ORDER BY run"
    for (run,) in store.reader.execute(query).fetchall():
        yield Damage(str(run), "there are episodes of this run, but the run itself is missing", _FROM_BACKUP)


def _names(store: Store) -> Iterator[Damage]:
    """The runs whose subject does not have its name in the table of names."""
    entries = {entry.name: entry for entry in store.names.every()}
    for record in store.runs.all():
        key = record.manifest.key
        if key and entries.get(record.subject) != NameEntry(record.subject, "subject", key):
            what = f"the name '{record.subject}' of its subject is missing, or that of something else"
            yield Damage(record.id, what, _FROM_BACKUP)


def _texts(store: Store, known: set[bytes]) -> Iterator[Damage]:
    for digest, body in pages(store.reader, "SELECT hash, body FROM text WHERE {after}", ("hash",)):
        known.add(digest)
        if problem := _problem(open_text, digest, body):
            yield Damage(f"text {shown(digest)}", problem, _FROM_BACKUP)


def _journal(store: Store, known: set[bytes]) -> Iterator[Damage]:
    query = "SELECT key, origin, messages, reply FROM journal WHERE {after}"
    for key, _, messages, reply in pages(store.reader, query, ("key", "origin")):
        where = f"journal {shown(key)}"
        if problem := _problem(unseal, reply, key):
            yield Damage(where, problem, _FROM_BACKUP)
        if missing := [digest for digest in split_hashes(messages) if digest not in known]:
            yield Damage(where, f"{len(missing)} of its messages are missing", _FROM_BACKUP)


def _studies(store: Store) -> Iterator[Damage]:
    for book in study_books(store.path):
        for name in book.names():
            if problem := _problem(book.study, name) or _problem(book.participants, name):
                yield Damage(f"study {name}", problem, "restore the file from a backup, or create another study")


def _totals(run: StoredRun) -> Iterator[Damage]:
    totals, found = run.record.totals, run.stored_episodes()
    if totals is None:
        return
    if found != (ended := totals.done + totals.failed):
        yield Damage(run.id, f"{found} episodes are stored, but it ended with {ended}", _FROM_BACKUP)
    spent = structs.astuple(run.spent())
    if not all(map(math.isclose, spent, structs.astuple(totals.spent))):
        yield Damage(run.id, "its requests, tokens and costs are not those that it ended with", _FROM_BACKUP)


def _episodes(run: StoredRun, task: str) -> Iterator[Damage]:
    known = run.task(task) if _is_computed(run, task) else None
    wrong, official = 0, run.manifest.config.official
    for item, repeats in run.repeats(task).items():
        where = f"{run.id} {task} {item}"
        try:
            found = list(run.episodes(task, item, scored=False))
        except Exception as error:
            yield Damage(where, _said(error), _FROM_BACKUP)
            continue
        if len(found) < repeats:
            yield Damage(where, f"{repeats - len(found)} episodes have lost their item", _FROM_BACKUP)
        for episode in found:
            if problem := _problem(run.transcript, item, task, episode.repeat):
                yield Damage(f"{where}/{episode.repeat}", problem, _FROM_BACKUP)
        computed = [
            score_safely(known, one.item, one.outcome, official=official) if known and one.outcome is not None else None
            for one in found
        ]
        try:
            for episode, scored in zip(run.episodes(task, item), computed, strict=True):
                stored = episode.failure if isinstance(scored, Failure) else episode.score
                wrong += scored is not None and scored != stored
        except Exception as error:
            yield Damage(where, _said(error), _rescore(run, task))
    if wrong:
        yield Damage(f"{run.id} {task}", f"{wrong} scores do not follow from their outcomes", _rescore(run, task))


def _summary(run: StoredRun, task: str) -> Iterator[Damage]:
    if run.record.status is RunStatus.PLAYING:
        return
    try:
        kept = _numbers(run.kept_summary(task))
        same = not _is_computed(run, task) or kept == _numbers(run.made_summary(task))
        what = "" if same else "its summary does not follow from its scores"
    except Exception as error:
        what = _said(error)
    if what:
        yield Damage(f"{run.id} {task}", what, _rescore(run, task))


def _numbers(summary: Summary) -> bytes:
    """A summary without its notes, whose words may name options that another version does not have."""
    return msgspec.json.encode(structs.replace(summary, notes=()))


def _is_computed(run: StoredRun, task: str) -> bool:
    """Whether this version has the scorer that made the numbers of a task."""
    return task not in run.past and not run.of_other_version


def _rescore(run: StoredRun, task: str) -> str:
    if task in run.past:
        return _FROM_BACKUP
    return f"run '{hint('store rescore', run.reference)}'"
