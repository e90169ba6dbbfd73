"""`sociometer study`: people take the same tests in the browser; each one's run waits in memory for the next form."""

import asyncio
import contextlib
import math
import re
import secrets
import time
import tomllib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import closing
from copy import copy
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from aiohttp import web
from msgspec import Struct, field, structs

from sociometer.core.card import Card
from sociometer.core.config import RunConfig
from sociometer.core.conversation import (
    Allocation,
    AnswerFormat,
    Choice,
    Event,
    Free,
    Identity,
    Message,
    Noted,
    Reply,
    Request,
    Schema,
    Usage,
    assistant,
)
from sociometer.core.errors import FailureKind, MachineryError, SociometerError, Stopped, UsageError
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Summary
from sociometer.core.player import Player
from sociometer.core.session import DirectReplies, Draw, Session
from sociometer.core.settings import Settings
from sociometer.core.source import Source
from sociometer.core.task import Item, Task
from sociometer.engine.engine import Engine, PlayedRun
from sociometer.engine.plan import Plan
from sociometer.results.groups import participants_table
from sociometer.statistics.formatting import interval_text, number
from sociometer.store.erasing import Erased, erase_person
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.studies import (
    PERSON,
    Participant,
    Study,
    StudyBook,
    Timing,
    book_path,
    check_lots,
    check_places,
    exclusion_rules,
    run_name,
    shown_code,
    study_lock,
)
from sociometer.web.guard import (
    ADDRESS,
    CODES,
    OWNER,
    PARTICIPANT,
    RateLimit,
    address_of,
    check_secret,
    form_of,
    known_visitors,
    landing,
    only,
    set_cookie,
    visitor_of,
)
from sociometer.web.rendering import Words, owner_page, page, see_other, texts, words_for
from sociometer.web.serving import Place, guest_application, serve

_CARD = re.compile(r"\b([SHDC])([2-9TJQKA])\b")
_SUITS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}


_JOINED = re.compile(r"(?<=[a-z])_(?=[a-z])")
_BACKGROUND = re.compile(r"\s*^-----$\s*", re.MULTILINE)
"""The line of a text for people below its background, which need not be read again at every question of an item.

Where a text has two such lines, the background is between them."""


class PeopleTexts(Struct, frozen=True, forbid_unknown_fields=True):
    """How people read an instrument: the names of fields and moves, and whether its texts name cards (“HJ”)."""

    fields: dict[str, str] = {}
    values: dict[str, str] = {}
    cards: bool = False
    words: dict[str, str] = {}
    """Parts of texts that are shown in other words."""
    parts: dict[str, str] = {}
    """By task, the setting that says how many questions an item has at most."""
    again: dict[str, str] = {}
    """By task, what stands above the further questions of an item."""
    ended: dict[str, dict[str, str]] = {}
    """By task and kind of note, what came of an item, with the facts of its last note of this kind."""
    results: dict[str, str] = {}
    """By “task.measure”, what a result is called; others are not shown."""

    def shown(self, text: str) -> str:
        """A text as people write: “♥J”, and no “front_yard”."""
        for ours, theirs in self.words.items():
            text = text.replace(ours, theirs)
        text = _JOINED.sub(" ", text)
        return _CARD.sub(lambda card: _SUITS[card[1]] + card[2].replace("T", "10"), text) if self.cards else text

    def split(self, text: str) -> tuple[str, str, str]:
        """What stands above the background of a text, the background, and the rest."""
        *above, background, rest = ["", *_BACKGROUND.split(self.shown(text))]
        return "".join(above), background, rest

    def what_happened(self, task: str, events: Iterable[Event]) -> str:
        """What came of an item, if these texts have words for it."""
        notes = {event.kind: event.facts for event in events if isinstance(event, Noted)}
        known = [(notes[kind], text) for kind, text in self.ended.get(task, {}).items() if kind in notes]
        return self.shown(
            " ".join(
                text.format(**{name: self.values.get(f"{name}={value}", value) for name, value in facts.items()})
                for facts, text in known
            ).strip()
        )

    def label(self, field: str) -> str:
        """What a field of a form is called."""
        return self.fields.get(field, field.replace("_", " ").capitalize())

    def own(self, said: str) -> str:
        """A person's earlier answer: of a form, a line for each field."""
        try:
            given = msgspec.json.decode(said, type=dict[str, Any])
        except (msgspec.DecodeError, msgspec.ValidationError):
            return said
        return "\n".join(f"{self.label(name)}: {self.values.get(str(value), value)}" for name, value in given.items())


def people_folder(instrument: Instrument) -> str:
    """The folder of the texts for people, which replace prompts of the same name; empty if there is none."""
    folder = instrument.folder / "people"
    return str(folder) if folder.is_dir() else ""


def people_texts(instrument: Instrument, language: str) -> PeopleTexts:
    """The names in the forms of an instrument, in a language or else in English."""
    for tongue in (language, "en"):
        path = instrument.folder / "people" / tongue / "forms.toml"
        if path.is_file():
            return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), PeopleTexts)
    return PeopleTexts()


LONGEST = 20_000


class Field(Struct, frozen=True):
    """One field of a form: a choice among options, the moves of a game, a number, or words."""

    name: str
    label: str
    kind: str
    options: tuple[tuple[str, str], ...] = ()
    """Value and text of each option."""
    low: float | None = None
    high: float | None = None
    step: str = "1"
    hint: str = ""
    unit: str = ""
    """What the reply has after a number, such as “%”."""


class BadAnswer(Exception):
    """A form that makes no answer; the text is a key of `texts/study.*.toml`."""


def fields_of(wanted: AnswerFormat, texts: PeopleTexts | None = None) -> tuple[Field, ...]:
    """The fields for a kind of answer; moves of a game are buttons that send the form, so they come last."""
    texts = texts or PeopleTexts()
    match wanted:
        case Choice(options=options, labels=labels):
            shown = tuple(
                (label, texts.values.get(option, texts.shown(option)))
                for label, option in zip(labels, options, strict=True)
            )
            return (Field("answer", "", "moves" if labels == options else "choice", shown),)
        case Allocation(options=options, total=total):
            return tuple(
                Field(f"points-{place}", option, "number", low=0, high=total, step="0.5")
                for place, option in enumerate(options)
            )
        case Schema(schema=schema):
            *others, last = (_field(name, part, texts) for name, part in schema.get("properties", {}).items())
            return (*others, structs.replace(last, kind="moves") if last.kind == "choice" else last)
        case Free(hint=hint):
            return (Field("answer", "", "words", hint=hint),)


def _field(name: str, part: Mapping[str, Any], texts: PeopleTexts) -> Field:
    label = texts.label(name)
    if "enum" in part:
        shown = tuple((str(one), texts.values.get(str(one), str(one))) for one in part["enum"])
        return Field(f"part-{name}", label, "choice", shown)
    if part.get("type") in ("integer", "number"):
        low, high = part.get("minimum"), part.get("maximum")
        return Field(f"part-{name}", label, "number", (), low, high, "1" if part["type"] == "integer" else "any")
    if name.endswith("_percent"):
        return Field(f"part-{name}", label, "number", low=0, high=100, step="any", unit="%")
    return Field(f"part-{name}", label, "words")


def reply_of(wanted: AnswerFormat, given: Mapping[str, str]) -> str:
    """The reply from a filled-in form; raises BadAnswer if something is missing or out of range."""
    match wanted:
        case Allocation(options=options, total=total):
            points = _points(wanted, given)
            if not math.isclose(sum(points), total, abs_tol=1e-9):
                raise BadAnswer("must sum")
            return "\n".join(f"{option}: {value:g}" for option, value in zip(options, points, strict=True))
        case Schema(schema=schema):
            made: dict[str, Any] = {}
            for name, field in zip(schema.get("properties", {}), fields_of(wanted), strict=True):
                value = _number(given, field) if field.kind == "number" else _text(given, field)
                whole = int(value) if isinstance(value, float) and value.is_integer() else value
                made[name] = f"{whole} {field.unit}" if field.unit else whole
            return msgspec.json.encode(made).decode()
        case _:
            return _text(given, fields_of(wanted)[0])


def pattern_of(wanted: AnswerFormat, given: Mapping[str, str]) -> str:
    """How a form was filled in: the position of the chosen letter, or the points in their order; otherwise empty.

    Options that mean something by themselves, such as the moves of a game, may rightly be the same every time.
    """
    match wanted:
        case Choice(labels=labels, options=options) if labels != options:
            return given.get("answer", "")
        case Allocation():
            return " ".join(f"{points:g}" for points in _points(wanted, given))
        case _:
            return ""


def _text(given: Mapping[str, str], field: Field) -> str:
    said = given.get(field.name, "").replace("\r\n", "\n").strip()
    if not said:
        raise BadAnswer("choose one" if field.options else "write something")
    if field.options and said not in [value for value, _ in field.options]:
        raise BadAnswer("choose one")
    if len(said) > LONGEST:
        raise BadAnswer("too long")
    return said


def _points(wanted: Allocation, given: Mapping[str, str]) -> list[float]:
    """The points for each option; an empty field is a zero."""
    return [_number({field.name: given.get(field.name, "").strip() or "0"}, field) for field in fields_of(wanted)]


def _number(given: Mapping[str, str], field: Field) -> float:
    try:
        value = float(given.get(field.name, "").strip() or "nan")
    except ValueError:
        raise BadAnswer("a number") from None
    outside = (field.low is not None and value < field.low) or (field.high is not None and value > field.high)
    whole = field.step != "1" or value.is_integer() if math.isfinite(value) else False
    if not math.isfinite(value) or outside or not whole:
        raise BadAnswer("a number")
    return value


def identity_of(participant: str) -> Identity:
    """The identity of a participant in the journal."""
    return Identity(PERSON, PERSON, revision=participant)


def withdraw(store: Store, book: StudyBook, participant: Participant) -> Erased:
    """Deletes all data of a participant whose run is not being played."""
    try:
        return erase_person(store, participant.run, identity_of(participant.id)) if participant.run else Erased()
    finally:
        book.withdraw(participant)


class Question(Struct, frozen=True):
    """The current question for a participant; `number` counts the earlier answers."""

    number: int
    messages: tuple[Message, ...]
    answer_format: AnswerFormat
    since: float
    task: str
    turn: int
    """How many questions of the same item were before it."""


class FormPlayer(Player):
    """Plays the subject with the answers of one participant."""

    def __init__(self, participant: str, answered: int) -> None:
        """`answered` is how many of this participant's answers the journal has."""
        self.identity = identity_of(participant)
        self._answered = answered
        self._reply: asyncio.Future[str] | None = None
        self._asked = asyncio.Event()
        self.question: Question | None = None
        self.talk: tuple[Message, ...] = ()
        """What was said until the last answer, for the page that waits for the next message."""
        self.place = self.ended = ("", "")
        """Task and item of this question, and of the item before it."""

    async def answer(self, request: Request) -> Reply:
        loop = asyncio.get_running_loop()
        self._reply = loop.create_future()
        if (place := (request.task, request.item)) != self.place:
            self.place, self.ended = place, self.place
        self.question = Question(
            self._answered, request.messages, request.answer_format, loop.time(), request.task, request.turn
        )
        self._asked.set()
        try:
            said = await self._reply
        finally:
            self.question = None
            self._asked.clear()
        self._answered += 1
        return Reply(said, usage=Usage(0, 0))

    def give(self, number: int, said: str) -> bool:
        """Answers the question with this number; False if it is not the current one (a form that was sent twice)."""
        if self.question is None or self._reply is None or self._reply.done() or self.question.number != number:
            return False
        self._reply.set_result(said)
        self.talk = (*self.question.messages, assistant(said))
        # From here on nothing waits: the next question comes when this answer is on disk.
        self.question = None
        self._asked.clear()
        return True

    async def asked(self) -> None:
        await self._asked.wait()

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        raise MachineryError("a person cannot embed texts", FailureKind.NOT_SUPPORTED)

    async def close(self) -> None:
        """Nothing is open."""


class _Nobody(FormPlayer):
    """Stops at the first question."""

    async def answer(self, request: Request) -> Reply:
        raise Stopped("nobody answers")


async def refuse_unplayable(plan: Plan, first: Mapping[str, Item]) -> None:
    """Raises a UsageError if a task refuses to play its first item, such as for want of a model; nobody is asked."""
    nobody = {role: structs.replace(one, player=_Nobody("nobody", 0)) for role, one in plan.bindings.items()}
    for task in plan.tasks:
        card, item = plan.instrument.card, first[task.name]
        draw = Draw(card.name, card.version, task.name, item.id)
        with contextlib.suppress(Stopped):
            await task.play(item, Session(DirectReplies(), nobody, draw, plan.settings, plan.prompts))


IDLE_SECONDS = 1_800.0
_LOOK_SECONDS = 0.01


class Paused(SociometerError):
    """A run that ended early, by a cap or because another role's model cannot be reached; it can continue later."""


class Changed(SociometerError):
    """A study whose items or prompts are not those that a participant began with."""


class Full(SociometerError):
    """A study that has all the participants it needs; this one has not started."""


class Seat(Struct):
    """One participant's run in progress."""

    run: str
    player: FormPlayer
    playing: "asyncio.Task[PlayedRun]"
    used: float = field(default_factory=time.monotonic)


class Seats:
    """The seats of all participants; one is taken when a participant comes and freed after a long absence."""

    def __init__(self, store: Store, load: Callable[..., Instrument], book: StudyBook) -> None:
        self._store, self._load, self._book = store, load, book
        self._seats: dict[str, Seat] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._last: dict[str, tuple[str, str]] = {}
        """Task and item that a participant finished with."""
        self._item_ids: dict[str, dict[str, tuple[str, ...]]] = {}

    def prepare(self, study: Study) -> None:
        """Makes the items, so that the first participant does not wait for them."""
        self._items(study, Engine(self._store, self._load))

    def count(self, study: Study) -> int:
        """How many items each participant gets."""
        known = self._items(study, Engine(self._store, self._load)).values()
        return sum(min(study.sample or len(ids), len(ids)) for ids in known)

    async def question(self, participant: Participant, study: Study, seconds: float) -> Question | None:
        """A participant's next question; None if there is none within these seconds, or no more at all."""
        if self.finished(participant):
            return None
        seat = await self._seat(participant, study)
        await _either(seat, seconds)
        if seat.playing.done():
            self._seats.pop(participant.id, None)
            self._last[participant.id] = seat.player.place
            ending = seat.playing.result().ending
            if ending.status is not RunStatus.FINISHED:
                raise Paused(ending.reason)
            return None
        # The episode before this question is queued for the store: the progress and the checks count it.
        await asyncio.to_thread(self._store.flush)
        return seat.player.question

    async def give(
        self, participant: Participant, study: Study, number: int, said: str, seconds: float, pattern: str = ""
    ) -> bool:
        """Passes an answer on and waits until it is on disk; False if the current question is another one by now."""
        seat = await self._seat(participant, study)
        await _either(seat, seconds)
        asked = seat.player.question
        if not seat.player.give(number, said):
            return False
        identity = identity_of(participant.id)
        while self._store.journal.count_replies(seat.run, identity) <= number:
            if seat.playing.done():
                return False
            await asyncio.sleep(_LOOK_SECONDS)
        if asked is not None:
            took = asyncio.get_running_loop().time() - asked.since
            self._book.add_timing(Timing(participant.id, number, round(took, 3), pattern))
        return True

    def what_happened(self, participant: Participant, texts: PeopleTexts) -> str:
        """What came of the item that a participant has just finished; empty after the server was started again."""
        seat, current = self._seats.get(participant.id), self._book.participant(participant.id)
        task, item = seat.player.ended if seat else self._last.get(participant.id, ("", ""))
        if not item or current is None or task not in texts.ended:
            return ""
        return texts.what_happened(task, self._store.episodes.transcript(current.run, task, item, 0))

    def talk(self, participant: Participant) -> tuple[Message, ...]:
        """What a participant and another role have said so far, while the other one is answering."""
        seat = self._seats.get(participant.id)
        return seat.player.talk if seat else ()

    def finished(self, participant: Participant) -> bool:
        """Whether a participant has answered everything."""
        current, seat = self._book.participant(participant.id), self._seats.get(participant.id)
        if current is None or not current.run or (seat is not None and not seat.playing.done()):
            return False
        record = self._record(current)
        return record is not None and record.status is RunStatus.FINISHED

    def progress(self, participant: Participant) -> tuple[int, int]:
        """How many items a participant has done, of how many."""
        current = self._book.participant(participant.id)
        record = self._record(current) if current else None
        return (sum(self._store.episodes.counts(record.id)), record.manifest.episodes) if record else (0, 0)

    def summaries(self, participant: Participant) -> list[tuple[str, Summary]]:
        """The numbers of a participant's run, by task."""
        current = self._book.participant(participant.id)
        if current is None or not current.run:
            return []
        run = Engine(self._store, self._load).stored(current.run)
        return [(task, run.summary(task)) for task in run.tasks]

    async def leave(self, participant: str) -> None:
        """Ends the run in memory; the answers are in the journal."""
        seat = self._seats.pop(participant, None)
        if seat is not None:
            await _end(seat)

    async def leave_idle(self) -> None:
        """Ends the runs of inactive participants."""
        now = time.monotonic()
        for name, seat in list(self._seats.items()):
            if now - seat.used > IDLE_SECONDS:
                await self.leave(name)

    async def close(self) -> None:
        seats, self._seats = list(self._seats.values()), {}
        await asyncio.gather(*map(_end, seats))

    async def withdraw(self, participant: Participant) -> Erased:
        """Deletes all data of a participant."""
        async with self._locks.setdefault(participant.id, asyncio.Lock()):
            current = self._book.participant(participant.id) or participant
            await self.leave(participant.id)
            return await asyncio.to_thread(withdraw, self._store, self._book, current)

    def _record(self, participant: Participant) -> RunRecord | None:
        """A participant's run; the engine stores no run without any answer."""
        if not participant.run:
            return None
        return next(self._store.runs.found(RunSearch(ids=(participant.run,))), None)

    async def _seat(self, participant: Participant, study: Study) -> Seat:
        async with self._locks.setdefault(participant.id, asyncio.Lock()):
            seat = self._seats.get(participant.id)
            if seat is None or seat.playing.done():
                seat = self._seats[participant.id] = await self._start(participant, study)
            seat.used = time.monotonic()
            return seat

    async def _start(self, participant: Participant, study: Study) -> Seat:
        """Continues a participant's run from the journal, or starts it."""
        current = self._book.participant(participant.id)
        if current is None:
            raise SociometerError("this participant has withdrawn.")
        if not self._book.start(current):
            raise Full(f"study {study.name} has all the participants it needs.")
        known = self._record(current)
        answered = self._store.journal.count_replies(known.id, identity_of(current.id)) if known else 0
        player = FormPlayer(current.id, answered)
        # An engine of its own: engines share their caps over all the runs that they play.
        engine = Engine(self._store, self._load if study.order == "fixed" else self._shuffling(study, current))
        config = self._config(current, study, engine)
        plan = await asyncio.to_thread(engine.plan, config, players={PERSON: player})
        prepared = await asyncio.to_thread(engine.prepare, plan, continue_unfinished=True)
        if known and prepared.run.id != known.id:
            raise Changed(f"the items or prompts of study {study.name} changed after it began.")
        if not known:
            self._book.set_run(structs.replace(current, started=True), prepared.run.id)
        return Seat(prepared.run.id, player, asyncio.create_task(engine.play(prepared)))

    def _shuffling(self, study: Study, participant: Participant) -> Callable[..., Instrument]:
        """Loads instruments whose items come in the participant's own order, the same each time."""

        def load(name: str, *rest: Any) -> Instrument:
            known = self._load(name, *rest)
            made = copy(known)
            made.tasks = {task.name: structs.replace(task, items=mixed(task)) for task in known.tasks.values()}
            return made

        def mixed(task: Task[Any, Any]) -> Callable[[Source], Iterable[Any]]:
            def items(source: Source) -> list[Any]:
                found = list(task.items(source))
                Random(f"{study.name}/{participant.id}/{task.name}/order").shuffle(found)
                return found

            return items

        return load

    def _config(self, participant: Participant, study: Study, engine: Engine) -> RunConfig:
        """The configuration of a participant's run: the study's, with the items drawn for them."""
        own = structs.replace(
            study.config,
            revision=participant.id,
            name=run_name(study.name, participant.id),
            prompts_folder=people_folder(self._load(study.config.instrument)),
        )
        if not study.sample:
            return own
        lots, known = Random(f"{study.name}/{participant.id}"), self._items(study, engine).values()
        drawn = [one for ids in known for one in lots.sample(ids, min(study.sample, len(ids)))]
        return structs.replace(own, items=tuple(drawn), limit=None)

    def _items(self, study: Study, engine: Engine) -> dict[str, tuple[str, ...]]:
        """The ids of the items of a study, by task."""
        if study.name not in self._item_ids:
            lists = engine.plan(study.config, players={PERSON: FormPlayer("nobody", 0)}).lists
            self._item_ids[study.name] = {task: tuple(item.id for item in items) for task, items in lists.items()}
        return self._item_ids[study.name]


async def _either(seat: Seat, seconds: float) -> None:
    """Waits until a seat has a question or its run has ended."""
    if seat.player.question is not None or seat.playing.done():
        return
    asked = asyncio.create_task(seat.player.asked())
    try:
        await asyncio.wait({asked, seat.playing}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.cancel()


async def _end(seat: Seat) -> None:
    seat.playing.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await seat.playing


STUDY = web.AppKey("study", Study)
CARD = web.AppKey("card", Card)
BOOK = web.AppKey("book", StudyBook)
STORE = web.AppKey("store", Store)
SEATS = web.AppKey("seats", Seats)
TEXTS = web.AppKey("texts", PeopleTexts)
JOINS = web.AppKey("joins", RateLimit)
NEW_CODES: web.AppKey[dict[str, str]] = web.AppKey("new_codes", dict)


def study_page(request: web.Request, name: str, problem: str = "", status: int = 422, **context: Any) -> web.Response:
    """A page in the language of the study; `problem` is the key of what is wrong with a form, which gives `status`."""
    study = request.app[BOOK].study(request.app[STUDY].name)
    words = texts("study", study.language)
    return page(
        name, status=status if problem else 200, study=study, heading=study.title or study.name,
        problem=words[problem].format_map(context) if problem else "", language=study.language, words=words,
        visitor=next((one for one in known_visitors(request) if one.role == PARTICIPANT), None),
        texts=request.app[TEXTS], **context,
    )  # fmt: skip


def participant_of(request: web.Request) -> Participant:
    """The participant of this study who sent the request."""
    found = request.app[BOOK].participant(visitor_of(request).who)
    if found is None or found.study != request.app[STUDY].name:
        raise web.HTTPForbidden(text="This browser has no session of this study.")
    return found


LONGEST_ABOUT = 500
_TICKET = re.compile(r"[\w-]{43}")


@landing
async def welcome_page(request: web.Request) -> web.StreamResponse:
    """What the study is, what is stored, and the form to take part; who has joined continues."""
    check_secret(request, request.app[STUDY].secret)
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        # The browser keeps our cookie back from a link on another site: the page opens itself once more.
        return study_page(request, "study_arrive.html", here=request.path_qs)
    if any(visitor.role == PARTICIPANT for visitor in known_visitors(request)):
        return see_other("/take")
    # A panel may pass an answer on in the link, such as ?PROLIFIC_PID=…
    given = {name: request.query[name] for name in request.app[STUDY].questions if name in request.query}
    return _welcome(request, about=given)


def _welcome(request: web.Request, problem: str = "", status: int = 422, **context: Any) -> web.Response:
    items = request.app[SEATS].count(request.app[STUDY])
    filled = {"about": {}, "code": "", "ticket": secrets.token_urlsafe(32), "items": items, **context}
    return study_page(request, "study_welcome.html", problem, status, **filled)


@landing
async def join(request: web.Request) -> web.StreamResponse:
    """Creates a participant who agreed to take part; a form that is sent twice makes one."""
    check_secret(request, request.app[STUDY].secret)
    given, book = await form_of(request), request.app[BOOK]
    study = book.study(request.app[STUDY].name)
    about = {name: given.get(f"about-{place}", "").strip() for place, name in enumerate(study.questions)}
    about = {name: said[:LONGEST_ABOUT] for name, said in about.items() if said}
    ticket = given.get("ticket", "")
    if given.get("agree") != "yes" or not _TICKET.fullmatch(ticket):
        return _welcome(request, "must agree", about=about)
    if not book.joined(study, ticket):
        if book.started(study.name) >= study.quota:
            raise web.HTTPForbidden(text=texts("study", study.language)["full"])
        request.app[JOINS].check(address_of(request))
    participant, code = book.join(study, about, ticket)
    request.app[NEW_CODES][participant.id] = code
    response = see_other("/code")
    set_cookie(request, response, book.open_session(participant))
    return response


@only(PARTICIPANT)
async def code_page(request: web.Request) -> web.StreamResponse:
    """The code of somebody who has just joined; it is on no disk, so it is shown until the server stops."""
    code = request.app[NEW_CODES].get(participant_of(request).id)
    return study_page(request, "study_code.html", code=shown_code(code)) if code else see_other("/take")


@landing
async def come_back(request: web.Request) -> web.StreamResponse:
    """Exchanges a code for a session; limits the rate of guesses."""
    check_secret(request, request.app[STUDY].secret)
    who, study = address_of(request), request.app[STUDY]
    request.app[CODES].check(who)
    code = (await form_of(request)).get("code", "")[:40]
    found = request.app[BOOK].with_code(study.name, code)
    if found is None:
        return _welcome(request, "wrong code", 403, code=code)
    request.app[CODES].forgive(who)
    response = see_other("/take")
    set_cookie(request, response, request.app[BOOK].open_session(found))
    return response


WAIT_SECONDS = 6.0
"""How long a request waits for the next question before it shows that another role is still answering."""


@only(PARTICIPANT)
async def take_page(request: web.Request) -> web.StreamResponse:
    """The current question, or the end."""
    question = await _question(request)
    if (check := _check_due(request)) is not None:
        return _check_page(request, check)
    if question is not None:
        return _question_page(request, question)
    if request.app[SEATS].finished(participant_of(request)):
        return see_other("/end")
    talk = request.app[SEATS].talk(participant_of(request))
    return study_page(request, "study_wait.html", talk=talk)


@only(PARTICIPANT)
async def answer(request: web.Request) -> web.StreamResponse:
    """Takes an answer, waits until it is on disk, and goes to the next question."""
    participant, study, seats = participant_of(request), request.app[STUDY], request.app[SEATS]
    given = await form_of(request)
    question = await _question(request)
    if question is None or given.get("number") != str(question.number):
        # Sent twice, or from a page that was left open: the answer that counts is the first.
        return see_other("/take")
    try:
        said = reply_of(question.answer_format, given)
    except BadAnswer as error:
        return _question_page(request, question, str(error), given)
    pattern = pattern_of(question.answer_format, given)
    await seats.give(participant, study, question.number, said, WAIT_SECONDS, pattern)
    # Where a conversation goes on, the page has this place: the newest line and the form.
    return see_other("/take#form")


@only(PARTICIPANT)
async def answer_check(request: web.Request) -> web.StreamResponse:
    """Takes the answer to an attention check that is due."""
    participant, given, check = participant_of(request), await form_of(request), _check_due(request)
    if check is None or given.get("number") != str(check.number):
        return see_other("/take")
    said = given.get("answer", "")
    if said not in check.options:
        return _check_page(request, check, "choose one")
    request.app[BOOK].add_check(participant.id, check.number, said == check.right)
    return see_other("/take")


class Check(Struct, frozen=True):
    """One attention check; it is asked once `after` items are done."""

    number: int
    after: int
    options: tuple[str, ...]
    right: str


def checks_of(study: Study, participant: str, planned: int) -> tuple[Check, ...]:
    """The checks of a participant: always the same ones, at random places."""
    lots = check_lots(study, participant)
    made = []
    for place, after in enumerate(check_places(study, lots, planned)):
        options = texts("study", study.language)["check options"].split("|")
        lots.shuffle(options)
        made.append(Check(place, after, tuple(options), lots.choice(options)))
    return tuple(made)


def _check_due(request: web.Request) -> Check | None:
    """The attention check before the next question, if one is due."""
    study, participant = request.app[STUDY], participant_of(request)
    if not study.attention:
        return None
    done, planned = request.app[SEATS].progress(participant)
    answered = request.app[BOOK].checks(participant.id)
    checks = checks_of(study, participant.id, planned)
    return next((check for check in checks if check.after <= done and check.number not in answered), None)


def _check_page(request: web.Request, check: Check, problem: str = "") -> web.Response:
    done, planned = request.app[SEATS].progress(participant_of(request))
    return study_page(request, "study_check.html", problem, check=check, done=done, planned=planned, part="")


async def _question(request: web.Request) -> Question | None:
    """The participant's current question; if the study cannot continue, a page that says so."""
    study = request.app[STUDY]
    words = texts("study", study.language)
    try:
        return await request.app[SEATS].question(participant_of(request), study, WAIT_SECONDS)
    except Full as error:
        raise web.HTTPForbidden(text=words["full"]) from error
    except Paused as error:
        raise web.HTTPServiceUnavailable(text=words["paused"], headers={"Retry-After": "600"}) from error
    except Changed as error:
        raise web.HTTPConflict(text=words["changed"]) from error
    except SociometerError as error:
        raise web.HTTPServiceUnavailable(text=words["broken"]) from error


def _question_page(
    request: web.Request, question: Question, problem: str = "", given: dict[str, str] | None = None
) -> web.Response:
    wanted, texts, seats = question.answer_format, request.app[TEXTS], request.app[SEATS]
    done, planned = seats.progress(participant_of(request))
    fields = fields_of(wanted, texts)
    folded = [texts.split(message.content)[1] for message in question.messages] if question.turn else []
    return study_page(
        request, "study_question.html", problem, question=question, fields=fields, given=given or {}, done=done,
        planned=planned, part=_part(request, question),
        total=f"{wanted.total:g}" if isinstance(wanted, Allocation) else "",
        goes_on=question.turn and (any(folded) or fields[0].hint),
        happened="" if question.turn else seats.what_happened(participant_of(request), texts),
    )  # fmt: skip


def _part(request: web.Request, question: Question) -> str:
    """Which question of the item this is, where an item has several."""
    words, setting = texts("study", request.app[STUDY].language), request.app[TEXTS].parts.get(question.task)
    if setting:
        most = Settings.chosen(request.app[CARD].setting, request.app[STUDY].config.settings)[setting]
        return words["part of"].format(part=question.turn + 1, most=most)
    return words["part"].format(part=question.turn + 1) if question.turn else ""


@only(PARTICIPANT)
async def end_page(request: web.Request) -> web.StreamResponse:
    """Thanks a participant who has answered everything; shows the primary numbers if the study shows any."""
    participant, study, seats = participant_of(request), request.app[STUDY], request.app[SEATS]
    if not seats.finished(participant):
        return see_other("/take")
    summaries = await asyncio.to_thread(seats.summaries, participant) if study.shows != "nothing" else []
    named = request.app[TEXTS].results
    lines = [
        (named[label], known, measure, summary.series.get("norm", {}).get(f"{known.name}_mean", known.human))
        for task, summary in summaries
        for known in request.app[CARD].measures_of(task)
        if (label := f"{task}.{known.name}") in named
        and (measure := summary.measure(known.name)) is not None
        and measure.value is not None
    ]
    places = (place_of(summary) for _, summary in summaries if study.shows == "place")
    return study_page(
        request, "study_end.html", lines=lines, place=next(filter(None, places), None), number=number,
        interval_text=interval_text, translate=Words(study.language),
        happened=seats.what_happened(participant, request.app[TEXTS]),
    )  # fmt: skip


def place_of(summary: Summary) -> dict[str, int | str]:
    """The EQ, its bounds, and the percent of the norm's people below it; empty without a norm or a score."""
    norm, eq, percentile = summary.series.get("norm"), summary.measure("eq"), summary.measure("percentile")
    if norm is None or eq is None or eq.value is None or percentile is None or percentile.value is None:
        return {}
    few = eq.interval is None or eq.interval.low is None
    bounds = "" if few or eq.interval is None else f"{eq.interval.low:.0f} – {eq.interval.high:.0f}"
    # Nobody is better than all people: a sample has ends, a population has none.
    percent = min(99, max(1, round(100 * percentile.value)))
    return {"eq": round(eq.value), "percent": percent, "people": int(norm["people"]), "bounds": bounds}


@only(PARTICIPANT)
async def stored_page(request: web.Request) -> web.StreamResponse:
    """What is stored about the participant."""
    return study_page(request, "study_stored.html", about=participant_of(request).about)


@only(PARTICIPANT)
async def withdraw_page(request: web.Request) -> web.StreamResponse:
    """Deletes everything about the participant, who is asked once more before."""
    participant = participant_of(request)
    if (await form_of(request)).get("sure") != "yes":
        return study_page(request, "study_withdraw.html")
    erased = await request.app[SEATS].withdraw(participant)
    response = study_page(request, "study_withdrawn.html", erased=erased)
    request.app[NEW_CODES].pop(participant.id, None)
    response.del_cookie(request.app[ADDRESS].guest_cookie, path="/")
    return response


@only(OWNER)
async def overview_page(request: web.Request) -> web.StreamResponse:
    """The participants of the study."""
    study, book, store = request.app[BOOK].study(request.app[STUDY].name), request.app[BOOK], request.app[STORE]
    words = words_for(request)
    said = partial(participants_table, say=lambda rule: words(rule.text, **rule.values))
    table = await asyncio.to_thread(said, study, book, store)
    return owner_page(
        request,
        "study_overview.html",
        visitor=visitor_of(request),
        study=study,
        card=request.app[CARD],
        table=table,
        rules=exclusion_rules(study),
    )


_TOO_MANY = "Too many people have joined from this network within an hour. Try again later, or ask the researchers."
PER_ADDRESS = 30
_ROUND_SECONDS = 60.0


def study_application(
    study: Study, store: Store, book: StudyBook, load: Callable[..., Instrument], per_address: int = PER_ADDRESS
) -> web.Application:
    """The pages of one study; from one network address, at most `per_address` people can join in an hour."""
    app = guest_application(PARTICIPANT, book.session, study.language)
    instrument = load(study.config.instrument)
    app[CARD], app[TEXTS] = instrument.card, people_texts(instrument, study.language)
    app[STUDY], app[BOOK], app[STORE], app[SEATS] = study, book, store, Seats(store, load, book)
    app[JOINS] = RateLimit(per_address, 3600.0, 100_000, _TOO_MANY)
    app[NEW_CODES] = {}
    app.cleanup_ctx.append(_tidy)
    app.router.add_get("/join/{secret}", welcome_page)
    app.router.add_post("/join/{secret}", join)
    app.router.add_post("/join/{secret}/code", come_back)
    app.router.add_get("/code", code_page)
    app.router.add_get("/take", take_page)
    app.router.add_post("/take", answer)
    app.router.add_post("/check", answer_check)
    app.router.add_get("/end", end_page)
    app.router.add_get("/stored", stored_page)
    app.router.add_post("/withdraw", withdraw_page)
    app.router.add_get("/owner", overview_page)
    return app


def refuse_unconfirmed(study: Study, confirmed: Mapping[str, str]) -> None:
    """Raises a UsageError if a role's model has an address or is a function and the user did not name it again."""
    for role, model in study.config.roles.items():
        if ("@" in model or model.startswith("python/")) and confirmed.get(role) != model:
            raise UsageError(
                f"role '{role}' of study {study.name} is played by {model}; confirm that with --role {role}={model}."
            )
    for role, model in confirmed.items():
        if study.config.roles.get(role) != model:
            raise UsageError(
                f"study {study.name} has no role '{role}' played by {model}; roles are set by 'study create'."
            )


async def _tidy(app: web.Application) -> AsyncIterator[None]:
    """Ends the runs of inactive participants, and all runs when the server stops."""

    async def rounds() -> None:
        while True:
            await asyncio.sleep(_ROUND_SECONDS)
            await app[SEATS].leave_idle()

    task = asyncio.create_task(rounds())
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    await app[SEATS].close()


def serve_study(
    store: Path,
    name: str,
    load: Callable[..., Instrument],
    place: Place,
    tell: Callable[[str, str], None],
    *,
    confirmed: Mapping[str, str],
    per_address: int = PER_ADDRESS,
) -> None:
    """Serves a study until Ctrl-C; `tell` gets the link for participants, and a link for the owner that works once.

    `confirmed` are the roles that the user named again: if only a file names an address or a function, no key is sent
    to it and it is not called.
    """
    with closing(StudyBook(book_path(store))) as book:
        study = book.study(name)
        refuse_unconfirmed(study, confirmed)
        # One server a study: nobody else may delete or play what this one holds in memory.
        with study_lock(store, name), Store(store) as opened:
            app = study_application(study, opened, book, load, per_address)
            prepare = partial(app[SEATS].prepare, study)
            serve(app, place, lambda owner: tell(f"{app[ADDRESS].url}/join/{study.secret}", owner), prepare)
