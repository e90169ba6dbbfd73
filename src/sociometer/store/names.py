"""The one table of names: what people type for subjects and imported benchmarks; studies have theirs in a book."""

from typing import Literal

from msgspec import Struct

from sociometer.core.errors import UsageError
from sociometer.store.texts import StorePart
from sociometer.store.writer import Transaction

NameKind = Literal["subject", "study", "benchmark"]
_WHAT = {"subject": "a model", "study": "a study", "benchmark": "an imported benchmark"}
_FIND = "SELECT name, kind, meaning FROM names WHERE name = ?"


class NameEntry(Struct, frozen=True):
    """What a name means."""

    name: str
    kind: NameKind
    key: str
    """Of a subject: its digest, and behind '@' which measurement of it, where its weights are unknown."""

    @property
    def digest(self) -> str:
        """The digest of the subject."""
        return self.key.partition("@")[0]

    @property
    def what(self) -> str:
        """What the name means, in words."""
        return _WHAT[self.kind]


def claim(batch: Transaction, entry: NameEntry) -> bool:
    """Write an entry inside a transaction; False if the name means something else."""
    batch.lock_table("names")
    row = batch.execute(_FIND, (entry.name,)).fetchone()
    if row is None:
        batch.execute("INSERT INTO names (name, kind, meaning) VALUES (?, ?, ?)", (entry.name, entry.kind, entry.key))
        return True
    return NameEntry(*row) == entry


class Names(StorePart):
    """The names in a store; each means one thing."""

    def entry(self, name: str) -> NameEntry | None:
        """What a name means; None if it is free."""
        row = self._row(_FIND, name)
        return NameEntry(*row) if row else None

    def of_subject(self, key: str) -> str:
        """The name of a subject; empty if it has none yet."""
        row = self._row("SELECT name FROM names WHERE kind = 'subject' AND meaning = ?", key)
        return str(row[0]) if row else ""

    def every(self) -> list[NameEntry]:
        """All names, in alphabetical order."""
        return [NameEntry(*row) for row in self._rows("SELECT name, kind, meaning FROM names ORDER BY name")]

    def claim(self, name: str, kind: NameKind, key: str = "") -> None:
        """Take a name; a UsageError if it means something else."""
        entry = NameEntry(name, kind, key or name)
        self._writer.queue(lambda batch: claim(batch, entry))
        self._writer.flush()
        present = self.entry(name)
        if present != entry:
            what = present.what if present else "something else"
            raise UsageError(f"the name '{name}' is that of {what} in this store; choose another.")

    def release(self, name: str) -> None:
        """Give a name back."""
        self._writer.queue(lambda batch: batch.execute("DELETE FROM names WHERE name = ?", (name,)))
        self._writer.flush()
