"""Checks a store: checksums, episodes against items, scores against outcomes, summaries against scores."""

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.errors import SociometerError, StoreError
from sociometer.core.task import Episode, Failure
from sociometer.store.database import pages
from sociometer.store.records import RunStatus
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun, score_safely
from sociometer.store.texts import HASH_BYTES, split_hashes, unpack, unseal

_FROM_BACKUP = "restore the store from a backup, or play the item again in a new run with --fresh"


class Finding(Struct, frozen=True):
    """A damaged or inconsistent record, and what to do about it."""

    where: str
    what: str
    next_step: str


def verify_file(store: Store) -> Iterator[Finding]:
    """Problems of the file as a whole: its structure, texts and journal."""
    reader = store.reader
    for message in store.database.damage(reader):
        step = "copy the file, then run 'sqlite3 FILE .recover' to recover the readable part"
        yield Finding("file", message, step)
    known: set[bytes] = set()
    for digest, body in pages(reader, "SELECT hash, body FROM text WHERE {after}", ("hash",)):
        known.add(digest)
        try:
            found = hashlib.blake2b(unpack(body), digest_size=HASH_BYTES).digest()
        except Exception:
            found = b""
        if found != digest:
            yield Finding(f"text {digest.hex()}", "its contents do not match its hash", _FROM_BACKUP)
    journal = "SELECT key, messages, reply FROM journal WHERE {after}"
    for key, messages, reply in pages(reader, journal, ("key",)):
        where = f"journal {key.hex()}"
        if (damage := _damage(reply, key)) is not None:
            yield Finding(where, damage, _FROM_BACKUP)
        if missing := [digest for digest in split_hashes(messages) if digest not in known]:
            yield Finding(where, f"{len(missing)} of its messages are missing", _FROM_BACKUP)


def verify_run(run: StoredRun) -> Iterator[Finding]:
    """Problems of one run."""
    for task in run.tasks:
        try:
            yield from _verify_episodes(run, task)
            ended = run.record.status is not RunStatus.PLAYING
            if ended and msgspec.json.encode(run.summary(task)) != msgspec.json.encode(run.made_summary(task)):
                step = f"run 'sociometer store rescore {run.id}'"
                yield Finding(f"{run.id} {task}", "its summary does not follow from its scores", step)
        except SociometerError as error:
            yield Finding(f"{run.id} {task}", str(error), _FROM_BACKUP)


def _verify_episodes(run: StoredRun, task: str) -> Iterator[Finding]:
    found = run.task(task)
    wrong = 0
    for episode in run.episodes(task):
        where = f"{run.id} {task} {episode.item.id}/{episode.repeat}"
        try:
            run.transcript(episode.item.id, task, episode.repeat)
        except SociometerError as error:
            yield Finding(where, str(error), _FROM_BACKUP)
        if episode.outcome is not None and not _fits(episode, score_safely(found, episode.item, episode.outcome)):
            wrong += 1
    if wrong:
        step = f"run 'sociometer store rescore {run.id}'"
        yield Finding(f"{run.id} {task}", f"{wrong} scores do not follow from their outcomes", step)


def _fits(episode: Episode[Any, Any], scored: object) -> bool:
    return scored == (episode.failure if isinstance(scored, Failure) else episode.score)


def _damage(stored: bytes, *place: object) -> str | None:
    try:
        unseal(stored, *place)
    except StoreError as error:
        return str(error)
    except Exception as error:
        return f"cannot be read ({type(error).__name__}: {error})"
    return None
