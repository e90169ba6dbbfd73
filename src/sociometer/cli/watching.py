"""`sociometer runs --watch`: the runs in progress, over all their workers, updated until Ctrl-C."""

import sys
import time
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from sociometer.cli.output import print_line, print_table
from sociometer.core.errors import UsageError
from sociometer.core.measure import Table
from sociometer.reporting.progress import cost_in_words
from sociometer.store.place import StorePlace
from sociometer.store.records import RunRecord, RunStatus
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.workers import WorkerRow

_MANY = 1_000
_SUM_SECONDS = 10.0
_decode = msgspec.json.Decoder(dict[str, float]).decode


class WatchedRun(Struct, frozen=True):
    """A run in progress: what is done, how fast, what it costs, and who plays it."""

    run: str
    subject: str
    done: int
    failed: int
    planned: int
    rate: float | None
    """Episodes per second since the last update; None at the first."""
    requests: int
    tokens: int
    cost: str
    leases: int
    left: int | None
    """Episodes that are left to play; None if the run is played by one process on a store file."""
    workers: tuple[dict[str, str | float], ...] = ()


def watch_runs(path: StorePlace, every: float, as_json: bool) -> None:
    """Show the runs in progress until Ctrl-C or until none is left; with `as_json`, one line per update."""
    if not path.exists():
        raise UsageError(f"there is no store at {path}; start a run first.")
    with Store(path) as store:
        for number, looked in enumerate(_looks(store, every)):
            if as_json:
                print_line(msgspec.json.encode(looked).decode())
            else:
                _print(looked, number)
            sys.stdout.flush()
            if not looked:
                return


def _looks(store: Store, every: float) -> Iterator[list[WatchedRun]]:
    before: dict[str, tuple[float, int]] = {}
    watch = Watch(store)
    while True:
        yield watch.look(before)
        time.sleep(every)


class Watch:
    """Reads a store repeatedly; sums that grow with a run are computed less often."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._spent: dict[str, tuple[float, int, int, str]] = {}

    def look(self, before: dict[str, tuple[float, int]]) -> list[WatchedRun]:
        """The runs in progress; `before` has the time and progress of each at the last update."""
        workers: dict[str, list[WorkerRow]] = {}
        for one in self._store.workers.all() if self._store.workers is not None else ():
            workers.setdefault(one.run, []).append(one)
        playing = self._store.runs.found(RunSearch(status=RunStatus.PLAYING, limit=_MANY))
        return [self._run(record, workers.get(record.id, []), before) for record in playing]

    def _run(self, record: RunRecord, mine: list[WorkerRow], before: dict[str, tuple[float, int]]) -> WatchedRun:
        store, now = self._store, time.monotonic()
        done, failed = store.episodes.counts(record.id)
        then = before.get(record.id)
        rate = (done + failed - then[1]) / max(now - then[0], 1e-9) if then else None
        before[record.id] = now, done + failed
        _, requests, tokens, cost = self._sums(record.id, now)
        return WatchedRun(
            run=record.id,
            subject=record.subject,
            done=done,
            failed=failed,
            planned=record.manifest.episodes,
            rate=None if rate is None else round(rate, 2),
            requests=requests,
            tokens=tokens,
            cost=cost,
            leases=sum(one.leases for one in mine),
            left=None if store.workers is None else store.workers.left(record.id),
            workers=tuple(
                {"worker": one.id, "leases": one.leases, "expires_in": round(one.expires_in, 1), **_decode(one.facts)}
                for one in mine
            ),
        )

    def _sums(self, run: str, now: float) -> tuple[float, int, int, str]:
        known = self._spent.get(run)
        if known is None or now - known[0] > _SUM_SECONDS:
            spent = self._store.journal.spent(run)
            cost = cost_in_words(spent.cost, spent.priced, spent.unpriced, spent.charged_cost)
            known = now, spent.requests, spent.input_tokens + spent.output_tokens, cost
            self._spent[run] = known
        return known


def _print(looked: list[WatchedRun], number: int) -> None:
    if sys.stdout.isatty():
        sys.stdout.write("\x1b[H\x1b[2J")
    elif number:
        print_line()
    columns = ("run", "subject", "done", "errors", "left", "per second", "requests", "tokens", "cost", "leases")
    rows = tuple(
        (one.run, one.subject, f"{one.done}/{one.planned}", one.failed, one.left, one.rate, one.requests, one.tokens,
         one.cost, one.leases)
        for one in looked
    )  # fmt: skip
    note = "" if looked else "No run is in progress."
    print_table(Table("runs", "Runs in progress", columns, rows, note=note))
    told = ("worker", "done", "failed", "in flight", "sent", "retries", "leases", "expires in s")
    each = tuple(
        (str(worker["worker"]), worker.get("done"), worker.get("failed"), worker.get("in_flight"), worker.get("sent"),
         worker.get("retries"), worker["leases"], worker["expires_in"])
        for one in looked
        for worker in one.workers
    )  # fmt: skip
    if each:
        print_table(Table("workers", "Workers", told, each))
