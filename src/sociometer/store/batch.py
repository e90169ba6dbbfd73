"""The rows of one transaction, written table by table and in the order of their keys.

Two processes that write the same rows (the same prompt, the same item) then take them in the same order, so that
they cannot deadlock.
"""

from typing import Any

from sociometer.store.database import Connection, Cursor, Database, Table
from sociometer.store.workers import end_leases

_EPISODE = ("outcome", "failure_kind", "failure", "events", "created")
TEXT = Table("text", ("hash", "body"), 1)
ITEM = Table("item", ("run", "task", "id", "position", "body"), 3)
JOURNAL = Table(
    "journal",
    ("key", "model", "run", "messages", "reply", "input_tokens", "output_tokens", "cost", "charged_tokens",
     "charged_cost", "created"),
    1,
)  # fmt: skip
EPISODE = Table(
    "episode",
    ("run", "task", "item", "repeat", *_EPISODE),
    4,
    # A failure never replaces an outcome: it may come late, from a process that has lost its lease.
    f"DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _EPISODE)}"
    " WHERE excluded.outcome IS NOT NULL OR episode.outcome IS NULL",
)
SCORE = Table("score", ("run", "task", "item", "repeat", "body"), 4, "DO UPDATE SET body = excluded.body")
SUMMARY = Table("summary", ("run", "task", "body"), 2, "DO UPDATE SET body = excluded.body")
ATTEMPT = Table(
    "attempt", ("run", "input_tokens", "output_tokens", "cost", "charged_tokens", "charged_cost", "created"), 0
)
ALLOWANCE = Table(
    "allowance",
    ("run", "requests", "tokens", "cost"),
    1,
    "DO UPDATE SET requests = excluded.requests, tokens = excluded.tokens, cost = excluded.cost",
)
_ORDER = (TEXT, ITEM, JOURNAL, EPISODE, SCORE, SUMMARY, ATTEMPT, ALLOWANCE)
_KEYS_AT_ONCE = 500


class Batch:
    """Gathers rows until they are written; a single statement runs after the rows before it."""

    def __init__(self, database: Database, connection: Connection) -> None:
        self._database = database
        self._connection = connection
        self._rows: dict[str, dict[Any, tuple[Any, ...]]] = {table.name: {} for table in _ORDER}
        self._replies: dict[bytes, bytes] = {}
        self._ended: list[tuple[str, str, str, int]] = []
        self._pending = False

    def put(self, table: Table, row: tuple[Any, ...]) -> None:
        """Add a row; of two with the same key the last is written, where the table replaces rows."""
        rows = self._rows[table.name]
        self._pending = True
        if not table.key:
            rows[len(rows)] = row
        elif table.on_conflict == "DO NOTHING":
            first = rows.setdefault(row[: table.key], row)
            if table is JOURNAL and first is not row:
                self._replies[row[0]] = first[4]
        else:
            rows[row[: table.key]] = row

    def end_lease(self, run: str, task: str, item: str, repeat: int) -> None:
        """Take an episode off the list of those that are left to play, together with its row."""
        self._ended.append((run, task, item, repeat))
        self._pending = True

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> Cursor:
        """Run a statement after all rows before it."""
        return self.connection.execute(statement, values)

    @property
    def connection(self) -> Connection:
        """The connection, after all rows so far are written."""
        self.write()
        return self._connection

    def lock_table(self, table: str) -> None:
        """Prevent other transactions from writing to the table until this one ends."""
        self._database.lock_table(self.connection, table)

    def model(self, identity: str) -> int:
        """The number of a model, which is added if it is new."""
        find = "SELECT id FROM model WHERE identity = ?"
        row = self._connection.execute(find, (identity,)).fetchone()
        if row is None:
            self._connection.execute("INSERT INTO model (identity) VALUES (?) ON CONFLICT DO NOTHING", (identity,))
            row = self._connection.execute(find, (identity,)).fetchone()
        return int(row[0])

    def other_reply(self, key: bytes, mine: bytes) -> bytes | None:
        """The stored reply of a key if it is not `mine`; call it after writing."""
        stored = self._replies.get(key, mine)
        return None if stored == mine else stored

    def write(self) -> None:
        """Write the rows so far."""
        if not self._pending:
            return
        self._pending = False
        for table in _ORDER:
            rows = self._rows[table.name]
            if rows:
                ordered = [rows[key] for key in sorted(rows)] if table.key else list(rows.values())
                written = self._database.insert(self._connection, table, ordered)
                if table is JOURNAL and written < len(ordered):
                    self._look_up([row[0] for row in ordered])
                rows.clear()
        if self._ended:
            end_leases(self._connection, sorted(self._ended))
            self._ended.clear()

    def _look_up(self, keys: list[bytes]) -> None:
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            part = keys[start : start + _KEYS_AT_ONCE]
            marks = ", ".join("?" for _ in part)
            self._replies.update(
                self._connection.execute(f"SELECT key, reply FROM journal WHERE key IN ({marks})", part)  # noqa: S608
            )
