"""Studies and their participants, in a file next to the store: sessions, times, attention checks, exclusions."""

import hashlib
import secrets
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Literal

import msgspec
from msgspec import Struct, field, structs

from sociometer.core.config import RunConfig
from sociometer.core.errors import StoreError, UsageError, unknown
from sociometer.store.sqlite import RunLock, create_private, remove_traces, storage_errors

Shows = Literal["nothing", "score", "place"]
Order = Literal["fixed", "random"]
SUBJECT = "human"
"""The subject of every run of a study; the participant is the revision."""


class Study(Struct, frozen=True):
    """A study: one instrument, and everything that its owner chose."""

    name: str
    config: RunConfig
    """What every participant's run is made of."""
    language: str = "en"
    sample: int = field(default=0, name="form")
    """The number of items of each task for a participant, drawn at random; 0 means all. Stored as `form`."""
    consent: str = ""
    questions: tuple[str, ...] = ()
    """What participants are asked about themselves; nothing of it is required."""
    shows: Shows = "nothing"
    quota: int = 1_000
    secret: str = ""
    """The part of the link that lets people in."""
    withdrawn: int = 0
    """How many participants withdrew; nothing else is stored about them."""
    order: Order = "fixed"
    """Whether the items come in the order of the files, or in a random order for each participant."""
    attention: int = 0
    """The number of attention checks for each participant."""
    most_failed: int = 0
    """How many of them may fail before the participant is excluded."""
    fastest_seconds: float = 0.0
    """Participants with a shorter median response time are excluded; 0 means nobody."""
    title: str = ""
    """What participants see instead of the name."""
    contact: str = ""
    """Whom participants can ask, such as a name and a mail address."""
    debriefing: str = ""
    """What participants read at the end."""
    completion: str = ""
    """A code that participants take back to a panel, or the address (https://…) that they return to."""


class Participant(Struct, frozen=True):
    """A person who agreed to take part."""

    id: str
    study: str
    joined: float
    about: dict[str, str] = {}
    run: str = ""
    started: bool = False
    """Whether the participant has seen a question, and so counts for the quota."""


class Timing(Struct, frozen=True):
    """How long a participant looked at one question, in seconds."""

    participant: str
    question: int
    seconds: float
    pattern: str = ""
    """How the form was filled in, where the same answer everywhere would show that nobody read the questions."""


def run_name(study: str, participant: str) -> str:
    """The name of a participant's run, by which `seceu norms --study` and other commands find it."""
    return f"{study}.{participant}"


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


def _hashed(secret: str) -> str:
    """The hash of a code or a cookie; it cannot be used to sign in."""
    return hashlib.blake2b(secret.encode(), digest_size=16, person=b"cookie").hexdigest()


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


def _code_of(study: Study, ticket: str) -> str:
    digest = hashlib.blake2b(ticket.encode(), key=study.secret.encode()[:64]).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:_CODE_LETTERS])


class StudyBook:
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

    def change(self, study: Study) -> None:
        """Replaces what the owner chose for a study; its name stays."""
        with storage_errors(self._path):
            self._file.execute("UPDATE study SET body = ? WHERE name = ?", (msgspec.json.encode(study), study.name))

    def join(self, study: Study, about: dict[str, str], ticket: str = "") -> tuple[Participant, str]:
        """A participant with their code. The same ticket, from a form that was sent twice, gives the same participant.

        The code follows from the ticket and is stored nowhere.
        """
        code = _code_of(study, ticket or secrets.token_urlsafe(32))
        number = "".join(secrets.choice(_ALPHABET) for _ in range(_ID_LETTERS))
        made = Participant(f"p-{number}", study.name, time.time(), about)
        with storage_errors(self._path):
            self._file.execute(
                "INSERT INTO participant VALUES (?, ?, ?, ?) ON CONFLICT (code) DO NOTHING",
                (made.id, study.name, _hashed(code), msgspec.json.encode(made)),
            )
        return self.with_code(study.name, code) or made, code

    def joined(self, study: Study, ticket: str) -> bool:
        """Whether somebody has joined with this ticket."""
        return self.with_code(study.name, _code_of(study, ticket)) is not None

    def start(self, participant: Participant) -> bool:
        """Counts a participant who is about to see the first question; False if the study has enough of them."""
        with storage_errors(self._path):
            self._file.execute("BEGIN IMMEDIATE")
            try:
                current, study = self.participant(participant.id), self.study(participant.study)
                if current is None or current.started:
                    return current is not None
                if self.started(study.name) >= study.quota:
                    return False
                body = msgspec.json.encode(structs.replace(current, started=True))
                self._file.execute("UPDATE participant SET body = ? WHERE id = ?", (body, current.id))
                return True
            finally:
                self._file.execute("COMMIT")

    def started(self, study: str) -> int:
        """How many participants have seen a question."""
        query = "SELECT count(*) FROM participant WHERE study = ? AND json_extract(body, '$.started')"
        with storage_errors(self._path):
            return int(self._file.execute(query, (study,)).fetchone()[0])

    def with_code(self, study: str, code: str) -> Participant | None:
        """The participant with that code."""
        return self._one("code = ? AND study = ?", (_hashed(plain_code(code)), study))

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
            remove_traces(self._file, self._path)

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
        self._quickly("INSERT INTO session VALUES (?, ?)", (_hashed(cookie), participant.id))
        return cookie

    def session(self, cookie: str) -> str | None:
        """The participant behind a cookie."""
        with storage_errors(self._path):
            query = "SELECT participant FROM session WHERE cookie = ?"
            row = self._file.execute(query, (_hashed(cookie),)).fetchone()
        return str(row[0]) if row else None

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


def check_places(study: Study, lots: Random, planned: int) -> list[int]:
    """How many items are done before each attention check of a participant; `lots` is the participant's own."""
    return sorted(lots.randrange(max(1, planned)) for _ in range(study.attention))


def check_lots(study: Study, participant: str) -> Random:
    """The random numbers of a participant's attention checks, always the same."""
    return Random(f"{study.name}/{study.secret}/{participant}/attention")


SAME_ANSWER = 0.95
FEWEST_PATTERNS = 10
MOST_MISSING = 0.1


class Facts(Struct, frozen=True):
    """What the rules look at."""

    done: int
    planned: int
    failed_checks: int = 0
    patterns: tuple[str, ...] = ()
    """How each form was filled in: which position was chosen, how points were shared."""
    seconds: tuple[float, ...] = ()


class Rule(Struct, frozen=True):
    """A rule of exclusion: a text with placeholders, and their values."""

    text: str
    values: dict[str, str | int]

    def __str__(self) -> str:
        return self.text.format(**self.values)


def exclusion_rules(study: Study) -> list[Rule]:
    """The rules of a study."""
    percent, same = round(100 * MOST_MISSING), round(100 * SAME_ANSWER)
    rules = [
        Rule("more than {percent} % of the items without an answer", {"percent": percent}),
        Rule(
            "the same answer in at least {percent} % of {count} or more questions",
            {"percent": same, "count": FEWEST_PATTERNS},
        ),
    ]
    if study.attention:
        allowed = {"allowed": study.most_failed, "count": study.attention}
        rules.append(Rule("more than {allowed} of {count} attention checks failed or skipped", {**allowed}))
    if study.fastest_seconds:
        rules.append(Rule("a median response time under {seconds} seconds", {"seconds": f"{study.fastest_seconds:g}"}))
    return rules


def reasons(study: Study, facts: Facts, *, count_missing: bool = True) -> list[str]:
    """Why a participant's answers do not count; empty if they count."""
    found = []
    missing = facts.planned - facts.done
    if count_missing and (not facts.planned or missing > MOST_MISSING * facts.planned):
        found.append(f"answered {facts.done} of {facts.planned} items")
    known = [pattern for pattern in facts.patterns if pattern]
    same = max(Counter(known).values(), default=0)
    if len(known) >= FEWEST_PATTERNS and same >= SAME_ANSWER * len(known):
        found.append(f"the same answer to {same} of {len(known)} questions")
    if study.attention and facts.failed_checks > study.most_failed:
        found.append(f"failed or skipped {facts.failed_checks} of {study.attention} attention checks")
    if study.fastest_seconds and facts.seconds and (median := _median(facts.seconds)) < study.fastest_seconds:
        found.append(f"a median response time of {median:.1f} seconds")
    return found


def _median(values: tuple[float, ...]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
