"""The label book: sheets that were drawn for raters and every label, in a file next to the store.

A sheet keeps the wording of its questions: another wording is another label set.
"""

import hashlib
import math
import time
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec import Struct

from sociometer.core.card import LabelCard
from sociometer.core.task import PeopleLabel
from sociometer.store.book import Book
from sociometer.store.place import StorePlace


class LabelQuestion(LabelCard, frozen=True, forbid_unknown_fields=False):
    """One question of a sheet, with the wording as raters see it."""

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


class LabelSheet(Struct, frozen=True):
    """What was drawn for raters: the questions, and the seed of the draw."""

    name: str
    title: str
    asked: tuple[LabelQuestion, ...]
    kind: str = ""
    """INSTRUMENT/SHEET of a card, or `run` for episodes that are rated on a measure."""
    language: str = "en"
    measured: Measured | None = None
    seed: int = 0
    guide: str = ""
    """What raters read before they label: what is meant, and an example."""

    @property
    def label_set(self) -> str:
        """Distinguishes labels that answer different questions; derived from the wording and the answers."""
        body = msgspec.json.encode((self.kind, self.language, self.asked, *([self.guide] if self.guide else [])))
        return hashlib.blake2b(body, digest_size=6).hexdigest()


class Unit(Struct, frozen=True):
    """One row of a sheet: what identifies it, and what raters see."""

    id: str
    key: dict[str, str]
    shown: dict[str, str]
    row: dict[str, str] = {}
    """What raters do not see: the run that it is of."""


class Label(Struct, frozen=True):
    """A rater's answers on a unit, by column."""

    unit: str
    rater: str
    answers: dict[str, str] = {}
    imported: bool = False
    """Whether it comes from a file, which is named after its rater, and not from the pages of version 0.3."""
    settles: bool = False
    """Whether it decided a dispute in version 0.3: it counts neither for agreement nor for means."""


def people_of(store: StorePlace, run: str) -> dict[str, tuple[PeopleLabel, ...]]:
    """What people said of the rows of a run's sheets, by sheet; the same rater counts once for each row."""
    if not isinstance(store, Path) or not book_path(store).exists():
        return {}
    found: dict[str, dict[tuple[str, tuple[str, ...]], PeopleLabel]] = {}
    with closing(LabelBook(book_path(store))) as book:
        for drawn in book.sheets():
            units = {name: one for name, one in book.units(drawn.name).items() if one.row.get("run") == run}
            sheet = found.setdefault(drawn.kind.partition("/")[2], {})
            for label in book.labels(drawn.name) if units else ():
                if label.answers and (unit := units.get(label.unit)) is not None:
                    # Raters of two queues of version 0.3 have the same names by chance; files are named after people.
                    rater, key = label.rater if label.imported else f"{drawn.name}/{label.rater}", (*unit.key.values(),)
                    sheet[rater, key] = PeopleLabel(rater, key, label.answers)
    return {sheet: (*labels.values(),) for sheet, labels in found.items() if labels}


def book_path(store: Path) -> Path:
    """The path of the label book of a store."""
    return store.with_name(store.name + ".labels")


class LabelBook(Book):
    """The sheets of a store."""

    tables = "labels.sql"

    def create(self, sheet: LabelSheet, units: Sequence[Unit]) -> None:
        """Stores a draw; the same one only once."""
        with self.changing():
            row = (sheet.name, msgspec.json.encode(sheet), time.time())
            self._rows("INSERT OR IGNORE INTO sheet VALUES (?, ?, ?)", *row)
            bodies = ((sheet.name, unit.id, msgspec.json.encode(unit)) for unit in units)
            self._file.executemany("INSERT OR IGNORE INTO unit VALUES (?, ?, ?)", bodies)

    def sheets(self) -> list[LabelSheet]:
        """All sheets, oldest first."""
        return self._all(LabelSheet, "SELECT body FROM sheet ORDER BY created")

    def sheet_with(self, unit: str) -> LabelSheet | None:
        """The sheet that has this unit."""
        query = "SELECT sheet.body FROM sheet JOIN unit ON unit.sheet = sheet.name WHERE unit.id = ?"
        return self._one(LabelSheet, query, unit)

    def units(self, sheet: str) -> dict[str, Unit]:
        """The units of a sheet, by id."""
        return {unit.id: unit for unit in self._all(Unit, "SELECT body FROM unit WHERE sheet = ?", sheet)}

    def put(self, sheet: str, label: Label) -> None:
        """Stores a label; a later one of the same rater replaces it."""
        row = (sheet, label.unit, label.rater, msgspec.json.encode(label))
        self._rows("INSERT OR REPLACE INTO label VALUES (?, ?, ?, ?)", *row)

    def labels(self, sheet: str) -> list[Label]:
        """All labels of a sheet."""
        found = self._all(Label, "SELECT body FROM label WHERE sheet = ? ORDER BY unit, rater", sheet)
        return [label for label in found if label.answers]

    def erase(self, runs: Collection[str], words: Collection[str]) -> tuple[int, int]:
        """Deletes sheets drawn from these runs, and units with these words; returns how many units and labels.

        A sheet drawn from another run keeps its units, even if somebody there wrote the same sentence.
        """
        labels = 0
        with self.changing():
            sheets = [one for one in self.sheets() if one.measured is not None and one.measured.run in runs]
            gone = [(sheet.name, unit) for sheet in sheets for unit in self.units(sheet.name)]
            for sheet in self.sheets():
                wanted = (*runs, *words) if sheet.measured is None else runs
                for unit in self.units(sheet.name).values() if sheet not in sheets else ():
                    texts = (*unit.key.values(), *unit.shown.values(), *unit.row.values())
                    if any(one in text for one in wanted for text in texts):
                        gone.append((sheet.name, unit.id))
            for place in gone:
                labels += self._file.execute("DELETE FROM label WHERE sheet = ? AND unit = ?", place).rowcount
                self._rows("DELETE FROM unit WHERE sheet = ? AND id = ?", *place)
            for sheet in sheets:
                self._rows("DELETE FROM sheet WHERE name = ?", sheet.name)
        self._remove_traces()
        return len(gone), labels
