"""The study book: studies, participants, sessions and response times, in a file next to the store.

It is separate from the store, so that answers can be shared without it. Codes and cookies are stored as hashes.
"""

import os
import secrets
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import structs

from sociometer.core.errors import StoreError, UsageError, unknown
from sociometer.store.sqlite import RunLock, storage_errors
from sociometer.web.guard import PARTICIPANT, cookie_hash
from sociometer.web.study.records import Participant, Study, Timing

_ALPHABET = "23456789abcdefghjkmnpqrstvwxyz"
_CODE_LETTERS, _ID_LETTERS = 12, 6
_TABLES = """
CREATE TABLE study (name TEXT PRIMARY KEY, body BLOB NOT NULL, created REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE participant (
  id TEXT PRIMARY KEY, study TEXT NOT NULL REFERENCES study (name), code TEXT NOT NULL UNIQUE, body BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX participant_study ON participant (study);
CREATE TABLE session (
  cookie TEXT PRIMARY KEY, participant TEXT NOT NULL REFERENCES participant (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX session_participant ON session (participant);
CREATE TABLE timing (
  participant TEXT NOT NULL REFERENCES participant (id) ON DELETE CASCADE,
  question INTEGER NOT NULL, seconds REAL NOT NULL, PRIMARY KEY (participant, question)
) WITHOUT ROWID;
"""
_CHECKS = """
ALTER TABLE timing ADD COLUMN pattern TEXT NOT NULL DEFAULT '';
CREATE TABLE attention (
  participant TEXT NOT NULL REFERENCES participant (id) ON DELETE CASCADE,
  number INTEGER NOT NULL, passed INTEGER NOT NULL, PRIMARY KEY (participant, number)
) WITHOUT ROWID;
"""
_STEPS = (_TABLES, _CHECKS)


def book_path(store: Path) -> Path:
    """The path of the study book of a store."""
    return store.with_name(store.name + ".studies")


def study_lock(store: Path, name: str) -> RunLock:
    """The lock that is held while a study is open."""
    in_use = f"study {name} is open in process {{holder}}; close it there first, with Ctrl-C."
    return RunLock(store, f"study-{name}", in_use)


def plain_code(given: str) -> str:
    """A code without spaces, hyphens and capitals."""
    return "".join(character for character in given.lower() if character.isalnum())


def shown_code(code: str) -> str:
    """A code in groups of four."""
    return "-".join(code[start : start + 4] for start in range(0, len(code), 4))


class StudyBook:
    """The open book; a change is on disk when its method returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with storage_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            # Only its owner may read it: who took part is nobody else's business.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._file = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "secure_delete = ON"):
                self._file.execute(f"PRAGMA {pragma}")
            self._prepare()

    def _prepare(self) -> None:
        self._file.execute("BEGIN IMMEDIATE")
        present = int(self._file.execute("PRAGMA user_version").fetchone()[0])
        for step in _STEPS[present:]:
            for statement in step.split(";"):
                if statement.strip():
                    self._file.execute(statement)
        if present < len(_STEPS):
            self._file.execute(f"PRAGMA user_version = {len(_STEPS)}")
        self._file.execute("COMMIT")
        if present > len(_STEPS):
            raise StoreError(f"{self._path}: written by a newer Sociometer; upgrade to read it.")

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def create(self, study: Study) -> None:
        """Stores a new study."""
        with storage_errors(self._path):
            if self._file.execute("SELECT 1 FROM study WHERE name = ?", (study.name,)).fetchone():
                raise UsageError(f"a study '{study.name}' already exists; choose another --name.")
            row = (study.name, msgspec.json.encode(study), time.time())
            self._file.execute("INSERT INTO study VALUES (?, ?, ?)", row)

    def studies(self) -> list[Study]:
        """All studies, oldest first."""
        with storage_errors(self._path):
            rows = self._file.execute("SELECT body FROM study ORDER BY created").fetchall()
            return [msgspec.json.decode(body, type=Study) for (body,) in rows]

    def study(self, name: str) -> Study:
        """The study of that name."""
        with storage_errors(self._path):
            row = self._file.execute("SELECT body FROM study WHERE name = ?", (name,)).fetchone()
            if row is None:
                known = [study.name for study in self.studies()]
                raise unknown("study", name, known, "Make one with 'sociometer study create INSTRUMENT --name NAME'.")
            return msgspec.json.decode(row[0], type=Study)

    def join(self, study: Study, about: dict[str, str]) -> tuple[Participant, str] | None:
        """A new participant with their code; None if the quota is reached."""
        code = "".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LETTERS))
        number = "".join(secrets.choice(_ALPHABET) for _ in range(_ID_LETTERS))
        made = Participant(f"p-{number}", study.name, time.time(), about)
        with storage_errors(self._path):
            # One statement counts and inserts: the quota holds against any number of people at once.
            done = self._file.execute(
                "INSERT INTO participant SELECT ?, ?, ?, ?"
                " WHERE (SELECT count(*) FROM participant WHERE study = ?) < ?",
                (made.id, study.name, cookie_hash(code), msgspec.json.encode(made), study.name, study.quota),
            )
        return (made, code) if done.rowcount else None

    def with_code(self, study: str, code: str) -> Participant | None:
        """The participant with that code."""
        return self._one("code = ? AND study = ?", (cookie_hash(plain_code(code)), study))

    def participant(self, name: str) -> Participant | None:
        """The participant of that id."""
        return self._one("id = ?", (name,))

    def participants(self, study: str) -> list[Participant]:
        """Everyone who takes part, in the order they joined."""
        with storage_errors(self._path):
            rows = self._file.execute("SELECT body FROM participant WHERE study = ?", (study,)).fetchall()
            found = [msgspec.json.decode(body, type=Participant) for (body,) in rows]
        return sorted(found, key=lambda one: one.joined)

    def set_run(self, participant: Participant, run: str) -> None:
        """Stores which run has a participant's answers."""
        body = msgspec.json.encode(structs.replace(participant, run=run))
        with storage_errors(self._path):
            self._file.execute("UPDATE participant SET body = ? WHERE id = ?", (body, participant.id))

    def withdraw(self, participant: Participant) -> None:
        """Deletes a participant with sessions and response times; the study keeps only the number of them."""
        study = self.study(participant.study)
        with storage_errors(self._path):
            self._file.execute("BEGIN IMMEDIATE")
            self._file.execute("DELETE FROM participant WHERE id = ?", (participant.id,))
            body = msgspec.json.encode(structs.replace(study, withdrawn=study.withdrawn + 1))
            self._file.execute("UPDATE study SET body = ? WHERE name = ?", (body, study.name))
            self._file.execute("COMMIT")
            self._file.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def add_timing(self, timing: Timing) -> None:
        """Stores how long a question took; the first answer to it counts."""
        self._quickly("INSERT OR IGNORE INTO timing VALUES (?, ?, ?, ?)", structs.astuple(timing))

    def timings(self, study: str) -> Iterator[Timing]:
        """The response times of a study."""
        with storage_errors(self._path):
            rows = self._file.execute(
                "SELECT timing.* FROM timing JOIN participant ON participant.id = timing.participant"
                " WHERE study = ? ORDER BY 1, 2",
                (study,),
            )
            yield from (Timing(*row) for row in rows)

    def add_check(self, participant: str, number: int, passed: bool) -> None:
        """Stores the answer to an attention check; the first one counts."""
        row = (participant, number, int(passed))
        self._quickly("INSERT OR IGNORE INTO attention VALUES (?, ?, ?)", row)

    def checks(self, participant: str) -> dict[int, bool]:
        """The attention checks that a participant has answered, and whether each was right."""
        with storage_errors(self._path):
            query = "SELECT number, passed FROM attention WHERE participant = ?"
            return {number: bool(passed) for number, passed in self._file.execute(query, (participant,))}

    def passed_checks(self, study: str) -> dict[str, dict[int, bool]]:
        """The attention checks that the participants of a study have answered."""
        found: dict[str, dict[int, bool]] = {}
        with storage_errors(self._path):
            query = (
                "SELECT attention.* FROM attention JOIN participant ON participant.id = attention.participant"
                " WHERE study = ?"
            )
            for participant, number, passed in self._file.execute(query, (study,)):
                found.setdefault(participant, {})[number] = bool(passed)
        return found

    def open_session(self, participant: Participant) -> str:
        """Creates a session and returns its cookie."""
        cookie = secrets.token_urlsafe(32)
        self._quickly("INSERT INTO session VALUES (?, ?)", (cookie_hash(cookie), participant.id))
        return cookie

    def find(self, cookie: str) -> tuple[str, str] | None:
        """The role and the participant behind a cookie."""
        with storage_errors(self._path):
            query = "SELECT participant FROM session WHERE cookie = ?"
            row = self._file.execute(query, (cookie_hash(cookie),)).fetchone()
        return (PARTICIPANT, row[0]) if row else None

    def _quickly(self, statement: str, values: tuple[object, ...]) -> None:
        """A change that survives a kill of the process, perhaps not a power cut, so that nobody waits for the disk."""
        with storage_errors(self._path):
            self._file.execute("PRAGMA synchronous = NORMAL")
            try:
                self._file.execute(statement, values)
            finally:
                self._file.execute("PRAGMA synchronous = FULL")

    def _one(self, where: str, values: tuple[str, ...]) -> Participant | None:
        with storage_errors(self._path):
            row = self._file.execute(f"SELECT body FROM participant WHERE {where}", values).fetchone()  # noqa: S608
        return msgspec.json.decode(row[0], type=Participant) if row else None
