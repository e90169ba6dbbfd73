"""Deletes a person: a run, every reply to it, what was made from their words, and the traces in the files.

That a participant asks for it is in the study book first, and the participant leaves the book last. If anything between
fails or is killed, all of it is done again when the store is next opened for writing.
"""

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from sociometer.core.conversation import Identity, Reply
from sociometer.core.errors import Busy, SociometerError, hint
from sociometer.store import studies
from sociometer.store.database import Connection, Database, transaction
from sociometer.store.episodes import EVENTS
from sociometer.store.labels import LabelBook, book_path
from sociometer.store.records import Manifest, RunStatus
from sociometer.store.runs import TABLES_OF_A_RUN
from sociometer.store.texts import get_texts, read_sealed, split_hashes, unseal

LEAST_CHARACTERS = 20
"""An answer that is shorter may be somebody else's too, so it does not identify a person's words elsewhere."""
_LEAST_BYTES = 6
"""The same in requests of runs that were made from a person's: two Chinese characters, or six letters."""
_encode_identity = msgspec.json.Encoder(order="deterministic").encode
_decode_kept = msgspec.msgpack.Decoder(tuple[tuple[object, ...], ...]).decode
_decode_reply = msgspec.msgpack.Decoder(Reply).decode
_decode_manifest = msgspec.json.Decoder(Manifest).decode


class Erased(Struct, frozen=True):
    """What was deleted of a person; `shared_texts` stay, because other runs have the same questions."""

    answers: int = 0
    texts: int = 0
    analyses: int = 0
    """Runs that a command made from the person's answers."""
    units: int = 0
    """What raters were given to label."""
    labels: int = 0
    shared_texts: int = 0


class Withdrawing(Busy):
    """A participant has asked to withdraw and is not erased yet."""


Forget = Callable[[], None]
"""Makes an open store forget what it has read, so that it takes nothing for stored that is being deleted."""


def withdraw(database: Database, participant: str, forget: Forget) -> Erased:
    """Erases a participant of a study; Withdrawing if that must be finished later: then the answers count nowhere."""
    for book in studies.study_books(database.place):
        book.begin_withdrawal(participant, finished=_has_finished(database, book, participant))
        for one in book.withdrawing(participant):
            try:
                return _finish(database, book, one, forget)
            except SociometerError as error:
                raise Withdrawing(
                    f"the withdrawal of {participant} is not finished: {error} The rest is deleted when the store is"
                    f" next written to, or by '{hint('study withdraw', one.study, participant)}'."
                ) from error
    return Erased()


def _has_finished(database: Database, book: studies.StudyBook, participant: str) -> bool:
    """Whether somebody has answered everything."""
    current = book.participant(participant)
    if current is None or len(current.runs) < len(book.study(current.study).parts) or not database.is_current():
        return False
    with database.errors(), closing(database.connect(writable=False)) as connection:
        rows = [connection.execute("SELECT status FROM run WHERE id = ?", (run,)).fetchone() for run in current.runs]
    return all(row is not None and row[0] == RunStatus.FINISHED for row in rows)


def delete_study(database: Database, study: str, forget: Forget) -> int:
    """Erases all participants of a study, then the study; returns their number. If it fails, nobody counts any more."""
    everyone: list[studies.Participant] = []
    for book in studies.study_books(database.place):
        everyone += book.participants(study)
        for one in everyone:
            book.begin_withdrawal(one.id)
        # The last one's answers sweep the traces of all, so it is somebody who has some.
        everyone = sorted((one for one in book.withdrawing() if one.study == study), key=lambda one: bool(one.runs))
        for number, one in enumerate(everyone, 1):
            _finish(database, book, one, forget, sweep=number == len(everyone))
        book.delete(study)
    return len(everyone)


def finish_withdrawals(database: Database, forget: Forget) -> None:
    """Erases all participants who have asked for it; one whose run another process holds is left for later."""
    with suppress(SociometerError):
        for book in studies.study_books(database.place) if studies.unfinished_withdrawals(database.place) else ():
            for one in book.withdrawing():
                with suppress(SociometerError):
                    _finish(database, book, one, forget)
            book.sweep()


def _finish(
    database: Database, book: studies.StudyBook, one: studies.Participant, forget: Forget, *, sweep: bool = True
) -> Erased:
    erased, runs = Erased(), {*one.runs}
    if database.is_current():
        with database.errors(), closing(database.connect(writable=False)) as connection:
            # A run that was made just before a kill is not in the book yet.
            query = "SELECT id FROM run WHERE name = ? OR name LIKE ?"
            named = connection.execute(
                query, (studies.run_name(one.study, one.id), studies.run_name(f"{one.study}.%", one.id))
            )
            runs.update(run for (run,) in named)
        erased = erase_person(database, runs, studies.identity_of(one.id), forget, sweep=sweep) if runs else erased
    book.end_withdrawal(one, sweep=sweep)
    return erased


def erase_person(
    database: Database, runs: Collection[str], identity: Identity, forget: Forget, *, sweep: bool = True
) -> Erased:
    """Deletes runs, that player's replies to any run, and everything made from them; `sweep` leaves no trace in files.

    If another process holds one of the runs, what was made from them is deleted, and they stay.
    """
    units, labels, busy = 0, 0, None
    with database.errors(), closing(database.connect()) as connection, ExitStack() as held:
        try:
            for run in runs:
                held.enter_context(database.hold(run))
        except Busy as error:
            busy = error
        with transaction(database, connection):
            forget()
            erased, words, found = _erase_runs(connection, runs, identity, keep=busy is not None)
            # Before the commit: only the store has the words by which to find what raters have.
            if isinstance(database.place, Path) and book_path(database.place).exists():
                with closing(LabelBook(book_path(database.place))) as book:
                    units, labels = book.erase(found, words)
        if busy is not None:
            raise busy
        if sweep:
            database.remove_traces(connection)
    return structs.replace(erased, units=units, labels=labels)


def _erase_runs(
    connection: Connection, runs: Collection[str], identity: Identity, *, keep: bool
) -> tuple[Erased, tuple[str, ...], tuple[str, ...]]:
    """Deletes the rows, or `keep`s those of the runs themselves.

    Returns what they were, the words of the person, and the runs that had them.
    """
    who = connection.execute(
        "SELECT id FROM model WHERE identity = ?", (_encode_identity(identity).decode(),)
    ).fetchone()
    model = who[0] if who else -1
    replies = connection.execute("SELECT key, reply FROM journal WHERE model = ?", (model,)).fetchall()
    said = list(_said_elsewhere(connection, runs))
    for key, reply in replies:
        with suppress(msgspec.DecodeError):  # a vector of a text, not words
            said.append(_decode_reply(unseal(reply, bytes(key))).text)
    every = dict.fromkeys(word for text in said for word in words_in(text))
    words = tuple(word for word in every if len(word) >= LEAST_CHARACTERS)
    short = tuple(word for word in every if len(word.encode("utf-8", "replace")) >= _LEAST_BYTES)
    derived, requests = _made_from(connection, runs, words, short)
    texts = _texts_of(connection, (*runs, *derived), model, requests)
    for key in sorted(requests):
        connection.execute("DELETE FROM journal WHERE key = ?", (key,))
    own = () if keep else runs
    for one in own:
        connection.execute("DELETE FROM journal WHERE run = ? OR model = ?", (one, model))
        connection.execute("DELETE FROM model WHERE id = ?", (model,))
    for one in (*own, *derived):
        for table in TABLES_OF_A_RUN:
            connection.execute(f"DELETE FROM {table} WHERE run = ?", (one,))  # noqa: S608
        connection.execute("DELETE FROM run WHERE id = ?", (one,))
    shared = _needed(connection, texts)
    for text in sorted(texts - shared):
        connection.execute("DELETE FROM text WHERE hash = ?", (text,))
    erased = Erased(len(replies), len(texts) - len(shared), len(derived), shared_texts=len(shared))
    return erased, words, (*runs, *derived)


def words_in(reply: str) -> Iterator[str]:
    """What somebody wrote in a reply."""
    try:
        made = json.loads(reply)
    except ValueError:
        made = reply
    said = made.values() if isinstance(made, dict) else (made,)
    yield from (one.strip() for one in said if isinstance(one, str) and one.strip())


def _said_elsewhere(connection: Connection, runs: Collection[str]) -> Iterator[str]:
    """What a person said in runs that were imported, whose replies are in their transcripts."""
    for run in runs:
        for event in _events(connection, "run = ?", run):
            if event[0] == "heard" and event[2] == studies.PERSON and event[6] is not None:
                yield msgspec.convert(event[6], Reply).text


def _made_from(
    connection: Connection, runs: Collection[str], words: tuple[str, ...], short: tuple[str, ...]
) -> tuple[list[str], set[bytes]]:
    """The runs that a command made from these, such as a judge's, and the journal keys of requests with the words.

    Other people's own runs never count, even if somebody wrote the same sentence. In requests of those that were made
    from them, `short` words count too.
    """
    own, made, known = set(runs), list[str](), dict[tuple[bytes, bool], bool]()
    escaped = [json.dumps(one, ensure_ascii=False)[1:-1] for one in words]  # as in an item, which is JSON

    def theirs(text: bytes, also_short: bool = False) -> bool:
        if (text, also_short) not in known:
            (body,) = get_texts(connection, (text,))
            shown = body.decode("utf-8", "replace")
            known[text, also_short] = any(one in shown for one in (*runs, *words, *escaped, *(short * also_short)))
        return known[text, also_short]

    columns = "manifest, id, instrument, subject, config_hash, name, created"
    for manifest, name, *labels in connection.execute(f"SELECT {columns} FROM run").fetchall():  # noqa: S608
        if name in own or not read_sealed(_decode_manifest, manifest, name, *labels).given_items:
            own.add(name)
            continue
        bodies = connection.execute("SELECT DISTINCT body FROM item WHERE run = ?", (name,)).fetchall()
        if any(theirs(bytes(body)) for (body,) in bodies):
            made.append(name)
    rows = connection.execute("SELECT key, run, messages FROM journal").fetchall() if short else []
    keys = {
        bytes(key)
        for key, of, messages in rows
        if of not in own and any(theirs(text, of in made) for text in split_hashes(bytes(messages)))
    }
    return made, keys


def _texts_of(connection: Connection, runs: Collection[str], model: int, requests: Collection[bytes]) -> set[bytes]:
    """The texts that the rows to delete refer to."""
    found: set[bytes] = set()
    for key in requests:
        (joined,) = connection.execute("SELECT messages FROM journal WHERE key = ?", (key,)).fetchone() or (b"",)
        found.update(split_hashes(bytes(joined)))
    for run in runs:
        rows = connection.execute("SELECT messages FROM journal WHERE run = ? OR model = ?", (run, model))
        found.update(text for (joined,) in rows for text in split_hashes(bytes(joined)))
        found.update(bytes(body) for (body,) in connection.execute("SELECT body FROM item WHERE run = ?", (run,)))
        found |= _texts_of_episodes(connection, "run = ?", run)
    return found


def _needed(connection: Connection, texts: set[bytes]) -> set[bytes]:
    """Those of the texts that other rows refer to."""
    found: set[bytes] = set()
    for (joined,) in connection.execute("SELECT messages FROM journal"):
        found.update(text for text in split_hashes(bytes(joined)) if text in texts)
    found.update(bytes(body) for (body,) in connection.execute("SELECT DISTINCT body FROM item") if body in texts)
    return found | (_texts_of_episodes(connection) & texts)


def _texts_of_episodes(connection: Connection, where: str = "1 = 1", *values: str) -> set[bytes]:
    """The texts that transcripts refer to directly, for players whose replies the journal does not store."""
    heard = (event[5] for event in _events(connection, where, *values) if event[0] == "heard")
    return {text for joined in heard if isinstance(joined, bytes) for text in split_hashes(joined)}


def _events(connection: Connection, where: str, *values: str) -> Iterator[tuple[object, ...]]:
    """The events of episodes as they are stored."""
    query = f"SELECT run, task, item, repeat, {EVENTS} FROM episode WHERE {where}"  # noqa: S608
    for run, task, item, repeat, events, *failure in connection.execute(query, values):
        yield from read_sealed(_decode_kept, events, run, task, item, repeat, "events", *failure)
