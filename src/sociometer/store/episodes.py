"""Episodes: the transcript, outcome and score of each play of an item."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Event, Exchange, Message, Noted, Reply, Transcript
from sociometer.core.errors import StoreError, UsageError
from sociometer.core.measure import Summary
from sociometer.core.task import Episode, Failure, Item, Score, Task
from sociometer.store.database import marks, pages
from sociometer.store.journal import Journal, put_messages, read_messages
from sociometer.store.runs import COUNT, summary_row
from sociometer.store.texts import Connections, OtherVersion, StorePart, open_text, read_sealed, seal
from sociometer.store.writer import EPISODE, SCORE, SUMMARY, Transaction

_encode_json = msgspec.json.Encoder().encode
_encode_events = msgspec.msgpack.Encoder().encode
_decode_events = msgspec.msgpack.Decoder(tuple[tuple[Any, ...], ...]).decode
_decode_reply = msgspec.msgpack.Decoder(Reply).decode
_decode_score = msgspec.json.Decoder(Score).decode
_ALL = 1 << 62
_Replies = list[tuple[str, Reply]]
_ONE = "WHERE run = ? AND task = ? AND item = ? AND repeat = ?"
_EXCHANGE, _NOTE = "heard", "note"
"""The tags of stored events: (heard, role, model, branch, journal key, hashes of the messages, reply), where the last
two are left empty if the journal has them; and (note, kind, facts, branch)."""


EVENTS = "events, CASE WHEN outcome IS NULL THEN failure_kind END, CASE WHEN outcome IS NULL THEN failure END"
"""The events of an episode, and the failure that is under their checksum; one of scoring is computed again."""


class ScoredEpisode(Struct, frozen=True):
    """The result of one play of an item."""

    item: str
    repeat: int
    score: Score | None
    failure: Failure | None


class Episodes(StorePart):
    """The episodes of all runs with their scores."""

    def __init__(self, shared: Connections, journal: Journal) -> None:
        super().__init__(shared)
        self._journal = journal

    def add(self, run: str, task: str, episode: Episode[Any, Any], events: Sequence[Event]) -> None:
        """Store an episode with its transcript and score; replaces an earlier attempt."""
        # Encoded here, not in the writer, so that an encoding error fails only this episode.
        outcome = None if episode.outcome is None else _encode_json(episode.outcome)
        score = None if episode.score is None else _encode_json(episode.score)
        kept = [
            (_NOTE, event.kind, _encode_events(event.facts), event.branch) if isinstance(event, Noted) else event
            for event in events
        ]
        place = (run, task, episode.item.id, episode.repeat)
        self._writer.queue(lambda batch: self._insert(batch, place, outcome, episode.failure, kept, score))

    def replace_scores(
        self, run: str, task: str, scores: Mapping[tuple[str, int], Score | Failure], summary: Summary
    ) -> None:
        """Replace all scores and the summary of a task, in one transaction.

        A Failure says why an outcome has no score. The caller must hold the run's lock.
        """
        encoded = {place: one if isinstance(one, Failure) else _encode_json(one) for place, one in scores.items()}
        made = summary_row(run, task, summary)

        def replace(batch: Transaction) -> None:
            connection, update = batch.connection, f"UPDATE episode SET failure_kind = ?, failure = ? {_ONE}"  # noqa: S608
            connection.execute("DELETE FROM score WHERE run = ? AND task = ?", (run, task))
            for (item, repeat), score in encoded.items():
                place = (run, task, item, repeat)
                failure = (score.kind, score.message) if isinstance(score, Failure) else (None, None)
                connection.execute(update, (*failure, *place))
                if not isinstance(score, Failure):
                    batch.put(SCORE, (*place, seal(score, *place, "score")))
            batch.put(SUMMARY, made)

        self._writer.queue(replace)

    def finished(self, run: str, task: str) -> set[tuple[str, int]]:
        """The item ids and repeats that have an outcome."""
        query = "SELECT item, repeat FROM episode WHERE run = ? AND task = ? AND outcome IS NOT NULL"
        return set(self._rows(query, run, task))

    def plays(self, run: str, task: str) -> dict[tuple[str, int], bool]:
        """The item ids and repeats of a task that were played, each with whether it has an outcome."""
        query = "SELECT item, repeat, outcome IS NOT NULL FROM episode WHERE run = ? AND task = ?"
        return {(item, repeat): bool(has_outcome) for item, repeat, has_outcome in self._rows(query, run, task)}

    def counts(self, run: str) -> tuple[int, int]:
        """How many episodes have an outcome, and how many failed."""
        done, failed = self._row(COUNT, run)
        return int(done), int(failed)

    def failures(self, run: str, without: Set[object] = frozenset(), *, scoring: bool = True) -> dict[str, int]:
        """How many episodes failed, by kind, `without` these (task, item) pairs; not `scoring`: no errors of it."""
        query = "SELECT failure_kind, task, item FROM episode WHERE run = ? AND failure_kind IS NOT NULL"
        rows = self._rows(query if scoring else f"{query} AND outcome IS NULL", run)
        kinds = Counter(kind for kind, task, item in rows if (task, item) not in without)
        return dict(sorted(kinds.items(), key=lambda one: (-one[1], one[0])))

    def begun(self, run: str, task: str) -> dict[int, tuple[str, int]]:
        """The items of a task that were begun, by place in the list: the id, and how many episodes have ended."""
        return {place: (name, count) for place, name, count in self._rows(_BEGUN, run, task)}

    def walk(
        self, run: str, task: str, form: Task[Any, Any] | None, item: str | None = None, *, scored: bool = True
    ) -> Iterator[Episode[Any, Any]]:
        """The episodes of a run, or of one item, in the order of items and repeats; without `scored`, no scores.

        Items and outcomes have the types of the task `form`; without it, the fields that they were stored with.
        """
        read_item = msgspec.json.Decoder(form.item_type).decode if form else _item_as_stored
        outcomes = msgspec.json.Decoder(form.outcome_type if form else dict).decode
        last: tuple[bytes, Item] | None = None
        with self._database.errors():
            statement, values = (_WALK, (run, task)) if item is None else (_WALK_ONE, (run, task, item))
            for row in pages(self._reader, statement, _IN_ORDER, values):
                _, repeat, hash_, body, name, outcome, kind, failure, score = row
                if last is None or last[0] != hash_:
                    last = hash_, _read_item(read_item, hash_, body, name)
                place = (run, task, name, repeat)
                yield Episode(
                    last[1],
                    repeat,
                    None if outcome is None else read_sealed(outcomes, outcome, *place, "outcome"),
                    None if score is None or not scored else read_sealed(_decode_score, score, *place, "score"),
                    None if kind is None else Failure(kind, failure),
                )

    def scored(
        self, run: str, task: str, items: Sequence[str] = (), *, failed: bool = False, page: tuple[int, int] = (_ALL, 0)
    ) -> Iterator[ScoredEpisode]:
        """The episodes of a task in order, without transcripts: some items, `failed` ones, or so many from a place."""
        some = "AND episode.failure_kind IS NOT NULL " * failed + (f"AND item.id IN {marks(items)}" if items else "")
        query = _SCORED.format(some=some)
        with self._database.errors():
            for name, repeat, kind, failure, body in self._reader.execute(query, (run, task, *items, *page)):
                place = (run, task, name, repeat, "score")
                score = None if body is None else read_sealed(_decode_score, body, *place)
                yield ScoredEpisode(name, repeat, score, None if kind is None else Failure(kind, failure))

    def repeats(self, run: str, task: str) -> dict[str, int]:
        """How many episodes each item of a task has, including failed ones; also items that cannot be read."""
        query = "SELECT item, count(*) FROM episode WHERE run = ? AND task = ? GROUP BY item ORDER BY item"
        return {item: int(count) for item, count in self._rows(query, run, task)}

    def count(self, run: str, task: str) -> int:
        """The number of episodes of a task, including failed ones."""
        return int(self._row("SELECT count(*) FROM episode WHERE run = ? AND task = ?", run, task)[0])

    def items(self, run: str, task: str, names: Sequence[str]) -> dict[str, bytes]:
        """Items as they were played, as JSON, by id."""
        where = f"WHERE run = ? AND task = ? AND item.id IN {marks(names)}"
        query = f"SELECT item.id, text.hash, text.body FROM item JOIN text ON text.hash = item.body {where}"  # noqa: S608
        found = self._rows(query, run, task, *names) if names else []
        return {name: open_text(hash_, body) for name, hash_, body in found}

    def neighbours(self, run: str, task: str, item: str) -> tuple[str, str]:
        """The ids of the items before and after an item; empty at the ends."""
        here = "(SELECT position FROM item WHERE run = ? AND task = ? AND id = ?)"
        found = []
        for sign, order in (("<", "DESC"), (">", "ASC")):
            query = (
                f"SELECT id FROM item WHERE run = ? AND task = ? AND position {sign} {here}"  # noqa: S608
                f" ORDER BY position {order} LIMIT 1"
            )
            row = self._row(query, run, task, run, task, item)
            found.append(str(row[0]) if row else "")
        return found[0], found[1]

    def transcript(self, run: str, task: str, item: str, repeat: int) -> Transcript:
        """The events of one episode, in order."""
        with self._database.errors():
            row = self._reader.execute(
                f"SELECT {EVENTS} FROM episode {_ONE}",  # noqa: S608
                (run, task, item, repeat),
            ).fetchone()
            if row is None:
                raise UsageError(f"run {run} has no episode of item '{item}' (task {task}, repeat {repeat}).")
            events = read_sealed(_decode_events, row[0], run, task, item, repeat, "events", *row[1:])
            # Each turn of a conversation repeats all before it: what it shares with them is read once.
            known: dict[bytes, Message] = {}
            return Transcript(self._event(run, event, known) for event in events)

    def replies(self, run: str, task: str, items: Sequence[str]) -> dict[tuple[str, int], tuple[float, _Replies]]:
        """By item and repeat, when an episode of these items was stored, and all replies in it with their roles."""
        query = f"SELECT item, repeat, created, {EVENTS} FROM episode WHERE run = ? AND task = ? AND item IN "  # noqa: S608
        found: dict[tuple[str, int], tuple[float, list[Any]]] = {}
        with self._database.errors():
            for item, repeat, created, sealed, *failure in self._rows(query + marks(items), run, task, *items):
                events = read_sealed(_decode_events, sealed, run, task, item, repeat, "events", *failure)
                found[item, repeat] = created, [event for event in events if event[0] == _EXCHANGE]
            every = (event[4] for _, heard in found.values() for event in heard if event[6] is None)
            known = self._journal.replies(list(dict.fromkeys(every)), run)
            return {key: (at, [(one[1], _reply_of(one, known)) for one in said]) for key, (at, said) in found.items()}

    def _event(self, run: str, kept: tuple[Any, ...], known: dict[bytes, Message]) -> Event:
        if kept[0] == _NOTE:
            _, kind, facts, branch = kept
            return Noted(kind, msgspec.msgpack.decode(facts), branch)
        _, role, model, branch, key, hashes, reply = kept
        if reply is not None:
            messages = read_messages(self._reader, hashes, known)
            return Exchange(role, model, messages, msgspec.convert(reply, Reply), branch)
        messages, found = self._journal.asked(key, run, known)
        return Exchange(role, model, messages, _decode_reply(found), branch)

    def _insert(
        self,
        batch: Transaction,
        place: tuple[str, str, str, int],
        outcome: bytes | None,
        failure: Failure | None,
        events: Sequence[Exchange | tuple[Any, ...]],
        score: bytes | None,
    ) -> None:
        kept = [self._encode_exchange(batch, event) if isinstance(event, Exchange) else event for event in events]
        # As it is read: a member of an enum has another checksum. PostgreSQL stores no zero characters.
        said = (str(failure.kind), failure.message.replace("\0", "\ufffd")) if failure else (None, None)
        row = (
            *place,
            None if outcome is None else seal(outcome, *place, "outcome"),
            *said,
            seal(_encode_events(kept), *place, "events", *(said if outcome is None else (None, None))),
            time.time(),
        )
        batch.put(EPISODE, row)
        if score is not None:
            batch.put(SCORE, (*place, seal(score, *place, "score")))

    def _encode_exchange(self, batch: Transaction, event: Exchange) -> tuple[Any, ...]:
        kept = (_EXCHANGE, event.role, event.model, event.branch, event.key)
        if event.key:
            return *kept, b"", None
        return *kept, put_messages(batch, self._texts, event.messages), event.reply


_IN_ORDER = ("item.position", "episode.repeat")
_SCORES = """
JOIN episode ON episode.run = item.run AND episode.task = item.task AND episode.item = item.id
LEFT JOIN score ON score.run = item.run AND score.task = item.task AND score.item = item.id
  AND score.repeat = episode.repeat
WHERE item.run = ? AND item.task = ? """
_EPISODES = f"""
SELECT item.position, episode.repeat, item.body, text.body, item.id, episode.outcome, episode.failure_kind,
  episode.failure, score.body
FROM item JOIN text ON text.hash = item.body {_SCORES}"""  # noqa: S608
_WALK, _WALK_ONE = _EPISODES + "AND {after}", _EPISODES + "AND item.id = ? AND {after}"
_BEGUN = """
SELECT item.position, item.id, count(episode.item) FROM item
LEFT JOIN episode ON episode.run = item.run AND episode.task = item.task AND episode.item = item.id
WHERE item.run = ? AND item.task = ?
GROUP BY item.position, item.id
"""
_SCORED = f"""
SELECT item.id, episode.repeat, episode.failure_kind, episode.failure, score.body
FROM item {_SCORES} {{some}}
ORDER BY item.position, episode.repeat
LIMIT ? OFFSET ?
"""  # noqa: S608


def _reply_of(event: tuple[Any, ...], known: Mapping[bytes, bytes]) -> Reply:
    return _decode_reply(known[event[4]]) if event[6] is None else msgspec.convert(event[6], Reply)


def _item_as_stored(body: bytes) -> Item:
    """An item with all the fields that it was stored with."""
    fields = msgspec.json.decode(body, type=dict[str, Any])
    made: Item = _type_with(tuple(fields))(**fields)
    return made


@lru_cache
def _type_with(fields: tuple[str, ...]) -> Any:
    typed = [(name, Any) for name in fields]
    return msgspec.defstruct("StoredItem", typed, bases=(Item,), frozen=True, kw_only=True, omit_defaults=True)


def _read_item(decode: Callable[[bytes], Item], hash_: bytes, body: bytes, name: str) -> Item:
    text = open_text(hash_, body)
    try:
        item = decode(text)
    except msgspec.MsgspecError as error:
        raise OtherVersion(f"the record of item {name} is damaged or from another version ({error}).") from error
    if item.id != name:
        raise StoreError(f"the record of item {name} is damaged: it holds the item {item.id}.")
    return item
