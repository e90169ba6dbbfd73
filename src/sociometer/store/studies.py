"""Studies and their participants, in a file next to the store: sessions, times, attention checks, exclusions."""

import hashlib
import re
import secrets
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from itertools import pairwise
from math import comb
from pathlib import Path
from random import Random
from statistics import median
from typing import Literal, get_args

import msgspec
from msgspec import Struct, field, structs

from sociometer.core.config import RunConfig, model_label
from sociometer.core.conversation import SUBJECT, Identity
from sociometer.core.errors import NotFound, SociometerError, UsageError, hint, unknown
from sociometer.store.book import ALPHABET, Book, new_letters
from sociometer.store.person_questions import PersonQuestion, person_question
from sociometer.store.place import StorePlace
from sociometer.store.sqlite import SYNCHRONOUS, RunLock, open_file

Shows = Literal["nothing", "score", "place"]
Order = Literal["fixed", "random", "apart"]
Outcome = Literal["finished", "screened-out", "failed-checks", "no-consent"]
_OUTCOME = re.compile(rf"\s+(?=(?:{'|'.join(get_args(Outcome))})=)")
PERSON = "human"
"""Who takes part: the subject, with the participant as the revision, except in imported talks."""
PERSON_ROLE = "participant"
"""The role of people in imported talks with the subject."""
SLIP, IMPROBABLE = 0.02, 0.025
"""How often somebody who reads fails an attention check, and the share of such people who may be flagged for that."""
_CODE_LETTERS = 12
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9]+")


class Study(Struct, frozen=True):
    """A study: one or several instruments, and everything that its owner chose."""

    name: str
    config: RunConfig
    """What every participant's run is made of."""
    further: tuple[RunConfig, ...] = ()
    """Those of the instruments that follow in the same sitting, each with a run of its own."""
    language: str = "en"
    sample: int = field(default=0, name="form")
    """The number of items of each task for a participant, drawn at random; 0 means all. Stored as `form`."""
    consent: str = ""
    asks: tuple[str, ...] = field(default=(), name="questions")
    """What participants are asked about themselves, as the owner wrote it. Stored as `questions`."""
    shows: Shows = "nothing"
    quota: int = 1_000
    secret: str = ""
    """The part of the link that lets people in."""
    withdrawn: int = 0
    """How many participants withdrew, as studies of older versions store it; now the book counts them (`Gone`)."""
    order: Order = "fixed"
    """Whether the items come in the order of the files, in that order with twins far apart, or at random."""
    attention: int = 0
    """The number of attention checks for each participant."""
    spaces_checks: bool = False
    """Whether each check has a part of the items to itself; in studies of older versions two may come together."""
    most_failed: int | None = None
    """How many of them may fail before the participant is flagged; None: as many as somebody who reads may fail."""
    fastest_seconds: float = 0.0
    """Participants with a shorter median response time are flagged; 0 means nobody."""
    excludes_flagged: bool = True
    """Whether results leave out who is flagged; studies of older versions do."""
    title: str = ""
    """What participants see instead of the name."""
    contact: str = ""
    """Whom participants can ask, such as a name and a mail address."""
    debriefing: str = ""
    """What participants read at the end."""
    items: int = 0
    """How many items a participant has; 0 in studies of older versions."""
    completion: str = ""
    """A code that participants take back to a panel, or the address (https://…) that they return to; there may be
    others for people who do not finish, such as ` screened-out=CODE`."""
    readers: tuple[str, ...] = ()
    """The providers that people have agreed may read their words, besides this machine."""
    imported: str = ""
    """The digest of the file that the study comes from; empty if people took it here."""

    @property
    def talks(self) -> bool:
        """Whether people talked with models, which are then what is measured: such talks are imported."""
        return self.config.subject != PERSON

    @property
    def parts(self) -> dict[str, RunConfig]:
        """The instruments or models, each under the name by which results know it: `spring`, or `spring.sesi`."""
        every = (self.config, *self.further)
        return {f"{self.name}.{_part_name(one)}" if self.further else self.name: one for one in every}

    @property
    def allowed_failures(self) -> int:
        """How many attention checks may fail: more are improbable for somebody who reads and sometimes slips."""
        if self.most_failed is not None:
            return self.most_failed
        slips = [comb(self.attention, n) * SLIP**n * (1 - SLIP) ** (self.attention - n) for n in range(self.attention)]
        return next((most for most in range(self.attention) if 1 - sum(slips[: most + 1]) <= IMPROBABLE), 0)

    @property
    def asked(self) -> tuple[PersonQuestion, ...]:
        """The questions about the person."""
        return tuple(map(person_question, self.asks))

    @property
    def questions(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(question.name for question in self.asked)

    def completion_of(self, outcome: Outcome) -> str:
        """The code or address for this end; for failed checks that of the others, if there is none of its own."""
        found = dict[str, str]()
        for part in _OUTCOME.split(self.completion):
            name, equals, code = part.partition("=")
            found.update({name: code} if equals and name in get_args(Outcome) else {"finished": part})
        return found.get(outcome, found.get("finished", "") if outcome == "failed-checks" else "")


def _part_name(config: RunConfig) -> str:
    return config.instrument if config.subject == PERSON else _NOT_IN_A_NAME.sub("-", model_label(config.subject))


class Participant(Struct, frozen=True):
    """A person who agreed to take part."""

    id: str
    study: str
    joined: float
    about: dict[str, str] = {}
    run: str = ""
    further: tuple[str, ...] = ()
    """The runs of the instruments after the first."""
    started: bool = False
    """Whether the participant has seen a question, and so counts for the quota."""
    finished: bool = False
    """Whether everything was answered; only of somebody whose withdrawal is in progress."""
    answered: bool = False
    """Whether anybody has answered a question; studies of older versions have only the times of answers."""
    screened_out: bool = False
    asked_after: bool = False
    """Whether the questions after the items were answered."""
    places: tuple[int, ...] = ()
    """The parts of the study that they take, in their order; empty means all, in the order of the study."""
    excluded: str = ""
    """Why the owner of the study left them out of results; empty if the owner did not."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs of the instruments that they have begun, in their order."""
        return (self.run, *self.further) if self.run else ()

    def takes(self, study: Study) -> tuple[int, ...]:
        """The numbers of the parts that they take, in their order."""
        return self.places or tuple(range(len(study.parts)))

    def run_of(self, study: Study, place: int) -> str:
        """Their run of a part of the study; empty if they have not begun it."""
        return dict(zip(self.takes(study), self.runs, strict=False)).get(place, "")


class Gone(Struct, frozen=True):
    """How many participants withdrew, and how far they had come; nothing else is stored about them."""

    withdrew: int = 0
    started: int = 0
    finished: int = 0


class PanelIdUsed(SociometerError):
    """Somebody has answered under this panel id: only their session or their code opens the participation."""


class Timing(Struct, frozen=True):
    """How long one question took a participant; `seconds` is the server's time, from the question to the answer."""

    participant: str
    question: int
    seconds: float
    pattern: str = ""
    """How the form was filled in, where the same answer everywhere would show that nobody read the questions."""
    task: str = ""
    item: str = ""
    """What was asked; empty in studies of older versions."""
    page_seconds: float | None = None
    """How long the question was on the screen, measured by the browser; None if it ran no script."""

    @property
    def spent(self) -> float:
        """The browser's time, without network and server; the server's if there is no other."""
        return self.seconds if self.page_seconds is None else self.page_seconds


def panel_ids(study: Study, about: Mapping[str, str]) -> dict[str, str]:
    """The ids of a panel among answers about a person, by question."""
    names = [question.name for question in study.asked if question.kind == "panel"]
    return {name: about.get(name, "") for name in names}


def role_of_people(config: RunConfig) -> str:
    """The role that participants play in a run."""
    return SUBJECT if config.subject == PERSON else PERSON_ROLE


def run_name(part: str, participant: str) -> str:
    """The name of a participant's run, by which commands find it."""
    return f"{part}.{participant}"


def identity_of(participant: str) -> Identity:
    """The identity of a participant in the journal."""
    return Identity(PERSON, PERSON, revision=participant)


_RUNS = "json_insert(coalesce(json_extract(body, '$.further'), '[]'), '$[#]', json_extract(body, '$.run'))"
_TAKING = "id NOT IN (SELECT who FROM withdrawal)"


def book_path(store: Path) -> Path:
    """The path of the study book of a store."""
    return store.with_name(store.name + ".studies")


def study_lock(store: Path, name: str) -> RunLock:
    """The lock that is held while a study is open."""
    in_use = f"study {name} is open in process {{holder}}; close it there first, with Ctrl-C."
    return RunLock(store, f"study-{name}", in_use)


def shown_code(code: str) -> str:
    """A code in groups of four."""
    return "-".join(code[start : start + 4] for start in range(0, len(code), 4))


def plain_code(given: str) -> str:
    """A code without spaces, hyphens and capitals."""
    return "".join(character for character in given.lower() if character.isalnum())


def _code_of(study: Study, ticket: str) -> str:
    digest = hashlib.blake2b(ticket.encode(), key=study.secret.encode()[:64]).digest()
    return "".join(ALPHABET[byte % len(ALPHABET)] for byte in digest[:_CODE_LETTERS])


class StudyBook(Book):
    """The studies of a store."""

    tables = "studies.sql"

    def hashed(self, secret: str) -> str:
        """The hash of a code or a cookie; it cannot be used to sign in."""
        return hashlib.blake2b(secret.encode(), digest_size=16, person=b"cookie").hexdigest()

    def create(self, study: Study) -> None:
        """Stores a new study."""
        if study.name in self.names():
            raise UsageError(f"a study '{study.name}' already exists; choose another --name.")
        self._rows("INSERT INTO study VALUES (?, ?, ?)", study.name, msgspec.json.encode(study), time.time())

    def names(self) -> list[str]:
        """The names of all studies, oldest first."""
        return [str(name) for (name,) in self._rows("SELECT name FROM study ORDER BY created")]

    def study(self, name: str) -> Study:
        """The study of that name."""
        found = self._one(Study, "SELECT body FROM study WHERE name = ?", name)
        if found is None:
            if owner := self.participant(name.rpartition(".")[2]):
                show = hint("study show", owner.study)
                raise NotFound(f"'{name}' is a participant of {owner.study}; '{show}' has their scores.")
            make = hint("study create INSTRUMENT --name NAME")
            raise unknown("study", name, self.names(), f"Make one with '{make}'.")
        return structs.replace(found, withdrawn=self.gone(name).withdrew)

    def gone(self, study: str) -> Gone:
        """Those who have withdrawn."""
        rows = self._rows("SELECT withdrew, started, finished FROM gone WHERE study = ?", study)
        return Gone(*rows[0]) if rows else Gone()

    def change(self, study: Study) -> None:
        """Replaces what the owner chose for a study; its name stays."""
        self._rows("UPDATE study SET body = ? WHERE name = ?", msgspec.json.encode(study), study.name)

    def join(
        self, study: Study, about: dict[str, str], ticket: str = "", places: tuple[int, ...] = ()
    ) -> tuple[Participant, str]:
        """A participant with their code. The same ticket, from a form that was sent twice, gives the same participant.

        A panel id with which somebody joined, but nobody answered, is theirs who join last: the earlier code, sessions
        and answers about the person are gone. PanelIdUsed if somebody has answered. The code follows from the ticket
        and is stored nowhere.
        """
        code = _code_of(study, ticket or secrets.token_urlsafe(32))
        screened = not all(one.admits(about.get(one.name, "")) for one in study.asked)
        with self.changing():
            same_ticket = self.with_code(study.name, code)
            if same_ticket is not None:
                return same_ticket, code
            earlier = self.of_panel(study, about)
            if earlier is not None:
                self._refuse_used(earlier)
                again = structs.replace(earlier, joined=time.time(), about=about, screened_out=screened)
                self._rows("UPDATE participant SET code = ? WHERE id = ?", self.hashed(code), earlier.id)
                self._rows("DELETE FROM session WHERE participant = ?", earlier.id)
                self._change(again)
                return again, code
            who = f"p-{new_letters(6)}"
            made = Participant(who, study.name, time.time(), about, screened_out=screened, places=places)
            row = (who, study.name, self.hashed(code), msgspec.json.encode(made))
            self._rows("INSERT INTO participant VALUES (?, ?, ?, ?)", *row)
        return made, code

    def _refuse_used(self, participant: Participant) -> None:
        """Raises PanelIdUsed for a participation that nobody may take over."""
        has_answers = participant.answered or bool(self.tasks_begun(participant.id))
        if has_answers or participant.screened_out or self.withdrawing(participant.id):
            raise PanelIdUsed(f"somebody has answered as {participant.id}.")

    def begin_answering(self, participant: str) -> None:
        """Stores that somebody has answered: from now on the panel id opens nothing."""
        with self._quickly(), self.changing():
            current = self.participant(participant)
            if current is not None and not current.answered:
                self._change(structs.replace(current, answered=True))

    def of_panel(self, study: Study, about: Mapping[str, str]) -> Participant | None:
        """Who has joined with the same panel id; None without one."""
        ids = panel_ids(study, about)
        if not ids:
            return None
        people = self._all(Participant, "SELECT body FROM participant WHERE study = ?", study.name)
        return next((person for person in people if panel_ids(study, person.about) == ids), None)

    def add_about(self, participant: str, about: Mapping[str, str]) -> None:
        """Stores the answers to the questions after the items."""
        with self.changing():
            if (current := self.participant(participant)) is not None and not current.asked_after:
                self._change(structs.replace(current, about={**current.about, **about}, asked_after=True))

    def joined(self, study: Study, ticket: str) -> Participant | None:
        """Who has joined with this ticket."""
        return self.with_code(study.name, _code_of(study, ticket))

    def has_place(self, study: Study, about: Mapping[str, str]) -> bool:
        """Whether somebody can still join; who has started under the same panel id has a place already."""
        earlier = self.of_panel(study, about)
        has_started = earlier is not None and earlier.started
        return has_started or self.started(study.name) < self.study(study.name).quota

    def start(self, participant: Participant) -> bool:
        """Counts a participant who is about to see the first question; False if the study has enough of them."""
        with self._quickly(), self.changing():
            current, study = self.participant(participant.id), self.study(participant.study)
            if current is None or current.started:
                return current is not None
            if self.started(study.name) >= study.quota:
                return False
            self._change(structs.replace(current, started=True))
            return True

    def started(self, study: str) -> int:
        """How many participants have seen a question, those who withdrew since included."""
        present = "SELECT count(*) FROM participant WHERE study = ? AND json_extract(body, '$.started')"
        gone = "SELECT started FROM gone WHERE study = ?"
        # In one statement: somebody whose withdrawal ends meanwhile counts once.
        return int(self._rows(f"SELECT ({present}) + coalesce(({gone}), 0)", study, study)[0][0])

    def with_code(self, study: str, code: str) -> Participant | None:
        """The participant with that code."""
        query = "SELECT body FROM participant WHERE code = ? AND study = ?"
        return self._one(Participant, query, self.hashed(plain_code(code)), study)

    def participant(self, name: str) -> Participant | None:
        """The participant of that id."""
        return self._one(Participant, "SELECT body FROM participant WHERE id = ?", name)

    def participants(self, study: str) -> list[Participant]:
        """Everyone who takes part, in the order they joined; nobody who has asked to withdraw."""
        query = f"SELECT body FROM participant WHERE study = ? AND {_TAKING}"  # noqa: S608
        return sorted(self._all(Participant, query, study), key=lambda one: one.joined)

    def runs(self) -> list[str]:
        """The runs of all participants, also of studies that cannot be read."""
        query = f"SELECT {_RUNS} FROM participant WHERE json_valid(CAST(body AS TEXT))"  # noqa: S608
        return [run for (runs,) in self._rows(query) for run in msgspec.json.decode(runs) if run]

    def set_run(self, participant: Participant, run: str) -> None:
        """Stores which run has a participant's answers to the next instrument."""
        first, *further = (*participant.runs, run)
        with self._quickly(), self.changing():
            current = self.participant(participant.id) or participant
            self._change(structs.replace(current, run=first, further=tuple(further)))

    def exclude(self, participant: str, reason: str) -> None:
        """Stores why the owner leaves a participant out of results; an empty reason counts them again."""
        with self.changing():
            if (current := self.participant(participant)) is not None:
                self._change(structs.replace(current, excluded=reason))

    def _change(self, participant: Participant) -> None:
        body = msgspec.json.encode(participant)
        self._rows("UPDATE participant SET body = ? WHERE id = ?", body, participant.id)

    def begin_withdrawal(self, participant: str, *, finished: bool = False) -> None:
        """Stores that a participant has asked to withdraw: from now on the answers count nowhere.

        Whether they had `finished` is stored too, because their runs may be deleted before they are.
        """
        with self.changing():
            self._rows("INSERT OR IGNORE INTO withdrawal SELECT id FROM participant WHERE id = ?", participant)
            current = self.participant(participant)
            if finished and current is not None:
                self._change(structs.replace(current, finished=True))

    def withdrawing(self, participant: str = "") -> list[Participant]:
        """Who has asked to withdraw and is not erased yet: all, or one participant if it is so."""
        found = self._all(Participant, f"SELECT body FROM participant WHERE NOT {_TAKING}")  # noqa: S608
        return [one for one in found if participant in ("", one.id)]

    def end_withdrawal(self, participant: Participant, *, sweep: bool = True) -> None:
        """Deletes a participant with sessions and response times; only that somebody was there is still counted."""
        with self.changing():
            current = self.participant(participant.id)
            if current is not None:
                self._rows("INSERT OR IGNORE INTO gone (study) VALUES (?)", current.study)
                count = "UPDATE gone SET withdrew = withdrew + 1, started = started + ?, finished = finished + ?"
                self._rows(f"{count} WHERE study = ?", current.started, current.finished, current.study)
            self._rows("DELETE FROM participant WHERE id = ?", participant.id)
            self._rows("INSERT OR IGNORE INTO withdrawal VALUES ('')")
            self._rows("DELETE FROM withdrawal WHERE who = ?", participant.id)
        if sweep:
            self.sweep()

    def delete(self, study: str) -> None:
        """Deletes a study that has no participants."""
        self._rows("DELETE FROM study WHERE name = ?", study)
        self.sweep()

    def sweep(self) -> None:
        """Removes the traces of those who are erased."""
        self._remove_traces()
        self._rows("DELETE FROM withdrawal WHERE who = ''")

    def add_timing(self, timing: Timing) -> None:
        """Stores how long a question took; the first answer to it counts."""
        with self._quickly():
            self._rows("INSERT OR IGNORE INTO timing VALUES (?, ?, ?, ?, ?, ?, ?)", *structs.astuple(timing))

    def timings(self, study: str) -> list[Timing]:
        """The response times of a study."""
        query = "SELECT timing.* FROM timing JOIN participant ON id = timing.participant WHERE study = ? ORDER BY 1, 2"
        return [Timing(*row) for row in self._rows(query, study)]

    def tasks_begun(self, participant: str) -> set[str]:
        """The tasks of which a participant has answered a question."""
        return {str(task) for (task,) in self._rows("SELECT task FROM timing WHERE participant = ?", participant)}

    def add_check(self, participant: str, number: int, passed: bool) -> None:
        """Stores the answer to an attention check; the first one counts."""
        with self._quickly():
            self._rows("INSERT OR IGNORE INTO attention VALUES (?, ?, ?)", participant, number, int(passed))

    def checks(self, participant: str) -> dict[int, bool]:
        """The attention checks that a participant has answered, and whether each was right."""
        rows = self._rows("SELECT number, passed FROM attention WHERE participant = ?", participant)
        return {number: bool(passed) for number, passed in rows}

    def passed_checks(self, study: str) -> dict[str, dict[int, bool]]:
        """The attention checks that the participants of a study have answered."""
        return {one.id: self.checks(one.id) for one in self.participants(study)}

    def open_session(self, participant: Participant) -> str:
        """Creates a session and returns its cookie."""
        cookie = secrets.token_urlsafe(32)
        with self._quickly():
            self._rows("INSERT INTO session VALUES (?, ?)", self.hashed(cookie), participant.id)
        return cookie

    def close_session(self, cookie: str) -> None:
        """Ends a session."""
        with self._quickly():
            self._rows("DELETE FROM session WHERE cookie = ?", self.hashed(cookie))

    def session(self, cookie: str) -> str | None:
        """The participant behind a cookie."""
        rows = self._rows("SELECT participant FROM session WHERE cookie = ?", self.hashed(cookie))
        return str(rows[0][0]) if rows else None

    @contextmanager
    def _quickly(self) -> Iterator[None]:
        """Changes that survive a kill of the process, perhaps not a power cut, so that nobody waits for the disk."""
        with self._lock:
            self._rows("PRAGMA synchronous = NORMAL")
            try:
                yield
            finally:
                self._rows(f"PRAGMA synchronous = {SYNCHRONOUS}")


def study_books(store: StorePlace) -> Iterator[StudyBook]:
    """The study book of a store, if it has one."""
    if isinstance(store, Path) and (path := book_path(store)).exists():
        with closing(StudyBook(path)) as book:
            yield book


def find_study(store: StorePlace, name: str) -> tuple[Study, list[Participant]]:
    """The study with this name, or with a part of this name, and its participants; NotFound if there is none."""
    for book in study_books(store):
        names = [] if book.participant(name.rpartition(".")[2]) else book.names()
        study = book.study(next((one for one in names if name.startswith(f"{one}.")), name))
        if name not in (study.name, *study.parts):
            raise NotFound(f"study {study.name} has no part '{name}'; give: {' or '.join(study.parts)}.")
        return study, book.participants(study.name)
    raise NotFound(f"unknown study '{name}'. Make one with '{hint('study create INSTRUMENT --name NAME')}'.")


def unfinished_withdrawals(store: StorePlace) -> dict[str, list[str]]:
    """Who has asked to withdraw, each with their runs, which count nowhere; read without opening the book."""
    if not isinstance(store, Path) or not (path := book_path(store)).exists():
        return {}
    state: tuple[int, ...] = (time.time_ns(),)
    with suppress(FileNotFoundError):  # another process has just closed the book
        files = [one.stat() for one in (path, path.with_name(path.name + "-wal")) if one.exists()]
        state = tuple(part for one in files for part in (one.st_ino, one.st_size, one.st_mtime_ns))
    return _unfinished(path, state)


@lru_cache(maxsize=16)
def _unfinished(path: Path, state: tuple[int, ...]) -> dict[str, list[str]]:
    """The same, read once for each state of the book's files: every search among runs asks for it."""
    query = f"SELECT who, {_RUNS} FROM withdrawal LEFT JOIN participant ON id = who"  # noqa: S608
    # A book of an older version has no such table; one that is damaged must not hide the runs of models.
    with suppress(sqlite3.Error), closing(open_file(path, writable=False)) as book:
        return {name: [run for run in msgspec.json.decode(runs or "[]") if run] for name, runs in book.execute(query)}
    return {}


def check_places(study: Study, lots: Random, planned: int) -> list[int]:
    """How many items are done before each attention check of a participant, at least one; `lots` is their own."""
    if not (study.spaces_checks and study.attention):
        return sorted(max(1, lots.randrange(max(1, planned))) for _ in range(study.attention))
    # Places 1 to planned − 1 in as many equal parts as there are checks, and a place in each.
    ends = [1 + part * max(0, planned - 1) // study.attention for part in range(study.attention + 1)]
    return [lots.randrange(low, max(low + 1, high)) for low, high in pairwise(ends)]


def check_lots(study: Study, participant: str) -> Random:
    """The random numbers of a participant's attention checks, always the same."""
    return Random(f"{study.name}/{study.secret}/{participant}/attention")


FASTEST_SECONDS = 2.0
"""Nobody reads and answers a question in less (Huang et al., 2012, doi 10.1007/s10869-011-9231-8)."""
SAME_ANSWER = 0.95
FEWEST_PATTERNS = 10
MOST_MISSING = 0.1
BY_HAND = "by hand: {reason}"
NOT_BEGUN = "did not begin"


class Facts(Struct, frozen=True):
    """What the rules look at."""

    done: int
    planned: int
    """0 if the participant has not begun."""
    failed_checks: int = 0
    patterns: dict[str, list[str]] = {}
    """By task, how each form was filled in: which position was chosen, how points were shared."""
    seconds: tuple[float, ...] = ()
    status: str = ""


class Rule(Struct, frozen=True):
    """A rule that flags or excludes, or why it does so with somebody: a text with placeholders, and their values."""

    text: str
    values: dict[str, str | int]

    def __str__(self) -> str:
        return self.text.format(**self.values)


def missing_rule() -> Rule:
    """The rule that excludes people in every study."""
    return Rule("more than {percent} % of the items without an answer", {"percent": round(100 * MOST_MISSING)})


def flag_rules(study: Study) -> list[Rule]:
    """The rules that flag people in a study."""
    same = {"percent": round(100 * SAME_ANSWER), "count": FEWEST_PATTERNS}
    rules = [Rule("the same answer in at least {percent} % of {count} or more questions of a task", {**same})]
    if study.attention > study.allowed_failures:
        many = "at least {least} of {count} attention checks failed or skipped"
        counts = {"least": study.allowed_failures + 1, "count": study.attention}
        rules.append(Rule(many if study.attention > 1 else "a failed or skipped attention check", {**counts}))
    if study.fastest_seconds:
        rules.append(Rule("a median response time under {seconds} seconds", {"seconds": f"{study.fastest_seconds:g}"}))
    return rules


def flags(study: Study, facts: Facts) -> dict[str, Rule]:
    """Why a participant may not have read the questions, by kind: `line`, `checks`, `speed`."""
    found, lines = dict[str, Rule](), dict[str, tuple[int, int]]()
    for task, patterns in facts.patterns.items():
        known = list(filter(None, patterns))
        same = max(Counter(known).values(), default=0)
        if len(known) >= FEWEST_PATTERNS and same >= SAME_ANSWER * len(known):
            lines[task] = same, len(known)
    if lines:
        same, count = map(sum, zip(*lines.values(), strict=True))
        where = " (tasks: {tasks})" if len(facts.patterns) > 1 else ""
        values: dict[str, str | int] = {"same": same, "count": count, "tasks": ", ".join(lines)}
        found["line"] = Rule("{same} of {count} answers the same" + where, values)
    if study.attention and facts.failed_checks > study.allowed_failures:
        counts = {"failed": facts.failed_checks, "count": study.attention}
        found["checks"] = Rule("{failed} of {count} checks failed", {**counts})
    if study.fastest_seconds and facts.seconds and (middle := median(facts.seconds)) < study.fastest_seconds:
        found["speed"] = Rule("median time {seconds} s", {"seconds": f"{middle:.1f}"})
    return found


class Decision(Struct, frozen=True):
    """Whether results count a participant, and why they may not have read the questions, by kind (`flags`).

    Nobody is `excluded` who has not begun or is still answering: they do not count yet.
    """

    counts: bool
    excluded: tuple[Rule, ...] = ()
    flags: dict[str, Rule] = {}

    @property
    def kind(self) -> str:
        """Why somebody is excluded, in the words by which results count them; empty if nobody is."""
        for first in self.excluded[:1]:
            kind = "flagged" if first in self.flags.values() else "with items missing"
            return str(first) if first.text == BY_HAND else kind
        return ""


def decide(study: Study, facts: Facts, by_hand: str = "", *, count_missing: bool = True) -> Decision:
    """Who counts and why not: the one rule of every result; `by_hand` is the owner's reason to leave somebody out."""
    flagged = flags(study, facts)
    found = [*flagged.values()] if study.excludes_flagged else []
    if count_missing and facts.planned - facts.done > MOST_MISSING * facts.planned:
        found.insert(0, Rule("answered {done} of {planned} items", {"done": facts.done, "planned": facts.planned}))
    if by_hand:
        found.insert(0, Rule(BY_HAND, {"reason": by_hand}))
    final = facts.planned > 0 and (facts.status != "playing" or bool(by_hand))
    return Decision(facts.planned > 0 and not found, tuple(found) if final else (), flagged)
