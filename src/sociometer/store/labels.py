"""The label book: queues of units to label, their raters and every label, in a file next to the store.

A queue keeps the wording of its questions: another wording is another label set. Codes and cookies are kept as hashes.
"""

import hashlib
import math
import secrets
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from sociometer.core.card import LabelCard, SheetCard
from sociometer.core.errors import UsageError, hint, unknown
from sociometer.core.task import PeopleLabel
from sociometer.store.book import CODE_LETTERS, Book, new_letters, plain_code
from sociometer.store.place import StorePlace

_NO_CODE = "no code: "
OWNER = "the owner"
"""Whose label decides a dispute; it counts neither for agreement nor for means."""


class LabelQuestion(LabelCard, frozen=True):
    """One question of a sheet, with the wording as raters see it."""

    names: tuple[str, ...] = ()
    """How the page names the values, in the same order; empty if it shows the values themselves."""

    def problem(self, said: str) -> str:
        """Why an answer is not allowed; empty if it is."""
        if self.values:
            return "" if said in self.values else f"allowed: {', '.join(self.values)}"
        try:
            value = float(said)
        except ValueError:
            return "not a number"
        low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        return "" if math.isfinite(value) and low <= value <= high else f"allowed: {self.low} to {self.high}"


class Measured(Struct, frozen=True):
    """Which measure of which run the labels correct."""

    run: str
    task: str
    measure: str
    value: str


class Queue(Struct, frozen=True):
    """What is labelled, and how."""

    name: str
    title: str
    asked: tuple[LabelQuestion, ...]
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
    """One thing to label: what identifies it, and what raters see."""

    id: str
    key: dict[str, str]
    shown: dict[str, str]
    row: dict[str, str] = {}


class Label(Struct, frozen=True):
    """A rater's label of a unit: answers by column, or why it was skipped."""

    unit: str
    rater: str
    answers: dict[str, str] = {}
    skipped: str = ""
    seconds: float = 0.0
    imported: bool = False


def people_of(store: StorePlace, run: str) -> dict[str, tuple[PeopleLabel, ...]]:
    """What people said of the rows of a run's sheets, by sheet; the same rater counts once for each row."""
    if not isinstance(store, Path) or not book_path(store).exists():
        return {}
    found: dict[str, dict[tuple[str, tuple[str, ...]], PeopleLabel]] = {}
    with closing(LabelBook(book_path(store))) as book:
        for queue in book.queues():
            units = {name: one for name, one in book.units(queue.name).items() if one.row.get("run") == run}
            sheet = found.setdefault(queue.kind.partition("/")[2], {})
            for label in book.labels(queue.name) if units else ():
                if label.answers and (unit := units.get(label.unit)) is not None:
                    # Raters of two queues have the same names by chance; files are named after people.
                    rater, key = label.rater if label.imported else f"{queue.name}/{label.rater}", (*unit.key.values(),)
                    sheet[rater, key] = PeopleLabel(rater, key, label.answers)
    return {sheet: (*labels.values(),) for sheet, labels in found.items() if labels}


def keep_people(store: Path, instrument: str, sheet: SheetCard, run: str, labels: Sequence[PeopleLabel]) -> None:
    """Store people's answers on a sheet of a run in a queue of the run; a later answer replaces an earlier one."""
    asked = tuple(LabelQuestion(**structs.asdict(one)) for one in sheet.label)
    columns = (*sheet.key, *(one.column for one in asked))
    name, kind = f"{run} {sheet.name}", f"{instrument}/{sheet.name}"
    units = {
        "/".join(one.key): Unit("/".join(one.key), dict(zip(sheet.key, one.key, strict=True)), {}, {"run": run})
        for one in labels
    }
    with closing(LabelBook(book_path(store))) as book, book.changing():
        if all(queue.name != name for queue in book.queues()):
            secret = secrets.token_urlsafe(16)
            book.create(Queue(name, sheet.title, asked, kind, columns, secret=secret), (), (), ())
        known = book.units(name)
        book.add_units(name, [unit for unit in units.values() if unit.id not in known], ())
        for one in labels:
            book.add_rater(name, one.rater)
            book.put(name, Label("/".join(one.key), one.rater, one.answers, imported=True))


def book_path(store: Path) -> Path:
    """The path of the label book of a store."""
    return store.with_name(store.name + ".labels")


class LabelBook(Book):
    """The queues of a store."""

    tables = "labels.sql"
    person = b"label-book"

    def create(
        self, queue: Queue, units: Sequence[Unit], raters: Iterable[str], tasks: Iterable[tuple[str, str, float]]
    ) -> dict[str, str]:
        """Stores a new queue with its units and raters; returns the code of each rater, which is stored nowhere."""
        codes = {rater: new_letters(CODE_LETTERS) for rater in raters}
        if any(known.name == queue.name for known in self.queues()):
            raise UsageError(f"a queue '{queue.name}' already exists; choose another NAME.")
        with self.changing():
            self._rows("INSERT INTO queue VALUES (?, ?, ?)", queue.name, msgspec.json.encode(queue), time.time())
            hashes = ((queue.name, rater, self.hashed(code)) for rater, code in codes.items())
            self._file.executemany("INSERT INTO rater VALUES (?, ?, ?)", hashes)
            self.add_units(queue.name, units, tasks)
        return codes

    def add_units(self, queue: str, units: Sequence[Unit], tasks: Iterable[tuple[str, str, float]]) -> None:
        """Adds units to a queue, and who labels them; call it within `changing`."""
        bodies = ((queue, unit.id, msgspec.json.encode(unit)) for unit in units)
        self._file.executemany("INSERT INTO unit VALUES (?, ?, ?)", bodies)
        given = ((queue, rater, unit, place, 0) for rater, unit, place in tasks)
        self._file.executemany("INSERT INTO task VALUES (?, ?, ?, ?, ?)", given)

    def queues(self) -> list[Queue]:
        """All queues, oldest first."""
        return self._all(Queue, "SELECT body FROM queue ORDER BY created")

    def queue(self, name: str) -> Queue:
        """The queue of that name."""
        found = {queue.name: queue for queue in self.queues()}
        if name not in found:
            raise unknown("queue", name, found, f"Make one with '{hint('annotate create NAME --sheet FILE')}'.")
        return found[name]

    def units(self, queue: str) -> dict[str, Unit]:
        """The units of a queue, by id."""
        return {unit.id: unit for unit in self._all(Unit, "SELECT body FROM unit WHERE queue = ?", queue)}

    def unit(self, queue: str, name: str) -> Unit | None:
        """One unit."""
        return self._one(Unit, "SELECT body FROM unit WHERE queue = ? AND id = ?", queue, name)

    def raters(self, queue: str) -> list[str]:
        """The raters of a queue."""
        return [rater for (rater,) in self._rows("SELECT id FROM rater WHERE queue = ? ORDER BY id", queue)]

    def add_rater(self, queue: str, rater: str) -> None:
        """Adds a rater whose labels come from a file; nobody can sign in as them."""
        self._rows("INSERT OR IGNORE INTO rater VALUES (?, ?, ?)", queue, rater, f"{_NO_CODE}{rater}")

    def with_code(self, queue: str, code: str) -> str | None:
        """The rater with that code."""
        query = "SELECT id FROM rater WHERE queue = ? AND code = ?"
        return next((rater for (rater,) in self._rows(query, queue, self.hashed(plain_code(code)))), None)

    def open_session(self, queue: str, rater: str) -> str:
        """Creates a session and returns its cookie."""
        cookie = secrets.token_urlsafe(32)
        self._rows("INSERT INTO session VALUES (?, ?, ?)", self.hashed(cookie), queue, rater)
        return cookie

    def session(self, queue: str, cookie: str) -> str | None:
        """The rater of this queue behind a cookie."""
        query = "SELECT rater FROM session WHERE cookie = ? AND queue = ?"
        return next((rater for (rater,) in self._rows(query, self.hashed(cookie), queue)), None)

    def tasks(self, queue: str, rater: str) -> list[str]:
        """The units of a rater, in the rater's own order."""
        query = "SELECT unit FROM task WHERE queue = ? AND rater = ? ORDER BY place, unit"
        return [unit for (unit,) in self._rows(query, queue, rater)]

    def settling(self, queue: str) -> set[tuple[str, str]]:
        """The labels that decide a dispute, as pairs of rater and unit: the owner's.

        Books written before version 0.3 also gave disputed units to one more rater.
        """
        rows = self._rows("SELECT rater, unit FROM task WHERE queue = ? AND settles", queue)
        rows += self._rows("SELECT rater, unit FROM label WHERE queue = ? AND rater = ?", queue, OWNER)
        return {(rater, unit) for rater, unit in rows}

    def put(self, queue: str, label: Label) -> None:
        """Stores a label; a later one of the same rater replaces it."""
        row = (queue, label.unit, label.rater, msgspec.json.encode(label))
        self._rows("INSERT OR REPLACE INTO label VALUES (?, ?, ?, ?)", *row)

    def label(self, queue: str, unit: str, rater: str) -> Label | None:
        """A rater's label of a unit."""
        query = "SELECT body FROM label WHERE queue = ? AND unit = ? AND rater = ?"
        return self._one(Label, query, queue, unit, rater)

    def labels(self, queue: str) -> list[Label]:
        """All labels of a queue, skipped units included."""
        return self._all(Label, "SELECT body FROM label WHERE queue = ? ORDER BY unit, rater", queue)

    def erase(self, runs: Collection[str], words: Collection[str]) -> tuple[int, int]:
        """Deletes queues made from these runs, and sheet rows with these words; returns how many units and labels.

        A queue made from another run keeps its units, even if somebody there wrote the same sentence.
        """
        labels = 0
        with self.changing():
            queues = [queue for queue in self.queues() if queue.measured is not None and queue.measured.run in runs]
            gone = [(queue.name, unit) for queue in queues for unit in self.units(queue.name)]
            for queue in self.queues():
                wanted = (*runs, *words) if queue.measured is None else runs
                for unit in self.units(queue.name).values() if queue not in queues else ():
                    texts = (*unit.key.values(), *unit.shown.values(), *unit.row.values())
                    if any(one in text for one in wanted for text in texts):
                        gone.append((queue.name, unit.id))
            for place in gone:
                labels += self._file.execute("DELETE FROM label WHERE queue = ? AND unit = ?", place).rowcount
                self._rows("DELETE FROM task WHERE queue = ? AND unit = ?", *place)
                self._rows("DELETE FROM unit WHERE queue = ? AND id = ?", *place)
            for queue in queues:
                self._rows("DELETE FROM session WHERE queue = ?", queue.name)
                self._rows("DELETE FROM queue WHERE name = ?", queue.name)
        self._remove_traces()
        return len(gone), labels
