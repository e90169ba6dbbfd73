"""The label book: queues of units to label, their raters and every label, in a file next to the store.

A queue keeps the wording of its questions: another wording is another label set. Codes and cookies are kept as hashes.
"""

import hashlib
import secrets
import sqlite3
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.errors import StoreError, UsageError, unknown
from sociometer.store.sqlite import create_private, remove_traces, storage_errors

_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
_CODE_LETTERS = 12
_SCHEMA = 1
_NO_CODE = "no code: "
_TABLES = """
CREATE TABLE queue (name TEXT PRIMARY KEY, body BLOB NOT NULL, created REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE unit (
  queue TEXT NOT NULL REFERENCES queue (name) ON DELETE CASCADE, id TEXT NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY (queue, id)
) WITHOUT ROWID;
CREATE TABLE rater (
  queue TEXT NOT NULL REFERENCES queue (name) ON DELETE CASCADE, id TEXT NOT NULL, code TEXT NOT NULL,
  PRIMARY KEY (queue, id)
) WITHOUT ROWID;
CREATE TABLE session (cookie TEXT PRIMARY KEY, queue TEXT NOT NULL, rater TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE task (
  queue TEXT NOT NULL, rater TEXT NOT NULL, unit TEXT NOT NULL, place REAL NOT NULL, settles INTEGER NOT NULL,
  PRIMARY KEY (queue, rater, unit)
) WITHOUT ROWID;
CREATE TABLE label (
  queue TEXT NOT NULL, unit TEXT NOT NULL, rater TEXT NOT NULL, body BLOB NOT NULL,
  PRIMARY KEY (queue, unit, rater)
) WITHOUT ROWID;
"""


class Asked(Struct, frozen=True):
    """One question: the column for the answer, the wording as raters see it, and the allowed answers."""

    column: str
    question: str
    values: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] = ()
    """How the page names the values, in the same order; empty if it shows the values themselves."""


class Measured(Struct, frozen=True):
    """Which measure of which run the labels correct; `strata` by judge score were drawn from evenly."""

    run: str
    task: str
    measure: str
    value: str
    strata: int = 1


class Queue(Struct, frozen=True):
    """What is labelled, and how."""

    name: str
    title: str
    asked: tuple[Asked, ...]
    kind: str = ""
    columns: tuple[str, ...] = ()
    """The columns of the sheet that the units came from, for writing it again."""
    language: str = "en"
    per_item: int = 2
    measured: Measured | None = None
    seed: int = 0
    secret: str = ""
    guide: str = ""
    """What raters read before they label: what is meant, and an example."""

    @property
    def label_set(self) -> str:
        """Distinguishes labels that answer different questions; derived from the wording and the answers."""
        body = msgspec.json.encode((self.kind, self.language, self.asked, *([self.guide] if self.guide else [])))
        return hashlib.blake2b(body, digest_size=6).hexdigest()


class Unit(Struct, frozen=True):
    """One thing to label: what identifies it, what raters see, and the right answers where it is a gold item."""

    id: str
    key: dict[str, str]
    shown: dict[str, str]
    row: dict[str, str] = {}
    gold: dict[str, str] = {}
    cluster: str = ""
    stratum: str = ""


class Label(Struct, frozen=True):
    """A rater's label of a unit: answers by column, or why it was skipped."""

    unit: str
    rater: str
    answers: dict[str, str] = {}
    skipped: str = ""
    seconds: float = 0.0
    imported: bool = False


class Given(Struct, frozen=True):
    """A unit in a rater's queue."""

    unit: str
    settles: bool


def book_path(store: Path) -> Path:
    """The path of the label book of a store."""
    return store.with_name(store.name + ".labels")


def code_hash(code: str) -> str:
    """The hash of a code or cookie; it cannot be used to sign in."""
    return hashlib.blake2b(code.encode(), digest_size=16, person=b"label-book").hexdigest()


def plain_code(given: str) -> str:
    """A code without spaces, hyphens and capitals."""
    return "".join(character for character in given.lower() if character.isalnum())


class LabelBook:
    """The open book; a change is on disk when its method returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with storage_errors(path):
            create_private(path)
            self._file = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
                self._file.execute(f"PRAGMA {pragma}")
            self._prepare()

    def _prepare(self) -> None:
        self._file.execute("BEGIN IMMEDIATE")
        present = int(self._file.execute("PRAGMA user_version").fetchone()[0])
        if present == 0:
            for statement in _TABLES.split(";"):
                if statement.strip():
                    self._file.execute(statement)
            self._file.execute(f"PRAGMA user_version = {_SCHEMA}")
        self._file.execute("COMMIT")
        if present > _SCHEMA:
            raise StoreError(f"{self._path}: written by a newer Sociometer; upgrade to read it.")

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def create(
        self, queue: Queue, units: Sequence[Unit], raters: Iterable[str], tasks: Iterable[tuple[str, str, float]]
    ) -> dict[str, str]:
        """Stores a new queue with its units and raters; returns the code of each rater, which is stored nowhere."""
        codes = {rater: "".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LETTERS)) for rater in raters}
        with storage_errors(self._path):
            if self._file.execute("SELECT 1 FROM queue WHERE name = ?", (queue.name,)).fetchone():
                raise UsageError(f"a queue '{queue.name}' already exists; choose another NAME.")
            self._file.execute("BEGIN IMMEDIATE")
            row = (queue.name, msgspec.json.encode(queue), time.time())
            self._file.execute("INSERT INTO queue VALUES (?, ?, ?)", row)
            bodies = ((queue.name, unit.id, msgspec.json.encode(unit)) for unit in units)
            self._file.executemany("INSERT INTO unit VALUES (?, ?, ?)", bodies)
            hashes = ((queue.name, rater, code_hash(code)) for rater, code in codes.items())
            self._file.executemany("INSERT INTO rater VALUES (?, ?, ?)", hashes)
            given = ((queue.name, rater, unit, place, 0) for rater, unit, place in tasks)
            self._file.executemany("INSERT INTO task VALUES (?, ?, ?, ?, ?)", given)
            self._file.execute("COMMIT")
        return codes

    def queues(self) -> list[Queue]:
        """All queues, oldest first."""
        with storage_errors(self._path):
            rows = self._file.execute("SELECT body FROM queue ORDER BY created").fetchall()
        return [msgspec.json.decode(body, type=Queue) for (body,) in rows]

    def queue(self, name: str) -> Queue:
        """The queue of that name."""
        found = {queue.name: queue for queue in self.queues()}
        if name not in found:
            raise unknown("queue", name, found, "Make one with 'sociometer annotate create NAME --sheet FILE'.")
        return found[name]

    def units(self, queue: str) -> dict[str, Unit]:
        """The units of a queue, by id."""
        with storage_errors(self._path):
            rows = self._file.execute("SELECT body FROM unit WHERE queue = ?", (queue,)).fetchall()
        units = (msgspec.json.decode(body, type=Unit) for (body,) in rows)
        return {unit.id: unit for unit in units}

    def unit(self, queue: str, name: str) -> Unit | None:
        """One unit."""
        with storage_errors(self._path):
            query = "SELECT body FROM unit WHERE queue = ? AND id = ?"
            row = self._file.execute(query, (queue, name)).fetchone()
        return msgspec.json.decode(row[0], type=Unit) if row else None

    def add_units(self, queue: str, units: Sequence[Unit], tasks: Iterable[tuple[str, str, float]]) -> None:
        """Adds units to a queue: a further random sample."""
        with storage_errors(self._path):
            self._file.execute("BEGIN IMMEDIATE")
            bodies = ((queue, unit.id, msgspec.json.encode(unit)) for unit in units)
            self._file.executemany("INSERT INTO unit VALUES (?, ?, ?)", bodies)
            given = ((queue, rater, unit, place, 0) for rater, unit, place in tasks)
            self._file.executemany("INSERT INTO task VALUES (?, ?, ?, ?, ?)", given)
            self._file.execute("COMMIT")

    def raters(self, queue: str) -> list[str]:
        """The raters of a queue."""
        with storage_errors(self._path):
            rows = self._file.execute("SELECT id FROM rater WHERE queue = ? ORDER BY id", (queue,)).fetchall()
        return [rater for (rater,) in rows]

    def present_raters(self, queue: str) -> list[str]:
        """The raters who can sign in; labels of the others came from files."""
        with storage_errors(self._path):
            query = "SELECT id FROM rater WHERE queue = ? AND code NOT LIKE ? ORDER BY id"
            rows = self._file.execute(query, (queue, f"{_NO_CODE}%")).fetchall()
        return [rater for (rater,) in rows]

    def add_rater(self, queue: str, rater: str) -> None:
        """Adds a rater whose labels come from a file; nobody can sign in as them."""
        with storage_errors(self._path):
            row = (queue, rater, f"{_NO_CODE}{rater}")
            self._file.execute("INSERT OR IGNORE INTO rater VALUES (?, ?, ?)", row)

    def with_code(self, queue: str, code: str) -> str | None:
        """The rater with that code."""
        with storage_errors(self._path):
            query = "SELECT id FROM rater WHERE queue = ? AND code = ?"
            row = self._file.execute(query, (queue, code_hash(plain_code(code)))).fetchone()
        return row[0] if row else None

    def open_session(self, queue: str, rater: str) -> str:
        """Creates a session and returns its cookie."""
        cookie = secrets.token_urlsafe(32)
        with storage_errors(self._path):
            self._file.execute("INSERT INTO session VALUES (?, ?, ?)", (code_hash(cookie), queue, rater))
        return cookie

    def session(self, queue: str, cookie: str) -> str | None:
        """The rater of this queue behind a cookie."""
        with storage_errors(self._path):
            query = "SELECT rater FROM session WHERE cookie = ? AND queue = ?"
            row = self._file.execute(query, (code_hash(cookie), queue)).fetchone()
        return row[0] if row else None

    def tasks(self, queue: str, rater: str) -> list[Given]:
        """The units of a rater, in the rater's own order."""
        with storage_errors(self._path):
            query = "SELECT unit, settles FROM task WHERE queue = ? AND rater = ? ORDER BY place, unit"
            rows = self._file.execute(query, (queue, rater)).fetchall()
        return [Given(unit, bool(settles)) for unit, settles in rows]

    def settling(self, queue: str) -> set[tuple[str, str]]:
        """The units that a rater was given to settle, as pairs of rater and unit."""
        with storage_errors(self._path):
            query = "SELECT rater, unit FROM task WHERE queue = ? AND settles"
            return {(rater, unit) for rater, unit in self._file.execute(query, (queue,))}

    def give(self, queue: str, rater: str, unit: str) -> None:
        """Gives a unit that others disagree on to a rater who settles it; it comes last."""
        with storage_errors(self._path):
            row = (queue, rater, unit, time.time(), 1)
            self._file.execute("INSERT OR IGNORE INTO task VALUES (?, ?, ?, ?, ?)", row)

    def put(self, queue: str, label: Label) -> None:
        """Stores a label; a later one of the same rater replaces it."""
        with storage_errors(self._path):
            row = (queue, label.unit, label.rater, msgspec.json.encode(label))
            self._file.execute("INSERT OR REPLACE INTO label VALUES (?, ?, ?, ?)", row)

    def label(self, queue: str, unit: str, rater: str) -> Label | None:
        """A rater's label of a unit."""
        with storage_errors(self._path):
            query = "SELECT body FROM label WHERE queue = ? AND unit = ? AND rater = ?"
            row = self._file.execute(query, (queue, unit, rater)).fetchone()
        return msgspec.json.decode(row[0], type=Label) if row else None

    def labels(self, queue: str) -> list[Label]:
        """All labels of a queue, skipped units included."""
        with storage_errors(self._path):
            query = "SELECT body FROM label WHERE queue = ? ORDER BY unit, rater"
            rows = self._file.execute(query, (queue,)).fetchall()
        return [msgspec.json.decode(body, type=Label) for (body,) in rows]

    def erase(self, runs: Collection[str], words: Collection[str]) -> tuple[int, int]:
        """Deletes queues made from these runs, and sheet rows with these words; returns how many units and labels.

        A queue made from another run keeps its units, even if somebody there wrote the same sentence.
        """
        queues = [queue for queue in self.queues() if queue.measured is not None and queue.measured.run in runs]
        gone = [(queue.name, unit) for queue in queues for unit in self.units(queue.name)]
        for queue in self.queues():
            wanted = (*runs, *words) if queue.measured is None else runs
            for unit in self.units(queue.name).values() if queue not in queues else ():
                texts = (*unit.key.values(), *unit.shown.values(), *unit.row.values())
                if any(one in text for one in wanted for text in texts):
                    gone.append((queue.name, unit.id))
        with storage_errors(self._path):
            self._file.execute("BEGIN IMMEDIATE")
            labels = 0
            for place in gone:
                labels += self._file.execute("DELETE FROM label WHERE queue = ? AND unit = ?", place).rowcount
                self._file.execute("DELETE FROM task WHERE queue = ? AND unit = ?", place)
                self._file.execute("DELETE FROM unit WHERE queue = ? AND id = ?", place)
            for queue in queues:
                self._file.execute("DELETE FROM session WHERE queue = ?", (queue.name,))
                self._file.execute("DELETE FROM queue WHERE name = ?", (queue.name,))
            self._file.execute("COMMIT")
            remove_traces(self._file, self._path)
        return len(gone), labels
