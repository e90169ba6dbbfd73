"""Upgrades a store of version 0.3: its models get the names by which people type them."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import StoreError
from sociometer.core.subject import dated, subject_of
from sociometer.store.database import Connection
from sociometer.store.names import NameEntry
from sociometer.store.place import StorePlace
from sociometer.store.records import Manifest, read_manifest
from sociometer.store.texts import read_sealed, seal

_COLUMNS = "id, instrument, subject, config_hash, name, created, manifest"
_encode = msgspec.json.Encoder().encode


class _Run(Struct):
    """A run of a model, as version 0.3 stored it."""

    row: tuple[Any, ...]
    manifest: Manifest
    key: str
    is_certain: bool

    @property
    def id(self) -> str:
        return str(self.row[0])

    @property
    def label(self) -> str:
        return str(self.row[2])

    @property
    def given(self) -> str:
        """The name that a person gave; empty if they gave none."""
        return str(self.row[4])

    @property
    def created(self) -> float:
        return float(self.row[5])


def name_subjects(connection: Connection, place: StorePlace) -> list[str]:
    """Give every subject, study and benchmark of a store its name, inside a transaction; what was renamed, in words."""
    studies, runs_of_people = _studies_beside(place)
    taken = {name: NameEntry(name, "study", name) for name in studies}
    renamed: list[str] = []
    runs = [run for run in _runs_of_models(connection) if run.id not in runs_of_people]
    benchmarks = {run.manifest.config.instrument for run in runs if run.manifest.card is not None}
    for name in sorted(benchmarks - taken.keys()):
        taken[name] = NameEntry(name, "benchmark", name)
    for key, members in _by_subject(runs).items():
        wanted = next((run.given for run in members if run.given), members[0].label)
        name = _free(wanted, members[0].created, taken)
        taken[name] = NameEntry(name, "subject", key)
        if name != wanted:
            renamed.append(f"'{wanted}' ({', '.join(run.id for run in members)}) is now called '{name}'")
        for run in members:
            _store_name(connection, run, name, key)
    for entry in (one for one in taken.values() if one.kind != "study"):  # which are in the book
        connection.execute(
            "INSERT INTO names (name, kind, meaning) VALUES (?, ?, ?)", (entry.name, entry.kind, entry.key)
        )
    return renamed


class _Participant(Struct):
    """The runs of a participant."""

    run: str = ""
    further: list[str] = []


def _studies_beside(place: StorePlace) -> tuple[list[str], set[str]]:
    """The names of the studies in the book beside a store file, and the runs of their people."""
    if not isinstance(place, Path):
        return [], set()
    book = place.with_name(place.name + ".studies")
    if not book.exists():
        return [], set()
    with closing(sqlite3.connect(book.absolute().as_uri() + "?mode=ro", uri=True)) as connection:
        names = [str(name) for (name,) in connection.execute("SELECT name FROM study").fetchall()]
        bodies = connection.execute("SELECT body FROM participant").fetchall()
    people = [msgspec.json.decode(body, type=_Participant) for (body,) in bodies]
    return names, {run for person in people for run in (person.run, *person.further)}


def _runs_of_models(connection: Connection) -> Iterator[_Run]:
    for row in connection.execute(f"SELECT {_COLUMNS} FROM run ORDER BY created, id").fetchall():  # noqa: S608
        try:
            manifest = read_sealed(read_manifest, row[6], *row[:6])
        except (StoreError, ValueError):  # 'check store' names the damage
            continue
        player = manifest.roles.get(SUBJECT)
        if not row[2] or player is None or manifest.config.of_people:
            continue
        subject = subject_of(manifest.config, player.identity)
        is_certain = player.identity.certain and not manifest.config.fresh
        key = subject.digest if is_certain else f"{subject.digest}@{row[0]}"
        yield _Run(tuple(row), manifest, key, is_certain)


def _by_subject(runs: list[_Run]) -> dict[str, list[_Run]]:
    """The runs of each subject. Runs of one model under two names stay two subjects: somebody meant them apart."""
    groups: dict[str, list[_Run]] = defaultdict(list)
    for run in runs:
        groups[run.key].append(run)
    subjects: dict[str, list[_Run]] = {}
    for key, members in groups.items():
        names = {run.given for run in members if run.given}
        if len(names) < 2:
            subjects[key] = members
            continue
        first = next(run.given for run in members if run.given)
        for name in dict.fromkeys(run.given or first for run in members):
            mine = [run for run in members if (run.given or first) == name]
            subjects[key if name == first else f"{key}@{mine[0].id}"] = mine
    return subjects


def _free(wanted: str, created: float, taken: dict[str, NameEntry]) -> str:
    """The wanted name, with the date of the first run if another subject, a study or a benchmark has it."""
    if wanted not in taken:
        return wanted
    name = dated(wanted, created)
    if name in taken:
        name = dated(wanted, created, exactly=True)
    count = 2
    while name in taken:
        name = f"{dated(wanted, created, exactly=True)} ({count})"
        count += 1
    return name


def _store_name(connection: Connection, run: _Run, name: str, key: str) -> None:
    """Write the row of a run with the name and the key of its subject."""
    number, instrument, _, config_hash, given, created, _ = run.row
    manifest = structs.replace(run.manifest, subject=name, key=key)
    place = number, instrument, name, config_hash, given, created
    values = name, seal(_encode(manifest), *place), number
    connection.execute("UPDATE run SET subject = ?, manifest = ? WHERE id = ?", values)
