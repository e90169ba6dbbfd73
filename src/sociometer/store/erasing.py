"""Deletes the data of a person: the run, the replies, and every text that no other row uses."""

import msgspec

from sociometer.core.conversation import Identity
from sociometer.store.database import Connection
from sociometer.store.runs import TABLES_OF_A_RUN
from sociometer.store.texts import split_hashes, unseal

_encode_identity = msgspec.json.Encoder(order="deterministic").encode
_decode_events = msgspec.msgpack.Decoder(tuple[tuple[object, ...], ...]).decode


def erase_run(connection: Connection, run: str, identity: Identity) -> None:
    """Deletes a run with all replies to it; must be called inside a transaction."""
    who = connection.execute(
        "SELECT id FROM model WHERE identity = ?", (_encode_identity(identity).decode(),)
    ).fetchone()
    theirs, values = "run = ? OR model = ?", (run, who[0] if who else -1)
    texts = {
        text
        for (joined,) in connection.execute(f"SELECT messages FROM journal WHERE {theirs}", values)  # noqa: S608
        for text in split_hashes(joined)
    }
    texts |= {body for (body,) in connection.execute("SELECT body FROM item WHERE run = ?", (run,))}
    texts |= _texts_of_episodes(connection, "run = ?", run)
    connection.execute(f"DELETE FROM journal WHERE {theirs}", values)  # noqa: S608
    for table in TABLES_OF_A_RUN:
        connection.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608
    connection.execute("DELETE FROM run WHERE id = ?", (run,))
    if who:
        connection.execute("DELETE FROM model WHERE id = ?", who)
    texts -= _needed(connection, texts)
    for text in sorted(texts):
        connection.execute("DELETE FROM text WHERE hash = ?", (text,))


def _needed(connection: Connection, texts: set[bytes]) -> set[bytes]:
    """Those of the texts that other rows refer to."""
    found: set[bytes] = set()
    for (joined,) in connection.execute("SELECT messages FROM journal"):
        found.update(text for text in split_hashes(joined) if text in texts)
    for (body,) in connection.execute("SELECT DISTINCT body FROM item"):
        if body in texts:
            found.add(body)
    return found | (_texts_of_episodes(connection) & texts)


def _texts_of_episodes(connection: Connection, where: str = "1 = 1", *values: str) -> set[bytes]:
    """The texts that transcripts refer to directly, for players whose replies the journal does not store."""
    found: set[bytes] = set()
    query = f"SELECT run, task, item, repeat, events FROM episode WHERE {where}"  # noqa: S608
    for run, task, item, repeat, events in connection.execute(query, values):
        for event in _decode_events(unseal(events, run, task, item, repeat, "events")):
            if event[0] == "heard" and isinstance(event[5], bytes):
                found.update(split_hashes(event[5]))
    return found
