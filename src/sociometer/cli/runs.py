"""`sociometer runs`: the runs in the store."""

import sys
import time
from datetime import UTC, datetime
from itertools import count

import msgspec
from msgspec import Struct

from sociometer.cli.options import store_option, store_path
from sociometer.cli.output import SCREEN, Display, Range, TableCommand, display_options, option, print_line, print_table
from sociometer.core.errors import StoreError, UsageError, hint
from sociometer.core.measure import Table
from sociometer.core.settings import without_folders
from sociometer.instruments import cards
from sociometer.reporting.progress import cost_in_words
from sociometer.statistics.formatting import estimate
from sociometer.store.place import StorePlace
from sociometer.store.records import RunRecord, RunStatus, Totals
from sociometer.store.runs import RunSearch
from sociometer.store.store import Store
from sociometer.store.stored_run import first_score, state_of, status_of


def show_runs(watch: bool, every: float, store: StorePlace | None, display: Display) -> None:
    """Show the runs of a store, or with `watch` those in progress."""
    path = store_path(store)
    if watch:
        watch_runs(path, every, display.as_json)
        return
    most = SCREEN if sys.stdout.isatty() and display.format == "table" else None
    rows = _rows(path, most) if path.exists() else []
    table = Table(
        "runs",
        f"Runs in {path}",
        (
            "run", "name", "instrument", "subject", "status", "score", "episodes", "errors", "settings", "started",
            "cost", "requests", "tokens",
        ),
        tuple(
            (
                row.record.id, row.record.name, row.record.instrument, row.record.tested, row.state, row.score,
                row.totals.done, row.totals.failed, _settings(row.record),
                datetime.fromtimestamp(row.record.created, UTC).strftime("%Y-%m-%d %H:%M"),
                cost_in_words(spent.cost, spent.priced, spent.unpriced) if spent.requests else None,
                spent.requests, spent.input_tokens + spent.output_tokens,
            )
            for row in (rows if most is None else rows[-most:])
            for spent in (row.totals.spent,)
        ),
        note="" if rows else f"There are no runs in {path} yet. Start one with: {hint('run INSTRUMENT --model MODEL')}",
        details=("requests", "tokens"),
    )  # fmt: skip
    if not rows and display == Display():
        return print_line(table.note)
    left = len(rows) - len(table.rows)
    notes = [f"Showing the newest {SCREEN} of {len(rows)} runs; add --format wide to see the rest."] if left else []
    data = [
        {"run": row.record.id, "name": row.record.name, "instrument": row.record.instrument,
         "subject": row.record.tested, "status": row.status, "state": row.state, "created": row.record.created,
         "done": row.totals.done, "errors": row.totals.failed, "spent": row.totals.spent, "score": row.score}
        for row in rows
    ]  # fmt: skip
    display.show([table], notes=notes, limits=[len(rows)], data=data)


def _settings(record: RunRecord) -> str:
    """How a run differs from the instrument's default test: other tasks, other settings, a sample, other items."""
    config = record.manifest.config
    card = record.manifest.card or cards().get(record.instrument)
    if card is None:
        return "instrument not installed"
    said = [] if set(config.tasks) == set(card.default_tasks(official=config.official)) else list(config.tasks)
    shown = without_folders(card.setting, config.settings)
    for setting in card.setting:
        if not setting.is_default(config.settings.get(setting.name)):
            said.append(f"{setting.name} {', '.join(shown.texts(setting.name))}")
    said += [f"limit {config.limit}"] if config.limit else []
    said += [f"{role} {label}" for role, label in record.manifest.other_roles.items()]
    whose = record.manifest.whose_items
    return ", ".join([*said, *([f"{whose} items"] if whose != "bundled" else [])])


class _Row(Struct, frozen=True):
    """A run with its counts."""

    record: RunRecord
    status: RunStatus
    state: str
    totals: Totals
    score: str = ""


def _rows(path: StorePlace, most: int | None) -> list[_Row]:
    """All runs; the newest `most` of them with their score."""
    with Store(path) as opened:
        records = list(opened.runs.all())
        first = 0 if most is None else len(records) - most
        return [
            _Row(one, status_of(opened, one), state_of(opened, one), opened.totals(one),
                 _score(opened, one) if place >= first else "")
            for place, one in enumerate(records)
        ]  # fmt: skip


def _score(store: Store, record: RunRecord) -> str:
    card = record.manifest.card or cards().get(record.instrument)
    try:
        found = first_score(store, record, card) if card and record.subject else None
    except StoreError:
        return "damaged"
    return estimate(found[1].value, found[0].unit, found[1].interval) if found else ""


command = TableCommand(
    "runs",
    callback=show_runs,
    params=[
        option("--watch", "Show the runs in progress until Ctrl-C.", is_flag=True),
        option("--every", "Seconds between updates with --watch.", type=Range(0.2), default=2.0),
        store_option(),
        *display_options(),
    ],
    help="List the runs in the store, oldest first. --watch shows rate, spending and errors of the runs in progress.",
)


_MANY = 1_000


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
    before: dict[str, tuple[float, int]] = {}
    with Store(path) as store:
        for number in count():
            playing = store.runs.found(RunSearch(status=RunStatus.PLAYING, limit=_MANY))
            looked = [_watched(store, record, before) for record in playing]
            if as_json:
                print_line(msgspec.json.encode(looked).decode())
            else:
                _print(looked, number)
            sys.stdout.flush()
            if not looked:
                return
            time.sleep(every)


def _watched(store: Store, record: RunRecord, before: dict[str, tuple[float, int]]) -> WatchedRun:
    """A run in progress; `before` has the time and the progress at the last update."""
    totals, now, then = store.totals(record), time.monotonic(), before.get(record.id)
    ended, spent = totals.done + totals.failed, totals.spent
    before[record.id] = now, ended
    return WatchedRun(
        record.id, record.tested, totals.done, totals.failed, record.manifest.episodes,
        round((ended - then[1]) / max(now - then[0], 1e-9), 2) if then else None, spent.requests,
        spent.input_tokens + spent.output_tokens,
        cost_in_words(spent.cost, spent.priced, spent.unpriced, spent.charged_cost),
    )  # fmt: skip


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
