# ruff: noqa: S608  (the only text put into statements is the clock's)
"""The processes that share the runs of a PostgreSQL store: which are active, what each plays, how much each may send.

A worker is a row with a time at which it expires, by the database's clock, and renews it every second. What it holds
(episodes to play, places in flight) is free again when it leaves or expires. Rows are locked in one order: run,
allowance, worker, lease, endpoint, slot.
"""

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TypeVar

from msgspec import Struct

from sociometer.core.errors import StoreError
from sociometer.store.database import Connection, Database, Table, patiently

LEASE_SECONDS = 60.0
"""The time after which a worker that does not renew its leases has lost them."""
_NOW = "extract(epoch FROM clock_timestamp())::double precision"
_LEASE = Table("lease", ("run", "task", "item", "repeat", "position"), 4)
_NO_CAP = 1 << 62
_END = (
    "DELETE FROM lease USING unnest(?::text[], ?::text[], ?::text[], ?::bigint[]) AS done (run, task, item, repeat)"
    " WHERE lease.run = done.run AND lease.task = done.task AND lease.item = done.item AND lease.repeat = done.repeat"
)
_GIVE_BACK = (
    "WITH mine AS MATERIALIZED (SELECT run, task, item, repeat FROM lease WHERE worker = ?"
    " ORDER BY run, task, item, repeat FOR UPDATE)"
    " UPDATE lease SET worker = NULL FROM mine WHERE lease.run = mine.run AND lease.task = mine.task"
    " AND lease.item = mine.item AND lease.repeat = mine.repeat"
)
Value = TypeVar("Value")
Caps = tuple[int | None, int | None, float | None]
"""The caps on requests, tokens and cost."""
Amount = tuple[int, int, float]
"""Requests, tokens and cost."""
Job = tuple[str, str, int]
"""A task, an item's id and a repeat."""


class WorkerRow(Struct, frozen=True):
    """A process that plays a run."""

    id: str
    run: str
    host: str
    seconds: float
    """Since it joined."""
    expires_in: float
    leases: int
    facts: str
    """Its counters as JSON, as it last reported them."""


class EndpointState(Struct, frozen=True):
    """What all workers know about a server: the limit of requests in flight, and how long to wait."""

    bound: float
    epoch: int
    wait_seconds: float


class Pulse(Struct, frozen=True):
    """What a worker learns when it renews its leases."""

    live: int
    """The number of workers of the run."""
    status: str
    """The status of the run; another worker may have stopped it."""
    endpoints: dict[str, EndpointState]


class Setup(Struct, frozen=True):
    """What the first worker of a run stores for all: what is left to play, what was spent, and the caps."""

    jobs: Iterable[Job]
    spent: Amount
    caps: Caps


class LostLeases(StoreError):
    """The worker has expired: others play its episodes now."""


class RunHeld(StoreError):
    """Another process holds the run exclusively or is playing it."""


def end_leases(connection: Connection, places: Sequence[tuple[str, str, str, int]]) -> None:
    """Take episodes off the list of those that are left to play."""
    connection.execute(_END, [list(column) for column in zip(*places, strict=True)])


class Workers:
    """The workers of all runs."""

    def __init__(self, database: Database, reader: Connection) -> None:
        self._database = database
        self._reader = reader

    def is_played(self, run: str) -> bool:
        """Whether a worker is playing the run now."""
        query = f"SELECT 1 FROM worker WHERE run = ? AND expires > {_NOW} LIMIT 1"
        return self._reader.execute(query, (run,)).fetchone() is not None

    def all(self) -> list[WorkerRow]:
        """The workers of all runs, oldest first."""
        query = (
            f"SELECT id, run, host, {_NOW} - started, expires - {_NOW},"
            " (SELECT count(*) FROM lease WHERE lease.worker = worker.id), facts"
            f" FROM worker WHERE expires > {_NOW} ORDER BY run, started, id"
        )
        return [WorkerRow(*row) for row in self._reader.execute(query)]

    def refresh_statistics(self) -> None:
        """Update the database's statistics: without them, queries on a run that has just ended are slow."""
        self._reader.execute("ANALYZE item, episode, score, journal, text")

    def left(self, run: str) -> int:
        """How many episodes of a run are left to play."""
        return int(self._reader.execute("SELECT count(*) FROM lease WHERE run = ?", (run,)).fetchone()[0])

    @contextmanager
    def hold(self, run: str, seconds: float = LEASE_SECONDS) -> "Iterator[Worker]":
        """Hold a run exclusively, as its only worker; a thread renews the lease."""
        worker = Worker(self._database, run, seconds)
        ended = threading.Event()

        def renew() -> None:
            with suppress(StoreError):
                while not ended.wait(seconds / 6):
                    worker.pulse()

        try:
            worker.join(alone=True)
            thread = threading.Thread(target=renew, name="store-hold", daemon=True)
            thread.start()
            try:
                yield worker
            finally:
                ended.set()
                thread.join()
                worker.leave()
        finally:
            worker.close()


class Worker:
    """This process as a worker of one run; its methods wait for the database and may be called from any thread."""

    def __init__(self, database: Database, run: str, seconds: float = LEASE_SECONDS) -> None:
        self.run = run
        self.seconds = seconds
        self.id = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        self._database = database
        self._connection = database.connect()
        self._lock = threading.Lock()

    def join(self, *, alone: bool = False, first: Callable[[], Setup] | None = None) -> bool:
        """Become a worker of the run; return whether there was no other.

        The first worker also stores what `first` gives. A RunHeld error if a process holds the run exclusively or,
        with `alone`, if it has any worker.
        """

        def enter(connection: Connection) -> bool:
            if not connection.execute("SELECT 1 FROM run WHERE id = ? FOR NO KEY UPDATE", (self.run,)).fetchone():
                raise StoreError(f"{self._database.place}: there is no run {self.run}.")
            self._reap(connection)
            query = "SELECT id, alone FROM worker WHERE run = ? ORDER BY id"
            others = connection.execute(query, (self.run,)).fetchall()
            if others and (alone or any(row[1] for row in others)):
                raise RunHeld(f"run {self.run} is in progress in process {others[0][0]}; wait for it, or stop it.")
            if not others and first is not None:
                self._set_up(connection, first())
            connection.execute(
                "INSERT INTO worker (id, run, alone, host, started, expires, reserved, facts)"
                f" VALUES (?, ?, ?, ?, {_NOW}, {_NOW} + ?, 0, '{{}}')",
                (self.id, self.run, int(alone), socket.gethostname(), self.seconds),
            )
            return not others

        return self._transaction(enter)

    def _set_up(self, connection: Connection, setup: Setup) -> None:
        connection.execute(
            "UPDATE run SET status = 'playing', finished = NULL, totals = NULL WHERE id = ?", (self.run,)
        )
        for table in ("lease", "endpoint", "allowance", "summary"):
            connection.execute(f"DELETE FROM {table} WHERE run = ?", (self.run,))
        rows = [(self.run, *job, position) for position, job in enumerate(setup.jobs)]
        self._database.insert(connection, _LEASE, rows)
        # Without statistics of the new rows, each lease would be looked for in all of them.
        connection.execute("ANALYZE lease")
        connection.execute(
            "INSERT INTO allowance (run, requests, tokens, cost, max_requests, max_tokens, max_cost)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self.run, *setup.spent, *setup.caps),
        )

    def caps(self) -> Caps:
        """The caps of the run, as the first worker stored them."""
        query = "SELECT max_requests, max_tokens, max_cost FROM allowance WHERE run = ?"
        row = self._transaction(lambda connection: connection.execute(query, (self.run,)).fetchone())
        return row[0], row[1], row[2]

    def at_most(self) -> Amount:
        """What the run has spent at most, with everything that is reserved."""
        query = "SELECT requests, tokens, cost FROM allowance WHERE run = ?"
        row = self._transaction(lambda connection: connection.execute(query, (self.run,)).fetchone())
        return (int(row[0]), int(row[1]), float(row[2])) if row else (0, 0, 0.0)

    def leave(self) -> None:
        """Give back everything that is held."""
        self._transaction(lambda connection: self._remove(connection, self.id))

    def close(self) -> None:
        """Close the connection; what is held expires unless `leave` was called."""
        self._connection.close()

    def pulse(self, facts: str = "{}") -> Pulse:
        """Renew all leases and report the counters; raise LostLeases if they have expired."""

        def renew(connection: Connection) -> tuple[int, Pulse]:
            renewed = connection.execute(
                f"UPDATE worker SET expires = {_NOW} + ?, facts = ? WHERE id = ? AND expires > {_NOW}",
                (self.seconds, facts, self.id),
            )
            if not renewed.rowcount:
                raise LostLeases(f"worker {self.id} has lost its leases on run {self.run}")
            every, live = connection.execute(
                f"SELECT count(*), count(*) FILTER (WHERE expires > {_NOW}) FROM worker WHERE run = ?", (self.run,)
            ).fetchone()
            status = connection.execute("SELECT status FROM run WHERE id = ?", (self.run,)).fetchone()[0]
            rows = connection.execute(
                f"SELECT name, bound, epoch, greatest(0, open_at - {_NOW}) FROM endpoint WHERE run = ?", (self.run,)
            )
            endpoints = {name: EndpointState(*state) for name, *state in rows}
            return int(every) - int(live), Pulse(int(live), status, endpoints)

        dead, pulse = self._transaction(renew)
        if dead:
            self._transaction(self._reap)
        return pulse

    def take(self, count: int) -> list[Job]:
        """Leases on free episodes, in their order; fewer if there are not so many."""

        def take(connection: Connection) -> list[Job]:
            query = (
                "WITH free AS MATERIALIZED (SELECT run, task, item, repeat FROM lease"
                " WHERE run = ? AND worker IS NULL ORDER BY position LIMIT ? FOR UPDATE SKIP LOCKED)"
                " UPDATE lease SET worker = ? FROM free WHERE lease.run = free.run AND lease.task = free.task"
                " AND lease.item = free.item AND lease.repeat = free.repeat"
                f" AND EXISTS (SELECT 1 FROM worker WHERE id = ? AND expires > {_NOW})"
                " RETURNING position, lease.task, lease.item, lease.repeat"
            )
            found = connection.execute(query, (self.run, count, self.id, self.id)).fetchall()
            return [(task, item, int(repeat)) for _, task, item, repeat in sorted(found)]

        if found := self._transaction(take):
            return found
        self._transaction(self._reap)
        return self._transaction(take)

    def give_back(self) -> None:
        """Release this worker's leases, so that others can play these episodes."""
        self._transaction(lambda connection: connection.execute(_GIVE_BACK, (self.id,)))

    def left(self) -> int:
        """How many episodes are left to play, by any worker."""
        query = "SELECT count(*) FROM lease WHERE run = ?"
        return int(self._transaction(lambda connection: connection.execute(query, (self.run,)).fetchone()[0]))

    def open_endpoint(self, name: str, ceiling: int) -> None:
        """Store the limit of requests in flight to a server, unless another worker has done so."""
        insert = "INSERT INTO endpoint VALUES (?, ?, ?, ?, 0, 0, 0) ON CONFLICT (run, name) DO NOTHING"
        self._transaction(lambda connection: connection.execute(insert, (self.run, name, ceiling, float(ceiling))))

    def slots(self, name: str, wanted: int) -> int:
        """Hold so many places in flight, or as many as are free; return how many are held now."""

        def change(connection: Connection) -> int:
            row = connection.execute(
                "SELECT floor(bound)::bigint - taken FROM endpoint WHERE run = ? AND name = ? FOR UPDATE",
                (self.run, name),
            ).fetchone()
            mine = connection.execute("SELECT held FROM slot WHERE worker = ? AND endpoint = ?", (self.id, name))
            held = int((mine.fetchone() or (0,))[0])
            more = min(wanted - held, max(0, int(row[0])))
            if more:
                connection.execute(
                    "UPDATE endpoint SET taken = taken + ? WHERE run = ? AND name = ?", (more, self.run, name)
                )
                connection.execute(
                    "INSERT INTO slot VALUES (?, ?, ?)"
                    " ON CONFLICT (worker, endpoint) DO UPDATE SET held = excluded.held",
                    (self.id, name, held + more),
                )
            return held + more

        return self._transaction(change)

    def slow_down(self, name: str, epoch: int, retry_after_seconds: float) -> None:
        """Halve the limit of a server for all workers, once for each burst, and make them wait as long as it asked."""
        update = (
            "UPDATE endpoint SET bound = CASE WHEN epoch = ? THEN greatest(1, bound / 2) ELSE bound END,"
            " epoch = CASE WHEN epoch = ? THEN epoch + 1 ELSE epoch END,"
            f" open_at = greatest(open_at, {_NOW} + ?) WHERE run = ? AND name = ?"
        )
        values = (epoch, epoch, retry_after_seconds, self.run, name)
        self._transaction(lambda connection: connection.execute(update, values))

    def recover(self, name: str, replies: int) -> None:
        """Raise the limit of a server again, by one for each full round of replies."""
        update = (
            "UPDATE endpoint SET bound = least(ceiling, bound + ?::double precision / bound)"
            " WHERE run = ? AND name = ? AND bound < ceiling"
        )
        self._transaction(lambda connection: connection.execute(update, (replies, self.run, name)))

    def reserve(self, more: Amount, reserved: int, *, within_caps: bool = True) -> bool:
        """Change what the run may spend at most, if it stays within its caps; one atomic update.

        `reserved` is how many requests this worker may still send or has in flight.
        """
        condition = (
            " AND requests + ? <= coalesce(max_requests, ?) AND tokens + ? <= coalesce(max_tokens, ?)"
            " AND cost + ? <= coalesce(max_cost, ?)"
        )
        limits = (more[0], _NO_CAP, more[1], _NO_CAP, more[2], float(_NO_CAP)) if within_caps else ()

        def change(connection: Connection) -> bool:
            changed = connection.execute(
                "UPDATE allowance SET requests = requests + ?, tokens = tokens + ?, cost = cost + ? WHERE run = ?"
                + (condition if within_caps else ""),
                (*more, self.run, *limits),
            )
            if not changed.rowcount:
                return False
            # An expired worker was charged for what it had reserved: it may neither reserve nor give back any more.
            told = connection.execute(
                f"UPDATE worker SET reserved = ? WHERE id = ? AND expires > {_NOW}", (reserved, self.id)
            )
            if not told.rowcount:
                raise LostLeases(f"worker {self.id} has lost its leases on run {self.run}")
            return True

        return self._transaction(change)

    def others_reserve(self) -> bool:
        """Whether another worker may still release what it has reserved."""
        query = f"SELECT 1 FROM worker WHERE run = ? AND id <> ? AND reserved > 0 AND expires > {_NOW} LIMIT 1"
        values = (self.run, self.id)
        return self._transaction(lambda connection: connection.execute(query, values).fetchone()) is not None

    def _transaction(self, work: Callable[[Connection], Value]) -> Value:
        def once() -> Value:
            try:
                self._database.begin(self._connection)
                done = work(self._connection)
                self._connection.execute("COMMIT")
                return done
            except BaseException:
                self._database.rollback(self._connection)
                raise

        with self._lock:
            return patiently(once)

    def _reap(self, connection: Connection) -> None:
        """Free what expired workers held."""
        dead = connection.execute(
            f"SELECT id FROM worker WHERE run = ? AND expires <= {_NOW} ORDER BY id FOR UPDATE SKIP LOCKED",
            (self.run,),
        ).fetchall()
        for (worker,) in dead:
            self._remove(connection, worker)

    def _remove(self, connection: Connection, worker: str) -> None:
        connection.execute("SELECT 1 FROM worker WHERE id = ? FOR UPDATE", (worker,))
        connection.execute(_GIVE_BACK, (worker,))
        slots = connection.execute("SELECT endpoint, held FROM slot WHERE worker = ? ORDER BY endpoint", (worker,))
        for endpoint, held in slots.fetchall():
            connection.execute(
                "UPDATE endpoint SET taken = taken - ? WHERE run = ? AND name = ?", (held, self.run, endpoint)
            )
        connection.execute("DELETE FROM slot WHERE worker = ?", (worker,))
        connection.execute("DELETE FROM worker WHERE id = ?", (worker,))
