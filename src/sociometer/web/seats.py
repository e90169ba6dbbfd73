"""The seats of a study: each participant's run waits in memory for the next form."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from copy import copy
from functools import partial
from itertools import islice
from random import Random
from typing import Any

from msgspec import Struct, field, structs

from sociometer.core.config import RunConfig
from sociometer.core.conversation import AnswerFormat, Event, Message, Reply, Request, Usage
from sociometer.core.errors import FailureKind, MachineryError, StopCause, Stopped
from sociometer.core.instrument import Instrument
from sociometer.core.measure import Summary
from sociometer.core.player import Player
from sociometer.core.session import DirectReplies, Draw, Session
from sociometer.core.source import Source
from sociometer.core.task import Task
from sociometer.engine.engine import Engine, PlayedRun
from sociometer.engine.estimate import rehearse
from sociometer.engine.plan import Plan, StoredPlan
from sociometer.store.erasing import Erased, Withdrawing
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.studies import PERSON, Participant, Study, StudyBook, Timing, identity_of, run_name
from sociometer.web.errors import Changed, Full, Paused
from sociometer.web.forms import PeopleTexts, people_folder, people_texts

IDLE_SECONDS = 1_800.0
MOST_QUESTIONS = 100_000
_REHEARSED = 20
_PREPARED_AT_ONCE = 2
"""How many participants' runs are planned at once: with a crowd at the door, the pages of the others come between."""


class Question(Struct, frozen=True):
    """The current question for a participant; `number` counts the earlier answers, and is below 0 in practice."""

    number: int
    messages: tuple[Message, ...]
    answer_format: AnswerFormat
    since: float
    task: str
    item: str
    turn: int
    """How many questions of the same item were before it."""


class Practice(Struct, frozen=True):
    """An item that is played for practice, in a session that stores nothing."""

    session: Session
    play: Callable[[], Awaitable[object]]


class FormPlayer(Player):
    """Plays the subject with the answers of one participant."""

    def __init__(self, participant: str, answered: int) -> None:
        """`answered` is how many of this participant's answers the journal has."""
        self.identity = identity_of(participant)
        self._answered = answered
        self._reply: asyncio.Future[str] | None = None
        self._stored: asyncio.Future[None] | None = None
        self._asked = asyncio.Event()
        self.question: Question | None = None
        self.place = self.ended = ("", "")
        """Task and item of this question, and of the item before it."""
        self.practice: dict[str, Practice] = {}
        """By task, what plays an item for practice before the first one that counts; its answers are stored nowhere."""
        self._practised = 0
        """The number of the current question for practice, below 0; 0 if the question counts."""
        self.rehearsed: tuple[str, Sequence[Event]] = ("", ())
        """The task that was practised last, and what came of it."""

    async def answer(self, request: Request) -> Reply:
        if practice := self.practice.pop(request.task, None):
            self._practised = -MOST_QUESTIONS
            try:
                await practice.play()
            finally:
                self._practised, self.rehearsed = 0, (request.task, practice.session.events)
        loop = asyncio.get_running_loop()
        self._reply = loop.create_future()
        place = (request.task, request.item)
        if place != self.place and not self._practised:
            self.place, self.ended = place, self.place
        number, wanted = self._practised or self._answered, request.answer_format
        self.question = Question(number, request.messages, wanted, loop.time(), *place, request.turn)
        self._asked.set()
        try:
            said = await self._reply
        finally:
            self.question = None
            self._asked.clear()
        if self._practised:
            self._practised += 1
            self.reply_stored()
        else:
            self._answered += 1
        return Reply(said, usage=Usage(0, 0))

    def leave(self) -> bool:
        """Ends the run at the question that waits for an answer; False if none does."""
        if waits := self._reply is not None and not self._reply.done():
            self._reply.set_exception(Stopped("interrupted", StopCause.INTERRUPTED))
        return waits

    def give(self, number: int, said: str) -> "asyncio.Future[None] | None":
        """Answers the question with this number; None if it is not the current one (a form that was sent twice).

        The future is done when the answer is on disk.
        """
        if self.question is None or self._reply is None or self._reply.done() or self.question.number != number:
            return None
        self._reply.set_result(said)
        self._stored = asyncio.get_running_loop().create_future()
        # From here on nothing waits: the next question comes when this answer is on disk.
        self.question = None
        self._asked.clear()
        return self._stored

    def reply_stored(self) -> None:
        if self._stored is not None and not self._stored.done():
            self._stored.set_result(None)

    async def asked(self) -> None:
        await self._asked.wait()

    async def embed(self, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        raise MachineryError("a person cannot embed texts", FailureKind.NOT_SUPPORTED)

    async def close(self) -> None:
        """Nothing is open."""


class Seat(Struct):
    """One participant's run in progress."""

    participant: Participant
    run: str
    instrument: str
    player: FormPlayer
    playing: "asyncio.Task[PlayedRun]"
    used: float = field(default_factory=time.monotonic)


class Standing(Struct, frozen=True):
    """How far a participant is, as it is stored; the study is as its owner has it now."""

    study: Study
    participant: Participant
    withdrawing: bool
    done: int
    planned: int
    finished: bool
    checks: dict[int, bool]
    """The attention checks that were answered, and whether each was right."""


class Seats:
    """The seats of all participants; one is taken when a participant comes and freed after a long absence.

    Everything that reads or writes files does so in another thread: nobody waits for the disk of somebody else.
    """

    def __init__(self, store: Store, load: Callable[..., Instrument], book: StudyBook) -> None:
        self._store, self._load, self._book = store, load, book
        self._seats: dict[str, Seat] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._last: dict[str, tuple[str, str, str]] = {}
        """Run, task and item that a participant finished with."""
        self._recovering = asyncio.Lock()
        self._preparing = asyncio.Semaphore(_PREPARED_AT_ONCE)
        self._item_ids: dict[str, dict[str, tuple[str, ...]]] = {}

    def prepare(self, study: Study) -> None:
        """Makes the items and plays the first of each task, so that nobody waits until everything is loaded."""
        self.count(study)
        for config in study.parts.values():
            plan = Engine(self._store, self._load).plan(config, players={PERSON: FormPlayer("nobody", 0)})
            for task in plan.tasks:
                asyncio.run(rehearse(plan, task, list(islice(plan.lists[task.name], _REHEARSED))))

    def count(self, study: Study) -> int:
        """How many items each participant gets."""
        known = [ids for part in study.parts for ids in self._items(study, part).values()]
        return sum(min(study.sample or len(ids), len(ids)) for ids in known)

    def seated(self, who: str) -> Participant | None:
        """A participant whose run is in memory: nobody has to read files to know that they take part."""
        seat = self._seats.get(who)
        return seat.participant if seat else None

    async def standing(self, who: str, study: Study) -> Standing | None:
        """How far a participant is; None if the study has nobody of this id."""
        await self._recover()
        await self._store.writer.settled()  # the last episode may still be queued
        return await asyncio.to_thread(self._standing, who, study)

    def _standing(self, who: str, study: Study) -> Standing | None:
        current = self._book.participant(who)
        if current is None or current.study != study.name:
            return None
        records = list(filter(None, map(self._record, current.runs)))
        done = sum(sum(self._store.episodes.counts(record.id)) for record in records)
        planned = self.count(study) if len(study.parts) > 1 else sum(one.manifest.episodes for one in records)
        playing = (seat := self._seats.get(who)) is not None and not seat.playing.done()
        over = len(records) == len(study.parts) and all(one.status is RunStatus.FINISHED for one in records)
        fresh, leaving = self._book.study(study.name), bool(self._book.withdrawing(who))
        return Standing(fresh, current, leaving, done, planned, over and not playing, self._book.checks(who))

    async def _recover(self) -> None:
        """After something could not be written, such as on a full disk: begins anew with what is stored.

        Every run in memory ends, and is played on from the journal when its participant asks for a page.
        """
        async with self._recovering:
            if self._store.writer.is_broken:
                await self.close()
                await asyncio.to_thread(self._store.writer.recover)

    async def question(self, participant: Participant, study: Study, seconds: float) -> Question | None:
        """A participant's next question; None if there is none within these seconds, or no more at all."""
        seat = await self._seat(participant, study)
        if seat is None:
            return None
        await _either(seat, seconds)
        if not seat.playing.done():
            return seat.player.question
        self._seats.pop(participant.id, None)
        self._last[participant.id] = (seat.run, *seat.player.place)
        ending = seat.playing.result().ending
        if ending.status is not RunStatus.FINISHED:
            raise Paused(ending.reason)
        current = await asyncio.to_thread(self._book.participant, participant.id)
        if current is None or len(current.runs) >= len(study.parts):
            return None
        return await self.question(participant, study, seconds)  # of the next instrument

    async def give(
        self, participant: Participant, study: Study, number: int, said: str, seconds: float, pattern: str, spent: str
    ) -> bool:
        """Passes an answer on and waits until it is on disk; False if the current question is another one by now.

        `spent` are the seconds that the question was on the screen, as the browser says.
        """
        seat = await self._seat(participant, study)
        if seat is None:
            return False
        await _either(seat, seconds)
        if number >= 0 and not seat.participant.answered:
            await asyncio.to_thread(self._book.begin_answering, participant.id)
            seat.participant = structs.replace(seat.participant, answered=True)
        asked = seat.player.question
        stored = seat.player.give(number, said)
        if asked is None or stored is None:
            return False
        took = round(asyncio.get_running_loop().time() - asked.since, 3)
        await asyncio.wait((stored, seat.playing), return_when=asyncio.FIRST_COMPLETED)
        if not stored.done():
            seat.playing.result()  # why it could not be stored, such as a full disk
            return False
        if number < 0:
            return True
        place = (asked.task, asked.item)
        timing = Timing(participant.id, number, took, pattern, *place, page_seconds(spent, took))
        await asyncio.to_thread(self._book.add_timing, timing)
        return True

    def instrument(self, participant: Participant, study: Study) -> str:
        """The instrument that a participant is at; after the end, the last one."""
        seat = self._seats.get(participant.id)
        return seat.instrument if seat else [*study.parts.values()][-1].instrument

    async def what_happened(self, participant: Participant, texts: PeopleTexts) -> str:
        """What came of the item that a participant has just finished; empty after the server was started again."""
        seat = self._seats.get(participant.id)
        run, task, item = (seat.run, *seat.player.ended) if seat else self._last.get(participant.id, ("", "", ""))
        if seat and not item:
            return texts.what_happened(*seat.player.rehearsed)
        if not item or task not in texts.ended:
            return ""
        return texts.what_happened(task, await asyncio.to_thread(self._store.episodes.transcript, run, task, item, 0))

    def summaries(self, participant: Participant) -> list[tuple[str, str, Summary]]:
        """The numbers of a participant's runs, by instrument and task."""
        runs = map(Engine(self._store, self._load).stored, participant.runs)
        return [(run.instrument, task, run.summary(task)) for run in runs for task in run.tasks]

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
                async with self._locks.setdefault(name, asyncio.Lock()):
                    await self.leave(name)

    async def close(self) -> None:
        seats, self._seats = list(self._seats.values()), {}
        await asyncio.gather(*map(_end, seats))

    async def withdraw(self, participant: Participant) -> Erased:
        """Deletes all data of a participant; Withdrawing if that must be finished later."""
        await self._recover()
        async with self._locks.setdefault(participant.id, asyncio.Lock()):
            await self.leave(participant.id)
            return await asyncio.to_thread(self._store.withdraw, participant.id)

    def _record(self, run: str) -> RunRecord | None:
        """A participant's run; the engine stores no run without any answer."""
        return next(self._store.runs.found(RunSearch(ids=(run,))), None)

    async def _seat(self, participant: Participant, study: Study) -> Seat | None:
        """The seat of a participant, who continues from the journal or starts the next instrument; None at the end."""
        await self._recover()
        async with self._locks.setdefault(participant.id, asyncio.Lock()):
            seat = self._seats.get(participant.id)
            # One whose run has just ended stays until `question` has seen the end: nobody plays a run twice.
            if seat is None:
                async with self._preparing:
                    prepared = await asyncio.to_thread(self._prepared, participant, study)
                if prepared is None:
                    return None
                instrument, player, plan, engine = prepared
                playing = asyncio.create_task(engine.play(plan))
                seat = self._seats[participant.id] = Seat(participant, plan.run.id, instrument, player, playing)
            seat.used = time.monotonic()
            return seat

    def _prepared(self, participant: Participant, study: Study) -> tuple[str, FormPlayer, StoredPlan, Engine] | None:
        """What a participant plays next, who plays it, and the engine that does; None if everything is played."""
        current = self._book.participant(participant.id)
        if current is None or self._book.withdrawing(current.id):
            raise Withdrawing(f"participant {participant.id} has withdrawn.")
        if not self._book.start(current):
            raise Full(f"study {study.name} has all the participants it needs.")
        records = list(map(self._record, current.runs))
        over = [record for record in records if record is not None and record.status is RunStatus.FINISHED]
        parts = [*study.parts.items()]
        if len(over) == len(parts):
            return None
        part, config = parts[len(over)]
        known = next((record for record in records if record not in over), None)
        counted = (self._store.journal.count_replies(one.id, identity_of(current.id)) for one in records if one)
        player = FormPlayer(current.id, sum(counted))
        engine = Engine(self._store, self._load if study.order == "fixed" else self._ordering(study, current))
        plan = engine.plan(self._config(current, study, part), players={PERSON: player})
        prepared = engine.prepare(plan, continue_unfinished=True)
        if known and prepared.run.id != known.id:
            raise Changed(f"the items or prompts of study {study.name} changed after it began.")
        if prepared.run.id not in current.runs:
            self._book.set_run(structs.replace(current, started=True), prepared.run.id)
        player.practice = self._practice(study, current, plan)
        return config.instrument, player, prepared, engine

    def _practice(self, study: Study, participant: Participant, plan: Plan) -> dict[str, Practice]:
        """By task that wants it, what plays an item that the study does not have.

        Nobody practises a task that they have begun.
        """
        card = plan.instrument.card
        begun = self._book.tasks_begun(participant.id)
        texts = people_texts(plan.instrument, study.language)
        wanted = [task for task in plan.tasks if task.name in texts.practice and task.name not in begun]
        found: dict[str, Practice] = {}
        for task in wanted:
            others = task.items(structs.replace(plan.source(), seed=plan.config.seed + 1))
            own = {one for part in study.parts for ids in self._items(study, part).values() for one in ids}
            if item := next((one for one in others if one.id not in own), None):
                draw = Draw(card.name, card.version, task.name, item.id)
                session = Session(DirectReplies(), plan.bindings, draw, plan.settings, plan.prompts)
                found[task.name] = Practice(session, partial(task.play, item, session))
        return found

    def _ordering(self, study: Study, participant: Participant) -> Callable[..., Instrument]:
        """Loads instruments whose items come in the participant's order, the same each time; twins are far apart."""

        def load(name: str, *rest: Any) -> Instrument:
            known = self._load(name, *rest)
            made = copy(known)
            made.tasks = {task.name: structs.replace(task, items=ordered(task)) for task in known.tasks.values()}
            return made

        def ordered(task: Task[Any, Any]) -> Callable[[Source], Iterable[Any]]:
            def items(source: Source) -> list[Any]:
                found = list(task.items(source))
                if study.order == "random":
                    Random(f"{study.name}/{participant.id}/{task.name}/order").shuffle(found)
                    return found
                pairs = [getattr(item, "pair", "") for item in found]
                second = [bool(pair) and pair in pairs[:place] for place, pair in enumerate(pairs)]
                return [found[place] for place in sorted(range(len(found)), key=second.__getitem__)]

            return items

        return load

    def _config(self, participant: Participant, study: Study, part: str) -> RunConfig:
        """The configuration of a participant's run: the study's, with the items drawn for them."""
        config, name = study.parts[part], run_name(part, participant.id)
        folder = people_folder(self._load(config.instrument))
        own = structs.replace(config, name=name, prompts_folder=folder, revision=participant.id)
        lots, known = Random(f"{study.name}/{participant.id}"), self._items(study, part).values()
        if not study.sample:
            return own
        drawn = [one for ids in known for one in lots.sample(ids, min(study.sample, len(ids)))]
        return structs.replace(own, items=tuple(drawn), limit=None)

    def _items(self, study: Study, part: str) -> dict[str, tuple[str, ...]]:
        """The ids of the items of an instrument of a study, by task."""
        if part not in self._item_ids:
            plan = Engine(self._store, self._load).plan(study.parts[part], players={PERSON: FormPlayer("nobody", 0)})
            self._item_ids[part] = {task: tuple(item.id for item in items) for task, items in plan.lists.items()}
        return self._item_ids[part]


def page_seconds(spent: str, took: float) -> float | None:
    """The time that a browser measured; None if it is no number, or longer than the question has been there."""
    try:
        found = float(spent)
    except ValueError:
        return None
    return round(found, 3) if 0 <= found <= took + 0.1 else None


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
    if not seat.player.leave():
        seat.playing.cancel()
    with contextlib.suppress(asyncio.CancelledError, Exception):
        await seat.playing
