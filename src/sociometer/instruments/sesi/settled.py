"""Pronouns settled by hand: where the rules of the second person are in doubt, somebody read the item and decided.

The file holds an item's id, which of its texts is meant (0 the situation, 1 the question, 2 to 5 the options), the
place of a pronoun among that text's words, the pronoun, and whom it means; no sentence of an item.
"""

import csv
from functools import cache
from pathlib import Path

from sociometer.core.errors import DataError
from sociometer.instruments.sesi.person.sentence import Whom

FILE = Path(__file__).parent / "data" / "settled.csv"


@cache
def settled(path: Path = FILE) -> dict[str, dict[tuple[int, int], Whom]]:
    """For an item's id, whom the pronoun at each place means."""
    found: dict[str, dict[tuple[int, int], Whom]] = {}
    for line, row in enumerate(rows(path), 2):
        if row["whom"] not in ("person", "other"):
            raise DataError(f"whom is '{row['whom']}'; allowed: person, other", path, line)
        meant: Whom = "person" if row["whom"] == "person" else "other"
        found.setdefault(row["id"], {})[int(row["text"]), int(row["place"])] = meant
    return found


def rows(path: Path = FILE) -> list[dict[str, str]]:
    """The lines of the file as they stand."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
