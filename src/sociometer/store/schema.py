"""The tables of the store, and the number of their schema."""

import re
from pathlib import Path

from sociometer.core.errors import StoreError
from sociometer.store.database import Connection
from sociometer.store.place import StorePlace

SCHEMA = 7
"""The schema that this version reads and writes; the next one is the first with a migration."""
_TABLES = Path(__file__).parent / "schema.sql"


def create(connection: Connection) -> None:
    """Create the tables of an empty store, inside a transaction."""
    without_comments = re.sub(r"--[^\n]*", "", _TABLES.read_text(encoding="utf-8"))
    for statement in without_comments.split(";"):
        if statement.strip():
            connection.execute(statement)


def require_known(place: StorePlace, present: int) -> None:
    """Raise a StoreError if another version wrote the store."""
    if present > SCHEMA:
        raise StoreError(
            f"{place}: written by a newer Sociometer (schema {present}; this one supports {SCHEMA}); upgrade to"
            " read it."
        )
    if 0 < present < SCHEMA:
        raise StoreError(
            f"{place}: written by a development version (schema {present}; this one supports {SCHEMA}), which cannot be"
            " read. Read it with that version, or start a new store with --store FILE."
        )
