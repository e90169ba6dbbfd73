"""What to look for among the runs: words, an instrument, a status, and which part of a long list."""

from collections.abc import Sequence

from msgspec import Struct

from sociometer.store.records import RunStatus


class RunSearch(Struct, frozen=True):
    """A search among runs; an empty field matches everything."""

    words: str = ""
    """Each must occur in the id, the name, the subject or the instrument."""
    instrument: str = ""
    status: str = ""
    ids: tuple[str, ...] = ()
    limit: int = 50
    offset: int = 0

    def condition(self, playing: Sequence[str]) -> tuple[str, tuple[object, ...]]:
        """The search as SQL; `playing` are the runs that some process plays: others that say so were killed."""
        parts, values = ["1 = 1"], list[object]()
        for word in self.words.split():
            pattern = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            parts.append("lower(id || ' ' || name || ' ' || subject || ' ' || instrument) LIKE lower(?) ESCAPE '\\'")
            values.append(pattern)
        if self.instrument:
            parts.append("instrument = ?")
            values.append(self.instrument)
        if self.ids:
            parts.append(f"id IN ({_places(self.ids)})")
            values += self.ids
        if self.status == RunStatus.PLAYING:
            parts.append(f"id IN ({_places(playing)})")
            values += playing
        elif self.status == RunStatus.STOPPED:
            parts.append(f"(status = 'stopped' OR (status = 'playing' AND id NOT IN ({_places(playing)})))")
            values += playing
        elif self.status:
            parts.append("status = ?")
            values.append(self.status)
        return " AND ".join(parts), tuple(values)


def _places(values: Sequence[object]) -> str:
    return ", ".join("?" for _ in values) or "''"
