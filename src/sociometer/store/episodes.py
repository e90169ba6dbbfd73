"""Episodes: what happened when an item was played, and what came of it."""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from sociometer.core.conversation import Event, Exchange, Message, Noted, Reply
from sociometer.core.errors import UsageError
from sociometer.core.measure import Summary
from sociometer.core.task import Episode, Failure, Item, Score, Task
from sociometer.store.database import storage_errors
from sociometer.store.journal import Journal, put_messages, read_messages
from sociometer.store.runs import PUT_SUMMARY, summary_row
from sociometer.store.texts import TextShelf, seal, unpack, unseal
from sociometer.store.writer import Writer

_encode_json = msgspec.json.Encoder().encode
_encode_events = msgspec.msgpack.Encoder().encode
_decode_events = msgspec.msgpack.Decoder(tuple[tuple[Any, ...], ...]).decode
_decode_reply = msgspec.msgpack.Decoder(Reply).decode
_EXCHANGE, _NOTE = "heard", "note"
"""The tags of stored events: (heard, role, model, branch, journal key, hashes of the messages, reply), where the last
two are left empty if the journal has them; and (note, kind, facts, branch)."""


class ScoredEpisode(Struct, frozen=True):
    """What came of playing an item once."""

    item: str
    repeat: int
    score: Score | None
    failure: Failure | None


class Episodes:
    """The episodes of all runs with their scores."""

    def __init__(
        self, path: Path, writer: Writer, reader: sqlite3.Connection, texts: TextShelf, journal: Journal
    ) -> None:
        self._path = path
        self._writer = writer
        self._reader = reader
        self._texts = texts
        self._journal = journal

    def add(
        self,
        run: str,
        task: str,
        episode: Episode[Any, Any],
        events: Sequence[Event],
    ) -> None:
        """Keeps an episode with its transcript and score, in place of an earlier attempt."""
        # Encoded here, not in the writer, so that what cannot be encoded is the instrument's error and nobody else's.
        outcome = None if episode.outcome is None else _encode_json(episode.outcome)
        score = None if episode.score is None else _encode_json(episode.score)
        kept = [_encode_note(event) if isinstance(event, Noted) else event for event in events]
        place = (run, task, episode.item.id, episode.repeat)
        self._writer.queue(lambda connection: self._insert(connection, place, outcome, episode.failure, kept, score))

    def replace_scores(
        self, run: str, task: str, scores: Mapping[tuple[str, int], Score | Failure], summary: Summary
    ) -> None:
        """Puts new scores and their summary in place of all old ones of a task, in one transaction.

        A Failure says why an outcome has no score. Only whoever holds the run's lock may call this.
        """
        encoded = {
            place: score if isinstance(score, Failure) else _encode_json(score) for place, score in scores.items()
        }
        made = summary_row(run, task, summary)

        def replace(connection: sqlite3.Connection) -> None:
            _replace_scores(connection, run, task, encoded)
            connection.execute(PUT_SUMMARY, made)

        self._writer.queue(replace)

    def finished(self, run: str, task: str) -> set[tuple[str, int]]:
        """The item ids and repeats that have an outcome."""
        with storage_errors(self._path):
            return set(
                self._reader.execute(
                    "SELECT item, repeat FROM episode WHERE run = ? AND task = ? AND outcome IS NOT NULL", (run, task)
                )
            )

    def counts(self, run: str) -> tuple[int, int]:
        """How many episodes have an outcome, and how many failed."""
        with storage_errors(self._path):
            row = self._reader.execute(
                "SELECT count(outcome), sum(outcome IS NULL) FROM episode WHERE run = ?", (run,)
            ).fetchone()
        return int(row[0]), int(row[1] or 0)

    def failures(self, run: str) -> dict[str, int]:
        """How many episodes failed, by kind."""
        with storage_errors(self._path):
            return dict(
                self._reader.execute(
                    "SELECT failure_kind, count(*) FROM episode WHERE run = ? AND failure_kind IS NOT NULL"
                    " GROUP BY 1 ORDER BY 2 DESC",
                    (run,),
                )
            )

    def walk(self, run: str, task: Task[Any, Any], item: str | None = None) -> Iterator[Episode[Any, Any]]:
        """The episodes of a run in the order of items and repeats (of one item only, where named)."""
        items = msgspec.json.Decoder(task.item_type)
        outcomes = msgspec.json.Decoder(task.outcome_type)
        scores = msgspec.json.Decoder(Score)
        last: tuple[bytes, Item] | None = None
        with storage_errors(self._path):
            statement, values = (_WALK, (run, task.name)) if item is None else (_WALK_ONE, (run, task.name, item))
            for row in self._reader.execute(statement, values):
                hash_, body, name, repeat, outcome, kind, failure, score = row
                if last is None or last[0] != hash_:
                    last = hash_, items.decode(unpack(body))
                place = (run, task.name, name, repeat)
                yield Episode(
                    last[1],
                    repeat,
                    None if outcome is None else outcomes.decode(unseal(outcome, *place, "outcome")),
                    None if score is None else scores.decode(unseal(score, *place, "score")),
                    None if kind is None else Failure(kind, failure),
                )

    def scored(self, run: str, task: str, *, limit: int = -1, offset: int = 0) -> Iterator[ScoredEpisode]:
        """The episodes of a task without what was said, in the order of items and repeats."""
        scores = msgspec.json.Decoder(Score)
        with storage_errors(self._path):
            for name, repeat, kind, failure, body in self._reader.execute(_SCORED, (run, task, limit, offset)):
                score = None if body is None else scores.decode(unseal(body, run, task, name, repeat, "score"))
                yield ScoredEpisode(name, repeat, score, None if kind is None else Failure(kind, failure))

    def count(self, run: str, task: str) -> int:
        """How many episodes of a task there are, failed ones included."""
        with storage_errors(self._path):
            row = self._reader.execute("SELECT count(*) FROM episode WHERE run = ? AND task = ?", (run, task))
            return int(row.fetchone()[0])

    def transcript(self, run: str, task: str, item: str, repeat: int) -> tuple[Event, ...]:
        """What happened in one episode, in order."""
        with storage_errors(self._path):
            row = self._reader.execute(
                "SELECT events FROM episode WHERE run = ? AND task = ? AND item = ? AND repeat = ?",
                (run, task, item, repeat),
            ).fetchone()
            if row is None:
                raise UsageError(f"run {run} has no episode of item '{item}' (task {task}, repeat {repeat}).")
            events = unseal(row[0], run, task, item, repeat, "events")
            # Each turn of a conversation repeats all before it: what it shares with them is read once.
            known: dict[bytes, Message] = {}
            return tuple(self._event(event, known) for event in _decode_events(events))

    def _event(self, kept: tuple[Any, ...], known: dict[bytes, Message]) -> Event:
        if kept[0] == _NOTE:
            _, kind, facts, branch = kept
            return Noted(kind, msgspec.msgpack.decode(facts), branch)
        _, role, model, branch, key, hashes, reply = kept
        if reply is not None:
            messages = read_messages(self._reader, hashes, known)
            return Exchange(role, model, messages, msgspec.convert(reply, Reply), branch)
        messages, found = self._journal.asked(key, known)
        return Exchange(role, model, messages, _decode_reply(found) if found else Reply(""), branch)

    def _insert(
        self,
        connection: sqlite3.Connection,
        place: tuple[str, str, str, int],
        outcome: bytes | None,
        failure: Failure | None,
        events: Sequence[Exchange | tuple[Any, ...]],
        score: bytes | None,
    ) -> None:
        kept = [self._encode_exchange(connection, event) if isinstance(event, Exchange) else event for event in events]
        connection.execute(
            "INSERT OR REPLACE INTO episode (run, task, item, repeat, outcome, failure_kind, failure, events, created)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *place,
                None if outcome is None else seal(outcome, *place, "outcome"),
                failure.kind if failure else None,
                failure.message if failure else None,
                seal(_encode_events(kept), *place, "events"),
                time.time(),
            ),
        )
        if score is not None:
            connection.execute(_PUT_SCORE, (*place, seal(score, *place, "score")))

    def _encode_exchange(self, connection: sqlite3.Connection, event: Exchange) -> tuple[Any, ...]:
        kept = (_EXCHANGE, event.role, event.model, event.branch, event.key)
        if event.key:
            return *kept, b"", None
        return *kept, put_messages(connection, self._texts, event.messages), event.reply


_EPISODES = """
SELECT item.body, text.body, item.id, episode.repeat, episode.outcome, episode.failure_kind, episode.failure, score.body
FROM item
JOIN text ON text.hash = item.body
JOIN episode ON episode.run = item.run AND episode.task = item.task AND episode.item = item.id
LEFT JOIN score ON score.run = item.run AND score.task = item.task AND score.item = item.id
  AND score.repeat = episode.repeat
WHERE item.run = ? AND item.task = ? {more}
ORDER BY item.position, episode.repeat
"""
_WALK, _WALK_ONE = _EPISODES.format(more=""), _EPISODES.format(more="AND item.id = ?")
_SCORED = """
SELECT item.id, episode.repeat, episode.failure_kind, episode.failure, score.body
FROM item
JOIN episode ON episode.run = item.run AND episode.task = item.task AND episode.item = item.id
LEFT JOIN score ON score.run = item.run AND score.task = item.task AND score.item = item.id
  AND score.repeat = episode.repeat
WHERE item.run = ? AND item.task = ?
ORDER BY item.position, episode.repeat
LIMIT ? OFFSET ?
"""
_PUT_SCORE = "INSERT OR REPLACE INTO score (run, task, item, repeat, body) VALUES (?, ?, ?, ?, ?)"


def _encode_note(note: Noted) -> tuple[Any, ...]:
    return _NOTE, note.kind, _encode_events(note.facts), note.branch


def _replace_scores(
    connection: sqlite3.Connection, run: str, task: str, scores: Mapping[tuple[str, int], bytes | Failure]
) -> None:
    connection.execute("DELETE FROM score WHERE run = ? AND task = ?", (run, task))
    for (item, repeat), score in scores.items():
        place = (run, task, item, repeat)
        failure = (score.kind, score.message) if isinstance(score, Failure) else (None, None)
        connection.execute(
            "UPDATE episode SET failure_kind = ?, failure = ? WHERE run = ? AND task = ? AND item = ? AND repeat = ?",
            (*failure, *place),
        )
        if not isinstance(score, Failure):
            connection.execute(_PUT_SCORE, (*place, seal(score, *place, "score")))
