"""`sociometer runs`: the runs in the store."""

import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from msgspec import Struct

from sociometer.cli.options import store_option, store_path, tell_of_upgrade
from sociometer.cli.output import SCREEN, Display, TableCommand, display_options, print_line
from sociometer.core.conversation import SUBJECT
from sociometer.core.errors import SociometerError, hint
from sociometer.core.measure import Interval, Measure, Table
from sociometer.core.task import TASK
from sociometer.core.version import __version__
from sociometer.instruments import cards, load
from sociometer.reporting.progress import cost_in_words
from sociometer.results.summaries import other_options
from sociometer.statistics.formatting import estimate
from sociometer.store.place import StorePlace, default_path
from sociometer.store.records import RunRecord, RunStatus, Totals
from sociometer.store.store import Store
from sociometer.store.stored_run import StoredRun, first_score, state_of, status_of, why_ended


def show_runs(store: StorePlace | None, display: Display) -> None:
    """Show the runs of a store."""
    path = store_path(store)
    most = SCREEN if sys.stdout.isatty() and display.format == "table" else None
    rows = _rows(path, most) if path.exists() else []
    table = Table(
        "runs",
        f"Runs in {path.name if path in (default_path(), Path.cwd() / path.name) else path}"
        if isinstance(path, Path)
        else f"Runs in {path}",
        (
            "run", "model", "instrument", "subject", "status", "score", "episodes", "errors", "settings", "started",
            "cost", "requests", "tokens", "reason",
        ),
        tuple(
            (
                row.record.reference, _model(row.record), row.record.instrument, row.record.tested, row.ended,
                row.score, row.episodes, row.totals.failed, _settings(row.record),
                datetime.fromtimestamp(row.record.created, UTC).strftime("%Y-%m-%d %H:%M"),
                cost_in_words(spent.cost, spent.priced, spent.unpriced)
                if spent.cost or spent.input_tokens + spent.output_tokens else None,
                spent.requests, spent.input_tokens + spent.output_tokens, row.why,
            )
            for row in (rows if most is None else rows[-most:])
            for spent in (row.totals.spent,)
        ),
        note="" if rows else f"There are no runs in {path} yet. Start one with: {hint('run INSTRUMENT --model MODEL')}",
        details=("model", "requests", "tokens", "reason"),
    )  # fmt: skip
    if not rows and display == Display():
        return print_line(table.note)
    left = len(rows) - len(table.rows)
    notes = [f"Showing the newest {SCREEN} of {len(rows)} runs; add --format wide to see the rest."] if left else []
    ended = [row for row in rows if row.why and row.status != "playing"]
    notes += [f"{row.record.reference} ended early: {row.why}.{_next_step(row)}" for row in ended[-3:]]
    data = [
        {"run": row.record.id, "name": row.record.name, "instrument": row.record.instrument,
         "subject": row.record.tested, "status": row.status, "state": row.state, "why": row.why,
         "created": row.record.created, "done": row.totals.done, "errors": row.totals.failed,
         "spent": row.totals.spent, "score": row.score, "value": row.measure and row.measure.value,
         "low": row.interval.low, "high": row.interval.high}
        for row in rows
    ]  # fmt: skip
    display.show([table], notes=notes, limits=[len(rows)], data=data)


def _model(record: RunRecord) -> str | None:
    """The model of a subject whose name does not say it."""
    player = record.manifest.roles.get(SUBJECT)
    return player.label if player is not None and player.label not in record.subject else None


def _next_step(row: "_Row") -> str:
    """What to type to continue a run that reached a cap or was killed; other reasons say what to do."""
    if row.is_past:
        return ""
    broken = row.record.status is RunStatus.PLAYING or row.why.startswith(("interrupted", "ended by an", "left after"))
    again = row.record.resume_command(row.why) if broken or "--max-" in row.why else ""
    return f" To continue it: {again}" if again and not row.record.manifest.given_items else ""


def _settings(record: RunRecord) -> str:
    """How a run differs from the instrument's default test: other tasks, other settings, a sample, other items."""
    card = record.manifest.card or cards().get(record.instrument)
    if card is None:
        return "instrument not installed"
    said = other_options(record, card) + [f"{role} {label}" for role, label in record.manifest.other_roles.items()]
    whose = record.manifest.whose_items
    return ", ".join([*said, *([f"{whose} items"] if whose != "bundled" else [])])


class _Row(Struct, frozen=True):
    """A run with its counts."""

    record: RunRecord
    status: RunStatus
    state: str
    totals: Totals
    why: str
    is_past: bool
    """Whether it did not end and this version cannot continue it."""
    measure: Measure | None = None
    score: str = ""

    @property
    def interval(self) -> Interval:
        """That of the score; open without one."""
        return (self.measure and self.measure.interval) or Interval(None, None)

    @property
    def ended(self) -> str:
        """The state, and how many items failed: a run with failures is not simply finished."""
        return f"{self.state}, {self.totals.failed} failed" if self.totals.failed else self.state

    @property
    def episodes(self) -> int | str:
        """How many were played; if a stopping rule ended the run, also how many of them do not count."""
        config, done = self.record.manifest.config, self.totals.done
        alone = config.until and self.measure and len(config.tasks) == 1 and (config.repeats or 1) == 1
        after = done - self.measure.items if alone and self.measure else 0
        return f"{done - after} (+{after} not counted)" if after > 0 else done


def _rows(path: StorePlace, most: int | None) -> list[_Row]:
    """All runs; the newest `most` of them with their score."""
    with Store(path) as opened:
        records = list(opened.runs.all())
        tell_of_upgrade(opened)
        first = 0 if most is None else len(records) - most
        return [
            _Row(
                one,
                status_of(opened, one),
                state_of(opened, one),
                opened.totals(one),
                why_ended(opened, one),
                _is_past(opened, one),
                *(_score(opened, one) if place >= first else ()),
            )
            for place, one in enumerate(records)
        ]


def _is_past(store: Store, record: RunRecord) -> bool:
    """Whether an unfinished run has numbers that this version can only show."""
    if record.status is RunStatus.FINISHED or record.manifest.sociometer_version == __version__:
        return False
    try:
        return bool(StoredRun(store, record, load(record.instrument, record.manifest.card)).past)
    except SociometerError:  # its instrument is not installed
        return False


def _score(store: Store, record: RunRecord) -> tuple[Measure | None, str]:
    """The first score of a run, also in words; of one whose process was killed, from its episodes so far."""
    card, read = record.manifest.card or cards().get(record.instrument), partial(store.runs.summary, record.id)
    try:
        killed = card and status_of(store, record) is not record.status
        run = StoredRun(store, record, load(record.instrument, record.manifest.card)) if killed else None
        found = first_score(run.kept_summary if run else read, record, card) if card and record.subject else None
    except SociometerError:
        return None, "damaged"
    if not found or found[0].task == TASK:  # the numbers of a contamination check are no scores of the subject
        return None, ""
    said, unread = estimate(found[1].value, found[0].unit, found[1].interval), found[1].unreadable
    if card and found[0] not in card.measure:  # of a task that this version lacks
        said = f"{found[0].name} {said}"
    return found[1], f"{said}, {unread} unreadable" if 2 * unread > found[1].items else said


command = TableCommand(
    "runs",
    callback=show_runs,
    params=[store_option(), *display_options()],
    help="List the runs in the store, oldest first, with status, score, errors and spending.",
)
