"""`sociometer runs --watch`: the runs in progress, updated until Ctrl-C."""

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

_MANY = 1_000
_SUM_SECONDS = 10.0


class WatchedRun(Struct, frozen=True):
    """A run in progress: what is done, how fast, and what it costs."""

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
        playing = self._store.runs.found(RunSearch(status=RunStatus.PLAYING, limit=_MANY))
        return [self._run(record, before) for record in playing]

    def _run(self, record: RunRecord, before: dict[str, tuple[float, int]]) -> WatchedRun:
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
    columns = ("run", "subject", "done", "errors", "per second", "requests", "tokens", "cost")
    rows = tuple(
        (one.run, one.subject, f"{one.done}/{one.planned}", one.failed, one.rate, one.requests, one.tokens,
         one.cost)
        for one in looked
    )  # fmt: skip
    note = "" if looked else "No run is in progress."
    print_table(Table("runs", "Runs in progress", columns, rows, note=note))
