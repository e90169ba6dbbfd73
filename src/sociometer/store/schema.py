"""The numbered migrations of the store's tables."""

import re
from pathlib import Path

from sociometer.core.errors import StoreError
from sociometer.store.database import Connection
from sociometer.store.old_manifest import upgrade_manifests
from sociometer.store.place import StorePlace

_MIGRATIONS = Path(__file__).parent / "migrations"
_STEPS = {3: upgrade_manifests}
"""The Python step of a migration, after its SQL."""


def newest_schema() -> int:
    """The schema that this version writes."""
    return max(_scripts())


def migrate(connection: Connection, present: int) -> int:
    """Bring the schema up to date, inside a transaction, and return its number."""
    scripts = _scripts()
    for number in range(present + 1, max(scripts) + 1):
        for statement in _statements(scripts[number].read_text(encoding="utf-8")):
            connection.execute(statement)
        if number in _STEPS:
            _STEPS[number](connection)
    return max(scripts)


def refuse_newer(place: StorePlace, present: int) -> None:
    """Raise a StoreError if a newer version wrote the store."""
    if present > newest_schema():
        raise StoreError(
            f"{place}: written by a newer Sociometer (schema {present}; this one supports {newest_schema()});"
            " upgrade to read it."
        )


def _scripts() -> dict[int, Path]:
    return {int(script.name[:4]): script for script in sorted(_MIGRATIONS.glob("[0-9]*.sql"))}


def _statements(script: str) -> list[str]:
    without_comments = re.sub(r"--[^\n]*", "", script)
    return [statement for part in without_comments.split(";") if (statement := part.strip())]
